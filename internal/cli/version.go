package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/notices"
	"kolla.openstack.org/kolla/internal/present/jsonview"
)

// Version is the version of this build. The Makefile sets it with -ldflags -X.
var Version = "0.1.0-dev"

func versionCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "Print the version",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON in Terraform's format"},
			&cli.BoolFlag{Name: "notices", Usage: "print the licences of the software in kolla"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("notices") {
				_, err := io.WriteString(s.Out, notices.Text)
				return err
			}
			if c.Bool("json") {
				return jsonview.Version(s.Out, Version, runtime.GOOS+"_"+runtime.GOARCH)
			}
			printVersion(s)
			return nil
		},
	}
}

func printVersion(s command.Streams) {
	fmt.Fprintf(s.Out, "kolla %s (%s, %s/%s)\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
