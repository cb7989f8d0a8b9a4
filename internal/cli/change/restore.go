package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/backup"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Restore is `kolla restore`.
func Restore(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "Bring the data of services back from a backup",
		ArgsUsage: "BACKUP [SERVICE...]",
		Description: `
Brings back the data of a backup, of all services that it has, or of those that SERVICE names.
BACKUP is a name in the place that -from names, or the path of a backup.

First it shows which data are overwritten, how old those of the backup are, which services
stop, and what will not fit together, and asks. Then it copies all data into the cluster,
checks them, and puts them beside the present ones. If anything is wrong, such as a damaged
file or a full volume, it ends there, and nothing has changed. Only then it stops the
services, exchanges the data, and starts them again.

The backup must be of this cloud, in this cluster or with -other-cluster, and of the present release. A restore
holds the lock of the state.`,
		Flags: append(append(append(command.ClusterFlags(), command.StateFlag(),
			&cli.StringFlag{Name: fromFlag, Usage: placeUsage}, identityFlag(),
			&cli.BoolFlag{Name: elsewhereFlag, Usage: "accept a backup of this cloud in another cluster, whose place this cluster takes"}),
			applyFlags()...), command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			arguments, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if len(arguments) == 0 {
				return failure.New("Which backup?", "kolla restore BACKUP; `kolla backup list` lists the backups.")
			}
			return runRestore(command.NewWorkspace(s, c), arguments[0], arguments[1:])
		},
	}
}

const elsewhereFlag = "other-cluster"

func runRestore(w *command.Workspace, argument string, names []string) (err error) {
	ctx := w.Flags.Context
	identities, err := givenIdentities(w)
	if err != nil {
		return err
	}
	if err := w.Connect(ctx); err != nil {
		return err
	}
	return w.Locked(ctx, "restore", func(session *state.Session) (err error) {
		st := session.State()
		workloads, err := workloadsOf(ctx, w, st, names)
		if err != nil {
			return err
		}
		if len(workloads) == 0 {
			return failure.New("No service has data to restore", "Nothing was applied yet. kolla apply makes the cloud, and a restore fills it.")
		}
		cloud, err := cloudOf(ctx, w, st)
		if err != nil {
			return err
		}
		place, name := chosenBackup(w, argument)
		target, err := openTarget(ctx, w, place, false, func() ([]backup.Workload, error) { return workloads, nil })
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.Close(ctx)) }()
		m, err := readManifest(ctx, target, name)
		if err == nil {
			err = m.Check(name, cloud, w.Flags.Bool(elsewhereFlag))
		}
		if err != nil {
			return err
		}
		cluster := access(w)
		cluster.Wrote = func(address string) error { return recordWrite(session, address) }
		r, err := backup.Plan(ctx, cluster, target, name, m, workloads, identities)
		if err != nil {
			return err
		}
		printRestore(w.Streams.Out, r, st)
		if !w.Flags.Bool("auto-approve") {
			if err := w.Streams.Approve(ctx, fmt.Sprintf("\nDo you want kolla to restore %s?", foreign.Name(name))); err != nil {
				return err
			}
		}
		return restoreData(providers.Fenced(ctx, session.CheckLock), w, r, st)
	})
}

// restoreData restores, and says what is left to do.
func restoreData(ctx context.Context, w *command.Workspace, r *backup.Restore, st *state.State) (err error) {
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	if err := r.Stage(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		summary, detail, ok := failure.Explain(err)
		if !ok {
			summary, detail = "The backup cannot be restored", failure.Sentence(err.Error())+"."
		}
		return failure.With(err, summary, detail+" Nothing was changed.")
	}
	if err := r.Commit(ctx); err != nil {
		return err
	}
	fmt.Fprintln(w.Streams.Out, "\nRestore complete!")
	if jobs := jobsSince(st, r.Manifest); len(jobs) > 0 {
		fmt.Fprintf(w.Streams.Out, "\nThe restored data do not know of the jobs that ran after the backup, such as those that set passwords. Run them again:\n\n  kolla apply")
		for _, job := range jobs {
			foreign.Fprintf(w.Streams.Out, " %s", words.Option("-replace", job))
		}
		fmt.Fprintln(w.Streams.Out)
	}
	return nil
}

// recordWrite records that kolla itself has just written an object, so that the next plan does not take
// the write for drift.
func recordWrite(session *state.Session, address string) error {
	o, known := session.Object(address)
	if !known {
		return nil
	}
	o.Applied, o.Fingerprint = time.Now(), state.Fingerprint{}
	return session.Record(o)
}

// jobsSince returns the Jobs of a state that have run since a backup.
func jobsSince(st *state.State, m *backup.Manifest) []string {
	return slices.DeleteFunc(jobsIn(st), func(address string) bool { return slices.Contains(m.Jobs, address) })
}

// printRestore shows what a restore does.
func printRestore(out io.Writer, r *backup.Restore, st *state.State) {
	m := r.Manifest
	foreign.Fprintf(out, "\nBackup %s of cloud %q, release %s, was made at %s: it is %s old.\n",
		r.Name, m.Cloud, m.Release, m.Began.Local().Format("2006-01-02 15:04 MST"), words.Duration(time.Since(m.Began)))
	for _, p := range r.Parts {
		foreign.Fprintf(out, "\n%s\n", p.Address)
		if !p.Backup.Offline {
			foreign.Fprintf(out, "  Brings back the %s (%s), while it runs.\n", p.Item.What, backup.Bytes(p.Item.Unpacked))
		} else {
			foreign.Fprintf(out, "  Replaces the %s by those of the backup (%s).\n", p.Item.What, backup.Bytes(p.Item.Unpacked))
			foreign.Fprintf(out, "  It is stopped (%s) after the data are in the cluster and checked, and started with them.\n", words.Count(p.Members, "pod"))
			if users := usersOf(st, p.Address); len(users) > 0 {
				foreign.Fprintf(out, "  Meanwhile these do not work: %s.\n", words.All(users))
				if p.Live.GetCreationTimestamp().After(m.Began) {
					own, _ := addrs.ParseObject(p.Address)
					foreign.Fprintf(out, "  It is younger than the backup. Processes of these services remember users and projects that the backup does not have, and refuse clients (401) for up to an hour, or until their pods start anew. To avoid that, restore before the services are applied: kolla apply -target=%s.\n", own.Block)
				}
			}
		}
		if p.Backup.Mismatch != "" {
			foreign.Fprintf(out, "  %s\n", p.Backup.Mismatch)
		}
		if now := p.Image(); now != p.Item.Image {
			foreign.Fprintf(out, "  The backup was made with image %s, and the present one is %s.\n", p.Item.Image, now)
		}
	}
	for _, item := range m.Items {
		if item.Image != "" && !slices.ContainsFunc(r.Parts, func(p *backup.Part) bool { return p.Item.Address == item.Address }) {
			foreign.Fprintf(out, "\n%s\n  The %s of the backup are left out: those of the cloud stay as they are.\n", item.Address, item.What)
		}
	}
}

// usersOf returns the blocks whose objects depend on an object.
func usersOf(st *state.State, address string) []string {
	var out []string
	own, _ := addrs.ParseObject(address)
	for i := range st.Objects {
		of, err := addrs.ParseObject(st.Objects[i].Address)
		if err == nil && of.Block != own.Block && slices.Contains(st.Objects[i].DependsOn, address) {
			out = append(out, of.Block)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
