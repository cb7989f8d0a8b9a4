package doctor_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/doctor"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// reader lists given objects, and refuses some kinds. It allows requests by their verbs.
type reader struct {
	providers.Reader
	objects []*unstructured.Unstructured
	refused map[string]error // by kind
	allowed []string         // verbs

	mu     sync.Mutex
	listed []string // "KIND NAMESPACE"
	asked  []string // verbs
}

func (r *reader) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = append(r.listed, strings.TrimSpace(kind.Kind+" "+namespace))
	if err := r.refused[kind.Kind]; err != nil {
		return nil, &providers.UnreadableError{Kind: kind, Namespace: namespace, Err: err}
	}
	return slices.DeleteFunc(slices.Clone(r.objects), func(u *unstructured.Unstructured) bool { return u.GetKind() != kind.Kind }), nil
}

func (r *reader) Allowed(_ context.Context, a providers.Access) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, a.Verb)
	return slices.Contains(r.allowed, a.Verb), nil
}

// read makes one check of what a reader tells.
func read(t *testing.T, name string, f *cluster.Facts, from *reader) doctor.Result {
	t.Helper()
	checks, err := doctor.Select([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Live = providers.NewSnapshot(from)
	if err := doctor.Read(t.Context(), from, f, checks); err != nil {
		t.Fatal(err)
	}
	return doctor.Examine(f, checks).Results[0]
}

// TestReadTwice checks that a check gets the lists that depend on others, and each list is read
// once.
func TestReadTwice(t *testing.T) {
	from := &reader{objects: parse(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: policy}, webhooks: [{name: guard.example.org, clientConfig: {service: {namespace: guard, name: guard}}, rules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}]}`)}
	f := facts(t, deployment("web", 1, "", ""), "")
	if got := read(t, "webhooks", f, from); len(got.Findings) != 1 || got.NotChecked != "" {
		t.Errorf("got %+v", got)
	}
	slices.Sort(from.listed)
	want := []string{"EndpointSlice guard", "MutatingWebhookConfiguration", "Namespace", "ValidatingWebhookConfiguration"}
	if diff := cmp.Diff(want, from.listed); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	from = &reader{objects: from.objects, refused: map[string]error{"EndpointSlice": &providers.PermissionError{User: "ann", Verb: "list", Resource: "endpointslices", Group: "discovery.k8s.io"}}}
	got := read(t, "webhooks", f, from)
	if want := `User "ann" is not allowed to list endpointslices.discovery.k8s.io in the whole cluster.`; got.NotChecked != want || len(got.Findings) > 0 {
		t.Errorf("not checked: %q, want %q; %v", got.NotChecked, want, got.Findings)
	}
}

// TestReadRights checks that the server is asked for each right, but only once for a user with all
// rights.
func TestReadRights(t *testing.T) {
	f := facts(t, "", "")
	f.Roles = []rights.Role{{Namespace: "openstack", Rules: []rights.Rule{{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}}}}
	from := &reader{allowed: []string{"get"}}
	got := read(t, "permissions", f, from)
	if len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Reason, "\nlist pods") || strings.Contains(got.Findings[0].Reason, "get") {
		t.Errorf("got %+v", got)
	}
	all := &reader{allowed: []string{"*"}}
	if got := read(t, "permissions", f, all); len(got.Findings) > 0 || len(all.asked) != 1 {
		t.Errorf("asked for %v, got %+v", all.asked, got)
	}
}

// TestReadAnswers checks that published ports are tried.
func TestReadAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	service := `{apiVersion: v1, kind: Service, metadata: {name: m, namespace: openstack, annotations: {kolla.openstack.org/public: x}}, spec: {ports: [{port: 80, nodePort: 30080}]}}`
	f := facts(t, service, "")
	f.Config.Exposures = []configs.Exposure{{Block: "exposure.public", Name: "public", VIP: "127.0.0.1"}}
	f.Config.Services = []configs.Service{{Block: "manifest.m", Exposure: "public", Ports: []configs.Port{{Name: "web", Number: port, Exposed: true}}}}
	from := &reader{objects: parse(t, service)}
	if got := read(t, "vip", f, from); len(got.Findings) > 0 || got.NotChecked != "" {
		t.Errorf("got %+v", got)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	got := read(t, "vip", f, from)
	if len(got.Findings) != 1 || !strings.HasSuffix(got.Findings[0].Problem, "cannot connect: connection refused") {
		t.Errorf("got %+v", got)
	}
}
