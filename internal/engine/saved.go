package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/approval"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// LoadPlanned loads the configuration of a saved plan, with the current values of its
// variables. The values in the file are only compared: a variable may name an image, and
// whoever can write the file must not decide about images.
func (e *Engine) LoadPlanned(ctx context.Context, saved *plans.Plan, l Loading) (Loaded, error) {
	config, diags, err := e.Source.Read(ctx, l)
	switch {
	case err != nil:
		return Loaded{}, err
	case diags.HasErrors() && len(config.Files) == 0:
		return Loaded{}, failure.New("The saved plan needs its configuration", "A saved plan is made again before it is carried out, and compared with the file. There is no configuration in this directory. Apply the plan in the directory where it was made, or name that with -chdir.")
	}
	loaded, err := e.Source.Accept(config, diags, l)
	if err != nil {
		if options := variableOptions(saved, func(name string) bool { return config.Variables[name] == nil }); len(options) > 0 {
			e.Reporter.Warn("Variables of the plan have no value here", "They have to be given again. By the file, the plan was made with:\n\n  "+strings.Join(options, " "))
		}
		return Loaded{}, err
	}
	if config.Digest != saved.Config {
		return Loaded{}, notAsPlanned(config, saved, "A saved plan is made again before it is carried out, from the configuration in this directory.", "Make a new plan.")
	}
	return loaded, nil
}

// PlanAgain makes a saved plan again. It returns the part of the new plan that the saved
// one contains, and the actions that must not start. See package approval.
func (e *Engine) PlanAgain(ctx context.Context, saved *plans.Plan, loaded Loaded, st *state.State, o Options) (*Made, map[addrs.Object]error, error) {
	e.Cluster.Warnings.Gather()
	defer e.Cluster.Warnings.Flush()
	made, err := e.compareAgain(ctx, loaded, st, o)
	if err != nil {
		return nil, nil, err
	}
	if made.Plan == nil {
		e.Reporter.Problems(made.problems)
		return nil, nil, ErrReported
	}
	e.Cluster.Warnings.into(made.Plan)
	verdict := approval.Check(saved, approval.Fresh{Plan: made.Plan, Problems: made.problems, Objects: made.Objects, Live: e.Cluster.Snapshot().Get})
	uncompared, err := compareValues(ctx, e.Cluster.Snapshot(), saved, made.Objects)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(verdict.Problems) > 0:
		e.Reporter.Problems(verdict.Problems)
		return nil, nil, ErrReported
	case len(verdict.Differences) > 0:
		return nil, nil, notMadeAgain(verdict.Differences)
	}
	if len(uncompared) > 0 {
		e.Reporter.Warn("Values of sensitive variables are not compared with the plan", fmt.Sprintf(
			"A plan file holds nothing that could tell them. These are written with the values that were given just now: %s.", strings.Join(uncompared, ", ")))
	}
	made.Plan = verdict.Plan
	return made, verdict.Held, nil
}

// compareAgain is Plan, but leaves it to the caller to judge the problems.
func (e *Engine) compareAgain(ctx context.Context, loaded Loaded, st *state.State, o Options) (*Made, error) {
	for {
		made, err := e.compare(ctx, loaded, st, o)
		if err != nil || made.Plan == nil {
			return made, err
		}
		again, err := withoutOvertaken(ctx, e.Source, made)
		if err != nil || again == nil {
			return made, err
		}
		loaded = *again
	}
}

// notMadeAgain refuses a saved plan that differs from a new one.
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

// notAsPlanned refuses a configuration that is not the planned one. It names the variables
// with other values. If there are none, the files differ; why then says what needs them.
func notAsPlanned(config *configs.Config, plan *plans.Plan, why, remedy string) error {
	var names []string
	for name, value := range config.Variables {
		if planned, ok := plan.Variables[name]; ok && !sameJSON(value, planned) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return failure.New("The configuration is not the one that was planned", why+" The configuration has changed since. "+remedy)
	}
	options := strings.Join(variableOptions(plan, func(name string) bool { return slices.Contains(names, name) }), " ")
	if len(names) == 1 {
		return failure.New(
			fmt.Sprintf("The variable %s has another value than it was planned with", names[0]),
			fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply that, give it again; to apply the value that it has now, make a new plan.", options))
	}
	return failure.New(
		fmt.Sprintf("The variables %s have other values than they were planned with", strings.Join(names, ", ")),
		fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply that, give them again; to apply the values that they have now, make a new plan.", options))
}

// sameJSON compares a value of a plan file, which is escaped, with another one.
func sameJSON(a, b json.RawMessage) bool {
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(one, other)
}

// variableOptions are the options that give variables the values of a plan.
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
