package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// compareValues compares the values of sensitive variables with what the saved plan says
// of them, and returns what cannot be told.
//
// Whether these are the values that were planned with, the file does not say, not even
// by a hash: with one, whoever can read the file could try out guesses, and passwords
// that people choose are guessed however slow the hash is. What the plan does say is
// which values change, and that is compared with the cluster. Beyond that the operator
// is told that nothing was compared.
func (w *workspace) compareValues(ctx context.Context, saved *plans.Plan, made *comparison) (untold []string, err error) {
	fresh := make(map[addrs.Object]*providers.Object, len(made.objects))
	for i := range made.objects {
		fresh[made.objects[i].Address] = &made.objects[i]
	}
	for _, a := range withoutValues(saved) {
		o := fresh[a.Address]
		if o == nil || o.Digest() != a.Object.Digest() {
			continue // which is reason enough to refuse the plan
		}
		again := *a
		again.Object, again.Ref = o, o.Ref()
		if err := made.snapshot.Load(ctx, providers.Scope{GVK: secretKind, Namespace: again.Ref.Namespace}); err != nil {
			return nil, err
		}
		told, err := compareGiven(&again, made.snapshot)
		if err != nil {
			return nil, err
		}
		if !told {
			untold = append(untold, a.Address.String())
		}
	}
	return untold, nil
}

func (w *workspace) warnUntold(untold []string) {
	if len(untold) > 0 {
		w.printer.Warn("Values of sensitive variables are not compared with the plan", fmt.Sprintf(
			"A plan file holds nothing that could tell them. These are written with the values that were given just now: %s.", strings.Join(untold, ", ")))
	}
}

// notAsPlanned says what about the configuration is not as it was planned: the values of
// variables, if some are not those of the plan, or else the files; of those, why says
// what they are needed for.
func (w *workspace) notAsPlanned(plan *plans.Plan, why, remedy string) *failure {
	var names []string
	for name, value := range w.config.Variables {
		if planned, ok := plan.Variables[name]; ok && !sameJSON(value, planned) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return &failure{"The configuration is not the one that was planned", why + " The configuration has changed since. " + remedy}
	}
	options := strings.Join(variableOptions(plan, func(name string) bool { return slices.Contains(names, name) }), " ")
	if len(names) == 1 {
		return &failure{
			fmt.Sprintf("The variable %s has another value than it was planned with", names[0]),
			fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply that, give it again; to apply the value that it has now, make a new plan.", options),
		}
	}
	return &failure{
		fmt.Sprintf("The variables %s have other values than they were planned with", strings.Join(names, ", ")),
		fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply that, give them again; to apply the values that they have now, make a new plan.", options),
	}
}

// sameJSON compares what was in a plan file with what was not: it is escaped there.
func sameJSON(a, b json.RawMessage) bool {
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(one, other)
}

// withoutValues are the actions that write Secrets whose values lack sensitive parts.
func withoutValues(plan *plans.Plan) []*plans.Action {
	var lacking []*plans.Action
	for i := range plan.Actions {
		a := &plan.Actions[i]
		written := a.Verb != plans.None && a.Verb != plans.Refresh && !a.Deferred() // a deferred action gets its values in a later round
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
func compareGiven(a *plans.Action, snapshot *providers.Snapshot) (told bool, err error) {
	live := snapshot.Get(a.Ref)
	if live == nil || a.Verb == plans.Replace {
		return false, nil
	}
	values := func(namespace, name string) map[string][]byte {
		return providers.ValuesOf(snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name}))
	}
	manifest, pending, err := secrets.Resolve(a.Object, values, false)
	if err == nil {
		manifest, err = fields.Trim(manifest, a.Yields)
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
		shown := slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return c.Path == path })
		if shown == bytes.Equal(before[key], after[key]) {
			return false, &failure{"A sensitive value is not the one that was planned with", fmt.Sprintf(
				"What was given just now for %s of %s would not do there what the plan says. Give the variables the values that the plan was made with, or make a new plan.", path, a.Address)}
		}
		told = told && !shown
	}
	return told, nil
}
