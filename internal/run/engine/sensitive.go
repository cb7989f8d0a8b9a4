package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// compareValues compares the values of sensitive variables with a saved plan. It returns
// the addresses of the objects whose values could not be compared, such as those that others
// changed since, and that are written.
//
// The file contains no value, and no hash of one: whoever can read the file could check
// guesses against a hash, and passwords that people choose are guessed, however slow the
// hash is. The plan does contain which values change, and that is compared with the
// cluster.
func compareValues(ctx context.Context, snapshot *providers.Snapshot, saved *plans.Plan, made *PlanResult, verdict approval.Verdict) (uncompared []string, err error) {
	fresh := make(map[addrs.Object]*providers.Object, len(made.Objects))
	for i := range made.Objects {
		fresh[made.Objects[i].Address] = &made.Objects[i]
	}
	for _, a := range withoutValues(saved) {
		o := fresh[a.Address]
		if o == nil || o.Digest() != a.Object.Digest() {
			continue // the plan is refused for this difference
		}
		if slices.ContainsFunc(verdict.Differences, func(d approval.Difference) bool { return d.Drift && d.Address == a.Address }) {
			if verdict.Held[a.Address] == nil {
				uncompared = append(uncompared, a.Address.String())
			}
			continue
		}
		again := *a
		again.Object, again.Ref, again.Yields = o, o.Ref(), made.exact[a.Address].yields
		if err := snapshot.Load(ctx, providers.Scope{GVK: secretKind, Namespace: again.Ref.Namespace}); err != nil {
			return nil, err
		}
		compared, err := compareGiven(&again, snapshot)
		if err != nil {
			return nil, err
		}
		if !compared {
			uncompared = append(uncompared, a.Address.String())
		}
	}
	return uncompared, nil
}

// withoutValues returns the actions of a saved plan that write Secrets with sensitive values.
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

// compareGiven compares the values from sensitive variables with the cluster: the action
// says whether each of them changes or stays. A value that does otherwise is not the
// planned one, and an error. compared is false if a value is new, so that it could be
// another one than the planned one.
func compareGiven(a *plans.Action, snapshot *providers.Snapshot) (compared bool, err error) {
	live := snapshot.Get(a.Ref)
	if live == nil || a.Verb == plans.Replace {
		return false, nil
	}
	manifest, pending, err := secrets.Resolve(a.Object, snapshot.SecretValues, false)
	if err == nil {
		manifest, err = fields.Trim(manifest, a.Yields)
	}
	if err != nil {
		return false, err
	}
	compared = true
	before, after := providers.ValuesOf(live), providers.ValuesOf(manifest)
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if !a.Object.Data[key].Given() || slices.Contains(pending, key) {
			continue
		}
		path := fmt.Sprintf("data[%q]", key)
		shown := slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return c.Path == path })
		if shown == bytes.Equal(before[key], after[key]) {
			return false, &OtherValueError{Address: a.Address, Path: path}
		}
		compared = compared && !shown
	}
	return compared, nil
}
