package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func rebuildCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "rebuild",
		Usage: "Repair a state that is damaged, lost or out of date",
		Description: `
First it mends the files: where the state is damaged or missing, it goes on from the
newest backup and from what the journal of an apply that did not end says beyond it. Files that cannot be used are kept in
.kolla/backups.

Then it looks in the cluster for objects that carry the label of the cloud, or the name
of a declared object, and that the state does not know. It shows what it would believe to
be kolla's, when each object was created and what its writers call themselves, and what
does not look like kolla's, which it leaves out. It asks before it takes anything into
the state, and never writes to the cluster.

Whoever may write to a namespace can make an object look like kolla's. So compare the
list with what you know: an object that is older or younger than the rest, or that
nothing declares, may be a forgery.`,
		Flags: append(append(append(variableFlags(), clusterFlags()...), stateFlag(),
			&cli.BoolFlag{Name: "auto-approve", Usage: "do not ask before taking objects into the state"},
			parallelismFlag(), noColorFlag()), lockFlags()...),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if err := mendState(s, c); err != nil {
				return err
			}
			return rebuildState(newWorkspace(s, c))
		},
	}
}

// mendState makes the files of a damaged state usable again, from what is left of them.
func mendState(s streams, c *cli.Context) error {
	store := state.Open(c.String("state"))
	session, err := store.Salvage(c.Context, state.LockInfo{Operation: "state rebuild", Version: Version}, c.Duration("lock-timeout"))
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
		foreign.Fprintf(s.out, "%s was missing or damaged. Restored from its newest backup:\n\n  %s, written %s\n\nIt knows %s. What was applied after that backup is not in it.\n\n",
			store.Path(), backup.Path, backup.Written.Local().Format("2006-01-02 15:04"), objects)
	case st.Lineage == "":
		foreign.Fprintf(s.out, "There is no %s, and no backup of it. The state begins empty.\n", store.Path())
	default:
		foreign.Fprintf(s.out, "%s can be used: it knows %s.\n", store.Path(), objects)
	}
	return nil
}

// rebuildState takes objects into the state that look like kolla's and that it does not
// know.
func rebuildState(w *workspace) error {
	ctx := w.flags.Context
	w.loading.Cluster, w.loading.Quiet = w.cluster, true
	if err := w.loadConfig(); err != nil {
		return err
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "state rebuild", func(session *state.Session) error {
		believed, doubted, err := w.claimants(ctx, session.State())
		if err != nil {
			return err
		}
		w.printClaimants(believed, doubted)
		if len(believed) == 0 {
			return nil
		}
		if !w.flags.Bool("auto-approve") {
			question := fmt.Sprintf("\nDo you want the state of cloud %q to know %s as kolla's?", w.config.Cloud.Name, words.Count(len(believed), "object"))
			if err := w.approve(ctx, question); err != nil {
				return err
			}
		}
		if err := w.engine().Believe(ctx, w.config, session, believed); err != nil {
			return err
		}
		fmt.Fprintf(w.out, "\n%s knows %s now. `kolla plan` shows what differs from the configuration.\n",
			w.store.Path(), words.Count(len(session.State().Objects), "object"))
		return nil
	})
}

// claimants finds objects that the state does not know. believed look like kolla's, doubted
// do not.
func (w *workspace) claimants(ctx context.Context, st *state.State) (believed, doubted []planner.Claimant, err error) {
	all, err := w.engine().Claimants(ctx, w.config, st)
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

// printClaimants shows what would be believed, and what would not.
func (w *workspace) printClaimants(believed, doubted []planner.Claimant) {
	if len(believed)+len(doubted) == 0 {
		fmt.Fprintln(w.out, "The state knows all objects in the cluster with the label of this cloud.")
		return
	}
	if len(believed) > 0 {
		fmt.Fprintf(w.out, "\nThese objects look like kolla's, and the state does not know them:\n\n")
		fmt.Fprintf(w.out, "  %-16s  ADDRESS, AND WHO ELSE THAN %q WROTE IT\n", "CREATED (UTC)", providers.FieldManager)
		for i := range believed {
			c := &believed[i]
			foreign.Fprintf(w.out, "  %s  %s\n", c.Created.UTC().Format("2006-01-02 15:04"), c.Record.Address)
			if by := writers(c); by != fmt.Sprintf("%q", providers.FieldManager) {
				foreign.Fprintf(w.out, "  %16s    written by %s\n", "", by)
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
			foreign.Fprintf(w.out, "\n  %s: %s\n", c.Ref.String(), remark)
		}
	}
	if len(values) > 0 {
		w.printer.Warn("The generated values in the cluster are trusted", fmt.Sprintf(
			"kolla goes on with the values that are in %s. If somebody else made one of these Secrets, they know its values.", words.Few(values, 10)))
	}
	for i := range doubted {
		c := &doubted[i]
		advice := "If nothing needs it, delete it with kubectl."
		if c.Declared {
			advice = "To take it over all the same, plan with " + words.Option("-adopt", c.Record.Address) + "."
		}
		w.printer.Warn(fmt.Sprintf("%s does not look like kolla's, and is left out", c.Ref), fmt.Sprintf(
			"%s. It was created at %s, and was written by %s. %s",
			failure.Sentence(strings.Join(c.Doubts, "; ")), created(c), writers(c), advice))
	}
}

func created(c *planner.Claimant) string { return c.Created.Format("2006-01-02 15:04:05 UTC") }

// writers lists what the writers of an object call themselves.
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
