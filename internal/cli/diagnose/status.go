// Package diagnose has the commands that inspect a cluster: states, addresses and logs of services, drift, and
// faults. They do not change the cloud.
package diagnose

import (
	"context"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/state"
)

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
			if err := w.OpenLast(c.Context); err != nil {
				return err
			}
			last, err := live[status.Look]{
				look:    func(ctx context.Context) (*status.Look, error) { return lookAtStatus(ctx, w, names) },
				json:    (*status.Look).JSON,
				table:   tables.Status,
				changes: tables.StatusChanges,
			}.show(w)
			if err != nil {
				return err
			}
			return statusCode(last)
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
