package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// powerOptions let a plan do more than the configuration alone would. Whoever applies a
// saved plan repeats them: by the file alone, an edited one could destroy the cloud.
var powerOptions = []string{"destroy", "adopt", "force-conflicts", "replace", "delete-data"}

// narrowOptions leave something out of a plan. They are in the file.
var narrowOptions = []string{"target", "target-file", "exclude", "refresh-only"}

// powers are the options of powerOptions that are given, as they are written on a
// command line, sorted; nil: none.
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

// checkNarrow refuses options beside a saved plan that are in its file.
func checkNarrow(c *cli.Context, file string) error {
	for _, name := range narrowOptions {
		if c.IsSet(name) {
			return failure.New("A saved plan takes no plan options", fmt.Sprintf("What -%s decides was decided when %s was made.", name, file))
		}
	}
	return nil
}

// checkPowers refuses an apply whose other options are not those of the saved plan.
func checkPowers(c *cli.Context, file string, plan *plans.Plan) error {
	given := powers(c)
	for _, option := range given {
		if !slices.Contains(plan.Options, option) {
			return failure.New("A saved plan takes no plan options", fmt.Sprintf("What %s decides was decided when %s was made, and it was made without. Make a new plan with it.", option, file))
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
		"By the file, the plan was made with %q. Whoever can write the file could have added that, so that it counts only if you say it too. If it is meant:\n\n  kolla apply %s %s",
		strings.Join(lacking, " "), strings.Join(lacking, " "), words.Quote(file)))
}

// runSavedPlan carries out a plan from a file. The plan is made again, and is carried out
// as far as the file shows it; see package approval.
func runSavedPlan(w *workspace, file string) error {
	ctx := w.flags.Context
	if err := checkNarrow(w.flags, file); err != nil {
		return err
	}
	plan, err := plans.LoadTrusted(file)
	if err != nil {
		return err
	}
	if err := checkPowers(w.flags, file, plan); err != nil {
		return err
	}
	w.loading.Destroy, w.loading.Restricted = plan.Destroy, plan.Selection.Restricts()
	if !plan.Destroy {
		w.loading.Cluster = w.cluster
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "apply", func(session *state.Session) error {
		if err := executor.Check(session, plan, w.cluster.Identity()); err != nil {
			return err
		}
		made, held, err := w.planAgain(ctx, session.State(), plan)
		if err != nil {
			return err
		}
		about := *made.Plan
		about.Created = plan.Created
		w.printer.About(&about, w.cluster.Identity().Server, w.client.Context(), view.PlanOptions{Saved: true, Now: time.Now()})
		made.Loaded.Loading.Check = !plan.Destroy
		return w.carryOut(ctx, session, made, held)
	})
}

// planAgain makes the saved plan again. It returns the part that is carried out, and the
// actions that must not start.
func (w *workspace) planAgain(ctx context.Context, st *state.State, saved *plans.Plan) (*engine.Made, map[addrs.Object]error, error) {
	loaded, err := w.engine().LoadPlanned(ctx, saved, w.loading)
	if err != nil {
		return nil, nil, err
	}
	w.config = loaded.Config
	if err := st.CheckCloud(w.config.Cloud.Name); err != nil {
		return nil, nil, err
	}
	options, err := w.planOptions(saved)
	if err != nil {
		return nil, nil, err
	}
	return w.engine().PlanAgain(ctx, saved, loaded, st, options)
}

// savedCommand is the command line that carries out a plan which was just saved. Values of
// sensitive variables are not in it.
func savedCommand(w *workspace, plan *plans.Plan, file string) string {
	parts := append([]string{"kolla apply"}, plan.Options...)
	for _, v := range givenVars(w.flags) {
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
