package change

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/run/explain"
)

// approvable refuses an apply with -json that needs approval, because nobody would see the
// question.
func approvable(c *cli.Context, saved bool) error {
	if !c.Bool("json") || c.Bool("auto-approve") || saved {
		return nil
	}
	return failure.New("-json needs -auto-approve or a plan file", "-json cannot ask a question.")
}

// withEvents runs a command that writes events if -json or -json-into is given. With -json
// it prints nothing else.
func withEvents(s command.Streams, c *cli.Context, run func(*command.Workspace) error) (err error) {
	var out io.Writer
	if c.Bool("json") {
		out = s.Out
		s.Out, s.Err = io.Discard, io.Discard
	}
	if path := c.String("json-into"); path != "" {
		file, err := files.Output{Path: path, Option: "-json-into", Content: "events", Ours: files.Begins(`{"@level"`)}.Create()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if out == nil {
			out = file
		} else {
			out = io.MultiWriter(out, file)
		}
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop() // ends reads whose results are not needed
	c.Context = ctx
	w := command.NewWorkspace(s, c)
	if out == nil {
		return run(w)
	}
	w.Printer.Events = jsonview.New(out, w.Streams.Version)
	err = run(w)
	if _, ok := command.Reported(err); ok || err == nil {
		return err
	}
	w.Printer.Failure(explain.Error(err, w.Streams.Version, w.Cluster.Secrets))
	return command.ExitCode(command.ExitError)
}
