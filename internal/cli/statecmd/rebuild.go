package statecmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func rebuildCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "rebuild",
		Usage: "Repair a state that is damaged, lost or out of date",
		Description: `
First it repairs the state. If the state is damaged or missing, it uses the newest backup and
the journal of an apply that did not end. Files that it cannot use are kept in
.kolla/backups, and unusable Secrets under another name.

Then it looks in the cluster for objects that are missing in the state and have the label of
the cloud or the name of a declared object. It lists the objects that seem to be kolla's,
with their creation time and their field managers. It also lists the objects that do not
seem to be kolla's, and leaves them out. It asks before it adds objects to the state, and
never writes to the cluster.

Anybody who may write to a namespace can create an object that looks like kolla's. Check the
list: an object that is older or newer than the rest, or that nothing declares, may be a
forgery.`,
		Flags: append(append(command.CloudFlags(), command.StateFlag(),
			&cli.BoolFlag{Name: "auto-approve", Usage: "do not ask before adding objects to the state"},
			command.NoColorFlag()), command.LockFlags()...),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			if err := mendState(w); err != nil {
				return err
			}
			return rebuildState(w)
		},
	}
}

// mendState repairs a damaged state from a backup and the journal.
func mendState(w *command.Workspace) error {
	s, c := w.Streams, w.Flags
	if err := w.OpenStore(c.Context); err != nil {
		return err
	}
	store := w.Store
	s.MayWrite()
	session, err := store.Salvage(c.Context, state.LockInfo{Operation: "state rebuild", Version: s.Version}, c.Duration("lock-timeout"))
	if err != nil {
		return err
	}
	st := session.State()
	objects := words.Count(len(st.Objects), "object")
	if err := session.Close(); err != nil {
		return err
	}
	switch backup := session.Restored(); {
	case backup != nil:
		foreign.Fprintf(s.Out, "%s was missing or damaged. Restored from its newest backup:\n\n  %s, written %s\n\nIt knows %s. What was applied after that backup is not in it.\n\n",
			store.Path(), backup.Path, backup.Written.Local().Format("2006-01-02 15:04"), objects)
	case st.Lineage == "":
		foreign.Fprintf(s.Out, "There is no %s, and no backup of it. The state begins empty.\n", store.Path())
	default:
		foreign.Fprintf(s.Out, "%s can be used: it knows %s.\n", store.Path(), objects)
	}
	return nil
}

// rebuildState adds objects to the state that look like kolla's, and that the state does not
// have.
func rebuildState(w *command.Workspace) error {
	ctx := w.Flags.Context
	w.Loading.Cluster, w.Loading.Quiet = w.Cluster, true
	if err := w.LoadConfig(); err != nil {
		return err
	}
	if err := w.Connect(ctx); err != nil {
		return err
	}
	return w.Locked(ctx, "state rebuild", func(session *state.Session) error {
		believed, doubted, err := claimants(ctx, w, session.State())
		if err != nil {
			return err
		}
		printClaimants(w.Streams.Out, w.Printer, believed, doubted)
		if len(believed) == 0 {
			return nil
		}
		if !w.Flags.Bool("auto-approve") {
			question := fmt.Sprintf("\nDo you want the state of cloud %q to know %s as kolla's?", w.Config.Cloud.Name, words.Count(len(believed), "object"))
			if err := w.Streams.Approve(ctx, question); err != nil {
				return err
			}
		}
		if err := w.Engine().AcceptRecovered(w.Config, session, believed); err != nil {
			return err
		}
		fmt.Fprintf(w.Streams.Out, "\n%s knows %s now. `kolla plan` shows what differs from the configuration.\n",
			w.Store.Path(), words.Count(len(session.State().Objects), "object"))
		return nil
	})
}

// claimants finds objects that the state does not know. believed look like kolla's, doubted
// do not.
func claimants(ctx context.Context, w *command.Workspace, st *state.State) (believed, doubted []planner.Claimant, err error) {
	all, err := w.Engine().Claimants(ctx, w.Config, st)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		if len(c.Doubts) > 0 {
			doubted = append(doubted, c)
		} else {
			believed = append(believed, c)
		}
	}
	return believed, doubted, nil
}

// printClaimants shows the objects that the state would get, and the others.
func printClaimants(out io.Writer, printer *view.Printer, believed, doubted []planner.Claimant) {
	if len(believed)+len(doubted) == 0 {
		fmt.Fprintln(out, "The state knows all objects in the cluster with the label of this cloud.")
		return
	}
	if len(believed) > 0 {
		fmt.Fprintf(out, "\nThese objects look like kolla's, and the state does not know them:\n\n")
		fmt.Fprintf(out, "  %-16s  ADDRESS, AND WHO ELSE THAN %q WROTE IT\n", "CREATED (UTC)", providers.FieldManager)
		for i := range believed {
			c := &believed[i]
			foreign.Fprintf(out, "  %s  %s\n", c.Created.UTC().Format("2006-01-02 15:04"), c.Record.Address)
			if by := writers(c); by != fmt.Sprintf("%q", providers.FieldManager) {
				foreign.Fprintf(out, "  %16s    written by %s\n", "", by)
			}
		}
	}
	var values []string
	for i := range believed {
		c := &believed[i]
		if c.Generated {
			values = append(values, c.Ref.String())
		}
		for _, remark := range c.Remarks {
			foreign.Fprintf(out, "\n  %s: %s\n", c.Ref.String(), remark)
		}
	}
	if len(values) > 0 {
		printer.Warn("The generated values in the cluster are trusted", fmt.Sprintf(
			"kolla goes on with the values that are in %s. If somebody else made one of these Secrets, they know its values.", words.Few(values, 10)))
	}
	for i := range doubted {
		c := &doubted[i]
		advice := "If nothing needs it, delete it with kubectl."
		if c.Declared {
			advice = "To take it over all the same, plan with " + words.Option("-adopt", c.Record.Address) + "."
		}
		printer.Warn(fmt.Sprintf("%s does not look like kolla's, and is left out", c.Ref), fmt.Sprintf(
			"%s. It was created at %s, and was written by %s. %s",
			failure.Sentence(strings.Join(c.Doubts, "; ")), created(c), writers(c), advice))
	}
}

func created(c *planner.Claimant) string { return c.Created.Format("2006-01-02 15:04:05 UTC") }

// writers lists the field managers of an object.
func writers(c *planner.Claimant) string {
	var names []string
	for _, writer := range c.Writers {
		if name := fmt.Sprintf("%q", writer.Manager); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "an unknown client"
	}
	return strings.Join(names, ", ")
}
