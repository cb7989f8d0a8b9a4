package ownership

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// Undeclared lists the fields of an applied object that are not declared and that nobody else
// may set. Most of them are defaults, which only the server knows.
func Undeclared(ctx context.Context, snapshot *providers.Snapshot, o *outcome.Outcome, h History, yields []plans.Yield, after *unstructured.Unstructured, whole bool) ([]fieldpath.Path, error) {
	manifest, err := fields.Trim(o.Object.Manifest, yields)
	if err != nil {
		return nil, err
	}
	ignored := RulesOf(o.Object).Ignored()
	owners := fields.OwnersOf(o.Live, o.Manager)
	var yielded []fieldpath.Path
	for _, y := range yields {
		path, err := fields.YieldedPath(y)
		if err != nil {
			return nil, err
		}
		yielded = append(yielded, path)
	}
	fixed, err := fixedFields(ctx, snapshot, o, h)
	if err != nil {
		return nil, err
	}
	_, rules, err := Aggregated(ctx, snapshot, o)
	if err != nil {
		return nil, err
	}
	left := func(path fieldpath.Path) bool {
		if rules && path.Equals(AggregatedRules) {
			return fields.Covered(ignored, path)
		}
		return proof.KeeperOf(after, fields.Names(path)) != proof.Nobody || o.Action.Scaled && fields.Text(path) == replicas ||
			fields.Covered(ignored, path) || slices.ContainsFunc(fixed, path.Equals) ||
			slices.ContainsFunc(yielded, func(y fieldpath.Path) bool { return fields.Overlap(y, path) })
	}
	var paths []fieldpath.Path
	for _, path := range fields.Extras(after, manifest, o.Manager, RulesOf(o.Object).LeftTo(owners.Others), ignored, whole) {
		value, there := fields.Lookup(after.Object, path)
		if there && value != nil && !fields.Empty(value) && !fields.RepeatsKey(path) && !left(path) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// derived reports whether the server computes the default of the field from other fields. The
// default stays if only those fields change later.
func derived(path fieldpath.Path) bool {
	names := fields.Names(path)
	n := len(names)
	return slices.Contains([]string{"imagePullPolicy", "policyTypes", "rollingUpdate", "hostPort"}, names[n-1]) || n > 1 && names[n-2] == "resources" && names[n-1] == "requests" ||
		n > 2 && names[n-3] == "resources" && names[n-2] == "requests"
}

// MayBeStale reports whether the server may have derived a default from a field that the apply
// changes. Only a dry run is certain. Most objects have pods, and an upgrade changes their
// images, so their defaults are known here: they depend on images, on types, and on which
// fields exist.
func MayBeStale(o *outcome.Outcome, applied *unstructured.Unstructured) (bool, error) {
	if o.Live == applied {
		return false, nil
	}
	differences, err := fields.Compare(o.Live, applied)
	if err != nil {
		return false, err
	}
	_, pods := fields.Lookup(applied.Object, fieldpath.MakePathOrDie("spec", "template", "spec"))
	return slices.ContainsFunc(differences, func(d fields.Difference) bool {
		names := fields.Names(d.At)
		last := names[len(names)-1]
		switch {
		case slices.Contains(names, "metadata"), pods && (slices.Contains(names, "env") || slices.Contains(names, "resources")):
			return false
		case !pods, slices.Contains([]string{"type", "hostNetwork", "strategy", "updateStrategy"}, last):
			return true
		case last == "image":
			policy := append(d.At[:len(d.At)-1].Copy(), fieldpath.MakePathOrDie("imagePullPolicy")...)
			now, _ := fields.Lookup(applied.Object, policy)
			return d.Before != nil && now != pullPolicy(d.After) && !Declares(o.Object, policy)
		}
		return (d.Before == nil || d.After == nil) && last != "*"
	}), nil
}

// pullPolicy returns the server's default for an image.
func pullPolicy(image any) string {
	reference, _ := image.(string)
	if r := providers.SplitImage(reference); r.Digest == "" && (r.Tag == "" || r.Tag == "latest") {
		return "Always"
	}
	return "IfNotPresent"
}
