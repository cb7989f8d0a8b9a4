//go:build unix

package budget

import (
	"syscall"
	"time"
)

// processorTime returns the time that the program has computed. A slow or busy machine does not
// count.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
