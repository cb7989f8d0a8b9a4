package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// fillIn puts the sensitive values back that a plan file does not hold, into what is
// to be written. They come from the configuration, which must be the one that was
// planned, and from the values that its sensitive variables have now.
//
// Whether these are the values that were planned with, the file does not say, not even
// by a hash: with one, whoever can read the file could try out guesses, and passwords
// that people choose are guessed however slow the hash is. What the plan does say is
// which values change, and that is compared with the cluster. Beyond that the operator
// is told that nothing was compared.
func (w *workspace) fillIn(ctx context.Context, st *state.State, plan *planner.Plan) error {
	lacking := withoutValues(plan)
	if len(lacking) == 0 {
		return nil
	}
	config, diags := w.readConfig()
	switch {
	case w.unanswered != nil:
		return w.unanswered
	case diags.HasErrors() && len(config.Files) == 0:
		return &failure{"The saved plan needs its configuration", fmt.Sprintf(
			"%s is made with sensitive values, which are in no plan file: they are taken from the configuration that was planned, and there is none in this directory. Apply the plan in that directory, or name it with -chdir.", lacking[0].Address)}
	}
	if err := w.take(config, diags); err != nil {
		return err
	}
	if w.config.Digest != plan.Config {
		return w.notAsPlanned(plan, fmt.Sprintf(
			"%s is made with sensitive values, which are in no plan file: they are taken from the configuration in this directory and its variables.", lacking[0].Address), "Make a new plan.")
	}
	snapshot := providers.NewSnapshot(w.client)
	objects, err := w.render(ctx, snapshot, st)
	if err != nil {
		return err
	}
	fresh := make(map[lang.Address]*providers.Object, len(objects))
	for i := range objects {
		fresh[objects[i].Address] = &objects[i]
	}
	var untold []string
	for _, a := range lacking {
		o := fresh[a.Address]
		if o == nil || o.Digest() != a.Object.Digest() {
			return &failure{"The cluster is not as it was planned against", fmt.Sprintf("%s would be made of something else by now. Make a new plan.", a.Address)}
		}
		a.Object.Data = o.Data
		if err := snapshot.Load(ctx, providers.Scope{GVK: secretKind, Namespace: a.Ref.Namespace}); err != nil {
			return err
		}
		told, err := compareGiven(a, snapshot)
		if err != nil {
			return err
		}
		if !told {
			untold = append(untold, a.Address.String())
		}
	}
	if len(untold) > 0 {
		w.printer.Warn("Values of sensitive variables are not compared with the plan", fmt.Sprintf(
			"A plan file holds nothing that could tell them. These are written with the values that were given just now: %s.", strings.Join(untold, ", ")))
	}
	return nil
}

// notAsPlanned says what about the configuration is not as it was planned: the values of
// variables, if some are given that the plan does not have, or else the files; of
// those, why says what they are needed for.
func (w *workspace) notAsPlanned(plan *planner.Plan, why, remedy string) *failure {
	var names []string
	for name, value := range w.config.Variables {
		if planned, ok := plan.Variables[name]; ok && !sameJSON(value, planned) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return &failure{"The configuration is not the one that was planned", why + " Those have changed since. " + remedy}
	case 1:
		return &failure{
			fmt.Sprintf("The variable %s was given another value than it was planned with", names[0]),
			"Leave it out, and it has the value that is in the plan. To apply another one, make a new plan with it.",
		}
	}
	return &failure{
		fmt.Sprintf("The variables %s were given other values than they were planned with", strings.Join(names, ", ")),
		"Leave them out, and they have the values that are in the plan. To apply others, make a new plan with them.",
	}
}

// sameJSON compares what was in a plan file with what was not: it is escaped there.
func sameJSON(a, b json.RawMessage) bool {
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(one, other)
}

// withoutValues are the actions that write Secrets whose values lack sensitive parts.
func withoutValues(plan *planner.Plan) []*planner.Action {
	var lacking []*planner.Action
	for i := range plan.Actions {
		a := &plan.Actions[i]
		written := a.Verb != planner.None && a.Verb != planner.Refresh && !a.Deferred() // what is known later is made then
		if written && a.Object != nil && a.Object.Incomplete() {
			lacking = append(lacking, a)
		}
	}
	return lacking
}

// compareGiven compares what the action says of the values that come from sensitive
// variables with the cluster: a value changes, or stays. One that does otherwise is
// certainly not the one that was planned with, and an error. told is false where some
// value may be another one nevertheless, since it is new.
func compareGiven(a *planner.Action, snapshot *providers.Snapshot) (told bool, err error) {
	live := snapshot.Get(a.Ref)
	if live == nil || a.Verb == planner.Replace {
		return false, nil
	}
	values := func(namespace, name string) map[string][]byte {
		return providers.ValuesOf(snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name}))
	}
	manifest, pending, err := a.Object.Resolve(values, false)
	if err == nil {
		manifest, err = planner.Trim(manifest, a.Yields)
	}
	if err != nil {
		return false, err
	}
	told = true
	before, after := providers.ValuesOf(live), providers.ValuesOf(manifest)
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if !a.Object.Data[key].Given() || slices.Contains(pending, key) {
			continue
		}
		path := fmt.Sprintf("data[%q]", key)
		shown := slices.ContainsFunc(a.Changes, func(c planner.Change) bool { return c.Path == path })
		if shown == bytes.Equal(before[key], after[key]) {
			return false, &failure{"A sensitive value is not the one that was planned with", fmt.Sprintf(
				"What was given just now for %s of %s would not do there what the plan says. Give the variables the values that the plan was made with, or make a new plan.", path, a.Address)}
		}
		told = told && !shown
	}
	return told, nil
}
