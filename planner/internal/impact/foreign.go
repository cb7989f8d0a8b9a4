package impact

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Foreign lists, by object, the fields that others added and that the plan leaves in place:
// because they may have them, because the policy only reports them, or because no update can
// remove them.
func Foreign(policy plans.ForeignPolicy, outcomes []*outcome.Outcome) ([]plans.Foreign, error) {
	var all []plans.Foreign
	for _, o := range outcomes {
		of := plans.Foreign{Address: o.Object.Address, Ref: o.Action.Ref}
		if len(o.Reported) > 0 {
			of.Fields, of.Reported = fields.Changes(o.Reported), true
			all = append(all, of)
		}
		if len(o.Stuck) > 0 && o.Action.Verb != plans.Replace {
			of.Fields, of.Reported, of.Stuck = fields.Changes(o.Stuck), true, true
			all = append(all, of)
		}
		if !o.Owned() || o.Adopts() || o.Action.Verb == plans.Replace || policy == plans.IgnoreForeign {
			continue
		}
		added, err := leftFields(o)
		if err != nil {
			return nil, err
		}
		if left := append(leftNotes(o), added...); len(left) > 0 {
			of.Fields, of.Reported, of.Stuck = left, false, false
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(a, b plans.Foreign) int { return a.Address.Compare(b.Address) })
	return all, nil
}

// leftNotes returns the labels and annotations that others added and may have.
func leftNotes(o *outcome.Outcome) []plans.Change {
	var (
		left   []plans.Change
		owners *fields.Owners // parsed only if needed
	)
	notes := proof.Notes(o.Live, o.Manager)
	if o.Action.Scaled {
		notes = append(notes, proof.Note{Path: []string{"spec", "replicas"}})
	}
	for _, note := range notes {
		path := fieldpath.Path{}
		for _, name := range note.Path {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		if ownership.Declares(o.Object, path) {
			continue
		}
		if owners == nil {
			parsed := fields.OwnersOf(o.Live, o.Manager)
			owners = &parsed
		}
		left = append(left, leftField(o, path, *owners))
	}
	return left
}

// leftField returns a field that is left to others. owners are those who may have written
// it.
func leftField(o *outcome.Outcome, path fieldpath.Path, owners fields.Owners) plans.Change {
	by, _ := owners.Other(path)
	d := fields.Difference{At: path, Change: plans.Change{Path: fields.Text(path), Manager: by.Manager, Time: by.Time}}
	d.Before, _ = fields.Lookup(o.Live.Object, path)
	secret := o.Action.Ref.GVK.GroupKind() == kinds.Secret
	// Other tools store whole objects in annotations, including values of Secrets.
	if fields.Sensitive(path, secret) || secret && strings.HasPrefix(fields.Text(path), "metadata.annotations") {
		d.Mask()
	}
	return d.Change
}

// leftFields returns the other undeclared fields that are left to others, because of the kind
// or the lifecycle of the object. A field that only the lifecycle leaves is listed only if it
// has an owner: nearly all others are defaults, and only the server could tell.
func leftFields(o *outcome.Outcome) ([]plans.Change, error) {
	rules := ownership.RulesOf(o.Object)
	kind := o.Action.Ref.GVK.GroupKind()
	if !proof.Shared(kind) && (!rules.ByOwner() || !fields.WrittenThrough(o.Live, func(subresource string) bool { return subresource != "status" })) {
		return nil, nil
	}
	manifest, err := fields.Trim(o.Object.Manifest, o.Action.Yields)
	if err != nil {
		return nil, err
	}
	owners := fields.OwnersOf(o.Live, o.Manager)
	left, ignored := rules.LeftTo(owners.Others), rules.Ignored()
	var found []plans.Change
	for _, path := range fields.Extras(o.Live, manifest, o.Manager, fieldpath.NewSet(), ignored, false) {
		value, _ := fields.Lookup(o.Live.Object, path)
		_, written := owners.Other(path)
		if value == nil || fields.Empty(value) || fields.RepeatsKey(path) || ownership.Declares(o.Object, path) {
			continue
		}
		keeper := proof.KeeperOf(o.Live, fields.Names(path))
		switch {
		case keeper == proof.System, keeper == proof.Others && isNote(path):
		case keeper == proof.Others, written && fields.Covered(ignored, path):
			found = append(found, leftField(o, path, owners))
		default:
			for _, part := range fields.PartsOf(path, left, owners) {
				found = append(found, leftField(o, part, owners.Within(left)))
			}
		}
	}
	return found, nil
}

// isNote reports whether the field is a label or annotation; see leftNotes.
func isNote(path fieldpath.Path) bool {
	names := fields.Names(path)
	return len(names) > 1 && slices.Contains([]string{"annotations", "labels"}, names[len(names)-2])
}
