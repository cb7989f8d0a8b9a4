package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/blame"
	"kolla.openstack.org/kolla/planner/internal/lifecycle"
	"kolla.openstack.org/kolla/planner/internal/trial"
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

// fixed lists the undeclared fields that a question to the server must not leave out: those of
// unremovable, those that belong to them, and the default class of an Ingress.
func (p *decider) fixed(ctx context.Context, s *subject) ([]fieldpath.Path, error) {
	var paths []fieldpath.Path
	if proof.Headless(s.out.Live) {
		paths = []fieldpath.Path{clusterIP, clusterIPs}
	}
	for _, field := range proof.AddedToPod(s.out.Live) {
		paths = append(paths, fieldpath.MakePathOrDie("spec", field))
	}
	class, given := s.undeclaredClass()
	if class == "" {
		return paths, nil
	}
	if given {
		return append(paths, ingressClass), nil
	}
	fresh, known, err := p.defaultClass(ctx)
	_, written := fields.OwnersOf(s.out.Live, s.out.Manager).Other(ingressClass)
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

// unremovable finds the additions of others that no update can remove.
func (p *decider) unremovable(ctx context.Context, s *subject) ([]fields.Difference, error) {
	if !s.out.Owned() && !s.out.Object.Run() {
		return nil, nil
	}
	var found []fields.Difference
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	ignored, left := lifecycle.Of(s.out.Object).Ignored(), lifecycle.Of(s.out.Object).LeftTo(owners.Others)
	add := func(path fieldpath.Path, after any) {
		if fields.Covered(ignored, path) || fields.Touches(left, path) {
			return
		}
		d := fields.Difference{At: path, Change: plans.Change{Path: fields.Text(path), After: after}}
		d.Before, _ = fields.Lookup(s.out.Live.Object, path)
		if by, written := owners.Other(path); written || !s.clean {
			d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		}
		found = append(found, d)
	}
	if s.out.Object.Run() && !s.ranOtherwise() {
		for _, field := range jobFields {
			want, declared := fields.Lookup(s.out.Object.Manifest.Object, field.path)
			switch {
			case !declared:
				want = field.fresh
			case !s.out.Versioned():
				continue // it is compared like any other field
			}
			live, _ := fields.Lookup(s.out.Live.Object, field.path)
			if !fields.Equal(live, value.NewValueInterface(want)) {
				add(field.path, want)
			}
		}
	}
	// An address cannot be changed in one update. Two updates can: the first one makes the
	// Service an ExternalName, which has no address. Any other address may be allocated.
	if proof.Headless(s.out.Live) && !lifecycle.Declares(s.out.Object, clusterIP) && !lifecycle.Declares(s.out.Object, clusterIPs) {
		add(clusterIP, plans.Unknown)
	}
	for _, field := range proof.AddedToPod(s.out.Live) {
		if path := fieldpath.MakePathOrDie("spec", field); !lifecycle.Declares(s.out.Object, path) {
			add(path, nil)
		}
	}
	if class, given := s.undeclaredClass(); class != "" && !given {
		// The server gives the default class to new objects only.
		fresh, _, err := p.defaultClass(ctx)
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
func (s *subject) undeclaredClass() (class string, given bool) {
	if s.out.Action.Ref.GVK.GroupKind() != kinds.Ingress || lifecycle.Declares(s.out.Object, ingressClass) {
		return "", false
	}
	class, _, _ = unstructured.NestedString(s.out.Live.Object, "spec", "ingressClassName")
	_, written := fields.OwnersOf(s.out.Live, s.out.Manager).Other(ingressClass)
	return class, !written && !s.written()
}

// defaultClass returns the class that a new Ingress without a declared class gets; empty: it
// gets none. known is false if the classes cannot be listed.
func (p *decider) defaultClass(ctx context.Context) (name string, known bool, err error) {
	var unreadable *providers.UnreadableError
	switch err := p.inv.Input.Snapshot.Load(ctx, providers.Scope{GVK: ingressClasses}); {
	case errors.As(err, &unreadable):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("find the default class of Ingresses: %w", err)
	}
	var newest *unstructured.Unstructured
	for _, class := range p.inv.Input.Snapshot.All(ingressClasses) {
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

// takeOutFixed decides about additions that no update can remove: the object is replaced. A
// Pod or Job would run once more, so its additions are only reported.
func (p *decider) takeOutFixed(ctx context.Context, s *subject) (decided bool, err error) {
	set, err := p.unremovable(ctx, s)
	if err != nil || len(set) == 0 {
		return false, err
	}
	var reasons []plans.Reason
	for _, d := range set {
		reasons = append(reasons, plans.Reason{Kind: plans.ReasonImmutable, Path: d.Path})
	}
	switch {
	case s.out.Object.Run(), proof.AddedToPod(s.out.Live) != nil:
		s.out.Stuck, s.out.Action.Reported = set, true
		return false, nil
	case s.out.Adopts():
		s.out.Refuse(fmt.Sprintf("%s has %s, which is not declared, and which no update takes out", s.out.Action.Ref, trial.PathsOf(reasons)),
			fmt.Sprintf("Declare it as it is: %v.", set[0].Before))
		return true, nil
	case p.inv.Input.ForeignPolicy == plans.ReportForeign && set[0].Drift:
		var paths []fieldpath.Path
		for _, d := range set {
			paths = append(paths, d.At)
		}
		s.report(fields.Without(s.out.Live, paths), set)
		return false, nil
	}
	if err := p.replace(ctx, s, reasons); err != nil || s.out.Action.Verb != plans.Replace {
		return true, err
	}
	s.out.Action.Changes = append(s.out.Action.Changes, fields.Changes(set)...)
	slices.SortStableFunc(s.out.Action.Changes, func(a, b plans.Change) int { return strings.Compare(a.Path, b.Path) })
	s.out.Action.Reasons = append(s.out.Action.Reasons, blame.Drift(set, s.out.Adopts())...)
	return true, nil
}
