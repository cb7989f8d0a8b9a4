package ownership_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// owns adds an owner of fields. The manager "kolla" applies them; others update them. A subresource
// follows the manager after a "/".
func owns(u *unstructured.Unstructured, manager, subresource, fieldsV1 string) {
	operation := metav1.ManagedFieldsOperationUpdate
	if manager == providers.FieldManager {
		operation = metav1.ManagedFieldsOperationApply
	}
	u.SetManagedFields(append(u.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: u.GetAPIVersion(), Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fieldsV1),
	}))
}

// TestFieldsOfControllers checks that kolla leaves a field to its usual controller, unless the
// options or the lifecycle take it.
func TestFieldsOfControllers(t *testing.T) {
	const (
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 3}}"
		replicas   = `{"f:spec":{"f:replicas":{}}}`
		webhook    = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: h, clientConfig: {caBundle: eA==}}]}"
		caBundle   = `{"f:webhooks":{"k:{\"name\":\"h\"}":{"f:clientConfig":{"f:caBundle":{}}}}}`
		claim      = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 2Gi}}}}"
		size       = `{"f:spec":{"f:resources":{"f:requests":{"f:storage":{}}}}}`
		configMap  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {caBundle: x}}"
	)
	scaled := func(o *outcome.Outcome) { o.Action.Scaled = true }
	tests := map[string]struct {
		live, fields, path string
		declared           string // empty: as live
		change             func(o *outcome.Outcome)
		force, left        bool
	}{
		"replicas of an autoscaler":         {live: deployment, fields: replicas, path: ".spec.replicas", change: scaled, left: true},
		"replicas without one":              {live: deployment, fields: replicas, path: ".spec.replicas"},
		"replicas of an autoscaler, forced": {live: deployment, fields: replicas, path: ".spec.replicas", change: scaled, force: true},
		"replicas of an autoscaler, forced by the lifecycle": {live: deployment, fields: replicas, path: ".spec.replicas", change: func(o *outcome.Outcome) {
			o.Action.Scaled, o.Object.Lifecycle = true, &providers.Lifecycle{ForceFields: []string{"spec.replicas"}}
		}},
		"certificates of a webhook":        {live: webhook, fields: caBundle, path: `.webhooks[name="h"].clientConfig.caBundle`, left: true},
		"a key that is called the same":    {live: configMap, fields: `{"f:data":{"f:caBundle":{}}}`, path: ".data.caBundle"},
		"a volume that has grown":          {live: claim, declared: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 1Gi}}}}", fields: size, path: ".spec.resources.requests.storage", left: true},
		"a volume of the declared size":    {live: claim, declared: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 2048Mi}}}}", fields: size, path: ".spec.resources.requests.storage"},
		"a volume that is to grow":         {live: claim, declared: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 3Gi}}}}", fields: size, path: ".spec.resources.requests.storage"},
		"a volume without a declared size": {live: claim, declared: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}}", fields: size, path: ".spec.resources.requests.storage"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := objecttest.Read(t, test.live)
			manifest := live.DeepCopy()
			if test.declared != "" {
				manifest = objecttest.Read(t, test.declared)
			}
			owns(live, "acme-controller", "", test.fields)
			o := &outcome.Outcome{Object: &providers.Object{Manifest: manifest}, Live: live, Manager: providers.FieldManager, Ours: true}
			if test.change != nil {
				test.change(o)
			}
			got, err := ownership.Arbitrate(o, test.force, manifest, []providers.Conflict{{Path: test.path, Manager: "acme-controller"}})
			if err != nil {
				t.Fatal(err)
			}
			if (len(got.Yields) == 1) != test.left || got.Takes == test.left || len(got.Refused) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestYields checks that kolla does not send a declared field that another client may own, or whose
// other value ignore_fields keeps.
func TestYields(t *testing.T) {
	const (
		declared = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 3, paused: true}}"
		live     = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 5, paused: true}}"
		bare     = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {paused: true}}"
		secret   = "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: eA==}}"
		other    = "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: eQ==}}"
		replicas = `{"f:spec":{"f:replicas":{}}}`
		data     = `{"f:data":{"f:x":{}}}`
	)
	ignores := func(path string) func(*outcome.Outcome) {
		return func(o *outcome.Outcome) { o.Object.Lifecycle = &providers.Lifecycle{IgnoreFields: []string{path}} }
	}
	yieldsTo := func(o *outcome.Outcome) { o.Object.Lifecycle = &providers.Lifecycle{YieldTo: []string{"hpa"}} }
	left := func(change func(y *plans.Yield)) []plans.Yield {
		y := plans.Yield{Path: "spec.replicas", Manager: "hpa", Want: int64(3), Live: int64(5), Field: replicas}
		change(&y)
		return []plans.Yield{y}
	}
	tests := map[string]struct {
		declared, live string // empty: as above
		owner          string // manager, or manager/subresource; empty: nobody else
		held           bool   // kolla owns the field
		fields         string // empty: replicas
		change         func(o *outcome.Outcome)
		yields         []plans.Yield
		idle           bool
	}{
		"nobody else":                     {held: true},
		"somebody's, in kolla's object":   {owner: "hpa", change: func(o *outcome.Outcome) { o.Ours = true }},
		"somebody's, in another object":   {owner: "hpa"}, // sent, which causes a conflict
		"what a person left in it":        {owner: "kubectl-edit"},
		"yield_to":                        {owner: "hpa", change: yieldsTo, yields: left(func(y *plans.Yield) { y.Declared = true })},
		"yield_to, shared":                {owner: "hpa", held: true, change: yieldsTo},
		"yield_to, of the status":         {owner: "hpa/status", change: yieldsTo},
		"yield_to, somebody else":         {owner: "other", change: func(o *outcome.Outcome) { yieldsTo(o); o.Ours = true }},
		"ignored, of others":              {owner: "hpa", change: ignores("spec.replicas"), yields: left(func(y *plans.Yield) { y.Declared = true })},
		"ignored, of nobody":              {change: ignores("spec.replicas"), yields: left(func(y *plans.Yield) { y.Declared, y.Manager = true, "" })},
		"ignored, and kolla's":            {held: true, change: ignores("spec.replicas"), yields: left(func(y *plans.Yield) { y.Declared, y.Manager, y.Value = true, "", int64(5) })},
		"ignored, kolla's, as declared":   {held: true, live: declared, change: ignores("spec.replicas")},
		"ignored, kolla's, missing":       {held: true, live: bare, change: ignores("spec.replicas")},
		"ignored, kolla's, secret":        {held: true, declared: secret, live: other, fields: data, change: ignores("data.x")},
		"ignored, of others, secret":      {owner: "hpa", declared: secret, live: other, fields: data, change: ignores("data.x"), yields: []plans.Yield{{Path: `data["x"]`, Manager: "hpa", Want: plans.Masked, Live: plans.Masked, Field: data, Declared: true}}},
		"something else is ignored":       {owner: "hpa", change: func(o *outcome.Outcome) { ignores("spec.template")(o); o.Ours = true }},
		"scaled":                          {owner: "hpa", change: func(o *outcome.Outcome) { o.Action.Scaled, o.Ours = true, true }, yields: left(func(*plans.Yield) {})},
		"scaled, not by anybody yet":      {change: func(o *outcome.Outcome) { o.Action.Scaled, o.Ours = true, true }, yields: left(func(y *plans.Yield) { y.Manager = "" })},
		"scaled, and kolla's":             {held: true, change: func(o *outcome.Outcome) { o.Action.Scaled, o.Ours = true, true }},
		"scaled, replicas are undeclared": {declared: bare, change: func(o *outcome.Outcome) { o.Action.Scaled, o.Ours = true, true }},
		"the autoscaler is gone":          {owner: "kube-controller-manager/scale", change: func(o *outcome.Outcome) { o.Ours = true }, idle: true},
		"a person scaled":                 {owner: "kubectl/scale", change: func(o *outcome.Outcome) { o.Ours = true }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := func(text, otherwise string) *unstructured.Unstructured {
				if text == "" {
					text = otherwise
				}
				return objecttest.Read(t, text)
			}
			manifest, there, set := text(test.declared, declared), text(test.live, live), test.fields
			if set == "" {
				set = replicas
			}
			if test.held {
				owns(there, providers.FieldManager, "", set)
			}
			if manager, subresource, _ := strings.Cut(test.owner, "/"); manager != "" {
				owns(there, manager, subresource, set)
			}
			o := &outcome.Outcome{Object: &providers.Object{Manifest: manifest}, Live: there, Manager: providers.FieldManager}
			if test.change != nil {
				test.change(o)
			}
			yields, idle, err := ownership.Yields(o, false, manifest)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.yields, yields, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("yields (-want +got):\n%s", diff)
			}
			if (len(idle) > 0) != test.idle {
				t.Errorf("idle: %v", idle)
			}
		})
	}
}

// TestStartOver checks that a new object has the declared value of a field until the field's owner
// sets it again. This is not drift.
func TestStartOver(t *testing.T) {
	tests := map[string]struct {
		owner  string
		change func(o *outcome.Outcome)
		drift  bool
	}{
		"an owner who may have it": {owner: "hpa", change: func(o *outcome.Outcome) { o.Object.Lifecycle = &providers.Lifecycle{YieldTo: []string{"hpa"}} }},
		"an autoscaler":            {owner: "hpa", change: func(o *outcome.Outcome) { o.Action.Scaled = true }},
		"somebody else":            {owner: "kubectl", drift: true},
		"nobody knows who":         {drift: true},
		"nobody, and ignored":      {drift: true, change: func(o *outcome.Outcome) { o.Object.Lifecycle = &providers.Lifecycle{IgnoreFields: []string{"spec"}} }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := objecttest.Read(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 5}}")
			if test.owner != "" {
				owns(live, test.owner, "", `{"f:spec":{"f:replicas":{}}}`)
			}
			o := &outcome.Outcome{Object: &providers.Object{Manifest: live}, Live: live, Manager: providers.FieldManager, Ours: true}
			if test.change != nil {
				test.change(o)
			}
			differences := []fields.Difference{{At: fieldpath.MakePathOrDie("spec", "replicas"), Change: plans.Change{Drift: true, Edited: true}}}
			ownership.StartOver(o, false, differences)
			if got := differences[0]; got.Drift != test.drift || got.Edited != test.drift {
				t.Errorf("drift %v, edited %v", got.Drift, got.Edited)
			}
		})
	}
}
