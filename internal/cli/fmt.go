package cli

import (
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/format"
)

func fmtCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "Format configuration files",
		ArgsUsage: "[FILE|DIR|-]...",
		Description: `
Rewrites the *.hcl files of the current directory, or the given files and directories,
and prints the names of the files that it changed. With - it formats standard input to
standard output. It does not change JSON files. A link to a file stays a link.

Exit codes: 0 done, 1 error, 3 with -check: a file is not in canonical form.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "change nothing; exit with 3 if a file would change"},
			&cli.BoolFlag{Name: "diff", Usage: "show the changes"},
			&cli.BoolFlag{Name: "list", Value: true, Usage: "print the names of files that change; -list=false prints no names"},
			&cli.BoolFlag{Name: "write", Value: true, Usage: "write the files; -write=false only prints their names"},
			&cli.BoolFlag{Name: "recursive", Usage: "also format subdirectories"},
			command.NoColorFlag(),
		},
		Action: func(c *cli.Context) error {
			arguments, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			check := c.Bool("check")
			o := format.Options{List: c.Bool("list"), Diff: c.Bool("diff"), Write: c.Bool("write") && !check, Check: check, Recursive: c.Bool("recursive")}
			found, err := format.Run(c.Context, o, format.Streams{In: s.In, Out: s.Out, Printer: s.Printer(c)}, arguments)
			if err != nil {
				return err
			}
			switch {
			case found.Broken:
				return command.ExitCode(command.ExitError)
			case check && found.Changed:
				return command.ExitCode(command.ExitUnchecked)
			}
			return nil
		},
	}
}
