package diagnose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/access"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/doctor"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// Doctor is `kolla doctor`.
func Doctor(s command.Streams) *cli.Command {
	var list strings.Builder
	for _, check := range doctor.Checks() {
		name := check.Name
		if check.Starts() {
			name += " *"
		}
		fmt.Fprintf(&list, "  %-18s %s\n", name, check.Description)
	}
	return &cli.Command{
		Name:  "doctor",
		Usage: "Find faults of the cluster that keep the cloud from working",
		Description: `
Compares the cluster with what the configuration needs, before anything is deployed and
after. Each finding has its reason and the next step. It finds:

` + list.String() + `
Checks with a * start pods: up to two on each node, and one for each storage class, from
images of the cloud, in its namespace (or in "default" before that exists). They are removed
at the end, by the cluster if kolla is killed. With -no-pods these checks are not made.

An error keeps a part of the cloud from working, a warning may do so. A check that could not
be made, for example because the user may not list pods of the whole cluster, is listed with
the reason. docs/operate.md and docs/doctor.md have the rights that all checks need.

-json prints one document. A new minor version of its format_version only adds keys.

Exit codes: 0 nothing found, 1 error, 2 a finding, or a check that could not be made.`,
		Flags: append(command.CloudFlags(), command.StateFlag(),
			&cli.StringSliceFlag{Name: "only", Usage: "run only the check with this `NAME`; may be repeated, or have several names separated by commas"},
			&cli.StringSliceFlag{Name: "skip", Usage: "leave out the check with this `NAME`; may be repeated, or have several names separated by commas"},
			&cli.BoolFlag{Name: "no-pods", Usage: "start no pods; the checks that need them are not made"},
			&cli.DurationFlag{Name: "timeout", Value: podTimeout, Usage: "wait up to `DURATION` for the pods, which may have to pull images"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			checks, err := doctor.Select(namesIn(c, "only"), namesIn(c, "skip"))
			if err != nil {
				return err
			}
			return runDoctor(command.NewWorkspace(s, c), checks)
		},
	}
}

// podTimeout is how long doctor and discover wait for their pods.
const podTimeout = 3 * time.Minute

// namesIn returns the names in an option.
func namesIn(c *cli.Context, option string) []string {
	var out []string
	for _, value := range c.StringSlice(option) {
		for name := range strings.SplitSeq(value, ",") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}

func runDoctor(w *command.Workspace, checks []doctor.Check) error {
	ctx := w.Flags.Context
	facts, err := factsForDoctor(ctx, w)
	if err != nil {
		return err
	}
	if err := doctor.Read(ctx, w.Client, facts, checks); err != nil {
		return err
	}
	if w.Flags.Bool("no-pods") {
		facts.Unprobed = errors.New("no pods were started, because of -no-pods")
	}
	if err := doctor.Probe(ctx, prober(w), facts, checks); err != nil {
		return err
	}
	report := doctor.Examine(facts, checks)
	report.Mask(func(text string) string { return w.Cluster.Secrets.Text(text) })
	if w.Flags.Bool("json") {
		if err := report.JSON(w.Streams.Out); err != nil {
			return err
		}
	} else {
		showDoctor(w, report)
	}
	if !report.Clean() {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// prober returns the way to run pods in the namespace of the cloud.
func prober(w *command.Workspace) *probe.Runner {
	return &probe.Runner{
		Reader: w.Client, Writer: w.Client.Writer(), Patience: w.Flags.Duration("timeout"),
		Cloud: w.Config.Cloud.Name, Namespace: w.Config.Cloud.Namespace,
	}
}

// factsForDoctor loads the configuration, and makes its objects for the cluster.
func factsForDoctor(ctx context.Context, w *command.Workspace) (*cluster.Facts, error) {
	w.Loading.Cluster, w.Loading.Quiet = w.Cluster, true
	if err := w.Connect(ctx); err != nil {
		return nil, err
	}
	if err := w.LoadConfig(); err != nil {
		return nil, err
	}
	st, err := access.KnownState(w)
	if err != nil {
		return nil, err
	}
	if err := w.CheckState(st); err != nil {
		return nil, err
	}
	facts := &cluster.Facts{Config: w.Config, Cluster: w.Cluster.Identity(), Now: time.Now(), Live: w.Cluster.Snapshot()}
	if err := renderForDoctor(ctx, w, st, facts); err != nil {
		return nil, err
	}
	names := rights.NewNames(ctx, w.Cluster.Client)
	names.Define(facts.Objects)
	in := access.RightsInput(w, names, facts.Objects, st)
	facts.Resource, facts.Roles = names.Resource, rights.Of(in)
	in.ReadOnly = true
	facts.Reading = rights.Of(in)
	return facts, nil
}

// renderForDoctor makes the objects of the configuration as a plan does. If the user may not read the
// Secrets, it makes them with the nodes only.
func renderForDoctor(ctx context.Context, w *command.Workspace, st *state.State, facts *cluster.Facts) error {
	if _, diags := openstack.Render(w.Config, openstack.Offline()); diags.HasErrors() {
		w.Printer.Diagnostics(diags, w.Config.Files)
		return command.ExitCode(command.ExitError)
	}
	quiet := &silent{}
	e := w.Engine()
	e.Reporter = quiet
	var err error
	facts.Objects, err = e.Render(ctx, w.Config, st, engine.RenderOptions{})
	facts.Mistakes = quiet.diags
	var denied *providers.PermissionError
	var unread *providers.UnreadableError
	switch {
	case errors.As(err, &denied):
		facts.Unrendered = denied
	case errors.As(err, &unread):
		facts.Unrendered = unread
	case errors.Is(err, engine.ErrReported):
		return nil // the mistakes are findings
	default:
		return err
	}
	known := openstack.Offline()
	scope := providers.Scope{GVK: kinds.Node.WithVersion("v1")}
	if err := facts.Live.Try(ctx, scope); err != nil {
		return err
	}
	if facts.Live.Unread(scope) == nil {
		for _, u := range facts.Live.All(scope.GVK) {
			known.Nodes = append(known.Nodes, openstack.Node{Name: u.GetName(), Labels: u.GetLabels()})
		}
	}
	facts.Objects, facts.Mistakes = openstack.Render(w.Config, known)
	return nil
}

// silent keeps diagnostics to itself.
type silent struct{ diags hcl.Diagnostics }

func (s *silent) Diagnostics(diags hcl.Diagnostics, _ map[string]*hcl.File) {
	s.diags = append(s.diags, diags...)
}
func (*silent) Problems([]plans.Problem) {}
func (*silent) Warn(string, string)      {}

// showDoctor prints a report for people.
func showDoctor(w *command.Workspace, report doctor.Report) {
	out := w.Streams.Out
	foreign.Fprintf(out, "Cloud %q, in the cluster at %s.\n", report.Cloud, report.Server)
	for _, result := range report.Results {
		for _, f := range result.Findings {
			foreign.Fprintf(out, "\n%s: %s: %s [%s]\n", words.Capital(string(f.Severity)), foreign.Line(f.Subject), foreign.Line(f.Problem), result.Check.Name)
			for _, text := range []string{f.Reason, f.Next} {
				tell(w, text)
			}
		}
		if result.NotChecked != "" {
			foreign.Fprintf(out, "\nNot checked: %s\n", result.Check.Name)
			tell(w, result.NotChecked)
		}
	}
	foreign.Fprintf(out, "\n%s\n", report.Summary())
}

// tell prints a text below a finding, line by line. Lines that are indented further are commands.
func tell(w *command.Workspace, text string) {
	for line := range strings.Lines(text) {
		sentence := strings.TrimSpace(line)
		indent := 2
		if strings.HasPrefix(line, "  ") {
			indent = 4
		}
		if sentence != "" {
			fmt.Fprintln(w.Streams.Out, w.Printer.Out.Prose(sentence, indent))
		}
	}
}
