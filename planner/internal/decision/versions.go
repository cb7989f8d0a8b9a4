package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// findUnshown finds the fields of a custom resource that its stored version has and its declared
// version does not. The server shows them in no answer about the declared version, and every
// apply in that version removes them. It costs a request for each object of a kind with several
// versions. Versions that a webhook converts have fields of other names, so these are not
// compared.
func findUnshown(ctx context.Context, e *env, s *subject) (found []fields.Difference, err error) {
	in, ref := &e.inv.Input, s.draft.Action.Ref
	if proof.BuiltIn(ref.GVK) || !s.draft.Owned() || in.ForeignPolicy == plans.IgnoreForeign {
		return nil, nil
	}
	version, err := e.stored.version(ctx, in.Snapshot, ref.GVK.GroupKind())
	if err != nil || version == "" || version == ref.GVK.Version {
		return nil, err
	}
	ref.GVK.Version = version
	stored, err := in.Reader.Get(ctx, ref)
	switch {
	case apierrors.IsForbidden(err):
		e.stored.hide(ref.GVK.GroupKind(), err)
		return nil, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	rules, owners := ownership.RulesOf(s.draft.Object), fields.OwnersOf(s.draft.Live, s.draft.Manager)
	ignored, left := rules.Ignored(), rules.LeftTo(owners.Others)
	paths := missing(nil, stored.Object, s.draft.Live.Object, func(path fieldpath.Path) bool {
		return fields.CoveredBelow(ignored, fields.Names(path)) || fields.Touches(left, path)
	})
	leave := func(path fieldpath.Path) bool { return fields.Covered(ignored, path) || fields.Touches(left, path) }
	if paths = slices.DeleteFunc(paths, leave); len(paths) == 0 {
		return nil, nil
	}
	// Defaults of the stored version come back.
	rest := fields.Without(stored, paths)
	answer, err := in.Reader.DryRun(ctx, rest, providers.DryRunOptions{Manager: s.draft.Manager, Over: stored, Warn: func(string) {}})
	if err != nil && dryrun.Classify(err).World {
		return nil, err
	}
	if err != nil {
		// The server does not say which fields are defaults. No default has an owner.
		paths = missing(nil, stored.Object, s.draft.Live.Object, func(fieldpath.Path) bool { return true })
		paths = slices.DeleteFunc(paths, func(path fieldpath.Path) bool {
			_, written := owners.Other(path)
			return leave(path) || !written && !fields.Touches(owners.Own, path)
		})
		answer = fields.Without(stored, paths)
	}
	differences, err := fields.Compare(stored, answer)
	for _, d := range differences {
		if !slices.ContainsFunc(paths, func(path fieldpath.Path) bool { return fields.Overlap(path, d.At) }) {
			continue
		}
		if !fields.Touches(owners.Own, d.At) { // else it was declared earlier, in that version
			by, _ := owners.Other(d.At)
			d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		}
		found = append(found, d)
	}
	return found, err
}

// storedVersions are the versions in which the server stores objects of custom kinds. They are
// read once for a plan, when the first object needs them.
type storedVersions struct {
	once sync.Once
	of   map[schema.GroupKind]string
	err  error

	mu sync.Mutex
	// hidden are the kinds whose objects could not be compared, and because is why.
	hidden  []string
	because error
}

var definitions = providers.Scope{GVK: kinds.CustomResourceDefinition.WithVersion("v1")}

// version returns the version in which the server stores objects of a custom kind; empty: it is
// not known, or a webhook converts it.
func (v *storedVersions) version(ctx context.Context, snapshot *providers.Snapshot, kind schema.GroupKind) (string, error) {
	v.once.Do(func() {
		if v.err = snapshot.Try(ctx, definitions); v.err == nil {
			v.of = storedIn(snapshot.All(definitions.GVK))
		}
	})
	if unread := snapshot.Unread(definitions); unread != nil {
		v.hide(kind, unread)
	}
	return v.of[kind], v.err
}

// storedIn returns the versions that CustomResourceDefinitions store.
func storedIn(crds []*unstructured.Unstructured) map[schema.GroupKind]string {
	of := map[schema.GroupKind]string{}
	for _, u := range crds {
		kind, ok := dryrun.KindOf(u)
		if !ok || (&dryrun.CRD{Object: u}).ConvertsByWebhook() {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
		for _, version := range versions {
			content, _ := version.(map[string]any)
			if name, _ := content["name"].(string); content["storage"] == true && content["served"] == true {
				of[kind] = name
			}
		}
	}
	return of
}

// hide notes that objects of a kind could not be compared.
func (v *storedVersions) hide(kind schema.GroupKind, because error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.hidden, kind.Kind) {
		v.hidden = append(v.hidden, kind.Kind)
	}
	v.because = because
}

// warnings lists the kinds whose stored version kolla could not read.
func (v *storedVersions) warnings() []plans.Problem {
	if len(v.hidden) == 0 {
		return nil
	}
	slices.Sort(v.hidden)
	return []plans.Problem{{
		Warning: true,
		Summary: "fields that only other versions of custom kinds have were not compared",
		Detail: fmt.Sprintf("%s.\nIf others added fields to a %s that its declared version does not show, an apply removes them, and the plan does not say so. kolla rbac prints the rights that a plan needs.",
			v.because, words.Few(v.hidden, 4)),
	}}
}

// missing returns the fields of one object that another one lacks, except metadata and status. A
// map is one field, unless it is divided into the fields below it. It does not look into lists.
func missing(path fieldpath.Path, content, other map[string]any, divided func(fieldpath.Path) bool) (paths []fieldpath.Path) {
	for name, value := range content {
		if len(path) == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			continue
		}
		full := append(path.Copy(), fieldpath.PathElement{FieldName: &name})
		inner, _ := value.(map[string]any)
		has, there := other[name]
		below, isMap := has.(map[string]any)
		switch {
		case len(inner) > 0 && (isMap || !there && divided(full)):
			paths = append(paths, missing(full, inner, below, divided)...)
		case !there && value != nil:
			paths = append(paths, full)
		}
	}
	return paths
}

// removeUnshown adds the fields that the declared version does not show to the prediction. The
// policy may leave those of others in place, as long as nothing else of the object changes.
func removeUnshown(policy plans.ForeignPolicy, s *subject, x *prediction) {
	var kept []fields.Difference
	for _, d := range s.unshown {
		if d.Drift && policy == plans.ReportForeign {
			kept = append(kept, d)
		} else {
			x.removed = append(x.removed, d)
		}
	}
	if len(kept) == 0 {
		return
	}
	without := cmp.Or(s.draft.Unreported, s.draft.Live)
	report(s, without, kept)
}

// expectKinds collects the CRDs that the plan creates or changes, after their decisions and
// before those of all other objects.
func expectKinds(ask *trial.Asker, outcomes []*outcome.Outcome) {
	for _, o := range outcomes {
		if o == nil || o.Action.Verb == plans.None {
			continue
		}
		kind, ok := dryrun.KindOf(o.Object.Manifest)
		if !ok || o.Live != nil && (o.After == nil || !dryrun.ChangesSchemas(o.Live, o.After)) {
			continue
		}
		coming := &dryrun.CRD{Live: o.Live != nil, Refused: o.Withheld, Object: o.After}
		if coming.Object == nil {
			coming.Object = o.Object.Manifest
		}
		ask.Expect(kind, coming)
	}
}

// crdOf returns the CRD that the plan brings for the object's kind; nil: it brings none.
func crdOf(e *env, s *subject) *dryrun.CRD {
	return e.ask.CRD(s.draft.Action.Ref.GVK.GroupKind())
}

// blameDefinition names the changed CRD as the reason of differences without another reason.
func blameDefinition(e *env, s *subject, reasons []plans.Reason) []plans.Reason {
	for i := range reasons {
		if k := reasons[i].Kind; k == plans.ReasonUpgrade || k == plans.ReasonUnexplained {
			reasons[i] = plans.Reason{Kind: plans.ReasonDefinition, Path: reasons[i].Path, Detail: crdOf(e, s).String()}
		}
	}
	return reasons
}

// liveOf returns the live object. If the cluster does not serve the declared version yet, the
// object may exist in the version in which it was applied.
func liveOf(e *env, s *subject) *unstructured.Unstructured {
	ref := s.draft.Object.Ref()
	coming := e.ask.CRD(ref.GVK.GroupKind())
	live := e.inv.Input.Snapshot.Get(ref)
	if live != nil || s.draft.Record == nil || coming == nil || !e.inv.Input.Snapshot.Missing(ref.GVK) || s.draft.Record.Ref.GVK.GroupKind() != ref.GVK.GroupKind() {
		return live
	}
	if live = e.inv.Input.Snapshot.Get(s.draft.Record.Ref); live == nil {
		return nil
	}
	live = live.DeepCopy()
	live.SetAPIVersion(ref.GVK.GroupVersion().String())
	return live
}
