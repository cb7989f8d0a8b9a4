package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// spare is the memory, in bytes, that the program may fill before it collects garbage. A
	// command lives for seconds, so that most of what it would collect goes with it anyway.
	spare = 128 << 20
	// A garbage collector's percentage is the memory to fill, relative to what is in use.
	leastPercent, mostPercent = 100, 400
)

// collectLess makes the garbage collector run less often while the program is small. It takes a
// third of the processor's time of a plan otherwise. $GOGC takes precedence.
var collectLess = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(mostPercent)
		afterCollection(func() { debug.SetGCPercent(percentFor(inUse())) })
	}
})

// percentFor returns the percentage for a program that uses so many bytes.
func percentFor(live uint64) int {
	return int(min(mostPercent, max(leastPercent, spare*100/max(live, 1))))
}

// inUse returns how many bytes the last collection left in use.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls f after each collection: what nothing refers to is finalized then.
func afterCollection(f func()) {
	type garbage struct{ _ *byte } // with a pointer, so that it is allocated by itself
	var again func(*garbage)
	again = func(*garbage) {
		f()
		runtime.SetFinalizer(&garbage{}, again)
	}
	again(nil)
}
