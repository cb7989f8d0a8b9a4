package command

import (
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/present/annotations"
	"kolla.openstack.org/kolla/internal/run/explain"
)

// AnnotationsFlag is -annotations.
func AnnotationsFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "annotations", Usage: "also write errors and warnings with their lines for code review: `FORMAT` is github (GitHub Actions commands), gitlab:FILE (code quality report) or sarif:FILE; may be repeated"}
}

// Annotated runs a command, and then writes its errors and warnings as -annotations asks.
// stdout is the standard output, which other formats may need for themselves.
func Annotated(w *Workspace, stdout io.Writer, run func() error) error {
	targets, err := annotations.Targets(w.Flags.StringSlice("annotations"))
	if err != nil || len(targets) == 0 {
		if err == nil {
			err = run()
		}
		return err
	}
	if targets.Stdout() && (w.Outputs.Stdout() || w.Flags.Bool("json")) {
		return failure.New("There are two formats for standard output", "-annotations=github prints commands to standard output, and GitHub reads them from the log. Write the other format to a file with -report or -json-into.")
	}
	log := &annotations.Log{}
	w.Printer.Annotations = log
	err = run()
	if _, ok := Reported(err); !ok && err != nil {
		log.Failure(explain.Error(err, w.Streams.Version, w.Cluster.Secrets))
	}
	if failed := targets.Write(stdout, log, w.Streams.Version); failed != nil && err == nil {
		err = failed
	}
	return err
}
