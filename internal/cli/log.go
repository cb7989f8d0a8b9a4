package cli

import (
	"io"
	"os"
	"slices"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/logs"
	"kolla.openstack.org/kolla/internal/present/view"
)

// withLog returns the streams with the log that the environment asks for. Lines of a log
// would tear a live view on the same terminal apart, so progress is then printed as in a
// file.
func withLog(s command.Streams) (command.Streams, error) {
	level := os.Getenv(logs.Variable)
	log, err := logs.New(s.Err, level)
	if err != nil {
		return s, err
	}
	s.Log = log
	if file, ok := s.Err.(*os.File); ok && level != "" && isatty.IsTerminal(file.Fd()) {
		s.Out = struct{ io.Writer }{s.Out}
	}
	return s, nil
}

// profileFlags are options for developers of kolla. They stand before the command, and no
// help lists them.
func profileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: string(logs.CPU), Usage: "write a profile of the processor to `FILE`", Hidden: true},
		&cli.StringFlag{Name: string(logs.Memory), Usage: "write a profile of memory to `FILE`", Hidden: true},
		&cli.StringFlag{Name: string(logs.Trace), Usage: "write an execution trace to `FILE`", Hidden: true},
	}
}

// startProfiles starts the profiles that the options ask for. The result stops them.
func startProfiles(c *cli.Context) (stop []func() error, err error) {
	for _, profile := range []logs.Profile{logs.CPU, logs.Trace, logs.Memory} {
		name := c.String(string(profile))
		if name == "" {
			continue
		}
		end, err := profile.Start(name)
		if err != nil {
			return stop, failure.New("Cannot write what -"+string(profile)+" asks for", failure.Sentence(err.Error())+".")
		}
		stop = append(stop, end)
	}
	return stop, nil
}

// stopProfiles completes the profiles. An error there is no failure of the command.
func stopProfiles(stop []func() error, printer *view.Printer) {
	for _, end := range slices.Backward(stop) {
		if err := end(); err != nil {
			printer.Warn("A profile is incomplete", failure.Sentence(err.Error())+".")
		}
	}
}
