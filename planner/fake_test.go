package planner_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// cluster is a Reader with objects and answers that the test sets. It does not implement
// server-side apply: planner/live tests that with a real API server.
type cluster struct {
	mu      sync.Mutex // serializes calls, so that the functions of a test need no lock
	objects []*unstructured.Unstructured
	missing schema.GroupKind   // a kind that the cluster does not have
	hidden  schema.GroupKind   // a kind that the user cannot list
	because error              // why; nil: the API server of the kind is down
	unread  []providers.Unread // kinds that Contents cannot list
	looks   []string           // the namespaces that Contents was called for
	fail    map[string]error   // the errors of LISTs by kind
	// answer answers dry runs; nil: the server accepts every object as it is sent.
	answer func(object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error)
	// without answers dry runs that remove the additions of others; nil: there are no such
	// additions.
	without func(object *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

func (c *cluster) Identity(context.Context) (providers.Identity, error) { return here, nil }

func (c *cluster) Get(_ context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	for _, u := range c.objects {
		if providers.RefOf(u) == ref {
			return u, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: ref.GVK.Kind}, ref.Name)
}

func (c *cluster) Namespaced(context.Context, schema.GroupVersionKind) (bool, error) {
	return true, nil
}

func (c *cluster) Contents(_ context.Context, namespace string) (providers.Contents, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks = append(c.looks, namespace)
	contents := providers.Contents{Unread: c.unread}
	for _, u := range c.objects {
		if u.GetNamespace() == namespace {
			o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: u.GetName(), UID: u.GetUID(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
				OwnerReferences: u.GetOwnerReferences(), DeletionTimestamp: u.GetDeletionTimestamp(),
			}}
			o.APIVersion, o.Kind = u.GetAPIVersion(), u.GetKind()
			contents.Objects = append(contents.Objects, o)
		}
	}
	return contents, nil
}

func (c *cluster) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	if kind.GroupKind() == c.missing {
		return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
	}
	if kind.GroupKind() == c.hidden {
		return nil, &providers.UnreadableError{Kind: kind, Namespace: namespace, Err: cmp.Or(c.because, errors.New("it is down"))}
	}
	if err := c.fail[kind.Kind]; err != nil {
		return nil, err
	}
	var list []*unstructured.Unstructured
	for _, u := range c.objects {
		if u.GroupVersionKind() == kind && (namespace == "" || u.GetNamespace() == namespace) {
			list = append(list, u)
		}
	}
	return list, nil
}

func (c *cluster) DryRun(_ context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if options.Over != nil {
		// All undeclared fields are the server's own, unless the test says otherwise.
		if c.without == nil {
			return options.Over.DeepCopy(), nil
		}
		return c.without(object)
	}
	answer := object
	if c.answer != nil {
		var err error
		if answer, err = c.answer(object, options); err != nil {
			return nil, err
		}
	}
	// The answer has the resource version of the compared object.
	answer = answer.DeepCopy()
	for _, u := range c.objects {
		if providers.RefOf(u) == providers.RefOf(object) && !options.Surrogate && answer.GetResourceVersion() == "" {
			answer.SetResourceVersion(u.GetResourceVersion())
		}
	}
	return answer, nil
}

var (
	here = providers.Identity{UID: "cluster-1", Server: "https://10.0.0.10:6443", Version: "v1.37.1"}
	now  = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	then = time.Date(2026, 11, 21, 2, 11, 0, 0, time.UTC)
)

// address parses an address and panics if it is invalid.
func address(text string) addrs.Object {
	a, err := addrs.ParseObject(text)
	if err != nil {
		panic(err)
	}
	return a
}

// input returns the input of a plan for the cloud "prod". The namespace exists and is not declared.
func input(c *cluster, objects ...providers.Object) planner.Input {
	c.objects = append(c.objects, namespaceOf("openstack"))
	return planner.Input{
		Cloud:     "prod",
		Namespace: "openstack",
		Objects:   objects,
		Reader:    c,
		Snapshot:  providers.NewSnapshot(c),
		State:     &state.State{Cluster: state.Cluster{UID: here.UID}},
		Cluster:   here,
		Now:       now,
	}
}

func namespaceOf(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion("v1")
	u.SetKind("Namespace")
	u.SetName(name)
	u.SetUID(types.UID(name))
	return u
}

// declared returns a desired object.
func declared(at string, manifest *unstructured.Unstructured, dependsOn ...string) providers.Object {
	o := providers.Object{Address: address(at), Manifest: manifest, Source: "cloud.hcl:41"}
	for _, on := range dependsOn {
		o.DependsOn = append(o.DependsOn, address(on))
	}
	return o
}

// of sets the label of a service on an object.
func of(service string, u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetLabels(map[string]string{providers.LabelService: service})
	return u
}

// live returns a live object for a manifest, with the label of the cloud.
func live(manifest *unstructured.Unstructured, uid types.UID) *unstructured.Unstructured {
	u := manifest.DeepCopy()
	u.SetUID(uid)
	u.SetResourceVersion("1")
	labels := map[string]string{providers.LabelCloud: "prod"}
	if service := manifest.GetLabels()[providers.LabelService]; service != "" {
		labels[providers.LabelService] = service
	}
	u.SetLabels(labels)
	u.SetCreationTimestamp(metav1.NewTime(then))
	return u
}

// recorded returns the state's record of a live object.
func recorded(at string, u *unstructured.Unstructured) state.Object {
	return state.Object{
		Address:    at,
		APIVersion: u.GetAPIVersion(),
		Kind:       u.GetKind(),
		Namespace:  u.GetNamespace(),
		Name:       u.GetName(),
		UID:        string(u.GetUID()),
		Ready:      true,
		Applied:    then,
	}
}

// token sets the token that the object got at its creation.
func token(u *unstructured.Unstructured, token string) {
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[providers.AnnotationIntent] = token
	u.SetAnnotations(annotations)
	owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:metadata":{"f:annotations":{"f:kolla.openstack.org/intent":{}}}}`)
}

// owns adds an entry to the object's managedFields.
func owns(u *unstructured.Unstructured, manager string, operation metav1.ManagedFieldsOperationType, at time.Time, fields string) {
	stamp := metav1.NewTime(at)
	u.SetManagedFields(append(u.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: u.GetAPIVersion(), Time: &stamp,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}))
}

// mustPlan makes a plan, and fails the test if the plan has any problem.
func mustPlan(t *testing.T, in planner.Input) *plans.Plan {
	t.Helper()
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, problems %v", err, problems)
	}
	return plan
}

// mustNotPlan makes a plan that has problems, and returns their summaries and details as a string.
func mustNotPlan(t *testing.T, in planner.Input) string {
	t.Helper()
	_, problems, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, p := range problems {
		if !p.Warning {
			text = append(text, fmt.Sprintf("%s (%s): %s", p.Summary, p.Source, p.Detail))
		}
	}
	if len(text) == 0 {
		t.Fatal("there is no problem")
	}
	return strings.Join(text, "\n")
}

// find returns the action with an address.
func find(t *testing.T, plan *plans.Plan, at string) plans.Action {
	t.Helper()
	i := slices.IndexFunc(plan.Actions, func(a plans.Action) bool { return a.Address == address(at) })
	if i < 0 {
		t.Fatalf("no action on %s in %s", at, verbs(plan))
	}
	return plan.Actions[i]
}

// verbs lists the actions in their order: "create service.a/ConfigMap/a".
func verbs(plan *plans.Plan) []string {
	var list []string
	for _, a := range plan.Actions {
		list = append(list, string(a.Verb)+" "+a.Address.String())
	}
	return list
}

// kinds lists the kinds of the reasons.
func kinds(reasons []plans.Reason) []plans.ReasonKind {
	var list []plans.ReasonKind
	for _, r := range reasons {
		list = append(list, r.Kind)
	}
	return list
}

// refusal returns an error response of the API server.
func refusal(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	return fmt.Errorf("dry run: %w", &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Causes: causes},
	}})
}

func invalid(field, message string) error {
	return refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, field+": "+message,
		metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message})
}

// text returns the whole plan as JSON.
func text(t *testing.T, plan *plans.Plan) string {
	t.Helper()
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// everything returns the addresses of all objects, for -adopt.
func everything(objects []providers.Object) []string {
	var names []string
	for _, o := range objects {
		names = append(names, o.Address.String())
	}
	return names
}
