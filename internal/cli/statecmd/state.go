// Package statecmd has the commands about the state: those of `kolla state`, and force-unlock.
package statecmd

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/state"
)

// State is `kolla state`.
func State(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "state",
		Usage: "Inspect or repair the state",
		Subcommands: []*cli.Command{
			{
				Name:      "list",
				Usage:     "List the addresses of the objects in the state",
				ArgsUsage: "[ADDRESS...]",
				Description: `
ADDRESS names an object, a block or a module. For a repeated block, add the key of one
instance, or leave it out for all. Quote brackets for the shell:
kolla state list 'service.redis["cache"]'.`,
				Flags: command.StateFlags(),
				Action: func(c *cli.Context) error {
					st, err := command.NewWorkspace(s, c).ReadState(c.Context)
					if err != nil {
						return err
					}
					return listObjects(s.Out, st, c.Args().Slice())
				},
			},
			{
				Name:      "show",
				Usage:     "Show the entry of one object in the state",
				ArgsUsage: "ADDRESS",
				Flags:     command.StateFlags(),
				Action: func(c *cli.Context) error {
					if c.NArg() != 1 {
						return failure.New("Which object?", "kolla state show ADDRESS; `kolla state list` lists the addresses.")
					}
					st, err := command.NewWorkspace(s, c).ReadState(c.Context)
					if err != nil {
						return err
					}
					return showObject(s.Out, st, c.Args().First())
				},
			},
			logCommand(s), pullCommand(s), pushCommand(s), moveCommand(s), removeCommand(s), rebuildCommand(s),
		},
	}
}

// listObjects prints the addresses in the state. With asked it prints only these.
func listObjects(out io.Writer, st *state.State, asked []string) error {
	targets, err := command.Targets(asked)
	if err != nil {
		return err
	}
	found, err := command.Select(st, targets)
	if err != nil {
		return err
	}
	for _, o := range found {
		foreign.Fprintf(out, "%s\n", o.Address)
	}
	return nil
}

func showObject(out io.Writer, st *state.State, address string) error {
	address = command.Canonical([]string{address})[0]
	o := st.Find(address)
	if o == nil {
		var known []string
		for _, object := range st.Objects {
			known = append(known, object.Address)
		}
		return failure.New(fmt.Sprintf("No object %q in the state", address), command.DidYouMean(address, known)+"`kolla state list` lists the addresses.")
	}
	return tables.Object(out, o)
}

// ForceUnlock is `kolla force-unlock`.
func ForceUnlock(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "force-unlock",
		Usage:     "Release a lock that its holder left behind",
		ArgsUsage: "ID",
		Description: `
Use it only when the holder can no longer write, for example because its machine is off.
A holder that still runs stops before its next write. For a state in the cluster, the
command waits 20 seconds until that is certain. The message about the lock shows the ID.
Normally you do not need this command: the lock of a state file ends with its process,
and the lock of a state in the cluster ends half a minute after a kill of its holder.`,
		Flags: command.StateFlags(),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return failure.New("Which lock?", "kolla force-unlock ID; the message about the lock shows the ID.")
			}
			w := command.NewWorkspace(s, c)
			if err := w.OpenStore(c.Context); err != nil {
				return err
			}
			s.MayWrite()
			if w.Store.Remote() {
				fmt.Fprintln(s.Err, "Taking the lock away. Its holder may notice only after 20 seconds, and nobody else gets the lock until then.")
			}
			if err := w.Store.ForceUnlock(c.Args().First()); err != nil {
				return err
			}
			fmt.Fprintln(s.Out, "The lock is released.")
			return nil
		},
	}
}
