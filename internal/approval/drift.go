package approval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// drifted returns the differences between the actions of an object that was written, created or
// deleted since the plan was saved. Writes that make no difference for the plan, such as those
// of the status, are none.
func drifted(saved, fresh *plans.Action, by string) []string {
	s, f := saved.Prior.UID, fresh.Prior.UID
	switch {
	case saved.Verb == plans.Delete && fresh.Verb == plans.Forget && !saved.Destroys():
		return nil // a finished job or an old version: controllers remove these by themselves
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
			out = append(out, fmt.Sprintf("%s: its generated value was replaced%s", r.Path, writtenBy("", r.Manager, r.Time)))
		}
	}
	if len(out) > 0 { // the fields say it all
		return out
	}
	if !slices.EqualFunc(yielded(saved), yielded(fresh), alikeText) {
		out = append(out, "the file has another list of fields that are left to others than a new plan"+by)
	}
	return append(out, apart(saved, fresh)...)
}

// changed compares the changes of two actions, field by field: "spec.replicas: 4 → 1 instead of
// 5 → 1, written by "kubectl" at 2026-11-26 14:10:07 UTC".
func changed(saved, fresh *plans.Action, by string) []string {
	less := map[string]plans.Change{}
	for _, c := range beyond(saved, fresh) {
		less[c.Path] = c
	}
	var out []string
	for _, c := range beyond(fresh, saved) {
		instead := "no change"
		if before, ok := less[c.Path]; ok {
			instead = transition(before)
			delete(less, c.Path)
		}
		author := by
		if c.Drift && c.Manager != "" {
			author = writtenBy("", c.Manager, c.Time)
		}
		out = append(out, fmt.Sprintf("%s: %s instead of %s%s", c.Path, transition(c), instead, author))
	}
	for _, path := range slices.Sorted(maps.Keys(less)) {
		out = append(out, fmt.Sprintf("%s: no change instead of %s%s", path, transition(less[path]), by))
	}
	return out
}

// transition returns the values of a change: "4 → 1". Those of a sensitive one are masked.
func transition(c plans.Change) string {
	if c.Sensitive {
		return plans.Masked
	}
	return short(c.Before) + " → " + short(c.After)
}

// writtenBy names the author of a change, as the end of a sentence. kind is "last " if others may
// have written the field.
func writtenBy(kind, manager string, at time.Time) string {
	if at.IsZero() {
		return fmt.Sprintf(", %swritten by %q", kind, manager)
	}
	return fmt.Sprintf(", %swritten by %q at %s", kind, manager, at.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// LastWriter names the field manager that wrote to an object last, other than kolla, and not to
// its status: ", last written by "kubectl" at 2026-11-26 14:10:07 UTC". It is empty if the object
// is nil or has no managers. clean takes secret values out of the name.
func LastWriter(live *unstructured.Unstructured, clean func(string) string) string {
	if live == nil {
		return ""
	}
	ours := func(manager string) bool {
		return manager == providers.FieldManager || strings.HasPrefix(manager, providers.FieldManager+":")
	}
	var last metav1.ManagedFieldsEntry
	for _, entry := range live.GetManagedFields() {
		switch {
		case entry.Subresource == "status":
		case last.Manager == "", ours(last.Manager), !ours(entry.Manager) && last.Time.Before(entry.Time):
			last = entry
		}
	}
	switch {
	case last.Manager == "":
		return ""
	case last.Time == nil:
		return writtenBy("last ", clean(last.Manager), time.Time{})
	}
	return writtenBy("last ", clean(last.Manager), last.Time.Time)
}
