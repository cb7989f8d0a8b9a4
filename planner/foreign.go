package planner

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers/kinds"
)

const replicasPath = "spec.replicas"

// owned reports whether kolla made the object, all of it, so that what others add to it
// is drift. What can be added to a Job is in jobFields.
func (s *subject) owned() bool {
	return s.live != nil && !s.object.Partial && !s.object.Run() && len(s.object.Deferred) == 0
}

// leftToOthers lists, object by object, the fields that others have added and may have,
// and what stays there although nobody should have set it.
func (p *planning) leftToOthers() ([]plans.Foreign, error) {
	var all []plans.Foreign
	for _, s := range p.subjects {
		of := plans.Foreign{Address: s.object.Address, Ref: s.action.Ref}
		if len(s.reported) > 0 {
			of.Fields, of.Reported = fields.Changes(s.reported), true
			all = append(all, of)
		}
		if len(s.stuck) > 0 && s.action.Verb != plans.Replace {
			of.Fields, of.Reported, of.Stuck = fields.Changes(s.stuck), true, true
			all = append(all, of)
		}
		if !s.owned() || s.adopts() || s.action.Verb == plans.Replace || p.ForeignPolicy == plans.IgnoreForeign {
			continue
		}
		added, err := p.leftFields(s)
		if err != nil {
			return nil, err
		}
		if fields := append(s.notes(), added...); len(fields) > 0 {
			of.Fields, of.Reported, of.Stuck = fields, false, false
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(a, b plans.Foreign) int { return a.Address.Compare(b.Address) })
	return all, nil
}

// notes are the labels and annotations that others have added and may have.
func (s *subject) notes() []plans.Change {
	var (
		notable []plans.Change
		owners  *fields.Owners // read only where there is anything to tell
	)
	notes := proof.Notes(s.live, s.manager)
	if s.action.Scaled {
		notes = append(notes, proof.Note{Path: []string{"spec", "replicas"}})
	}
	for _, note := range notes {
		path := fieldpath.Path{}
		for _, name := range note.Path {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		if s.declares(path) {
			continue
		}
		if owners == nil {
			o := fields.OwnersOf(s.live, s.manager)
			owners = &o
		}
		notable = append(notable, s.leftField(path, *owners))
	}
	return notable
}

// leftField is a field as it is listed that is left to others. owners are those who may
// have written it.
func (s *subject) leftField(path fieldpath.Path, owners fields.Owners) plans.Change {
	by, _ := owners.Other(path)
	d := fields.Difference{At: path, Change: plans.Change{Path: fields.Text(path), Manager: by.Manager, Time: by.Time}}
	d.Before, _ = fields.Lookup(s.live.Object, path)
	secret := s.action.Ref.GVK.GroupKind() == kinds.Secret
	// Other tools keep whole objects in annotations, values of Secrets included.
	if fields.Sensitive(path, secret) || secret && strings.HasPrefix(fields.Text(path), "metadata.annotations") {
		d.Mask()
	}
	return d.Change
}

// leftFields are the other undeclared fields that are left to others: by the object's kind,
// or by its lifecycle. Of the latter, a field that nobody owns is not listed: nearly all such
// fields are defaults, and only the server could tell.
func (p *planning) leftFields(s *subject) ([]plans.Change, error) {
	l := s.lifecycle()
	kind := s.action.Ref.GVK.GroupKind()
	byOwner := len(l.IgnoreFields)+len(l.YieldTo) > 0
	if !proof.Shared(kind) && (!byOwner || !fields.WrittenThrough(s.live, func(subresource string) bool { return subresource != "status" })) {
		return nil, nil
	}
	manifest, err := fields.Trim(s.object.Manifest, s.action.Yields)
	if err != nil {
		return nil, err
	}
	owners := fields.OwnersOf(s.live, s.manager)
	left := s.leftTo(owners.Others)
	ignored := fields.Patterns(l.IgnoreFields)
	var found []plans.Change
	for _, path := range fields.Extras(s.live, manifest, s.manager, fieldpath.NewSet(), ignored, false) {
		value, _ := fields.Lookup(s.live.Object, path)
		_, written := owners.Other(path)
		if value == nil || fields.Empty(value) || fields.RepeatsKey(path) || s.declares(path) {
			continue
		}
		keeper := proof.KeeperOf(s.live, fields.Names(path))
		switch {
		case keeper == proof.System, keeper == proof.Others && noted(path):
		case keeper == proof.Others, written && fields.Covered(ignored, path):
			found = append(found, s.leftField(path, owners))
		default:
			for _, part := range fields.PartsOf(path, left, owners) {
				found = append(found, s.leftField(part, owners.Within(left)))
			}
		}
	}
	return found, nil
}

// noted reports whether the field is a label or annotation: see notes.
func noted(path fieldpath.Path) bool {
	names := fields.Names(path)
	return len(names) > 1 && slices.Contains([]string{"annotations", "labels"}, names[len(names)-2])
}

// declares reports whether the configuration has the field, or something below it:
// whoever wrote it, what becomes of it is told elsewhere.
func (s *subject) declares(path fieldpath.Path) bool {
	if _, declared := fields.Lookup(s.object.Manifest.Object, path); declared {
		return true
	}
	if len(path) != 2 || path[0].FieldName == nil || path[1].FieldName == nil || *path[0].FieldName != "data" {
		return false
	}
	_, declared := s.object.Data[*path[1].FieldName]
	return declared
}

// undeclaredIn lists the fields of the object, as it would be after an apply, that nothing
// declares and nobody else may set. Most of them are defaults of the server: only the
// server knows which.
func (p *planning) undeclaredIn(ctx context.Context, s *subject, after *unstructured.Unstructured, whole bool) ([]fieldpath.Path, error) {
	manifest, err := fields.Trim(s.object.Manifest, s.action.Yields)
	if err != nil {
		return nil, err
	}
	ignored := fields.Patterns(s.lifecycle().IgnoreFields)
	owners := fields.OwnersOf(s.live, s.manager)
	var yielded []fieldpath.Path
	for _, y := range s.action.Yields {
		path, err := fields.YieldedPath(y)
		if err != nil {
			return nil, err
		}
		yielded = append(yielded, path)
	}
	fixed, err := p.fixed(ctx, s)
	if err != nil {
		return nil, err
	}
	left := func(path fieldpath.Path) bool {
		return proof.KeeperOf(after, fields.Names(path)) != proof.Nobody || s.action.Scaled && fields.Text(path) == replicasPath ||
			fields.Covered(ignored, path) || slices.ContainsFunc(fixed, path.Equals) ||
			slices.ContainsFunc(yielded, func(y fieldpath.Path) bool { return fields.Overlap(y, path) })
	}
	var paths []fieldpath.Path
	for _, path := range fields.Extras(after, manifest, s.manager, s.leftTo(owners.Others), ignored, whole) {
		value, there := fields.Lookup(after.Object, path)
		if there && value != nil && !fields.Empty(value) && !fields.RepeatsKey(path) && !left(path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// leftTo are the fields that the object's lifecycle leaves to those of the owners who wrote
// them.
func (s *subject) leftTo(owners []fields.Owner) *fieldpath.Set {
	fields := fieldpath.NewSet()
	for _, o := range owners {
		if s.lifecycle().yieldsTo(o.Manager) {
			fields = fields.Union(o.Fields)
		}
	}
	return fields
}

// derived reports whether the server computes the field's default from other fields. The
// default stays when only those fields change later.
func derived(path fieldpath.Path) bool {
	names := fields.Names(path)
	n := len(names)
	return slices.Contains([]string{"imagePullPolicy", "policyTypes", "rollingUpdate", "hostPort"}, names[n-1]) || n > 1 && names[n-2] == "resources" && names[n-1] == "requests" ||
		n > 2 && names[n-3] == "resources" && names[n-2] == "requests"
}
