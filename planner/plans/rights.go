package plans

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/providers/kinds"
)

// GrowsRights reports whether the action gives somebody more rights: it makes a role or a
// binding, or an update adds a rule or a subject. A field that others took away, and that the
// plan puts back, adds nothing.
func (a *Action) GrowsRights() bool {
	switch a.Ref.GVK.GroupKind() {
	case kinds.Role, kinds.ClusterRole, kinds.RoleBinding, kinds.ClusterRoleBinding:
	default:
		return false
	}
	switch a.Verb {
	case Create, Replace:
		return true
	case Update, Adopt:
		return slices.ContainsFunc(a.Changes, adds)
	}
	return false
}

// adds reports whether a change of a role or a binding adds rights.
func adds(c Change) bool {
	field, _, _ := strings.Cut(c.Path, ".")
	field, _, _ = strings.Cut(field, "[")
	if c.Drift && !c.Edited || !slices.Contains([]string{"rules", "aggregationRule", "subjects", "roleRef"}, field) {
		return false
	}
	before, was := c.Before.([]any)
	after, is := c.After.([]any)
	switch {
	case c.Path == "rules" && (was || c.Before == nil) && is:
		return slices.ContainsFunc(after, func(rule any) bool { return !covered(before, rule) })
	case c.Path == "subjects" && (was || c.Before == nil) && is:
		return slices.ContainsFunc(after, func(subject any) bool {
			return !slices.ContainsFunc(before, func(old any) bool { return reflect.DeepEqual(old, subject) })
		})
	case strings.HasSuffix(c.Path, ".resourceNames"): // without names, a rule is about all objects
		return true
	}
	return c.After != nil
}

// covered reports whether a rule gives nothing that one of the other rules does not give.
func covered(others []any, rule any) bool {
	added, ok := rule.(map[string]any)
	return ok && slices.ContainsFunc(others, func(other any) bool {
		old, ok := other.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range []string{"apiGroups", "resources", "verbs", "nonResourceURLs"} {
			if !within(texts(old[key]), texts(added[key])) {
				return false
			}
		}
		names := texts(old["resourceNames"])
		return len(names) == 0 || len(texts(added["resourceNames"])) > 0 && within(names, texts(added["resourceNames"]))
	})
}

// within reports whether the old list allows everything in the new one.
func within(old, added []string) bool {
	return slices.Contains(old, "*") || !slices.ContainsFunc(added, func(text string) bool { return !slices.Contains(old, text) })
}

func texts(list any) []string {
	elements, _ := list.([]any)
	var out []string
	for _, e := range elements {
		out = append(out, fmt.Sprint(e))
	}
	return out
}
