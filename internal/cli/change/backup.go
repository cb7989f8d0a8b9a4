package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"filippo.io/age"
	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/backup"
	"kolla.openstack.org/kolla/internal/run/rollout"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Backup is `kolla backup`.
func Backup(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "Save the data of services, encrypted",
		ArgsUsage: "[SERVICE...]",
		Description: `
Saves the data of the services that have a way for it: of all such services in the state, or
of those that SERVICE names. The services go on meanwhile. It needs the state and the
cluster, and no valid configuration. The user needs the right to run commands in the pods
(create pods/exec).

-to names the place: a directory, which is made, a claim of the cloud's namespace, or a bucket
of an object storage that speaks S3. Each backup is a directory in it, named after the cloud
and the time. Its files are encrypted for the public keys of -recipient: only who has one of
the private keys can read them. Its manifest says what it has, and is not encrypted.

For a bucket, kolla reads the usual variables of S3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION and, if the object storage is not that of AWS, its address in AWS_ENDPOINT_URL.

Each backup also has the state. With -secrets it has the generated Secrets of the cloud, such
as passwords and the keys of Keystone and Barbican, without which the databases are of no
use in another cluster. kolla backup print prints both.

A backup is complete when it has a manifest. If one fails, it is removed again.`,
		Flags: append(append(command.StateFlags(), backupFlags(toFlag)...),
			&cli.StringSliceFlag{Name: "recipient", Usage: "encrypt for the public `KEY`, which begins with age1; may be repeated"},
			&cli.BoolFlag{Name: secretsFlag, Usage: "also save the generated Secrets, with their values"},
			&cli.IntFlag{Name: "keep", Usage: "then remove complete backups of the cloud from the place, except for the newest `N`", DefaultText: "all stay"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if c.IsSet("keep") && c.Int("keep") < 1 {
				return failure.New("-keep must be at least 1", "It is the number of backups that stay, with the new one.")
			}
			recipients, err := backup.Recipients(c.StringSlice("recipient"))
			if err != nil {
				return err
			}
			return save(command.NewWorkspace(s, c), names, recipients)
		},
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "List the backups in a place",
				Description: `
Lists the backups, the oldest first. It needs no key. A backup that is not complete was
interrupted, or is being made.`,
				Flags: append(append(command.StateFlags(), backupFlags(fromFlag)...),
					&cli.BoolFlag{Name: "json", Usage: "print the manifests as JSON"}, command.NoColorFlag()),
				Action: func(c *cli.Context) error {
					return list(command.NewWorkspace(s, c))
				},
			},
			{
				Name:      "verify",
				Usage:     "Check that a backup is as it was written",
				ArgsUsage: "BACKUP",
				Description: `
Reads all files of a backup, and compares sizes and checksums with its manifest. With
-identity it also decrypts and unpacks them. BACKUP is a name, or the path of a backup.`,
				Flags: append(append(command.StateFlags(), backupFlags(fromFlag)...), identityFlag(), command.NoColorFlag()),
				Action: func(c *cli.Context) error {
					return verify(command.NewWorkspace(s, c))
				},
			},
			{
				Name:      "print",
				Usage:     "Print a part of a backup, decrypted",
				ArgsUsage: "BACKUP PART",
				Description: `
PART is state, secrets, or the address of a workload; kolla backup list -json lists the parts of
each backup. The state is what kolla state push takes. The secrets are what kubectl apply
takes; they are not printed to a terminal. BACKUP is a name, or the path of a backup.`,
				Flags: append(append(command.StateFlags(), backupFlags(fromFlag)...), identityFlag()),
				Action: func(c *cli.Context) error {
					return printPart(command.NewWorkspace(s, c))
				},
			},
			{
				Name:      "key",
				Usage:     "Make a key for backups",
				ArgsUsage: "FILE",
				Description: `
Writes a new private key into FILE, which must not exist, and prints the public key. It is a
key of age (age-encryption.org). Keep FILE where the cloud cannot lose it together with its
data: without it, nobody can read the backups.`,
				Action: func(c *cli.Context) error {
					if c.NArg() != 1 {
						return failure.New("Into which file?", "kolla backup key FILE")
					}
					public, err := backup.NewKey(c.Args().First(), time.Now())
					if err != nil {
						return err
					}
					fmt.Fprintln(s.Out, public)
					return nil
				},
			},
		},
	}
}

const (
	toFlag      = "to"
	fromFlag    = "from"
	secretsFlag = "secrets"
	placeUsage  = "the `PLACE` of the backups: a directory, claim:NAME, or s3://BUCKET/PREFIX"
)

// backupFlags returns the options about the place of backups. name is toFlag or fromFlag.
func backupFlags(name string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: name, Usage: placeUsage},
		&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "wait up to `DURATION` for each pod that kolla makes"},
	}
}

func identityFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "identity", Usage: "decrypt with a private key in `FILE`; may be repeated"}
}

const claimPrefix = "claim:"

// access returns the access to the cluster for backups.
func access(w *command.Workspace) *backup.Cluster {
	return &backup.Cluster{
		Shell: w.Client.Shell(), Writer: w.Client.Writer(), Timeout: w.Flags.Duration("timeout"),
		Report: func(address, text string) { foreign.Fprintf(w.Streams.Out, "%s: %s\n", address, text) },
		Wrote:  func(string) error { return nil },
	}
}

// openTarget opens a place of backups. like returns the workloads of the state, which a claim needs.
func openTarget(ctx context.Context, w *command.Workspace, place string, create bool, like func() ([]backup.Workload, error)) (backup.Target, error) {
	if place == "" {
		option := "-" + fromFlag
		if create {
			option = "-" + toFlag
		}
		return nil, failure.New("Where are the backups?", option+" names a directory, or a claim, "+option+"=claim:NAME, or a bucket, "+option+"=s3://BUCKET/PREFIX.")
	}
	if strings.HasPrefix(place, backup.BucketScheme) {
		return backup.OpenBucket(ctx, place, os.Getenv)
	}
	claim, is := strings.CutPrefix(place, claimPrefix)
	if !is {
		return backup.OpenDirectory(place, create)
	}
	workloads, err := like()
	if err != nil {
		return nil, err
	}
	if len(workloads) == 0 {
		return nil, failure.New("No service has data to save", "kolla opens a claim with the image of such a service, and the state has none.")
	}
	w.Streams.MayWrite()
	return backup.OpenClaim(ctx, access(w), claim, workloads[0])
}

// recordedWorkloads reads the state, and returns it with the workloads that have data to save: those of
// the services with these names, or all.
func recordedWorkloads(ctx context.Context, w *command.Workspace, names []string) (*state.State, []backup.Workload, error) {
	if err := w.OpenLast(ctx); err != nil {
		return nil, nil, err
	}
	st, err := w.Recorded()
	if err != nil {
		return nil, nil, err
	}
	workloads, err := workloadsOf(ctx, w, st, names)
	return st, workloads, err
}

func workloadsOf(ctx context.Context, w *command.Workspace, st *state.State, names []string) ([]backup.Workload, error) {
	addresses := slices.Clone(names)
	for i, name := range addresses {
		if !strings.Contains(name, ".") {
			addresses[i] = "service." + name
		}
	}
	targets, err := command.Targets(addresses)
	if err != nil {
		return nil, err
	}
	objects, err := command.Select(st, targets, backup.Kind)
	if err != nil {
		return nil, err
	}
	workloads, err := backup.Find(ctx, w.Client.Get, rollout.NeededFirst(st, objects), w.Printer.Warn)
	if err != nil {
		return nil, err
	}
	for i, target := range targets {
		if !slices.ContainsFunc(workloads, func(found backup.Workload) bool { return hasWorkload(target, found) }) {
			return nil, failure.New(fmt.Sprintf("There is no way to save data of %s", names[i]), "A block `backup` in a workload of its definition would say how.")
		}
	}
	return workloads, nil
}

// hasWorkload reports whether a workload belongs to a target.
func hasWorkload(target addrs.Target, w backup.Workload) bool {
	address, err := addrs.ParseObject(w.Address)
	return err == nil && target.Has(address)
}

// cloudOf returns the cloud of a state, with the release that its namespace has.
func cloudOf(ctx context.Context, w *command.Workspace, st *state.State) (backup.Cloud, error) {
	cloud := backup.Cloud{Name: st.Cloud, Cluster: st.Cluster.UID}
	i := slices.IndexFunc(st.Objects, func(o state.Object) bool {
		return o.Kind == kinds.Namespace.Kind && strings.HasPrefix(o.Address, "cloud."+st.Cloud+"/")
	})
	if i < 0 {
		return cloud, failure.New("The state does not have the namespace of the cloud", "Nothing was applied yet, or the cloud was destroyed. kolla apply makes it.")
	}
	namespace, err := w.Client.Get(ctx, providers.Ref{GVK: kinds.Namespace.WithVersion("v1"), Name: st.Objects[i].Name})
	if err != nil {
		return cloud, err
	}
	cloud.Release = cmp.Or(namespace.GetAnnotations()[providers.AnnotationRelease], "unknown")
	return cloud, nil
}

// jobsIn returns the addresses of the Jobs of a state that are complete.
func jobsIn(st *state.State) []string {
	jobs := []string{}
	for i := range st.Objects {
		if o := &st.Objects[i]; o.Kind == "Job" && o.Ready {
			jobs = append(jobs, o.Address)
		}
	}
	return jobs
}

func save(w *command.Workspace, names []string, recipients []age.Recipient) (err error) {
	ctx := w.Flags.Context
	st, workloads, err := recordedWorkloads(ctx, w, names)
	if err != nil {
		return err
	}
	if len(workloads) == 0 && !w.Flags.Bool(secretsFlag) {
		return failure.New("No service has data to save", "A block `backup` in a workload says how its data are saved; the catalogue has it for MariaDB. Generated Secrets are saved with -secrets.")
	}
	cloud, err := cloudOf(ctx, w, st)
	if err != nil {
		return err
	}
	target, err := openTarget(ctx, w, w.Flags.String(toFlag), true, func() ([]backup.Workload, error) { return workloads, nil })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close(ctx)) }()
	w.Streams.MayWrite() // a backup that is interrupted is removed
	began := time.Now()
	name := backup.NameOf(cloud.Name, began)
	about := backup.Manifest{
		Cloud: cloud.Name, Cluster: cloud.Cluster, Release: cloud.Release, Tool: w.Streams.Version,
		Began: began.UTC().Truncate(time.Second), Recipients: w.Flags.StringSlice("recipient"), Jobs: jobsIn(st),
	}
	texts, err := textsOf(ctx, w, st)
	if err != nil {
		return err
	}
	m, err := backup.Save(ctx, access(w), target, name, about, workloads, texts, recipients)
	if _, _, explained := failure.Explain(err); err != nil && !explained && ctx.Err() == nil {
		return failure.With(err, "The backup cannot be made", failure.Sentence(err.Error())+".")
	}
	if err != nil {
		return err
	}
	foreign.Fprintf(w.Streams.Out, "\nBackup complete: %s in %s, %s after %s.\n", name, target.String(), backup.Bytes(m.Size()), words.Duration(time.Since(began)))
	if !w.Flags.IsSet("keep") {
		return nil
	}
	removed, err := backup.Prune(ctx, target, cloud.Name, w.Flags.Int("keep"))
	for _, old := range removed {
		foreign.Fprintf(w.Streams.Out, "Removed the older backup %s.\n", old)
	}
	return err
}

// Addresses of items that kolla itself writes.
const (
	stateItem   = "state"
	secretsItem = "secrets"
)

// textsOf returns the state, and with -secrets the generated Secrets that the state knows.
func textsOf(ctx context.Context, w *command.Workspace, st *state.State) ([]backup.Text, error) {
	raw, err := st.Encode()
	if err != nil {
		return nil, err
	}
	texts := []backup.Text{{Address: stateItem, What: "state", Content: raw}}
	if !w.Flags.Bool(secretsFlag) {
		return texts, nil
	}
	var items []any
	listed := map[string][]*unstructured.Unstructured{} // by namespace
	for i := range st.Objects {
		o := &st.Objects[i]
		if o.Kind != kinds.Secret.Kind {
			continue
		}
		if _, done := listed[o.Namespace]; !done {
			if listed[o.Namespace], err = w.Client.List(ctx, kinds.Secret.WithVersion("v1"), o.Namespace); err != nil {
				return nil, err
			}
		}
		for _, live := range listed[o.Namespace] {
			if string(live.GetUID()) == o.UID && live.GetAnnotations()[providers.AnnotationRevision] != "" {
				items = append(items, map[string]any{
					"apiVersion": "v1", "kind": kinds.Secret.Kind, "type": live.Object["type"], "data": live.Object["data"],
					"metadata": map[string]any{"name": live.GetName(), "namespace": live.GetNamespace()},
				})
			}
		}
	}
	raw, err = json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, "", "  ")
	return append(texts, backup.Text{Address: secretsItem, What: words.Count(len(items), "Secret"), Content: append(raw, '\n')}), err
}

// printPart prints one item of a backup.
func printPart(w *command.Workspace) (err error) {
	ctx := w.Flags.Context
	arguments, err := command.Interspersed(w.Flags)
	if err != nil {
		return err
	}
	if len(arguments) != 2 {
		return failure.New("Which part of which backup?", "kolla backup print BACKUP state")
	}
	if arguments[1] == secretsItem && command.IsTerminal(w.Streams.Out) {
		return failure.New("Secrets are not printed to a terminal", "Send them to a file or a program: kolla backup print BACKUP secrets | kubectl apply -f -")
	}
	identities, err := givenIdentities(w)
	if err != nil {
		return err
	}
	place, name := chosenBackup(w, arguments[0])
	target, err := openFrom(ctx, w, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close(ctx)) }()
	m, err := readManifest(ctx, target, name)
	if err != nil {
		return err
	}
	var known []string
	for _, item := range m.Items {
		if known = append(known, item.Address); item.Address != arguments[1] {
			continue
		}
		data, err := backup.Open(ctx, target, name, item, identities)
		if err != nil {
			return err
		}
		defer func() { _ = data.Close() }()
		_, err = io.Copy(w.Streams.Out, data)
		return err
	}
	return failure.New(fmt.Sprintf("Backup %s has no part %q", name, arguments[1]), words.WithHint(words.DidYouMean(arguments[1], known), "It has: "+words.Sorted(known)+"."))
}

// givenIdentities reads the private keys of -identity, which must be given.
func givenIdentities(w *command.Workspace) ([]age.Identity, error) {
	if len(w.Flags.StringSlice("identity")) == 0 {
		return nil, failure.New("With which key?", "-identity names the file with the private key of the backup.")
	}
	return backup.Identities(w.Flags.StringSlice("identity"))
}

// openFrom opens the place that -from names.
func openFrom(ctx context.Context, w *command.Workspace, place string) (backup.Target, error) {
	return openTarget(ctx, w, place, false, func() ([]backup.Workload, error) {
		_, workloads, err := recordedWorkloads(ctx, w, nil)
		return workloads, err
	})
}

func list(w *command.Workspace) (err error) {
	ctx := w.Flags.Context
	target, err := openFrom(ctx, w, w.Flags.String(fromFlag))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close(ctx)) }()
	all, err := backup.List(ctx, target)
	if err != nil {
		return err
	}
	if w.Flags.Bool("json") {
		return foreign.JSON(w.Streams.Out, struct {
			Format  string          `json:"format"`
			Backups []backup.Listed `json:"backups"`
		}{backup.Format, all}, "  ")
	}
	if len(all) == 0 {
		foreign.Fprintf(w.Streams.Out, "There are no backups in %s.\n", target.String())
		return nil
	}
	table := tabwriter.NewWriter(w.Streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BACKUP\tAGE\tRELEASE\tSIZE\tDATA")
	for _, b := range all {
		if b.Manifest == nil {
			foreign.Fprintf(table, "%s\t-\t-\t-\t%s\n", b.Name, b.Problem)
			continue
		}
		var data []string
		for _, item := range b.Manifest.Items {
			data = append(data, item.What)
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", b.Name, words.Duration(time.Since(b.Manifest.Ended)), b.Manifest.Release, backup.Bytes(b.Manifest.Size()), strings.Join(data, ", "))
	}
	return table.Flush()
}

// chosenBackup returns the place and the name of a backup: of the path of a backup, or of a name in the
// place that -from names.
func chosenBackup(w *command.Workspace, argument string) (place, name string) {
	place = w.Flags.String(fromFlag)
	if path, is := strings.CutPrefix(argument, backup.BucketScheme); place == "" && is {
		path = strings.TrimRight(path, "/")
		slash := max(0, strings.LastIndexByte(path, '/'))
		return backup.BucketScheme + path[:slash], strings.TrimPrefix(path[slash:], "/")
	}
	if place == "" && strings.ContainsRune(argument, filepath.Separator) {
		return filepath.Split(filepath.Clean(argument))
	}
	return place, argument
}

// readManifest reads the manifest of a backup that the user has named.
func readManifest(ctx context.Context, target backup.Target, name string) (*backup.Manifest, error) {
	m, err := backup.Read(ctx, target, name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	names, listing := target.Backups(ctx)
	if listing != nil {
		return nil, listing
	}
	if slices.Contains(names, name) {
		return nil, failure.New(fmt.Sprintf("Backup %s is not complete", name), "It has no manifest: it was interrupted, or is being made. Use another backup.")
	}
	return nil, failure.New(fmt.Sprintf("There is no backup %s in %s", name, target), command.DidYouMean(name, names)+"`kolla backup list` lists the backups.")
}

func verify(w *command.Workspace) (err error) {
	ctx := w.Flags.Context
	arguments, err := command.Interspersed(w.Flags)
	if err != nil {
		return err
	}
	if len(arguments) != 1 {
		return failure.New("Which backup?", "kolla backup verify BACKUP; `kolla backup list` lists the backups.")
	}
	identities, err := backup.Identities(w.Flags.StringSlice("identity"))
	if err != nil {
		return err
	}
	place, name := chosenBackup(w, arguments[0])
	target, err := openFrom(ctx, w, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close(ctx)) }()
	m, err := readManifest(ctx, target, name)
	if err != nil {
		return err
	}
	for _, item := range m.Items {
		if err := backup.Verify(ctx, target, name, item, identities); err != nil {
			return err
		}
		foreign.Fprintf(w.Streams.Out, "%s: %s\n", item.Address, backup.Bytes(item.Size))
	}
	checked := "All checksums are those of the manifest. With -identity, the data are unpacked as well."
	if len(identities) > 0 {
		checked = "All data can be decrypted, and are as they were written."
	}
	fmt.Fprintf(w.Streams.Out, "\n%s\n", checked)
	return nil
}
