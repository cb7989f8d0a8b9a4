package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/notices"
)

// Version of this build; the Makefile sets it with -ldflags -X.
var Version = "0.1.0-dev"

func versionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "Print the version",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "notices", Usage: "print the licences of what kolla is made of"},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Bool("notices") {
				_, err := io.WriteString(s.out, notices.Text)
				return err
			}
			s.printVersion()
			return nil
		},
	}
}

func (s streams) printVersion() {
	fmt.Fprintf(s.out, "kolla %s (%s, %s/%s)\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
