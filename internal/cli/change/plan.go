// Package change has the commands that plan changes of a cloud, and carry them out: plan,
// apply, destroy and rollout.
package change

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/rollout"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Plan is `kolla plan`.
func Plan(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Usage: "Show what would change in the cluster, and why",
		Description: `
Compares the configuration with the live cluster, object by object, by asking the
API server for the result of an apply. Changes nothing.

-target and -exclude plan a part of the cloud. A target includes its dependencies. -exclude
also leaves out the dependants of an excluded object. For deletions, a target includes its
dependants.

Exit codes: 0 done, 1 error; with -detailed-exitcode 0 no changes, 2 changes. An
unchanged object that is not ready is shown, but is no change. Objects that could not be
compared are an error without -allow-unverified. A plan that a policy denies is an error.
A plan with errors is shown, with the errors below it, and is not saved.`,
		Flags: append(append(append(append(planFlags(), changeFlags()...), command.FormatFlags()...), dataFlags()...),
			&cli.StringFlag{Name: "out", Usage: "save the plan to `FILE`, for kolla apply FILE"},
			destroyFlag("plan to destroy the cloud"),
			&cli.StringFlag{Name: generateFlag, Usage: "write manifests for import blocks with an undeclared target to the new `FILE`, and plan with them"},
			&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 when there are changes"},
			command.AnnotationsFlag()),
		Action: func(c *cli.Context) error {
			outputs, err := command.Outputs(c)
			if err != nil {
				return err
			}
			stdout := s.Out
			if outputs.Stdout() {
				if c.Bool("json") {
					return failure.New("There are two formats for standard output", "-json prints events to standard output, and -format prints the plan there. Remove one of the options, or write the events to a file with -json-into.")
				}
				s.Out = s.Err
			}
			return withEvents(s, c, func(w *command.Workspace) error {
				w.Outputs = outputs
				return command.Annotated(w, stdout, func() error { return runPlan(w, stdout) })
			})
		},
	}
}

func runPlan(w *command.Workspace, stdout io.Writer) error {
	ctx := w.Flags.Context
	target := files.Output{Path: w.Flags.String("out"), Option: "-out", Content: "plan", Ours: isPlan}
	if err := target.Check(); err != nil {
		return err
	}
	if err := checkGenerated(w.Flags.String(generateFlag)); err != nil {
		return err
	}
	w.Cluster.Warnings.Gather()
	defer w.Cluster.Warnings.Flush()
	loadForPlan(w, w.Flags.Bool("destroy"))
	w.Undeclared = w.Flags.String(generateFlag) != ""
	st, err := w.Open(ctx)
	if err != nil {
		return err
	}
	if err := generate(ctx, w); err != nil {
		return err
	}
	holder, err := w.Store.Holder()
	if err != nil {
		return err
	}
	abandoned, err := w.Store.Abandoned()
	if err != nil {
		return err
	}
	made, err := makePlan(ctx, w, st)
	if err != nil {
		return err
	}
	plan := made.Plan
	if err := w.ShowPlan(stdout, plan); err != nil {
		return err
	}
	if !plan.Destroy {
		printOutdated(w.Streams.Out, w.Cluster.Snapshot(), rollout.Workloads(st))
	}
	command.WarnOfHolder(w.Printer, holder)
	command.WarnOfAbandoned(w.Printer, abandoned, "the next apply carries on from there")
	if out := w.Flags.String("out"); out != "" && !plan.Refused() {
		if err := plans.Save(out, plan); err != nil {
			return err
		}
		command := ""
		if !plan.Empty() {
			command = savedCommand(w, plan, out)
		}
		w.Printer.Events.Log("Saved the plan to " + out)
		if err := view.Saved(w.Printer.Out, out, command, plan.Denied()); err != nil {
			return err
		}
	}
	if err := w.Engine().Enforce(made); err != nil {
		return err
	}
	if n := plan.Uncompared(); n > 0 && !w.Flags.Bool("allow-unverified") {
		return notCompared(n)
	}
	if w.Flags.Bool("detailed-exitcode") && (plan.Changes() || plan.Drifted()) {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// loadForPlan says how to load the configuration for a plan.
func loadForPlan(w *command.Workspace, destroy bool) {
	w.Loading.Destroy, w.Loading.Check = destroy, !destroy
	if !destroy {
		w.Loading.Cluster = w.Cluster
	}
}

// notCompared returns the error of a plan that may not show all changes.
func notCompared(objects int) error {
	what := words.Count(objects, "object") + words.Plural(objects, " was", " were")
	return failure.New(what+" not compared", "They may have changed without this plan showing it. The plan lists them, and why. Remove the cause and plan again, or accept it with -allow-unverified.")
}

// isPlan reports whether a file is a plan. A damaged plan, or one of a newer kolla, is a plan.
func isPlan(path string) (bool, error) {
	_, err := plans.Load(path)
	switch {
	case errors.Is(err, plans.ErrNotAPlan), errors.Is(err, files.ErrTooLarge):
		return false, nil
	case errors.Is(err, plans.ErrDamaged), errors.Is(err, plans.ErrNewer):
		return true, nil
	}
	return err == nil, err
}

// makePlan makes a new plan with the options of the command.
func makePlan(ctx context.Context, w *command.Workspace, st *state.State) (*engine.PlanResult, error) {
	options, err := planOptions(w, nil)
	if err != nil {
		return nil, err
	}
	made, err := w.Engine().Plan(ctx, engine.Loaded{Config: w.Config, Loading: w.Loading}, st, options)
	if err != nil {
		return nil, err
	}
	w.Config = made.Loaded.Config
	return made, nil
}
