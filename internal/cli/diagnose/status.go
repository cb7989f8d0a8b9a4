// Package diagnose has the commands that inspect a cluster: states, addresses and logs of services, drift, and
// faults. They do not change the cloud.
package diagnose

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/state"
)

// statusPause is the pause between two looks of kolla status -watch.
const statusPause = 2 * time.Second

// Status is `kolla status`.
func Status(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "Show which services run, and what is not ready",
		ArgsUsage: "[SERVICE...]",
		Description: `
Shows the workloads of all services, or of the named services: how many pods are ready,
how often containers were restarted, which versions of images run, and the public
addresses. Below a workload that is not ready it says why. Jobs are shown only while they
are not complete, and Services of type LoadBalancer, Ingresses and HTTPRoutes only while no
program of the cluster serves them.

SERVICE is the name of a service or a workload, or an address: nova, service.nova,
nova-api, module.edge. Options may follow it.

It needs the state and the cluster, and no valid configuration. It does not compare them:
kolla plan does.

Exit codes: 0 all are ready, 1 error, 2 something is not ready.`,
		Flags: append(command.StateFlags(),
			&cli.BoolFlag{Name: "json", Usage: "print JSON; with -watch, one line for each change"},
			&cli.BoolFlag{Name: "watch", Usage: "show changes until Ctrl-C: a terminal is redrawn, other output gets a line for each change"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			w := command.NewWorkspace(s, c)
			look := func(ctx context.Context) (*status.Look, error) { return lookAtStatus(ctx, w, names) }
			if err := w.OpenLast(c.Context); err != nil {
				return err
			}
			if c.Bool("watch") {
				return watchStatus(w, look)
			}
			now, err := look(c.Context)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				err = now.JSON(s.Out, "  ")
			} else {
				err = tables.Status(s.Out, now)
			}
			if err != nil {
				return err
			}
			return statusCode(now)
		},
	}
}

// lookAtStatus reads the state and the cluster.
func lookAtStatus(ctx context.Context, w *command.Workspace, names []string) (*status.Look, error) {
	st, found, err := recorded(w, names)
	if err != nil {
		return nil, err
	}
	objects := make([]*state.Object, len(found))
	for i, o := range found {
		objects[i] = o.Object
	}
	w.Cluster.Forget()
	snapshot := w.Cluster.Snapshot()
	return status.Of(ctx, st, objects, snapshot, w.Client.Inspect(snapshot))
}

// statusCode returns the exit code as an error; nil: all is ready.
func statusCode(look *status.Look) error {
	if _, unready := look.Workloads(); unready > 0 {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// watchStatus shows looks until the context ends.
func watchStatus(w *command.Workspace, look func(context.Context) (*status.Look, error)) error {
	ctx := w.Flags.Context
	var last *status.Look
	for {
		now, err := look(ctx)
		if err != nil && (ctx.Err() == nil || last == nil) {
			return err
		}
		if err == nil {
			if err := showChange(w, last, now); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-ctx.Done():
			return statusCode(last)
		case <-time.After(statusPause):
		}
	}
}

// showChange shows a look of a watch. before is the last look; nil: there was none.
func showChange(w *command.Workspace, before, now *status.Look) error {
	out := w.Streams.Out
	if w.Flags.Bool("json") {
		var old, line bytes.Buffer
		if err := now.JSON(&line, ""); err != nil {
			return err
		}
		if before != nil {
			if err := before.JSON(&old, ""); err != nil {
				return err
			}
		}
		if bytes.Equal(old.Bytes(), line.Bytes()) {
			return nil
		}
		_, err := out.Write(line.Bytes())
		return err
	}
	at := time.Now().Format(time.TimeOnly)
	terminal := screen.NewStream(out, true)
	if !terminal.Terminal {
		tables.StatusChanges(out, before, now, at)
		return nil
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "%s  kolla status -watch, until Ctrl-C\n\n", at)
	if err := tables.Status(&page, now); err != nil {
		return err
	}
	return terminal.Redraw(page.String())
}
