package decision

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/lifecycle"
	"kolla.openstack.org/kolla/planner/proof"
)

const replicasPath = "spec.replicas"

// undeclaredIn lists the fields of an applied object that nothing declares and nobody else may
// set. Most of them are defaults, which only the server knows.
func (p *decider) undeclaredIn(ctx context.Context, s *subject, after *unstructured.Unstructured, whole bool) ([]fieldpath.Path, error) {
	manifest, err := fields.Trim(s.out.Object.Manifest, s.out.Action.Yields)
	if err != nil {
		return nil, err
	}
	ignored := lifecycle.Of(s.out.Object).Ignored()
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	var yielded []fieldpath.Path
	for _, y := range s.out.Action.Yields {
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
		return proof.KeeperOf(after, fields.Names(path)) != proof.Nobody || s.out.Action.Scaled && fields.Text(path) == replicasPath ||
			fields.Covered(ignored, path) || slices.ContainsFunc(fixed, path.Equals) ||
			slices.ContainsFunc(yielded, func(y fieldpath.Path) bool { return fields.Overlap(y, path) })
	}
	var paths []fieldpath.Path
	for _, path := range fields.Extras(after, manifest, s.out.Manager, lifecycle.Of(s.out.Object).LeftTo(owners.Others), ignored, whole) {
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
