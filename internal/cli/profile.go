package cli

import (
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/view"
)

// Options for those who develop kolla, which stand before the command. No help lists them.
const (
	cpuProfileFlag    = "cpuprofile"
	memoryProfileFlag = "memprofile"
	traceFlag         = "trace"
)

func profileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: cpuProfileFlag, Usage: "write a profile of the processor to `FILE`", Hidden: true},
		&cli.StringFlag{Name: memoryProfileFlag, Usage: "write a profile of memory to `FILE`", Hidden: true},
		&cli.StringFlag{Name: traceFlag, Usage: "write an execution trace to `FILE`", Hidden: true},
	}
}

// profiles are what is written about one run of kolla itself.
type profiles struct {
	ends []func() error
}

// start begins what the options ask for. The files are made at once, so that a directory
// that does not exist is an error before anything is done.
func (p *profiles) start(c *cli.Context) error {
	for _, each := range []struct {
		flag       string
		begin, end func(*os.File) error
	}{
		{cpuProfileFlag, func(f *os.File) error { return pprof.StartCPUProfile(f) }, func(*os.File) error { pprof.StopCPUProfile(); return nil }},
		{traceFlag, func(f *os.File) error { return trace.Start(f) }, func(*os.File) error { trace.Stop(); return nil }},
		{memoryProfileFlag, func(*os.File) error { return nil }, func(f *os.File) error { runtime.GC(); return pprof.WriteHeapProfile(f) }},
	} {
		name := c.String(each.flag)
		if name == "" {
			continue
		}
		file, err := os.Create(name)
		if err == nil {
			err = each.begin(file)
		}
		if err != nil {
			return failure.New("Cannot write what -"+each.flag+" asks for", failure.Sentence(err.Error())+".")
		}
		p.ends = append(p.ends, func() error {
			if err := each.end(file); err != nil {
				return err
			}
			return file.Close()
		})
	}
	return nil
}

// stop ends all of it. What goes wrong there is no failure of the command.
func (p *profiles) stop(printer *view.Printer) {
	for _, end := range slices.Backward(p.ends) {
		if err := end(); err != nil {
			printer.Warn("A profile is incomplete", failure.Sentence(err.Error())+".")
		}
	}
}
