package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/approval"
	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/internal/words"
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
	w.approved, w.destroys, w.reads = plan, plan.Destroy, !plan.Destroy
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "apply", func(session *state.Session) error {
		if err := executor.Check(session, plan, w.cluster); err != nil {
			return err
		}
		approved, err := w.planAgain(ctx, session.State(), plan)
		if err != nil {
			return err
		}
		about := *approved
		about.Created = plan.Created
		w.printer.About(&about, w.cluster.Server, w.client.Context(), view.PlanOptions{Saved: true, Now: time.Now()})
		w.checks = !w.destroys
		return w.carryOut(ctx, session, approved)
	})
}

// planAgain makes the saved plan again, and returns what of it is to be carried out.
func (w *workspace) planAgain(ctx context.Context, st *state.State, saved *plans.Plan) (*plans.Plan, error) {
	if err := w.loadPlanned(saved); err != nil {
		return nil, err
	}
	if err := st.CheckCloud(w.config.Cloud.Name); err != nil {
		return nil, err
	}
	w.warnings.gather()
	defer w.warnings.flush()
	made, err := w.comparison(ctx, st, saved.Destroy)
	for err == nil && made.plan != nil && w.reads && w.overtaken(made.plan) {
		if err = w.loadConfig(); err == nil {
			made, err = w.comparison(ctx, st, saved.Destroy)
		}
	}
	if err != nil {
		return nil, err
	}
	if made.plan == nil {
		w.printer.Problems(made.problems)
		return nil, exitCode(exitError)
	}
	w.warnings.into(made.plan)
	verdict := approval.Check(saved, approval.Fresh{Plan: made.plan, Problems: made.problems, Objects: made.objects, Live: made.snapshot.Get})
	untold, err := w.compareValues(ctx, saved, made)
	if err != nil {
		return nil, err
	}
	switch {
	case len(verdict.Problems) > 0:
		w.printer.Problems(verdict.Problems)
		return nil, exitCode(exitError)
	case len(verdict.Differences) > 0:
		return nil, notMadeAgain(verdict.Differences)
	}
	w.warnUntold(untold)
	w.held = verdict.Held
	return verdict.Plan, nil
}

// notMadeAgain refuses a saved plan that a new one differs from.
func notMadeAgain(differences []approval.Difference) error {
	const most = 10
	var b strings.Builder
	b.WriteString("It was made again, from the configuration, the variables and the cluster, and is another one now:\n")
	for i, d := range differences {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(differences)-most)
			break
		}
		b.WriteString("\n  ")
		if d.Address.Kind != "" {
			b.WriteString(d.Address.String() + ": ")
		}
		b.WriteString(d.Text)
	}
	b.WriteString("\n\nNothing was changed. Either somebody edited the file, or something that the plan depends on has changed since. Make a new plan, and look at it.")
	return failure.New("The saved plan is not what would be done", b.String())
}

// loadPlanned reads the configuration that was planned, with the values that its
// variables have now. Those of the file are only what they have to be: in a variable may
// be the name of an image.
func (w *workspace) loadPlanned(plan *plans.Plan) error {
	config, diags := w.readConfig()
	switch {
	case w.unanswered != nil:
		return w.unanswered
	case diags.HasErrors() && len(config.Files) == 0:
		return failure.New(
			"The saved plan needs its configuration",
			"A saved plan is made again before it is carried out, and compared with the file. There is no configuration in this directory. Apply the plan in the directory where it was made, or name that with -chdir.")

	}
	if err := w.take(config, diags); err != nil {
		if options := variableOptions(plan, func(name string) bool { return config.Variables[name] == nil }); len(options) > 0 {
			w.printer.Warn("Variables of the plan have no value here", "They have to be given again. By the file, the plan was made with:\n\n  "+strings.Join(options, " "))
		}
		return err
	}
	if w.config.Digest != plan.Config {
		return w.notAsPlanned(plan, "A saved plan is made again before it is carried out, from the configuration in this directory.", "Make a new plan.")
	}
	return nil
}

// variableOptions are the options that give variables the values which a plan has of them.
func variableOptions(plan *plans.Plan, wanted func(name string) bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(plan.Variables)) {
		var value struct{ Value any }
		if !wanted(name) || json.Unmarshal(plan.Variables[name], &value) != nil {
			continue
		}
		text, isText := value.Value.(string)
		if !isText {
			var raw struct{ Value json.RawMessage }
			if json.Unmarshal(plan.Variables[name], &raw) != nil {
				continue
			}
			text = string(raw.Value)
		}
		out = append(out, "-var "+words.Quote(name+"="+text))
	}
	return out
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
