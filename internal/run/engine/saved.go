package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// LoadPlanned loads the configuration of a saved plan, with the current values of its variables.
// The values in the file are only compared: a variable may name an image, and a user who can only
// write the file must not choose images.
func (e *Engine) LoadPlanned(ctx context.Context, saved *plans.Plan, l Loading) (Loaded, error) {
	config, diags, err := e.Source.Read(ctx, l)
	switch {
	case err != nil:
		return Loaded{}, err
	case diags.HasErrors() && len(config.Files) == 0:
		return Loaded{}, ErrNoConfiguration
	}
	loaded, err := e.Source.Accept(config, diags, l)
	if err != nil {
		unset := func(name string) bool { return config.Variables[name] == nil }
		if planned := assignments(saved, unset); len(planned) > 0 {
			return Loaded{}, &MissingValuesError{planned}
		}
		return Loaded{}, err
	}
	if config.Digest != saved.Config {
		return Loaded{}, notAsPlanned(config, saved)
	}
	return loaded, nil
}

// PlanAgain makes a saved plan again. It returns the part of the new plan that the saved
// one contains, and the actions that must not start; see package approval. It asks the pods as
// [Engine.AskPods] does, because a saved plan cannot know the answers. The error is an
// *OtherPlanError if the plans differ. With SkipDrifted, actions that do more to objects that others
// changed since are held instead.
func (e *Engine) PlanAgain(ctx context.Context, saved *plans.Plan, loaded Loaded, st *state.State, o Options) (*PlanResult, map[addrs.Object]error, error) {
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
	if err := checkPolicies(saved, made.Loaded.Config); err != nil {
		return nil, nil, err
	}
	made.judge()
	verdict := approval.Check(saved, approval.Fresh{Plan: made.Plan, Problems: made.problems, Objects: made.Objects, Live: e.Cluster.Snapshot().Get, Clean: e.Cluster.clean})
	uncompared, err := compareValues(ctx, e.Cluster.Snapshot(), saved, made, verdict)
	if err != nil {
		return nil, nil, err
	}
	if err := e.refuseSaved(ctx, saved, made, verdict, o.SkipDrifted); err != nil {
		return nil, nil, err
	}
	if len(uncompared) > 0 {
		e.Reporter.Warn("Values of sensitive variables are not compared with the plan", fmt.Sprintf(
			"A plan file holds nothing that could tell them. These are written with the values that were given just now: %s.", strings.Join(uncompared, ", ")))
	}
	made.Plan = verdict.Plan
	return made, verdict.Held, e.AskPods(ctx, made)
}

// refuseSaved returns an error if the saved plan must not be carried out.
func (e *Engine) refuseSaved(ctx context.Context, saved *plans.Plan, made *PlanResult, verdict approval.Verdict, skipDrifted bool) error {
	differences := verdict.Differences
	if len(verdict.Problems) > 0 {
		e.Reporter.Problems(verdict.Problems)
	}
	var denied error
	if made.Plan.Denied() {
		denied = e.Enforce(made)
	}
	switch {
	case len(differences) > 0 && !(skipDrifted && approval.OnlyDrift(differences)):
		other := &OtherPlanError{Differences: differences, Read: e.dataRead(ctx, made.Loaded.Config)}
		if saved.Tool != e.Version {
			other.Tool, other.Version = saved.Tool, e.Version
		}
		return other
	case len(verdict.Problems) > 0:
		return ErrReported
	case denied != nil:
		return denied
	}
	if len(differences) > 0 {
		var lines []string
		for _, d := range differences {
			lines = append(lines, d.String())
		}
		e.Reporter.Warn("The cluster has changed since the plan was made",
			"With -skip-drifted the actions of these objects do not start, unless they do less than the plan shows:\n\n  "+strings.Join(words.First(lines, MaxDifferences, "difference"), "\n  "))
	}
	return nil
}

// dataRead names the objects that data blocks read, and who wrote each of them last.
func (e *Engine) dataRead(ctx context.Context, config *configs.Config) []string {
	var out []string
	for _, d := range config.Data {
		found, err := e.Cluster.find(ctx, d.DataQuery)
		if d.Deferred || err != nil { // the plan could do without it
			continue
		}
		for _, live := range found {
			out = append(out, fmt.Sprintf("%s reads %s%s", d.Block, providers.RefOf(live), approval.LastWriter(live, e.Cluster.clean)))
		}
	}
	return out
}

// compareAgain is Plan, but leaves it to the caller to judge the problems.
func (e *Engine) compareAgain(ctx context.Context, loaded Loaded, st *state.State, o Options) (*PlanResult, error) {
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

// notAsPlanned names the variables with other values than in a plan.
func notAsPlanned(config *configs.Config, plan *plans.Plan) *NotAsPlannedError {
	var names []string
	for name, value := range config.Variables {
		if planned, ok := plan.Variables[name]; ok && !sameJSON(value, planned) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return &NotAsPlannedError{Names: names, Planned: assignments(plan, func(name string) bool { return slices.Contains(names, name) })}
}

// sameJSON compares a value of a plan file, which is escaped, with another one.
func sameJSON(a, b json.RawMessage) bool {
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(one, other)
}

// assignments returns the values of variables in a plan.
func assignments(plan *plans.Plan, wanted func(name string) bool) []Assignment {
	var out []Assignment
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
		out = append(out, Assignment{name, text})
	}
	return out
}
