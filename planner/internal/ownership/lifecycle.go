package ownership

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/providers"
)

// Rules are the rules of one lifecycle block: which fields of an object the operator leaves to others.
// Without a block there are none.
type Rules struct{ block providers.Lifecycle }

// RulesOf returns the rules of an object.
func RulesOf(object *providers.Object) Rules {
	if object.Lifecycle == nil {
		return Rules{}
	}
	return Rules{*object.Lifecycle}
}

// ByOwner reports whether any rule leaves fields to others.
func (r Rules) ByOwner() bool { return len(r.block.IgnoreFields)+len(r.block.YieldTo) > 0 }

// Ignored returns the patterns of ignore_fields.
func (r Rules) Ignored() []addrs.FieldPath { return fields.Patterns(r.block.IgnoreFields) }

// YieldsTo reports whether fields that the manager set are left to it.
func (r Rules) YieldsTo(manager string) bool { return matchesAny(r.block.YieldTo, manager) }

// Forces reports whether kolla takes the field from the manager.
func (r Rules) Forces(manager string, path fieldpath.Path) bool {
	return r.block.ForceConflicts || matchesAny(r.block.ForceManagers, manager) || fields.Covered(fields.Patterns(r.block.ForceFields), path)
}

// LeftTo returns the fields of those owners to whom the rules leave their fields.
func (r Rules) LeftTo(owners []fields.Owner) *fieldpath.Set {
	left := fieldpath.NewSet()
	for _, o := range owners {
		if r.YieldsTo(o.Manager) {
			left = left.Union(o.Fields)
		}
	}
	return left
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return addrs.MatchesStar(pattern, name) })
}

// Declares reports whether the configuration contains the field, or a part of it. The values
// of a Secret count as declared although the manifest lacks them.
func Declares(object *providers.Object, path fieldpath.Path) bool {
	if _, declared := fields.Lookup(object.Manifest.Object, path); declared {
		return true
	}
	if len(path) != 2 || path[0].FieldName == nil || path[1].FieldName == nil || *path[0].FieldName != "data" {
		return false
	}
	_, declared := object.Data[*path[1].FieldName]
	return declared
}
