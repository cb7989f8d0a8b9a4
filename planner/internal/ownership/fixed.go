package ownership

import (
	"context"
	"errors"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Others can set fields that no update removes: an update without them keeps them, is refused,
// or leaves another value than a new object has.

var (
	ingressClasses = networkingv1.SchemeGroupVersion.WithKind("IngressClass")

	ingressClass = fieldpath.MakePathOrDie("spec", "ingressClassName")
	clusterIP    = fieldpath.MakePathOrDie("spec", "clusterIP")
	clusterIPs   = fieldpath.MakePathOrDie("spec", "clusterIPs")
)

// fixedFields lists the undeclared fields that a question to the server must not leave out: the
// fields of Unremovable, the fields that depend on them, and the default class of an Ingress.
func fixedFields(ctx context.Context, snapshot *providers.Snapshot, o *outcome.Outcome, h History) ([]fieldpath.Path, error) {
	var paths []fieldpath.Path
	if proof.Headless(o.Live) {
		paths = []fieldpath.Path{clusterIP, clusterIPs}
	}
	for _, field := range proof.AddedToPod(o.Live) {
		paths = append(paths, fieldpath.MakePathOrDie("spec", field))
	}
	class, given := undeclaredClass(o, h)
	if class == "" {
		return paths, nil
	}
	if given {
		return append(paths, ingressClass), nil
	}
	fresh, known, err := defaultClass(ctx, snapshot)
	_, written := fields.OwnersOf(o.Live, o.Manager).Other(ingressClass)
	if fresh != "" || !known && !written {
		paths = append(paths, ingressClass)
	}
	return paths, err
}

// jobFields are the fields that others can change in a live Job, with the values of a new Job.
// The template of a suspended Job can change too, but is not among them.
var jobFields = []struct {
	path  fieldpath.Path
	fresh any
}{
	{fieldpath.MakePathOrDie("metadata", "ownerReferences"), nil},
	{fieldpath.MakePathOrDie("spec", "activeDeadlineSeconds"), nil},
	{fieldpath.MakePathOrDie("spec", "backoffLimit"), int64(6)},
	{fieldpath.MakePathOrDie("spec", "parallelism"), int64(1)},
	{fieldpath.MakePathOrDie("spec", "suspend"), false},
	{fieldpath.MakePathOrDie("spec", "ttlSecondsAfterFinished"), nil},
}

// Unremovable finds the additions of others that no update can remove.
func Unremovable(ctx context.Context, snapshot *providers.Snapshot, o *outcome.Outcome, h History) ([]fields.Difference, error) {
	if !o.Owned() && !o.Object.IsJob() {
		return nil, nil
	}
	var found []fields.Difference
	owners := fields.OwnersOf(o.Live, o.Manager)
	ignored, left := RulesOf(o.Object).Ignored(), RulesOf(o.Object).LeftTo(owners.Others)
	add := func(path fieldpath.Path, after any) {
		if fields.Covered(ignored, path) || fields.Touches(left, path) {
			return
		}
		d := fields.Difference{At: path, Change: plans.Change{Path: fields.Text(path), After: after}}
		d.Before, _ = fields.Lookup(o.Live.Object, path)
		if by, written := owners.Other(path); written || !h.Clean {
			d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		}
		found = append(found, d)
	}
	if o.Object.IsJob() && !o.OtherInputs() {
		for _, field := range jobFields {
			want, declared := fields.Lookup(o.Object.Manifest.Object, field.path)
			switch {
			case !declared:
				want = field.fresh
			case !o.Versioned():
				continue // it is compared like any other field
			}
			live, _ := fields.Lookup(o.Live.Object, field.path)
			if !fields.Equal(live, value.NewValueInterface(want)) {
				add(field.path, want)
			}
		}
	}
	// An address cannot be changed in one update. Two updates can: the first one makes the
	// Service an ExternalName, which has no address. Any other address may be allocated.
	if proof.Headless(o.Live) && !Declares(o.Object, clusterIP) && !Declares(o.Object, clusterIPs) {
		add(clusterIP, plans.Unknown)
	}
	for _, field := range proof.AddedToPod(o.Live) {
		if path := fieldpath.MakePathOrDie("spec", field); !Declares(o.Object, path) {
			add(path, nil)
		}
	}
	if class, given := undeclaredClass(o, h); class != "" && !given {
		// The server gives the default class to new objects only.
		fresh, _, err := defaultClass(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		if fresh != "" && fresh != class {
			add(ingressClass, fresh)
		}
	}
	return found, nil
}

// undeclaredClass returns the class of a live Ingress that declares none; empty: it has none.
// given: as far as anybody knows, the server set the class when the object was created. The
// default may have been another one then.
func undeclaredClass(o *outcome.Outcome, h History) (class string, given bool) {
	if o.Object.Ref().GVK.GroupKind() != kinds.Ingress || Declares(o.Object, ingressClass) {
		return "", false
	}
	class, _, _ = unstructured.NestedString(o.Live.Object, "spec", "ingressClassName")
	_, written := fields.OwnersOf(o.Live, o.Manager).Other(ingressClass)
	return class, !written && !h.Written
}

// defaultClass returns the class that a new Ingress without a declared class gets; empty: it
// gets none. known is false if the classes cannot be listed.
func defaultClass(ctx context.Context, snapshot *providers.Snapshot) (name string, known bool, err error) {
	var unreadable *providers.UnreadableError
	switch err := snapshot.Load(ctx, providers.Scope{GVK: ingressClasses}); {
	case errors.As(err, &unreadable):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("find the default class of Ingresses: %w", err)
	}
	var newest *unstructured.Unstructured
	for _, class := range snapshot.All(ingressClasses) {
		if class.GetAnnotations()[networkingv1.AnnotationIsDefaultIngressClass] != "true" {
			continue
		}
		if newest == nil || newer(class, newest) {
			newest = class
		}
	}
	if newest == nil {
		return "", true, nil
	}
	return newest.GetName(), true, nil
}

// newer reports whether the server prefers class a to class b if both are the default.
func newer(a, b *unstructured.Unstructured) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !at.Equal(&bt) {
		return bt.Before(&at)
	}
	return a.GetName() < b.GetName()
}
