package planner

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kolla.openstack.org/kolla/internal/crd"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// definition is a CustomResourceDefinition that the plan creates, or whose schemas it
// changes: it is what objects of its kind are held to when they are written, and not
// what a server knows now.
type definition struct {
	live bool // changed, not created
	// refused: the server does not take it. Nothing is known of its objects.
	refused bool
	object  *unstructured.Unstructured // as it will be

	mu      sync.Mutex
	schemas map[string]*crd.Schema // by version, as far as they were asked for
}

// schema reads the schema of a version.
func (d *definition) schema(version string) (*crd.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.schemas[version]; known != nil {
		return known, nil
	}
	schema, err := crd.Read(d.object, version)
	if err == nil {
		d.schemas[version] = schema
	}
	return schema, err
}

// String names it for people.
func (d *definition) String() string { return "CustomResourceDefinition/" + d.object.GetName() }

// definedKind is the kind that a CustomResourceDefinition gives to the cluster.
func definedKind(u *unstructured.Unstructured) (schema.GroupKind, bool) {
	if u.GroupVersionKind().GroupKind() != definitionKind {
		return schema.GroupKind{}, false
	}
	group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}, true
}

// expectKinds takes down the definitions that the plan creates or changes. They have
// been decided by now, and no other object has.
func (p *planning) expectKinds() {
	for _, s := range p.subjects {
		if s == nil || s.action.Verb == plans.None {
			continue
		}
		kind, ok := definedKind(s.object.Manifest)
		if !ok || s.live != nil && (s.after == nil || !changesSchemas(s.live, s.after)) {
			continue
		}
		coming := &definition{live: s.live != nil, refused: s.action.Verb == "", object: s.after, schemas: map[string]*crd.Schema{}}
		if coming.object == nil {
			coming.object = s.object.Manifest
		}
		p.coming[kind] = coming
	}
}

// changesSchemas reports whether objects of the kind may be treated otherwise.
func changesSchemas(before, after *unstructured.Unstructured) bool {
	was, _, _ := unstructured.NestedFieldNoCopy(before.Object, "spec", "versions")
	is, _, _ := unstructured.NestedFieldNoCopy(after.Object, "spec", "versions")
	return !reflect.DeepEqual(was, is)
}

// comingFor is the definition that the plan brings for an object's kind; nil: none.
func (p *planning) comingFor(s *subject) *definition {
	return p.coming[s.action.Ref.GVK.GroupKind()]
}

// convertsByWebhook reports whether versions differ by more than their name.
func (d *definition) convertsByWebhook() bool {
	strategy, _, _ := unstructured.NestedString(d.object.Object, "spec", "conversion", "strategy")
	return strategy == "Webhook"
}

// foresight is what is known of an object by a definition that no server has yet.
type foresight struct {
	after    *unstructured.Unstructured
	evidence plans.Evidence
	faults   field.ErrorList // what the schema has against it
	dropped  []string        // paths of declared fields that are not kept
}

// foresee completes what an apply of the manifest makes of an object, base, by the
// definition, and says what the definition has against it. Where the definition
// itself is no good, that is the error.
func (d *definition) foresee(manifest, base *unstructured.Unstructured) (foresight, error) {
	schema, err := d.schema(manifest.GroupVersionKind().Version)
	var unserved *crd.UnservedError
	switch {
	case errors.As(err, &unserved):
		return foresight{faults: field.ErrorList{field.NotSupported(field.NewPath("apiVersion"), unserved.Version, unserved.Served)}}, nil
	case err != nil:
		return foresight{}, fmt.Errorf("%s: %w", d, err)
	}
	f := foresight{after: schema.Complete(base)}
	f.faults, f.dropped = schema.Unknown(manifest)
	f.faults = append(f.faults, schema.Check(f.after)...)
	f.evidence = plans.Evidence{Kind: plans.Schema, Detail: fmt.Sprintf("checked with the schema of %s in this plan", d)}
	if d.live {
		f.evidence.Detail = fmt.Sprintf("checked with the schema that %s has after this plan", d)
	}
	if schema.Rules {
		f.evidence.Detail += "; its rules in CEL are only checked when it is written"
	}
	return f, nil
}

// objection says what the definition has against the object, in the form of an
// answer of the server.
func (f foresight) objection() rejection {
	var r rejection
	for _, fault := range f.faults {
		r.causes = append(r.causes, metav1.StatusCause{Field: fault.Field, Message: fault.ErrorBody()})
	}
	return r
}

// tryUndefined decides about a new object of a kind, or of a version of it, that the
// cluster does not have.
func (p *planning) tryUndefined(s *subject, manifest *unstructured.Unstructured) error {
	if err := s.assume(manifest); err != nil {
		return err
	}
	coming := p.comingFor(s)
	gvk := s.action.Ref.GVK
	if coming == nil {
		reason := fmt.Sprintf("the cluster has no kind %s in %s", gvk.Kind, gvk.GroupVersion())
		needsMore := func(address lang.Address) bool {
			needed := p.desired[address]
			return needed != nil && needed.Ref().GVK.GroupKind() != providers.NamespaceKind
		}
		if !slices.ContainsFunc(s.object.DependsOn, needsMore) {
			s.withdraw(reason, "Nothing that is declared here defines it either. Install what it comes from first, or name in depends_on what brings it, such as the manifest of an operator; otherwise correct apiVersion and kind.")
			return nil
		}
		s.action.Evidence = plans.Evidence{
			Kind: plans.Unverified, Detail: reason,
			Advice: "Nothing that is declared here defines it either. The object can only be made if something that it depends on brings its kind, such as an operator; otherwise correct apiVersion and kind.",
		}
		return nil
	}
	if coming.refused {
		s.action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("the cluster does not accept %s, which defines its kind", coming)}
		return nil
	}
	if err := p.tryForeseen(s, coming, manifest); err != nil || s.action.Evidence.Kind != plans.Schema {
		return err
	}
	if p.rules.Meets(gvk) {
		s.action.Evidence.Detail += "; the webhooks and policies that may change it are not asked before"
	}
	return nil
}

// tryForeseen decides about a new object by the definition that it will meet.
func (p *planning) tryForeseen(s *subject, coming *definition, manifest *unstructured.Unstructured) error {
	f, err := coming.foresee(manifest, manifest)
	if err != nil {
		s.action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: err.Error()}
		return nil
	}
	if len(f.faults) > 0 {
		s.action.Verb = ""
		s.rejectBy(coming.String(), f.objection())
		return nil
	}
	s.action.Evidence = f.evidence
	s.warnOfDropped(coming, f)
	// What the schema adds is there for everybody to see, and nobody's own.
	f.after.SetManagedFields(s.after.GetManagedFields())
	s.after = f.after
	return nil
}

// warnOfDropped names declared fields that will not be there.
func (s *subject) warnOfDropped(by *definition, f foresight) {
	if len(f.dropped) > 0 {
		s.warn(fmt.Sprintf("%s does not keep %s of %s", by, words.Few(f.dropped, 4), s.action.Ref),
			"The schema does not have such a field there. Correct its name, or take it out.")
	}
}

// refusedNow introduces what the server said of an object by a definition that this
// plan changes.
const refusedNow = "; by the one that the cluster has now the object is not accepted: "

// applyNewCRD re-evaluates an object against the version of its CRD that this plan installs.
// base is the object as the server's version makes it from the manifest, and refusal is why
// that version rejects it, if it does. Where the new version rejects it too, the evidence
// says so and the result is nil.
func (p *planning) applyNewCRD(s *subject, manifest, base *unstructured.Unstructured, refusal string) (*unstructured.Unstructured, plans.Evidence) {
	coming := p.comingFor(s)
	if coming.convertsByWebhook() && p.Snapshot.Missing(s.action.Ref.GVK) {
		return base, plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("the cluster does not serve its version yet, and a webhook of %s is to convert it", coming)}
	}
	f, err := coming.foresee(manifest, base)
	if err != nil {
		return base, plans.Evidence{Kind: plans.Unverified, Detail: err.Error()}
	}
	if len(f.faults) > 0 {
		s.rejectBy(coming.String(), f.objection())
		return nil, plans.Evidence{}
	}
	s.warnOfDropped(coming, f)
	if refusal != "" {
		f.evidence.Detail += refusedNow + refusal
	}
	return f.after, f.evidence
}

// blameDefinition has reasons say that the definition of the object's kind changes,
// where nothing else explains a difference.
func (p *planning) blameDefinition(s *subject, reasons []plans.Reason) []plans.Reason {
	for i := range reasons {
		if reasons[i].Kind == plans.ReasonUpgrade {
			reasons[i] = plans.Reason{Kind: plans.ReasonDefinition, Path: reasons[i].Path, Detail: p.comingFor(s).String()}
		}
	}
	return reasons
}

// liveOf finds the object in the cluster. Of a version that the cluster does not
// serve yet, it may be there in the one that it was applied in.
func (p *planning) liveOf(s *subject) *unstructured.Unstructured {
	ref := s.object.Ref()
	coming := p.coming[ref.GVK.GroupKind()]
	live := p.Snapshot.Get(ref)
	if live != nil || s.record == nil || coming == nil || !p.Snapshot.Missing(ref.GVK) || s.record.ref.GVK.GroupKind() != ref.GVK.GroupKind() {
		return live
	}
	if live = p.Snapshot.Get(s.record.ref); live == nil {
		return nil
	}
	live = live.DeepCopy()
	live.SetAPIVersion(ref.GVK.GroupVersion().String())
	return live
}
