package logs

import (
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// Profile is a kind of record about one run of kolla.
type Profile string

// The kinds of records, each by the name of its option.
const (
	CPU    Profile = "cpuprofile"
	Memory Profile = "memprofile"
	Trace  Profile = "trace"
)

// Start begins to record to a new file. It makes the file at once, so that a directory that
// does not exist is an error before anything is done. stop completes the file.
func (p Profile) Start(name string) (stop func() error, err error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	switch p {
	case CPU:
		err = pprof.StartCPUProfile(file)
	case Trace:
		err = trace.Start(file)
	}
	if err != nil {
		return nil, err
	}
	return func() error {
		switch p {
		case CPU:
			pprof.StopCPUProfile()
		case Trace:
			trace.Stop()
		case Memory:
			runtime.GC()
			if err := pprof.WriteHeapProfile(file); err != nil {
				return err
			}
		}
		return file.Close()
	}, nil
}
