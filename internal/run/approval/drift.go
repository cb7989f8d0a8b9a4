package approval

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// drifted returns the differences between the actions of an object that was written, created or
// deleted since the plan was saved. Writes without an effect on the plan, such as those of the
// status, are not differences.
func drifted(saved, fresh *plans.Action, by string) []string {
	s, f := saved.Prior.UID, fresh.Prior.UID
	switch {
	case saved.Verb == plans.Delete && fresh.Verb == plans.Forget && !saved.Destroys():
		return nil // a finished job or an old version, which controllers remove
	case s != "" && f == "" && saved.Verb == plans.None && fresh.Verb == plans.None:
		return nil // the cluster has cleaned up a finished job
	case s == "" && f != "":
		return []string{fmt.Sprintf("the file says %q, and it exists by now%s", saved.Verb, by)}
	case s != "" && f == "":
		return []string{fmt.Sprintf("the file says %q, and it was deleted since", saved.Verb)}
	case s != f:
		return []string{fmt.Sprintf("the file says %q, and it was deleted and created again since%s", saved.Verb, by)}
	case saved.Verb != fresh.Verb:
		return otherVerb(saved, fresh, by)
	}
	out := changed(saved, fresh, by)
	for _, r := range fresh.Reasons {
		if r.Kind == plans.ReasonReplaced && !slices.ContainsFunc(saved.Reasons, func(o plans.Reason) bool {
			return o.Kind == r.Kind && alikeText(o.Path, r.Path) && o.Time.Equal(r.Time)
		}) {
			out = append(out, fmt.Sprintf("%s: its generated value was replaced%s", r.Path, providers.WrittenBy("", r.Manager, r.Time)))
		}
	}
	if len(out) > 0 { // the fields describe the whole difference
		return out
	}
	settings, _ := apart(saved, fresh, alikeField)
	for _, text := range settings {
		out = append(out, text+by)
	}
	return out
}

// changed compares the changes of two actions, field by field: "spec.replicas: 4 → 1 instead of
// 5 → 1, written by "kubectl" at 2026-11-26 14:10:07 UTC".
func changed(saved, fresh *plans.Action, by string) []string {
	less, more := changesApart(saved, fresh)
	var out []string
	for i := range more {
		c := &more[i]
		var before *plans.Change
		if j := slices.IndexFunc(less, func(o plans.Change) bool { return o.Path == c.Path }); j >= 0 {
			was := less[j]
			before = &was
			less = slices.Delete(less, j, j+1)
		}
		author := by
		if c.Drift && c.Manager != "" {
			author = providers.WrittenBy("", c.Manager, c.Time)
		}
		out = append(out, instead(c, before)+author)
	}
	for i := range less {
		out = append(out, instead(nil, &less[i])+by)
	}
	return out
}

// LastWriter names the field manager that wrote to an object last; see providers.LastWriter. clean
// masks secret values in the name.
func LastWriter(live *unstructured.Unstructured, clean func(string) string) string {
	manager, at := providers.LastWriter(live)
	if manager == "" {
		return ""
	}
	return providers.WrittenBy("last ", clean(manager), at)
}
