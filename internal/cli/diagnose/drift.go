package diagnose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/internal/present/publish"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/html"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/notify"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Environment variables in the place of options whose URLs may have passwords.
const (
	notifyVariable  = "KOLLA_NOTIFY"  // more URLs for -notify
	metricsVariable = "KOLLA_METRICS" // -metrics, if the option is not given
)

// Drift is `kolla drift`.
func Drift(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "drift",
		Usage: "Show what others changed since the last apply",
		Description: `
Shows the changes that others made in the cluster since the last apply: changed, added
and deleted fields and objects. Each field has one line with its author, the time of the
change, and the time at which kolla first saw it. It also
lists the objects that could not be compared. Changes of the configuration that were
not applied yet are only counted. It is made for cron: it writes to neither the cluster
nor the state, takes no lock, and sends the requests of a plan. docs/drift.md shows how
to run it.

A history of drift is kept beside the state, in .kolla/drift.json, without values. With
-since it prints the history, including drift that no longer exists, without a cluster.

-metrics writes for the textfile collector of node_exporter, or to a Pushgateway. Without the
option, ` + metricsVariable + ` sets the target: other users cannot read a password in it. -notify
sends a message only when the drift has changed since the last message, and when it is
gone. Its URLs may also be in ` + notifyVariable + `, separated by spaces.

Exit codes: 0 no drift, 1 error, 2 drift. Objects that could not be compared are an error
only with -strict.`,
		Flags: append(command.CloudFlags(),
			command.StateFlag(),
			&cli.StringFlag{Name: "format", Value: publish.Terminal, Usage: "print as `FORMAT`: " + strings.Join(driftFormats, ", ")},
			command.RegistrationsFlag(),
			command.MarkdownLimitFlag(""),
			&cli.StringFlag{Name: "metrics", Usage: "also write metrics to `FILE`, or to the Pushgateway at an http or https URL"},
			&cli.StringSliceFlag{Name: "notify", Usage: "send changes in the drift to `URL`: https:// of a webhook, or smtp:// for mail; may be repeated"},
			&cli.StringFlag{Name: "since", Usage: "only list the history since `TIME`, such as 12h, 7d or 2026-11-20"},
			&cli.BoolFlag{Name: "orphans", Usage: "also list objects that kolla does not manage, in the namespace of the cloud or with its label"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 if there is no drift but objects could not be compared"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			format := c.String("format")
			if !slices.Contains(driftFormats, format) {
				return failure.New(fmt.Sprintf("No format %q", format), command.DidYouMean(format, driftFormats)+"There are: "+strings.Join(driftFormats, ", ")+".")
			}
			limit, err := command.MarkdownLimit(c, format == "markdown")
			if err != nil {
				return err
			}
			return runDrift(command.NewWorkspace(s, c), format, limit)
		},
	}
}

var driftFormats = []string{publish.Terminal, "markdown", "html", "json", "metrics"}

func runDrift(w *command.Workspace, format string, limit int) error {
	now := time.Now()
	keep := drift.FileOf(w.Flags.String("state"))
	if w.Flags.IsSet("since") {
		return showHistory(w, format, keep, now)
	}
	place := os.Getenv(metricsVariable)
	if w.Flags.IsSet("metrics") {
		place = w.Flags.String("metrics")
	}
	metrics, err := targetOf(place)
	if err != nil {
		return err
	}
	history, writable := openHistory(w.Printer, keep)
	ctx := w.Flags.Context
	receivers, err := notify.Receivers(append(w.Flags.StringSlice("notify"), strings.Fields(os.Getenv(notifyVariable))...))
	var look *drift.Look
	if err == nil {
		look, err = lookForDrift(ctx, w)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		if unwritten := metrics.failed(ctx, cloudOf(w, history), history.Looked); unwritten != nil {
			w.Printer.Warn("The metrics do not show this failure", failure.Sentence(unwritten.Error())+".")
		}
		return err
	}
	history.Add(look)
	// Each receiver gets the result, also if another one fails.
	unprinted := showDrift(w.Streams.Out, look, format, limit, w.Printer.Zone)
	undelivered := notifyReceivers(ctx, receivers, history, look)
	if err := metrics.write(ctx, look); err != nil {
		undelivered = append(undelivered, err)
	}
	for _, err := range undelivered {
		w.Printer.Failure("Not delivered", failure.Sentence(err.Error())+".")
	}
	if writable {
		saveHistory(w.Printer, history, keep)
	}
	switch {
	case unprinted != nil:
		return unprinted
	case len(undelivered) > 0:
		return command.ExitCode(command.ExitError)
	case len(look.Fields) > 0:
		return command.ExitCode(command.ExitChanges)
	case len(look.NotCompared) > 0 && w.Flags.Bool("strict"):
		return failure.New(words.Count(len(look.NotCompared), "object")+" could not be compared", "They may have drifted. They are listed above, with the reasons. Without -strict this is no error.")
	}
	return nil
}

// openHistory reads the history. A history that cannot be used begins anew. writable is false
// if it must not be replaced.
func openHistory(printer *view.Printer, keep drift.Storage) (history *drift.History, writable bool) {
	history, err := drift.Read(keep)
	var damaged *drift.DamagedError
	switch {
	case err == nil:
		return history, true
	case errors.As(err, &damaged) && !damaged.Newer:
		printer.Warn("The history of drift begins anew", fmt.Sprintf("%s cannot be used: %s.", keep, damaged))
		return history, true
	}
	printer.Warn("The history of drift cannot be read", fmt.Sprintf("%s stays as it is: %s. %s", keep, err, withoutHistory))
	return history, false
}

// withoutHistory describes the effect of a missing history.
const withoutHistory = "Without it, each look treats all drift as new, and notifies of it."

// saveHistory saves the history. A failure is only a warning: a job in a cluster may have no
// disk to write to.
func saveHistory(printer *view.Printer, history *drift.History, keep drift.Storage) {
	if err := history.Write(keep); err != nil {
		printer.Warn("The history of drift cannot be written", fmt.Sprintf("%s: %s. %s", keep, err, withoutHistory))
	}
}

// lookForDrift compares the cluster with what kolla wrote.
func lookForDrift(ctx context.Context, w *command.Workspace) (*drift.Look, error) {
	w.Cluster.Warnings.Gather()
	defer w.Cluster.Warnings.Flush()
	w.Loading.Cluster, w.Loading.Quiet = w.Cluster, true
	st, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	holder, err := w.Store.Holder()
	if err != nil {
		return nil, err
	}
	made, err := w.Engine().Plan(ctx, engine.Loaded{Config: w.Config, Loading: w.Loading}, st, engine.Options{RefreshOnly: true, SkipRegistrations: command.SkipsRegistrations(w.Flags)})
	if err != nil {
		return nil, err
	}
	if len(st.Objects) == 0 && made.Rebuilt == nil {
		return nil, failure.New("There is nothing to compare", "The state has no objects: nothing was applied yet, or the state was lost. Run kolla apply first, or kolla state rebuild to recreate a lost state.")
	}
	look := drift.Of(made.Plan)
	if made.Rebuilt != nil {
		st = made.Rebuilt
	}
	if w.Flags.Bool("orphans") {
		if look.Orphans, err = findOrphans(ctx, w, st, made.Plan); err != nil {
			return nil, err
		}
	}
	for _, n := range w.Client.Requests() {
		look.Requests += n
	}
	look.Certificates = certificatesOf(w, made.Plan, time.Now())
	for _, c := range look.Certificates {
		if c.Soon {
			w.Printer.Warn(c.Warning(time.Now()))
		}
	}
	command.WarnOfHolder(w.Printer, holder)
	w.Printer.Problems(ownWarnings(made.Plan))
	return look, nil
}

// ownWarnings returns the warnings of the planner. Warnings of the server are about requests.
func ownWarnings(plan *plans.Plan) []plans.Problem {
	var out []plans.Problem
	for _, n := range plan.Warnings {
		if n.Summary != "" {
			out = append(out, n.Problem())
		}
	}
	return out
}

// findOrphans lists the namespace of the cloud, with one request for each kind.
func findOrphans(ctx context.Context, w *command.Workspace, st *state.State, plan *plans.Plan) (*drift.Orphans, error) {
	contents, err := w.Client.Contents(ctx, plan.Namespace)
	if err != nil {
		return nil, err
	}
	var listed []*unstructured.Unstructured
	seen := map[schema.GroupVersionKind]bool{}
	for i := range plan.Actions {
		if kind := plan.Actions[i].Ref.GVK; !seen[kind] {
			seen[kind] = true
			listed = append(listed, w.Cluster.Snapshot().All(kind)...)
		}
	}
	found := drift.OrphansOf(st, plan.Cloud, plan.Namespace, contents, listed)
	for i := range found.Objects {
		found.Objects[i].Manager = w.Cluster.Secrets.Text(found.Objects[i].Manager)
	}
	return found, nil
}

// cloudOf returns the name of the cloud after a failed look.
func cloudOf(w *command.Workspace, history *drift.History) string {
	if w.Config != nil && w.Config.Cloud.Name != "" {
		return w.Config.Cloud.Name
	}
	return history.Cloud
}

// showDrift prints a look. limit is the maximum size of a page of Markdown.
func showDrift(out io.Writer, look *drift.Look, format string, limit int, zone *time.Location) (err error) {
	switch format {
	case "json":
		return look.JSON(out)
	case "markdown":
		_, err = io.WriteString(out, markdown.Drift(look, zone, limit))
	case "html":
		return html.Drift(out, look, zone)
	case "metrics":
		_, err = out.Write(drift.Metrics(look))
	default:
		return tables.Drift(out, look, zone)
	}
	return err
}

// showHistory lists the history since the time of -since.
func showHistory(w *command.Workspace, format string, keep drift.File, now time.Time) error {
	if err := command.Contradiction(w.Flags, "since", "-since only lists the history, and looks at no cluster.", "metrics", "notify", "orphans", "strict"); err != nil {
		return err
	}
	since, err := timeOf(w.Flags.String("since"), now)
	if err != nil {
		return err
	}
	history, err := drift.Read(keep)
	if err != nil {
		return failure.New("The history of drift cannot be read", fmt.Sprintf("%s: %s.", keep, err))
	}
	switch format {
	case "json":
		return history.JSON(w.Streams.Out, since)
	case publish.Terminal:
		return tables.DriftHistory(w.Streams.Out, history, since, w.Printer.Zone)
	}
	return failure.New(fmt.Sprintf("-since has no format %q", format), "There are terminal and json.")
}

// timeOf reads a time, or a duration before now: 90m, 12h, 7d, 2w.
func timeOf(text string, now time.Time) (time.Time, error) {
	for _, unit := range []struct {
		suffix string
		hours  time.Duration
	}{{"d", 24}, {"w", 7 * 24}} {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if ago, err := time.ParseDuration(number + "h"); ok && err == nil && ago >= 0 {
			return now.Add(-ago * unit.hours), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, failure.New(fmt.Sprintf("-since=%s is not a time", text), "It is a duration before now, such as 90m, 12h, 7d or 2w, or a time, such as 2026-11-20, \"2026-11-20 03:00\" or 2026-11-20T03:00:00Z.")
}

// notifyReceivers notifies the receivers that do not know the drift yet. It returns an error for
// each receiver that it could not notify. A later look tries again.
func notifyReceivers(ctx context.Context, receivers []notify.Receiver, history *drift.History, look *drift.Look) (failed []error) {
	set := history.Set()
	for _, r := range receivers {
		// If no drift was found and some is still known, its objects were not compared.
		if history.Notified[r.Name] == set || set != "" && len(look.Fields) == 0 {
			continue
		}
		title, text := look.Notice()
		if err := r.Send(ctx, title, text); err != nil {
			failed = append(failed, err)
			continue
		}
		if history.Notified == nil {
			history.Notified = map[string]string{}
		}
		history.Notified[r.Name] = set
	}
	return failed
}
