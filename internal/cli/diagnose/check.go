package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/access"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/internal/run/smoke"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Check is `kolla check`.
func Check(s command.Streams) *cli.Command {
	var list strings.Builder
	for _, c := range smoke.Checks() {
		fmt.Fprintf(&list, "  %-12s %s\n", c.Name, c.Description)
	}
	return &cli.Command{
		Name:  "check",
		Usage: "Use the cloud from outside, as its users do: boot a server, store a secret",
		Description: `
Uses each service that the configuration declares, through its public address, and shows
whether it works and how long it takes:

` + list.String() + `
All of it is in a project of its own, kolla-check-ID, with a user of its own. Both are
removed at the end with all that is in the project, also after Ctrl-C. If kolla is killed,
the next kolla check removes them after the timeout of the killed check, or
kolla check -clean at once.

The administrator's password comes from the cluster. It is printed nowhere, and neither
are other passwords, tokens and secrets.

A check that fails shows the request, its meaning, and what to look at next. Then kolla
also looks for causes: services that have not reported to Nova, Neutron or Cinder, users
of services whose password Keystone refuses, and workloads that are not ready. For the
last of these, it needs the state. docs/check.md has an example, and a job for cron.

-deep runs OpenStack's own tests, Tempest, in a pod of the cloud's namespace, from Kolla's
image tempest. Its configuration follows from the declared services and their APIs, and
contains no password. It leaves out tests that are known to fail, those of services that
are not declared, and those of -without, and lists them with the reasons. docs/check.md has
more.

Exit codes: 0 no check failed, 1 error, 2 a check failed, or something was left behind, or
with -deep a test failed, a required test was skipped, or no test passed.`,
		Flags: append(command.CloudFlags(), command.StateFlag(),
			&cli.StringSliceFlag{Name: "only", Usage: "run only the check with this `NAME`, and those that it needs; may be repeated, or have several names separated by commas"},
			&cli.StringSliceFlag{Name: "skip", Usage: "leave out the check with this `NAME`; may be repeated, or have several names separated by commas"},
			&cli.StringFlag{Name: "image", Usage: "boot the server from the image with this `NAME` or ID, instead of the smallest public one"},
			&cli.StringFlag{Name: "flavor", Usage: "give the server the flavor with this `NAME` or ID, instead of the smallest that is large enough"},
			&cli.StringFlag{Name: "external-network", Usage: "take the floating IP from the network with this `NAME` or ID, instead of the first external one"},
			&cli.DurationFlag{Name: "timeout", Value: podTimeout, Usage: "give each check, and cleaning up, up to `DURATION`"},
			&cli.BoolFlag{Name: "clean", Usage: "only remove what checks of the cloud left behind, also that of checks that run"},
			&cli.StringFlag{Name: "metrics", Usage: "also write metrics to `FILE`, for the textfile collector of node_exporter"},
			&cli.BoolFlag{Name: "deep", Usage: "run OpenStack's own tests (Tempest) instead, in a pod of the cluster: hours"},
			&cli.StringFlag{Name: "tests", Usage: "with -deep, run the tests whose names match `REGEX`, instead of those that the interop guideline requires"},
			&cli.StringFlag{Name: "without", Usage: "with -deep, leave out the tests whose names match `REGEX`"},
			&cli.StringFlag{Name: "tempest-image", Usage: "with -deep, the `IMAGE` with Tempest, instead of Kolla's in the registry of the cloud"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := cmp.Or(
				command.Contradiction(c, "deep", "-deep runs Tempest only. Choose its tests with -tests.", "only", "skip", "clean", "metrics", "json"),
				command.Contradiction(c, "clean", "-clean runs no check, and has no results.", "only", "skip", "metrics", "json"),
			); err != nil {
				return err
			}
			checks, err := smoke.Select(namesIn(c, "only"), namesIn(c, "skip"))
			if err != nil {
				return err
			}
			metrics := files.Output{Path: c.String("metrics"), Option: "-metrics", Content: "metrics of kolla check", Ours: files.Begins(smoke.MetricsBegin)}
			if err := metrics.Check(); err != nil {
				return err
			}
			return runCheck(command.NewWorkspace(s, c), checks, metrics)
		},
	}
}

func runCheck(w *command.Workspace, checks []smoke.Check, metrics files.Output) error {
	ctx := w.Flags.Context
	cloud, err := cloudToCheck(ctx, w)
	if err != nil {
		return err
	}
	w.Streams.MayWrite() // after Ctrl-C, kolla waits until all is removed
	if w.Flags.Bool("clean") {
		return cleanChecks(ctx, w, cloud)
	}
	if w.Flags.Bool("deep") {
		return checkDeep(ctx, w, cloud)
	}
	quiet := w.Flags.Bool("json")
	if !quiet {
		foreign.Fprintf(w.Streams.Out, "Cloud %q, as its users see it from here. Keystone is at %s.\n\n%-12s %-8s %8s\n", cloud.Name, cloud.Keystone, "CHECK", "RESULT", "SECONDS")
	}
	report, err := smoke.Run(ctx, cloud, checks, func(r smoke.Result) {
		if !quiet {
			showCheck(w, r)
		}
	})
	if err == nil && report.Count(smoke.Failed) > 0 {
		report.Causes = append(report.Causes, unreadyWorkloads(ctx, w)...)
	}
	if !quiet {
		showRest(w, report)
	} else if unwritten := report.JSON(w.Streams.Out); err == nil {
		err = unwritten
	}
	if err != nil {
		return err
	}
	if metrics.Path != "" {
		text, err := report.Metrics()
		if err != nil {
			return err
		}
		if err := metrics.Write(text, renameio.IgnoreUmask()); err != nil {
			return err
		}
	}
	if !report.Clean() {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// cloudToCheck loads the configuration, and reads from the cluster what a client needs.
func cloudToCheck(ctx context.Context, w *command.Workspace) (*smoke.Cloud, error) {
	if err := w.LoadSettled(); err != nil {
		return nil, err
	}
	url, password, err := access.Administrator(w)
	if err != nil {
		return nil, err
	}
	return &smoke.Cloud{
		Name: w.Config.Cloud.Name, Region: w.Config.Cloud.Region, Keystone: url, Password: password, Trust: trustOf(ctx, w), Services: servicesToCheck(w.Config),
		Image: w.Flags.String("image"), Flavor: w.Flags.String("flavor"), ExternalNetwork: w.Flags.String("external-network"), Patience: w.Flags.Duration("timeout"),
		Users: func(ctx context.Context) []smoke.User { return usersOfServices(ctx, w) },
		Hide:  w.Cluster.Secrets.Add, Mask: func(text string) string { return w.Cluster.Secrets.Text(text) },
	}, nil
}

// servicesToCheck returns the services of a configuration by the types of their endpoints, with the dashboard.
func servicesToCheck(config *configs.Config) map[string]smoke.Service {
	out := map[string]smoke.Service{}
	for i := range config.Services {
		s := &config.Services[i]
		if s.External {
			continue
		}
		x := config.Exposure(s.Exposure)
		for _, p := range s.Ports {
			found := smoke.Service{Name: s.Name, Exposed: x != nil && p.Exposed}
			if found.Exposed {
				found.URL = x.Entry(s.Name, s.Ports, p).URL()
			}
			for _, e := range s.Endpoints {
				if e.Port == p.Name {
					out[e.Type] = found
				}
			}
			if s.Definition == "horizon" {
				out[smoke.Dashboard] = found
			}
		}
	}
	return out
}

// usersOfServices reads the passwords of the users of services in Keystone. Users whose Secret cannot be read are left
// out.
func usersOfServices(ctx context.Context, w *command.Workspace) (out []smoke.User) {
	for i := range w.Config.Services {
		s := &w.Config.Services[i]
		for _, p := range s.Provided {
			if p.Type != "user" {
				continue
			}
			live, err := w.Client.Get(ctx, providers.Ref{GVK: kinds.Secret.WithVersion("v1"), Namespace: w.Config.Cloud.Namespace, Name: p.Password.Object()})
			if err != nil {
				continue
			}
			if password := string(providers.ValuesOf(live)[p.Password.Key]); password != "" {
				out = append(out, smoke.User{Service: s.Name, Name: p.Name, Domain: p.Domain, Password: password, Job: registerUsers(s).String()})
			}
		}
	}
	return out
}

// registerUsers returns the address, without a hash, of the job that makes the users of a service.
func registerUsers(s *configs.Service) addrs.Object {
	return addrs.Object{Block: s.Block, Kind: "Job", Name: s.Name + "-register-users"}
}

// unreadyWorkloads says which workloads of the state are not ready, or have no pods.
func unreadyWorkloads(ctx context.Context, w *command.Workspace) (out []string) {
	err := w.OpenLast(ctx)
	var look *status.Look
	if err == nil {
		look, err = lookAtStatus(ctx, w, nil)
	}
	if err != nil {
		return []string{"The workloads could not be looked at: " + failure.Sentence(err.Error()) + "."}
	}
	for _, s := range look.Services {
		for _, workload := range s.Workloads {
			switch {
			case !workload.Ready:
				out = append(out, fmt.Sprintf("%s is not ready (%s pods): %s.", workload.Address, workload.Count(), workload.Reason))
			case workload.Pods != nil && workload.Pods.Desired == 0:
				out = append(out, fmt.Sprintf("%s has no pods: somebody scaled it to 0, or no node is chosen for it.", workload.Address))
			}
		}
	}
	return out
}

// showCheck prints a result for people.
func showCheck(w *command.Workspace, r smoke.Result) {
	out, took := w.Streams.Out, "-"
	if r.Took > 0 {
		took = fmt.Sprintf("%.1f", r.Took.Seconds())
	}
	foreign.Fprintf(out, "%-12s %-8s %8s\n", r.Check.Name, r.Outcome, took)
	if r.Request != nil {
		foreign.Fprintf(out, "    %s\n", foreign.Line(r.Request.String()))
	}
	tell(w, "  "+foreign.Line(r.Problem))
	if r.Next != "" {
		tell(w, "  Next: "+r.Next)
	}
}

// showRest prints what comes after the results.
func showRest(w *command.Workspace, report *smoke.Report) {
	out := w.Streams.Out
	for _, part := range []struct {
		head  string
		lines []string
	}{{"Also found", report.Causes}, {"Left behind, until the next kolla check or kolla check -clean", report.Left}} {
		if len(part.lines) > 0 {
			fmt.Fprintf(out, "\n%s:\n", part.head)
		}
		for _, line := range part.lines {
			tell(w, "- "+foreign.Line(line))
		}
	}
	fmt.Fprintf(out, "\n%s\n", report.Summary())
}

// cleanChecks removes what checks left behind.
func cleanChecks(ctx context.Context, w *command.Workspace, cloud *smoke.Cloud) error {
	removed, left, err := smoke.Clean(ctx, cloud)
	if err != nil {
		return failure.New("The projects of checks cannot be listed", err.Error())
	}
	for _, name := range removed {
		foreign.Fprintf(w.Streams.Out, "Removed project %s with all that it had.\n", foreign.Name(name))
	}
	if len(left) > 0 {
		return failure.New("Some projects could not be removed", strings.Join(left, " "))
	}
	if len(removed) == 0 {
		fmt.Fprintln(w.Streams.Out, "No check left anything behind.")
	}
	return nil
}
