package planner

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
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
			of.Fields, of.Reported = changesOf(s.reported), true
			all = append(all, of)
		}
		if len(s.stuck) > 0 && s.action.Verb != plans.Replace {
			of.Fields, of.Reported, of.Stuck = changesOf(s.stuck), true, true
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
		fields []plans.Change
		owners *ownership // read only where there is anything to tell
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
			o := ownershipOf(s.live, s.manager)
			owners = &o
		}
		fields = append(fields, s.leftField(path, *owners))
	}
	return fields
}

// leftField is a field as it is listed that is left to others. owners are those who may
// have written it.
func (s *subject) leftField(path fieldpath.Path, owners ownership) plans.Change {
	by, _ := owners.other(path)
	d := difference{path: path, Change: plans.Change{Path: pathText(path), Manager: by.manager, Time: by.time}}
	d.Before, _ = lookup(s.live.Object, path)
	secret := s.action.Ref.GVK.GroupKind() == providers.SecretKind
	// Other tools keep whole objects in annotations, values of Secrets included.
	if sensitive(path, secret) || secret && strings.HasPrefix(pathText(path), "metadata.annotations") {
		d.mask()
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
	if !proof.Shared(kind) && (!byOwner || !writtenThrough(s.live, func(subresource string) bool { return subresource != "status" })) {
		return nil, nil
	}
	manifest, err := Trim(s.object.Manifest, s.action.Yields)
	if err != nil {
		return nil, err
	}
	owners := ownershipOf(s.live, s.manager)
	left := s.leftTo(owners.others)
	ignored := fieldPaths(l.IgnoreFields)
	var fields []plans.Change
	for _, path := range extras(s.live, manifest, s.manager, fieldpath.NewSet(), ignored, false) {
		value, _ := lookup(s.live.Object, path)
		_, written := owners.other(path)
		if value == nil || empty(value) || repeatsKey(path) || s.declares(path) {
			continue
		}
		keeper := proof.KeeperOf(s.live, stepNames(path))
		switch {
		case keeper == proof.System, keeper == proof.Others && noted(path):
		case keeper == proof.Others, written && covered(ignored, path):
			fields = append(fields, s.leftField(path, owners))
		default:
			for _, part := range partsOf(path, left, owners) {
				fields = append(fields, s.leftField(part, owners.within(left)))
			}
		}
	}
	return fields, nil
}

// noted reports whether the field is a label or annotation: see notes.
func noted(path fieldpath.Path) bool {
	names := stepNames(path)
	return len(names) > 1 && slices.Contains([]string{"annotations", "labels"}, names[len(names)-2])
}

// partsOf are the parts of an undeclared field that are left to those who wrote them: all
// of it, if nobody else wrote in it.
func partsOf(path fieldpath.Path, left *fieldpath.Set, owners ownership) []fieldpath.Path {
	if !touches(left, path) {
		return nil
	}
	if !slices.ContainsFunc(owners.others, func(o owner) bool { return touches(o.fields.Difference(left), path) }) {
		return []fieldpath.Path{path}
	}
	var parts []fieldpath.Path
	left.Leaves().Iterate(func(leaf fieldpath.Path) {
		if len(leaf) >= len(path) && overlap(leaf, path) && !repeatsKey(leaf) {
			parts = append(parts, leaf.Copy())
		}
	})
	return parts
}

// declares reports whether the configuration has the field, or something below it:
// whoever wrote it, what becomes of it is told elsewhere.
func (s *subject) declares(path fieldpath.Path) bool {
	if _, declared := lookup(s.object.Manifest.Object, path); declared {
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
	manifest, err := Trim(s.object.Manifest, s.action.Yields)
	if err != nil {
		return nil, err
	}
	ignored := fieldPaths(s.lifecycle().IgnoreFields)
	owners := ownershipOf(s.live, s.manager)
	var yielded []fieldpath.Path
	for _, y := range s.action.Yields {
		path, err := yieldedPath(y)
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
		return proof.KeeperOf(after, stepNames(path)) != proof.Nobody || s.action.Scaled && pathText(path) == replicasPath ||
			covered(ignored, path) || slices.ContainsFunc(fixed, path.Equals) ||
			slices.ContainsFunc(yielded, func(y fieldpath.Path) bool { return overlap(y, path) })
	}
	var paths []fieldpath.Path
	for _, path := range extras(after, manifest, s.manager, s.leftTo(owners.others), ignored, whole) {
		value, there := lookup(after.Object, path)
		if there && value != nil && !empty(value) && !repeatsKey(path) && !left(path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// leftTo are the fields that the object's lifecycle leaves to those of the owners who wrote
// them.
func (s *subject) leftTo(owners []owner) *fieldpath.Set {
	fields := fieldpath.NewSet()
	for _, o := range owners {
		if s.lifecycle().yieldsTo(o.manager) {
			fields = fields.Union(o.fields)
		}
	}
	return fields
}

// stepNames is the path by the names of its fields, with "*" for elements of lists.
func stepNames(path fieldpath.Path) []string {
	names := make([]string, len(path))
	for i, element := range path {
		names[i] = "*"
		if element.FieldName != nil {
			names[i] = *element.FieldName
		}
	}
	return names
}

// derived reports whether the server computes the field's default from other fields. The
// default stays when only those fields change later.
func derived(path fieldpath.Path) bool {
	names := stepNames(path)
	n := len(names)
	return slices.Contains([]string{"imagePullPolicy", "policyTypes", "rollingUpdate", "hostPort"}, names[n-1]) || n > 1 && names[n-2] == "resources" && names[n-1] == "requests" ||
		n > 2 && names[n-3] == "resources" && names[n-2] == "requests"
}

// overlap reports whether one of the paths is the other's, or below it.
func overlap(a, b fieldpath.Path) bool {
	n := min(len(a), len(b))
	return a[:n].Equals(b[:n])
}

// without copies an object and leaves out the fields at the paths.
func without(u *unstructured.Unstructured, paths []fieldpath.Path) *unstructured.Unstructured {
	u = u.DeepCopy()
	for _, path := range paths {
		cut(u.Object, path)
	}
	return u
}

// Bare is the manifest without what it declares as empty and others have filled, if there
// is any such thing. Of a custom resource, the server would make a null of it when what
// they filled it with is removed: it has to go first, and come again.
func Bare(manifest *unstructured.Unstructured, fields string) (bare *unstructured.Unstructured, differs bool, err error) {
	set := fieldpath.NewSet()
	if err := set.FromJSON(strings.NewReader(fields)); err != nil {
		return nil, false, err
	}
	bare = manifest.DeepCopy()
	for _, path := range pathsIn(set) {
		for n := len(path) - 1; n > 0; n-- {
			if declared, there := lookup(bare.Object, path[:n]); there && empty(declared) {
				cut(bare.Object, path[:n])
				differs = true
			}
		}
	}
	return bare, differs, nil
}

func pathsIn(set *fieldpath.Set) []fieldpath.Path {
	var paths []fieldpath.Path
	set.Iterate(func(path fieldpath.Path) { paths = append(paths, path.Copy()) })
	return paths
}
