package cli

import (
	"runtime"
	"testing"
	"time"
)

func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 8 << 20: 400, 32 << 20: 400, 64 << 20: 200, 128 << 20: 100, 1 << 40: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("percentFor(%d) is %d, want %d", live, got, want)
		}
	}
}

// TestAfterCollection checks that a function is called again after a second collection.
func TestAfterCollection(t *testing.T) {
	called := make(chan bool, 100)
	afterCollection(func() { called <- true })
	<-called // at once
	for range 2 {
		runtime.GC()
		select {
		case <-called:
		case <-time.After(10 * time.Second):
			t.Fatal("the function was not called after a collection")
		}
	}
	if inUse() == 0 {
		t.Error("nothing is in use")
	}
}
