package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// spare is the number of bytes of garbage that the program may keep. A command ends within
	// seconds and frees its memory then, so that an early collection is mostly wasted.
	spare = 128 << 20
	// The percentages are limits of $GOGC: new memory before the next collection, in percent of
	// the memory in use.
	minPercent, maxPercent = 100, 400
)

// collectLess makes the garbage collector run less often while the program is small. Garbage
// collection would otherwise take a third of a plan's processor time. $GOGC takes precedence.
var collectLess = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(maxPercent)
		afterCollection(func() { debug.SetGCPercent(percentFor(inUse())) })
	}
})

// percentFor returns the percentage for the given number of bytes in use.
func percentFor(live uint64) int {
	return int(min(maxPercent, max(minPercent, spare*100/max(live, 1))))
}

// inUse returns the number of bytes in use after the last collection.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls f now and after each collection. The runtime calls a finalizer after the
// collection that finds its object unused; each finalizer makes the next such object.
func afterCollection(f func()) {
	type garbage struct{ _ *byte } // contains a pointer, so that it gets its own allocation
	var again func(*garbage)
	again = func(*garbage) {
		f()
		runtime.SetFinalizer(&garbage{}, again)
	}
	again(nil)
}
