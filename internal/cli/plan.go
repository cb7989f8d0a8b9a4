package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/internal/rollout"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

func planCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Usage: "Show what would change in the cluster, and why",
		Description: `
Compares the configuration with the live cluster, object by object, by asking the
API server what an apply would do. Changes nothing.

With -target or -exclude a part of the cloud is planned: a target with all that it
depends on, without what depends on something excluded. Where something is to be
deleted it is the other way round.

Exit codes: 0 done, 1 error; with -detailed-exitcode 0 no changes, 2 changes. What
is as declared but not ready yet is shown, and is no change. What could not be compared
is an error, unless -allow-unverified is given.`,
		Flags: append(append(append(planFlags(), changeFlags()...), formatFlags()...),
			&cli.StringFlag{Name: "out", Usage: "save the plan to `FILE`, for kolla apply FILE"},
			destroyFlag("plan to take the cloud down"),
			deleteDataFlag(),
			&cli.StringFlag{Name: generateFlag, Usage: "write manifests for import blocks whose `to` is not declared to the new `FILE`, and plan with them"},
			&cli.BoolFlag{Name: "allow-unverified", Usage: "accept objects that could not be compared: without it they are an error"},
			&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 when there are changes"}),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			outputs, err := outputsOf(c)
			if err != nil {
				return err
			}
			stdout := s.out
			if outputs.Stdout() {
				if c.Bool("json") {
					return failure.New("There are two formats for standard output", "-json prints events there, and -format the plan. Leave one of them out, or write the events to a file with -json-into.")
				}
				s.out = s.err
			}
			return withEvents(s, c, func(w *workspace) error {
				w.outputs = outputs
				return runPlan(w, stdout)
			})
		},
	}
}

func runPlan(w *workspace, stdout io.Writer) error {
	ctx := w.flags.Context
	if err := checkTarget(w.flags.String("out")); err != nil {
		return err
	}
	if err := checkGenerated(w.flags.String(generateFlag)); err != nil {
		return err
	}
	w.cluster.Warnings.Gather()
	defer w.cluster.Warnings.Flush()
	w.loadForPlan(w.flags.Bool("destroy"))
	st, err := w.open(ctx)
	if err != nil {
		return err
	}
	if err := w.generate(ctx); err != nil {
		return err
	}
	holder, err := w.store.Holder()
	if err != nil {
		return err
	}
	abandoned, err := w.store.Abandoned()
	if err != nil {
		return err
	}
	made, err := w.makePlan(ctx, st)
	if err != nil {
		return err
	}
	plan := made.Plan
	if !w.outputs.Stdout() {
		if err := w.showPlan(plan); err != nil {
			return err
		}
	}
	if err := w.outputs.Write(stdout, plan, time.Time{}); err != nil {
		return err
	}
	if !plan.Destroy {
		w.printOutdated(w.cluster.Snapshot(), rollout.Workloads(st))
	}
	w.warnOf(holder)
	w.warnOfAbandoned(abandoned, "the next apply carries on from there")
	if file := w.flags.String("out"); file != "" {
		if err := plans.Save(file, plan); err != nil {
			return err
		}
		command := ""
		if !plan.Empty() {
			command = savedCommand(w, plan, file)
		}
		if err := w.printer.Saved(file, command); err != nil {
			return err
		}
	}
	if n := plan.Tally().NotCompared; n > 0 && !w.flags.Bool("allow-unverified") {
		return notCompared(n)
	}
	if w.flags.Bool("detailed-exitcode") && (plan.Changes() || plan.Drifted()) {
		return exitCode(exitChanges)
	}
	return nil
}

// loadForPlan has the configuration loaded for a plan, or for the plan of a destroy.
func (w *workspace) loadForPlan(destroy bool) {
	w.loading.Destroy, w.loading.Check = destroy, !destroy
	if !destroy {
		w.loading.Cluster = w.cluster
	}
}

// notCompared says that a plan cannot be relied on to show all changes.
func notCompared(objects int) error {
	what := fmt.Sprintf("%d objects were not compared", objects)
	if objects == 1 {
		what = "1 object was not compared"
	}
	return failure.New(what, "They may have changed without this plan showing it. The plan lists them, and why. Remove the cause and plan again, or accept it with -allow-unverified.")
}

// warnOf says that somebody else was at work while the plan was made.
func (w *workspace) warnOf(holder *state.LockInfo) {
	if holder == nil {
		return
	}
	w.printer.Warn(fmt.Sprintf("%s has been at work since %s: kolla %s", holder.Who, holder.Created.Local().Format("15:04"), holder.Operation),
		"What is shown may be out of date when that ends: plan again then.")
}

// warnOfAbandoned says that a run was killed, and who goes on. Nil: none was.
func (w *workspace) warnOfAbandoned(last *state.LockInfo, next string) {
	if last == nil {
		return
	}
	w.printer.Warn("The last "+last.Operation+" did not end",
		fmt.Sprintf("It was started by %s at %s and was killed, or its machine was. What it wrote is known; %s.",
			last.Who, last.Created.Local().Format("2006-01-02 15:04"), next))
}

// checkTarget refuses to write a plan over anything but another plan.
func checkTarget(path string) error {
	if path == "" {
		return nil
	}
	err := files.CheckTarget(path)
	if err == nil {
		_, err = plans.Load(path)
	}
	if errors.Is(err, plans.ErrNotAPlan) || errors.Is(err, files.ErrNotRegular) {
		return failure.New("There is another file of that name", fmt.Sprintf("%s is no plan file, and -out would overwrite it. Choose another name.", path))
	}
	return nil
}

func (w *workspace) showPlan(plan *plans.Plan) error { return w.printer.Plan(plan, w.viewOptions()) }

func (w *workspace) viewOptions() view.PlanOptions {
	return view.PlanOptions{Full: w.flags.Bool("full"), Compact: w.flags.Bool("compact")}
}
