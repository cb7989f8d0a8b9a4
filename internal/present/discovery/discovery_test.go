package discovery_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/present/discovery"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// reader lists the same objects each time.
type reader struct {
	providers.Reader
	objects []*unstructured.Unstructured
}

func (r reader) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, u := range r.objects {
		if u.GroupVersionKind() == kind && u.GetNamespace() == namespace {
			out = append(out, u)
		}
	}
	return out, nil
}

func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace("os")
	return u
}

// objects reads manifests of a block.
func objects(t *testing.T, block string, texts ...string) []providers.Object {
	t.Helper()
	var out []providers.Object
	for _, text := range texts {
		u := read(t, text)
		out = append(out, providers.Object{Address: addrs.Object{Block: block, Kind: u.GetKind(), Name: u.GetName()}, Manifest: u})
	}
	return out
}

const (
	main     = `{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {selector: {app: db}, ports: [{name: sql, port: 3306}, {name: web, port: 80}, {name: mail, port: 25}]}}`
	outside  = `{apiVersion: v1, kind: Service, metadata: {name: db-public}, spec: {selector: {app: db}, ports: [{name: web, port: 80}]}}`
	headless = `{apiVersion: v1, kind: Service, metadata: {name: db-set}, spec: {selector: {app: db}, ports: [{name: sql, port: 3306}, {name: web, port: 80}]}}`
	onePod   = `{apiVersion: v1, kind: Service, metadata: {name: db-set-0}, spec: {selector: {app: db, statefulset.kubernetes.io/pod-name: db-set-0}, ports: [{name: sql, port: 3306}]}}`
	set      = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db-set}, spec: {template: {metadata: {labels: {app: db, more: x}}}}}`
	agent    = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: db-agent}, spec: {template: {metadata: {labels: {app: agent}}}}}`
)

func TestBlocks(t *testing.T) {
	config := &configs.Config{
		Exposures: []configs.Exposure{{Name: "out", VIP: "192.0.2.1", FQDN: "cloud.example.org"}},
		Services: []configs.Service{
			{
				Block: "service.db", Name: "db", Exposure: "out",
				Ports:     []configs.Port{{Name: "sql", Number: 3306}, {Name: "web", Number: 80, Exposed: true, Public: 8080}, {Name: "nobody", Number: 9}, {Name: "mail", Number: 25, Exposed: true}},
				Endpoints: []configs.Endpoint{{Type: "database", Port: "web", Path: "/v1"}},
			},
			{Block: "service.ceph", Name: "ceph", External: true},
			{Block: "service.jobs", Name: "jobs"},
		},
	}
	declared := slices.Concat(objects(t, "service.db", main, outside, headless, onePod, set, agent), objects(t, "manifest.more", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`))
	ofDB := []addrs.Object{{Block: "service.db", Kind: "StatefulSet", Name: "db-set"}}
	of := func(name string, ports ...string) discovery.Service {
		return discovery.Service{Address: addrs.Object{Block: "service.db", Kind: "Service", Name: name}, Namespace: "os", Workloads: ofDB, Ports: ports}
	}
	want := []discovery.Block{
		{Address: "service.ceph", Name: "ceph", External: true},
		{
			Address: "service.db", Name: "db",
			Services: []discovery.Service{of("db", "sql", "web", "mail"), of("db-public", "web"), of("db-set", "sql", "web"), of("db-set-0", "sql")},
			Alone:    []addrs.Object{{Block: "service.db", Kind: "DaemonSet", Name: "db-agent"}},
			URLs: []discovery.URL{
				{Port: "sql", Internal: "db.os:3306"},
				{Port: "web", Endpoint: "database", Internal: "http://db.os:80/v1", Public: "http://cloud.example.org:8080/v1"},
				{Port: "mail", Internal: "db.os:25", Public: "cloud.example.org:25"},
			},
		},
	}
	got := discovery.Declared(config, declared)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	// The URLs of a part of a block are those of ports that its Services have.
	part := got[1].Only(func(o addrs.Object) bool { return o.Name == "db-public" })
	if diff := cmp.Diff(want[1].URLs[1:2], part.URLs); diff != "" {
		t.Errorf("URLs of Service db-public (-want +got):\n%s", diff)
	}
}

func TestLiveServices(t *testing.T) {
	const conditions = `conditions: {ready: true, serving: true, terminating: false}`
	live := reader{objects: []*unstructured.Unstructured{
		read(t, `{apiVersion: v1, kind: Service, metadata: {name: db}, spec: {type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"], ports: [{name: sql, port: 3306, protocol: TCP, targetPort: sql, nodePort: 30306}]}}`),
		read(t, `{apiVersion: v1, kind: Service, metadata: {name: db-set}, spec: {type: ClusterIP, clusterIP: None, clusterIPs: [None], publishNotReadyAddresses: true}}`),
		read(t, `{apiVersion: v1, kind: Service, metadata: {name: ldap}, spec: {type: ExternalName, externalName: ldap.example.org}}`),
		// The pods in two families, and one in two slices for a moment.
		read(t, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: db-1, labels: {kubernetes.io/service-name: db}}, endpoints: [
			{addresses: [10.1.0.2], nodeName: n2, targetRef: {kind: Pod, name: db-set-1}, hostname: db-set-1, `+conditions+`},
			{addresses: [10.1.0.1], nodeName: n1, targetRef: {kind: Pod, name: db-set-0}, conditions: {ready: false, serving: true, terminating: true}}]}`),
		read(t, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: db-2, labels: {kubernetes.io/service-name: db}}, endpoints: [
			{addresses: ["fd00::2"], nodeName: n2, targetRef: {kind: Pod, name: db-set-1}, `+conditions+`},
			{addresses: [10.1.0.2], nodeName: n2, targetRef: {kind: Pod, name: db-set-1}, `+conditions+`}]}`),
		// Members find each other before they are ready.
		read(t, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: set, labels: {kubernetes.io/service-name: db-set}}, endpoints: [
			{addresses: [10.1.0.1], nodeName: n1, targetRef: {kind: Pod, name: db-set-0}, hostname: db-set-0, conditions: {ready: true, serving: false, terminating: false}},
			{addresses: [192.0.2.7]}, {addresses: [192.0.2.8]}]}`),
		read(t, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: other, labels: {kubernetes.io/service-name: other}}, endpoints: [{addresses: [10.1.0.9]}]}`),
	}}
	service := func(name string) discovery.Service {
		return discovery.Service{Address: addrs.Object{Block: "service.db", Kind: "Service", Name: name}, Namespace: "os"}
	}
	blocks := []discovery.Block{{Address: "service.db", Services: []discovery.Service{service("db"), service("db-set"), service("ldap"), service("gone")}}}
	got, err := discovery.Of(t.Context(), discovery.Cloud{Name: "prod", Namespace: "os"}, blocks, providers.NewSnapshot(live))
	if err != nil {
		t.Fatal(err)
	}
	want := []*discovery.Live{
		{
			Type: "NodePort", ClusterIPs: []string{"10.0.0.1", "fd00::1"},
			Ports: []discovery.Port{{Name: "sql", Number: 3306, Protocol: "TCP", Target: "sql", NodePort: 30306}},
			Endpoints: []discovery.Endpoint{
				{Pod: "db-set-0", Node: "n1", Addresses: []string{"10.1.0.1"}},
				{Pod: "db-set-1", Node: "n2", Addresses: []string{"10.1.0.2", "fd00::2"}, Ready: true, Published: true},
			},
		},
		{
			Type: "ClusterIP", Headless: true,
			Endpoints: []discovery.Endpoint{
				{Addresses: []string{"192.0.2.7"}, Ready: true, Published: true},
				{Addresses: []string{"192.0.2.8"}, Ready: true, Published: true},
				{Pod: "db-set-0", Node: "n1", Addresses: []string{"10.1.0.1"}, Name: "db-set-0.db-set.os.svc", Published: true},
			},
		},
		{Type: "ExternalName", Alias: "ldap.example.org"},
		nil,
	}
	var found []*discovery.Live
	for _, s := range got.Blocks[0].Services {
		found = append(found, s.Live)
	}
	if diff := cmp.Diff(want, found, cmpopts.IgnoreUnexported(discovery.Live{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ready, total := found[1].Ready(); ready != 2 || total != 3 {
		t.Errorf("%d of %d are ready, want 2 of 3", ready, total)
	}
	if got, want := got.Summary(), "1 of 4 Services is not in the cluster. kolla apply makes it."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if blocks[0].Services[0].Live != nil {
		t.Error("the blocks of the caller have changed")
	}
}

// TestVariablesOfAPod checks whose variables a pod gets.
func TestVariablesOfAPod(t *testing.T) {
	live := func(name, address string) *unstructured.Unstructured {
		return read(t, `{apiVersion: v1, kind: Service, metadata: {name: `+name+`}, spec: {clusterIP: `+address+`, ports: [{port: 1}]}}`)
	}
	apiServer := live("kubernetes", "10.0.0.1")
	apiServer.SetNamespace("default")
	for name, test := range map[string]struct {
		objects   []*unstructured.Unstructured
		apiServer *unstructured.Unstructured
		want      []string
	}{
		"of the namespace and the API server":       {[]*unstructured.Unstructured{live("theirs", "10.0.0.9")}, apiServer, []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "THEIRS_SERVICE_HOST=10.0.0.9"}},
		"an unknown API server":                     {[]*unstructured.Unstructured{live("theirs", "10.0.0.9")}, nil, []string{"THEIRS_SERVICE_HOST=10.0.0.9"}},
		"a Service with the name of the API server": {[]*unstructured.Unstructured{live("kubernetes", "10.0.0.9")}, apiServer, []string{"KUBERNETES_SERVICE_HOST=10.0.0.9"}},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := providers.NewSnapshot(reader{objects: test.objects})
			d, err := discovery.Of(t.Context(), discovery.Cloud{Namespace: "os"}, nil, snapshot)
			if err != nil {
				t.Fatal(err)
			}
			variables, err := d.Environment(snapshot, test.apiServer)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range variables {
				if strings.HasSuffix(v.Name, "_SERVICE_HOST") {
					got = append(got, v.Name+"="+v.Value)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
