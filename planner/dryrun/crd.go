package dryrun

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kolla.openstack.org/kolla/planner/dryrun/crd"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// CRD is a CustomResourceDefinition that the plan creates, or whose schemas it changes.
// Objects of its kind are written after it, so this version counts, and not that of the
// server.
type CRD struct {
	Live bool // changed, not created
	// Refused: the server does not accept it, so nothing is known of its objects.
	Refused bool
	Object  *unstructured.Unstructured // as it will be

	mu      sync.Mutex
	schemas map[string]*crd.Schema // by version, parsed on demand
}

// schema returns the schema of a version.
func (d *CRD) schema(version string) (*crd.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.schemas[version]; known != nil {
		return known, nil
	}
	schema, err := crd.Read(d.Object, version)
	if err == nil {
		if d.schemas == nil {
			d.schemas = map[string]*crd.Schema{}
		}
		d.schemas[version] = schema
	}
	return schema, err
}

// String returns the name for people.
func (d *CRD) String() string { return "CustomResourceDefinition/" + d.Object.GetName() }

// KindOf returns the kind that a CustomResourceDefinition defines; ok is false for other
// objects.
func KindOf(u *unstructured.Unstructured) (kind schema.GroupKind, ok bool) {
	if u.GroupVersionKind().GroupKind() != kinds.CustomResourceDefinition {
		return schema.GroupKind{}, false
	}
	group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
	name, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: name}, true
}

// ChangesSchemas reports whether the schemas of two versions of a definition differ.
func ChangesSchemas(before, after *unstructured.Unstructured) bool {
	was, _, _ := unstructured.NestedFieldNoCopy(before.Object, "spec", "versions")
	is, _, _ := unstructured.NestedFieldNoCopy(after.Object, "spec", "versions")
	return !reflect.DeepEqual(was, is)
}

// ConvertsByWebhook reports whether a webhook converts between versions, which may then
// differ by more than the name.
func (d *CRD) ConvertsByWebhook() bool {
	strategy, _, _ := unstructured.NestedString(d.Object.Object, "spec", "conversion", "strategy")
	return strategy == "Webhook"
}

// Forecast is the expected result of an apply, by a definition that the server does not
// have yet.
type Forecast struct {
	After    *unstructured.Unstructured
	Evidence plans.Evidence
	Faults   field.ErrorList // objections of the schema
	Dropped  []string        // paths of declared fields that the schema drops
}

// Check completes base, the expected object, with the defaults of the definition, and
// checks it and the manifest. The error says that the definition itself cannot be used.
func (d *CRD) Check(manifest, base *unstructured.Unstructured) (Forecast, error) {
	schema, err := d.schema(manifest.GroupVersionKind().Version)
	var unserved *crd.UnservedError
	switch {
	case errors.As(err, &unserved):
		return Forecast{Faults: field.ErrorList{field.NotSupported(field.NewPath("apiVersion"), unserved.Version, unserved.Served)}}, nil
	case err != nil:
		return Forecast{}, fmt.Errorf("%s: %w", d, err)
	}
	f := Forecast{After: schema.Complete(base)}
	f.Faults, f.Dropped = schema.Unknown(manifest)
	f.Faults = append(f.Faults, schema.Check(f.After)...)
	f.Evidence = plans.Evidence{Kind: plans.Schema, Detail: fmt.Sprintf("checked with the schema of %s in this plan", d)}
	if d.Live {
		f.Evidence.Detail = fmt.Sprintf("checked with the schema that %s has after this plan", d)
	}
	if schema.Rules {
		f.Evidence.Detail += "; its rules in CEL are only checked when it is written"
	}
	return f, nil
}

// Objection returns the faults in the form of an answer of the server.
func (f Forecast) Objection() Refusal {
	var r Refusal
	for _, fault := range f.Faults {
		r.causes = append(r.causes, metav1.StatusCause{Field: fault.Field, Message: fault.ErrorBody()})
	}
	return r
}
