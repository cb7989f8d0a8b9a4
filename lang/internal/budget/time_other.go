//go:build !unix

package budget

import "time"

var started = time.Now()

// processorTime returns the time since the start of the program. The system does not tell the time
// that it has computed.
func processorTime() time.Duration { return time.Since(started) }
