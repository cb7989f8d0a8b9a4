package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// powerOptions let a plan do more than the configuration says. An apply of a saved plan needs them
// again. Otherwise anyone who can edit the file could destroy the cloud.
var powerOptions = []string{"destroy", "adopt", "force-conflicts", "replace", "rotate", "delete-data", keepDataFlag, "override-policy", "allow-unverified", "force-release", "force-data"}

// narrowOptions restrict a plan. A saved plan has them in its file.
var narrowOptions = []string{"target", "target-file", "exclude", "until", "refresh-only"}

// powers returns the given options of powerOptions, sorted, as a command line has them.
func powers(c *cli.Context) []string {
	var out []string
	for _, name := range powerOptions {
		switch value := c.Value(name).(type) {
		case bool:
			if value {
				out = append(out, "-"+name)
			}
		case cli.StringSlice:
			for _, text := range value.Value() {
				out = append(out, words.Option("-"+name, text))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkNarrow refuses narrowOptions together with a saved plan.
func checkNarrow(c *cli.Context, file string) error {
	for _, name := range narrowOptions {
		if c.IsSet(name) {
			return failure.New("A saved plan takes no plan options", fmt.Sprintf("%s already fixes -%s.", file, name))
		}
	}
	return nil
}

// checkPowers refuses an apply with other powerOptions than those of the saved plan.
func checkPowers(c *cli.Context, file string, plan *plans.Plan) error {
	given := powers(c)
	for _, option := range given {
		if !slices.Contains(plan.Options, option) {
			return failure.New("The saved plan was made without "+option, fmt.Sprintf("%s does not allow more than it shows. Make a new plan with %s.", file, option))
		}
	}
	var lacking []string
	for _, option := range plan.Options {
		if !slices.Contains(given, option) {
			lacking = append(lacking, option)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return failure.New("The saved plan needs its options again", fmt.Sprintf(
		"According to the plan file, the plan was made with %q. Anybody who can write to the file could have added these options, so you must give them again to confirm them:\n\n  kolla apply %s %s",
		strings.Join(lacking, " "), strings.Join(lacking, " "), words.Quote(file)))
}

// checkSkip refuses -skip-drifted for a plan whose rest is planned during the apply, because that
// would plan the skipped actions again.
func checkSkip(c *cli.Context, plan *plans.Plan) error {
	waiting := plan.Waiting()
	if !c.Bool(skipDriftedFlag) || len(waiting) == 0 {
		return nil
	}
	return failure.New("This plan takes no -skip-drifted", fmt.Sprintf(
		"A part of the plan is made during the apply, after these data blocks are read: %s. That part would change the objects that others changed. Nothing was changed. Make a new plan.", strings.Join(waiting, ", ")))
}

// runSavedPlan carries out a plan from a file. It makes the plan again, and carries out the
// part that the file contains; see package approval.
func runSavedPlan(w *command.Workspace, file string) error {
	ctx := w.Flags.Context
	if err := checkNarrow(w.Flags, file); err != nil {
		return err
	}
	plan, err := plans.LoadTrusted(file)
	if err != nil {
		return err
	}
	if err := checkPowers(w.Flags, file, plan); err != nil {
		return err
	}
	if err := checkSkip(w.Flags, plan); err != nil {
		return err
	}
	w.Loading.Destroy, w.Loading.Restricted = plan.Destroy, plan.Selection.Restricts()
	if !plan.Destroy {
		w.Loading.Cluster = w.Cluster
	}
	if err := w.Connect(ctx); err != nil {
		return err
	}
	return w.Locked(ctx, "apply", func(session *state.Session) error {
		if err := executor.Check(session, plan, w.Cluster.Identity()); err != nil {
			return err
		}
		w.Cluster.Prefetch(ctx, session.State())
		made, held, err := planAgain(ctx, w, session.State(), plan)
		if err != nil {
			return err
		}
		if err := w.Engine().Enforce(made); err != nil {
			return err
		}
		if err := writable(made.Plan, held); err != nil {
			return err
		}
		if made.Rebuilt != nil {
			session.Seed(made.Rebuilt)
		}
		about := *made.Plan
		about.Created = plan.Created
		w.Printer.About(&about, w.Cluster.Identity().Server, w.Client.Context(), view.PlanOptions{Saved: true, Now: time.Now()})
		made.Loaded.Loading.Check = !plan.Destroy
		return carryOut(ctx, w, session, made, held)
	})
}

// planAgain makes the saved plan again. It returns the part that is carried out, and the
// actions that must not start.
func planAgain(ctx context.Context, w *command.Workspace, st *state.State, saved *plans.Plan) (*engine.PlanResult, map[addrs.Object]error, error) {
	loaded, err := w.Engine().LoadPlanned(ctx, saved, w.Loading)
	var missing *engine.MissingValuesError
	if errors.As(err, &missing) {
		w.Printer.Warn(missing.Warning())
	}
	if err != nil {
		return nil, nil, err
	}
	w.Config = loaded.Config
	if err := st.CheckCloud(w.Config.Cloud.Name); err != nil {
		return nil, nil, err
	}
	options, err := planOptions(w, saved)
	if err != nil {
		return nil, nil, err
	}
	made, held, err := w.Engine().PlanAgain(ctx, saved, loaded, st, options)
	var other *engine.OtherPlanError
	if errors.As(err, &other) {
		w.Printer.Events.Problems(other.Problems())
	}
	return made, held, err
}

// savedCommand returns the command line that carries out a plan which was just saved. Values of
// sensitive variables are not in it.
func savedCommand(w *command.Workspace, plan *plans.Plan, file string) string {
	parts := append([]string{"kolla apply"}, plan.Options...)
	for _, policies := range w.Flags.StringSlice("policy") {
		parts = append(parts, words.Option("-policy", policies))
	}
	for _, v := range command.GivenVars(w.Flags) {
		name, _, _ := strings.Cut(v.Assignment, "=")
		switch {
		case v.File != "":
			parts = append(parts, words.Option("-var-file", v.File))
		case plan.Variables[strings.TrimSpace(name)] != nil:
			parts = append(parts, "-var "+words.Quote(v.Assignment))
		default:
			parts = append(parts, "-var "+words.Quote(name+"=..."))
		}
	}
	return strings.Join(append(parts, words.Quote(file)), " ")
}
