// Package operate has `kolla operator`: it runs the operator of Kubernetes, and shows people what the
// operator does.
package operate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/operator"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Command is `kolla operator`.
func Command(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "operator",
		Usage: "Run the operator of Kubernetes, or ask it",
		Description: `
Without a command it runs the operator, which keeps each object of the kind Cloud as its
source declares it: HCL files in ConfigMaps, in a Git repository or in an OCI artefact. It
plans and applies as kolla plan and kolla apply do, with the rights of the service account
that the Cloud names. kolla operator manifests prints what installs it; docs/operator.md
describes it.

Its log on standard error has a JSON object in each line.`,
		Flags: append(command.ClusterFlags(),
			&cli.StringFlag{Name: "namespace", Usage: "only look at Clouds in the namespace `NAME`"},
			&cli.StringFlag{Name: "lease-namespace", Usage: "elect a leader with a Lease in the namespace `NAME`, so that several of these can run"},
			&cli.StringFlag{Name: "metrics", Usage: "serve metrics at `ADDRESS`, such as :8080"},
			&cli.StringFlag{Name: "health", Usage: "serve /healthz and /readyz at `ADDRESS`, such as :8081"},
			&cli.IntFlag{Name: "workers", Value: 4, Usage: "work on up to `N` Clouds at once"}),
		Action: func(c *cli.Context) error {
			log := s.Log
			if log == nil {
				log = slog.New(slog.NewJSONHandler(s.Err, nil))
			}
			return operator.Run(c.Context, operator.Options{
				Kubernetes: optionsOf(s, c), Namespace: c.String("namespace"), LeaseNamespace: c.String("lease-namespace"),
				Metrics: c.String("metrics"), Health: c.String("health"), Workers: c.Int("workers"), Version: s.Version, Log: log,
			})
		},
		Subcommands: []*cli.Command{
			statusCommand(s), planCommand(s), approveCommand(s), reconcileCommand(s), suspendCommand(s), resumeCommand(s), eventsCommand(s), manifestsCommand(s),
		},
	}
}

func optionsOf(s command.Streams, c *cli.Context) kubernetes.Options {
	return kubernetes.Options{Kubeconfig: c.String("kubeconfig"), Context: c.String("context"), UserAgent: "kolla-operator/" + s.Version, Secrets: s.Secrets}
}

// flags returns the options of commands that ask the operator.
func flags(more ...cli.Flag) []cli.Flag {
	return append(append(command.ClusterFlags(),
		&cli.StringFlag{Name: "namespace", Aliases: []string{"n"}, Usage: "the namespace `NAME` of the Cloud; without it, all are searched"}), more...)
}

// task is the work of a command on one Cloud.
type task func(context.Context, *operator.Clouds, *v1alpha1.Cloud, *cli.Context) error

// asking returns a command about one Cloud.
func asking(s command.Streams, cmd *cli.Command, do task) *cli.Command {
	cmd.ArgsUsage = "[CLOUD]"
	cmd.Action = func(c *cli.Context) error {
		clouds, err := connect(s, c)
		if err != nil {
			return err
		}
		cloud, err := clouds.Find(c.Context, c.Args().First())
		if err != nil {
			return err
		}
		return do(c.Context, clouds, cloud, c)
	}
	return cmd
}

// connect finds the cluster of a command that takes the name of a Cloud or nothing.
func connect(s command.Streams, c *cli.Context) (*operator.Clouds, error) {
	if err := command.AtMost(c, 1); err != nil {
		return nil, err
	}
	return operator.Connect(optionsOf(s, c), c.String("namespace"))
}

// telling returns a command that asks the operator for something, and says so. In the text, %s is the name of
// the Cloud.
func telling(s command.Streams, cmd *cli.Command, do task, says string) *cli.Command {
	cmd.Flags = flags()
	return asking(s, cmd, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, c *cli.Context) error {
		if err := do(ctx, clouds, cloud, c); err != nil {
			return err
		}
		foreign.Fprintf(s.Out, says+"\n", cloud.Name)
		return nil
	})
}

func statusCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "Show Clouds, what the operator does, and what it waits for",
		ArgsUsage: "[CLOUD]",
		Description: `
Without a name it lists all Clouds. With a name it shows the conditions of the Cloud, its
newest plan, drift, and its services.

Exit codes: 0 all are ready, 1 error, 2 some are not ready.`,
		Flags: flags(command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			clouds, err := connect(s, c)
			if err != nil {
				return err
			}
			var all []v1alpha1.Cloud
			if name := c.Args().First(); name != "" {
				cloud, err := clouds.Find(c.Context, name)
				if err != nil {
					return err
				}
				describe(s, cloud)
				all = append(all, *cloud)
			} else {
				if all, err = clouds.All(c.Context); err != nil {
					return err
				}
				if err := list(s, all); err != nil {
					return err
				}
			}
			for i := range all {
				if !meta.IsStatusConditionTrue(all[i].Status.Conditions, v1alpha1.Ready) {
					return command.ExitCode(command.ExitChanges)
				}
			}
			return nil
		},
	}
}

// list prints a line for each Cloud.
func list(s command.Streams, all []v1alpha1.Cloud) error {
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "There are no Clouds.")
		return nil
	}
	table := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tCLOUD\tREADY\tSTATUS\tPLAN\tDRIFT")
	for i := range all {
		c := &all[i]
		reason := "-"
		if ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.Ready); ready != nil {
			reason = ready.Reason
		}
		plan, drift := "-", "-"
		if c.Status.Plan != nil {
			plan = c.Status.Plan.Summary
		}
		if c.Status.Drift != nil {
			drift = words.Count(int(c.Status.Drift.Objects), "object")
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", c.Namespace, c.Name, conditionOf(c, v1alpha1.Ready), reason, plan, drift)
	}
	return table.Flush()
}

func conditionOf(c *v1alpha1.Cloud, kind string) metav1.ConditionStatus {
	if found := meta.FindStatusCondition(c.Status.Conditions, kind); found != nil {
		return found.Status
	}
	return metav1.ConditionUnknown
}

// describe prints all about a Cloud.
func describe(s command.Streams, c *v1alpha1.Cloud) {
	foreign.Fprintf(s.Out, "Cloud %s in namespace %s, approval %s\n", c.Name, c.Namespace, c.Spec.Approval)
	if revision := c.Status.Source.Revision; revision != "" {
		foreign.Fprintf(s.Out, "  source:   %s\n  applied:  %s\n", revision, cmp.Or(c.Status.Source.Applied, "-"))
	}
	for _, condition := range c.Status.Conditions {
		foreign.Fprintf(s.Out, "\n%s: %s (%s), %s\n", condition.Type, condition.Status, condition.Reason, words.Ago(time.Since(condition.LastTransitionTime.Time)))
		for line := range strings.Lines(condition.Message) {
			foreign.Fprintf(s.Out, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	for _, warning := range c.Status.Warnings {
		foreign.Fprintf(s.Out, "\nWarning: %s\n", warning)
	}
	if plan := c.Status.Plan; plan != nil {
		foreign.Fprintf(s.Out, "\nPlan %s: %s\n", plan.Name, plan.Summary)
		for _, danger := range plan.Dangers {
			foreign.Fprintf(s.Out, "  ! %s\n", danger)
		}
		foreign.Fprintf(s.Out, "  kolla operator plan -n %s %s shows it, and kolla operator approve allows it.\n", c.Namespace, c.Name)
	}
	if a := c.Status.LastApply; a != nil {
		foreign.Fprintf(s.Out, "\nLast apply: %s of %s at %s\n", a.Result, a.Plan, a.Ended.Local().Format("2006-01-02 15:04:05"))
	}
	if len(c.Status.Services) == 0 {
		return
	}
	fmt.Fprintln(s.Out)
	table := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tREADY\tPODS\tVERSION\tWAITS FOR")
	for _, service := range c.Status.Services {
		first, _, _ := strings.Cut(service.WaitsFor, "\n")
		foreign.Fprintf(table, "%s\t%t\t%s\t%s\t%s\n", service.Name, service.Ready, cmp.Or(service.Pods, "-"), cmp.Or(service.Version, "-"), cmp.Or(first, "-"))
	}
	_ = table.Flush()
}

// show prints a plan as kolla plan does.
func show(s command.Streams, c *cli.Context, plan *plans.Plan) error {
	options := command.Details(c)
	options.Saved, options.Now = true, time.Now()
	return s.Printer(c).Plan(plan, options)
}

func planCommand(s command.Streams) *cli.Command {
	return asking(s, &cli.Command{
		Name:  "plan",
		Usage: "Show the newest plan of a Cloud",
		Description: `
Shows the plan as kolla plan does, and what became of it.`,
		Flags: flags(append(command.DetailFlags(),
			&cli.Int64Flag{Name: "number", Usage: "show the plan with the number `N`, and not the newest one"}, command.NoColorFlag())...),
	}, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, c *cli.Context) error {
		record, plan, err := clouds.Plan(ctx, cloud, c.Int64("number"))
		if err != nil {
			return err
		}
		if err := show(s, c, plan); err != nil {
			return err
		}
		foreign.Fprintf(s.Out, "\n%s: %s", record.Name, record.Status.Phase)
		if record.Status.Approved != "" {
			foreign.Fprintf(s.Out, ", allowed by %s", record.Status.Approved)
		}
		foreign.Fprintf(s.Out, "\n%s\n", record.Status.Message)
		return nil
	})
}

func approveCommand(s command.Streams) *cli.Command {
	return asking(s, &cli.Command{
		Name:  "approve",
		Usage: "Let the operator apply the newest plan of a Cloud",
		Description: `
Shows the plan, asks, and sets spec.approvedPlan to its digest. The operator applies this
plan and no other one. If the Cloud itself is kept in Git, write the digest there.`,
		Flags: flags(append(command.DetailFlags(), &cli.BoolFlag{Name: "auto-approve", Usage: "do not ask"},
			&cli.StringFlag{Name: "digest", Usage: "only approve the plan with this `DIGEST`"}, command.NoColorFlag())...),
	}, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, c *cli.Context) error {
		waits := cloud.Status.Plan
		if waits == nil {
			return failure.New(fmt.Sprintf("No plan of Cloud %s waits", cloud.Name), "`kolla operator status` shows what the operator does.")
		}
		if digest := c.String("digest"); digest != "" && digest != waits.Digest {
			return failure.New("That is not the newest plan of Cloud "+cloud.Name, fmt.Sprintf("The newest is %s, with the digest %s. Nothing was approved.", waits.Name, waits.Digest))
		}
		if !c.Bool("auto-approve") {
			record, plan, err := clouds.Plan(ctx, cloud, 0)
			if err != nil {
				return err
			}
			if record.Spec.Digest != waits.Digest {
				return failure.New("Cloud "+cloud.Name+" has a newer plan by now", "Nothing was approved. Look at it again.")
			}
			if err := show(s, c, plan); err != nil {
				return err
			}
			if err := s.Approve(ctx, "\nDo you want the operator to do this?"); err != nil {
				return err
			}
		}
		if err := clouds.Approve(ctx, cloud, waits.Digest); err != nil {
			return err
		}
		foreign.Fprintf(s.Out, "Approved %s. The operator applies it; `kolla operator status -n %s %s` shows how far it is.\n", waits.Name, cloud.Namespace, cloud.Name)
		return nil
	})
}

func reconcileCommand(s command.Streams) *cli.Command {
	return telling(s, &cli.Command{
		Name:  "reconcile",
		Usage: "Let the operator fetch the source and plan now",
		Description: `
The operator does it at spec.interval, and after changes that it sees, without this.`,
	}, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, _ *cli.Context) error {
		return clouds.Annotate(ctx, cloud, v1alpha1.AnnotationReconcile)
	}, "The operator looks at Cloud %s now.")
}

func suspendCommand(s command.Streams) *cli.Command {
	return telling(s, &cli.Command{
		Name:  "suspend",
		Usage: "Stop the operator from planning and applying a Cloud",
		Description: `
Sets spec.suspend. An apply that runs finishes its present writes and stops. The objects of
the cloud stay as they are.`,
	}, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, _ *cli.Context) error {
		return clouds.Suspend(ctx, cloud, true)
	}, "Cloud %s is suspended. kolla operator resume ends that.")
}

func resumeCommand(s command.Streams) *cli.Command {
	return telling(s, &cli.Command{
		Name:  "resume",
		Usage: "Let the operator go on with a Cloud",
		Description: `
Ends a suspension, and gives back to the operator a cloud that somebody took over with
kolla apply -take-over. The next plan then shows what that somebody did differently from
the source.`,
	}, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, _ *cli.Context) error {
		if cloud.Spec.Suspend {
			if err := clouds.Suspend(ctx, cloud, false); err != nil {
				return err
			}
		}
		return clouds.Annotate(ctx, cloud, v1alpha1.AnnotationResume)
	}, "The operator goes on with Cloud %s.")
}

func eventsCommand(s command.Streams) *cli.Command {
	return asking(s, &cli.Command{
		Name:  "events",
		Usage: "List what the operator did and found in the last hour",
		Flags: flags(),
	}, func(ctx context.Context, clouds *operator.Clouds, cloud *v1alpha1.Cloud, _ *cli.Context) error {
		all, err := clouds.Events(ctx, cloud)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			foreign.Fprintf(s.Out, "There are no events of Cloud %s. A server keeps them for an hour.\n", cloud.Name)
			return nil
		}
		table := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "TIME\tTYPE\tREASON\tCOUNT\tNOTE")
		for _, e := range all {
			foreign.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", e.Time.Local().Format(time.DateTime), e.Level, e.Reason, e.Count, strings.ReplaceAll(e.Note, "\n", " | "))
		}
		return table.Flush()
	})
}
