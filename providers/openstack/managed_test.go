package openstack_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// edge returns facts about three nodes. Two of them belong to the role.
func edge() openstack.Facts {
	f := openstack.Offline()
	f.Nodes = []openstack.Node{
		{Name: "n2", Addresses: []string{"2001:db8::2", "198.51.100.2"}},
		{Name: "n1", Addresses: []string{"198.51.100.1", "2001:db8::1"}},
		{Name: "n3", Addresses: []string{"198.51.100.3"}},
	}
	return f
}

// ofExposure returns the objects of the exposure.
func ofExposure(objects []providers.Object) []providers.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o providers.Object) bool { return o.Address.Block != "exposure.public" })
}

// TestManaged compares the objects of an exposure of the mode managed with a golden file. It is the
// same file in each run, and in any order of the nodes.
func TestManaged(t *testing.T) {
	config := load(t, "testdata/managed")
	objects := render(t, config, edge())
	golden.Compare(t, "testdata/managed/want.yaml", dump(t, ofExposure(objects)))
	f := edge()
	slices.Reverse(f.Nodes)
	if again := dump(t, ofExposure(render(t, config, f))); !slices.Equal(again, dump(t, ofExposure(objects))) {
		t.Error("another order of the nodes makes other objects")
	}
	if len(config.Services) != 2 {
		t.Errorf("Render changed the configuration: it has %d services", len(config.Services))
	}
	t.Run("the certificate comes first", func(t *testing.T) {
		set, certificate := find(t, objects, "DaemonSet/exposure-public-keepalived"), find(t, objects, "Secret/exposure-public")
		if !slices.Contains(set.DependsOn, certificate.Address) {
			t.Errorf("the DaemonSet waits for %v", set.DependsOn)
		}
	})
	t.Run("services do not wait for the VIP", func(t *testing.T) {
		set := find(t, objects, "DaemonSet/exposure-public-keepalived")
		for _, o := range objects {
			if o.Address.Block != "exposure.public" && reaches(objects, o.Address, set.Address) {
				t.Errorf("%s waits for the DaemonSet", o.Address)
			}
		}
	})
	t.Run("clients find the Services that HAProxy connects to", func(t *testing.T) {
		public := find(t, objects, "Service/api-public")
		ports, _, _ := unstructured.NestedSlice(public.Manifest.Object, "spec", "ports")
		kind, _, _ := unstructured.NestedString(public.Manifest.Object, "spec", "type")
		if len(ports) != 1 || kind != "ClusterIP" || public.Manifest.GetAnnotations()[providers.AnnotationPublic] != "cloud.example.org (192.0.2.10)" {
			t.Errorf("the Service for clients outside is\n%v", public.Manifest.Object)
		}
		if wire := find(t, objects, "Service/wire"); wire.Manifest.GetAnnotations()[providers.AnnotationPublic] == "" {
			t.Error("the Service with only exposed ports has no public address")
		}
	})
}

// TestManagedRestarts checks which changes restart the pods: those of their files, one node after the
// other. A renewed certificate is none: HAProxy gets it without a restart.
func TestManagedRestarts(t *testing.T) {
	template := func(f openstack.Facts, edit func(*configs.Config)) string {
		config := load(t, "testdata/managed")
		if edit != nil {
			edit(config)
		}
		set := find(t, render(t, config, f), "DaemonSet/exposure-public-keepalived")
		if limit, _, _ := unstructured.NestedFieldNoCopy(set.Manifest.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"); limit != int64(1) {
			t.Errorf("a rollout takes %v nodes at once", limit)
		}
		pod, _, _ := unstructured.NestedMap(set.Manifest.Object, "spec", "template")
		text, err := yaml.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := template(edge(), nil)
	renewed := edge()
	renewed.Revision = func(addrs.Object, string, string, map[string]string) string { return "another" }
	more := edge()
	more.Nodes = append(more.Nodes, openstack.Node{Name: "n4", Addresses: []string{"198.51.100.4"}})
	for name, c := range map[string]struct {
		facts    openstack.Facts
		edit     func(*configs.Config)
		restarts bool
	}{
		"another certificate":   {facts: renewed},
		"a node of no role":     {facts: more},
		"a node of the role":    {more, func(c *configs.Config) { c.Roles[0].Nodes = append(c.Roles[0].Nodes, "n4") }, true},
		"another port":          {edge(), func(c *configs.Config) { c.Services[1].Ports[0].Public = 3307 }, true},
		"more pods of services": {edge(), func(c *configs.Config) { c.Services[1].Workloads[0].Replicas++ }, false},
	} {
		if after := template(c.facts, c.edit); (before != after) != c.restarts {
			t.Errorf("%s: restarts %t, want %t\n%s", name, before != after, c.restarts, after)
		}
	}
}

// TestManagedMistakes checks the diagnostics that need the cluster.
func TestManagedMistakes(t *testing.T) {
	object := func(text string) *unstructured.Unstructured {
		var u unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		return &u
	}
	live := map[string]*unstructured.Unstructured{
		"ServiceCIDR": object("metadata: {name: kubernetes}\nspec: {cidrs: [10.96.0.0/16, \"fd00::/112\"]}"),
		"Node":        object("metadata: {name: n1}\nspec: {podCIDRs: [10.244.1.0/24]}\nstatus: {addresses: [{type: InternalIP, address: 198.51.100.1}]}"),
	}
	for name, c := range map[string]struct {
		vip    string
		lacks  string // a kind that the cluster does not have
		denied string // a kind that must not be read
		want   string // a part of the detail; empty: no error
	}{
		"free":                         {vip: "192.0.2.10"},
		"a Service's":                  {vip: "10.96.0.10", want: "in the network of Services, 10.96.0.0/16"},
		"a Service's of IPv6":          {vip: "fd00::10", want: "in the network of Services, fd00::/112"},
		"a pod's":                      {vip: "10.244.1.9", want: "in the network of pods of node n1, 10.244.1.0/24"},
		"a node's":                     {vip: "198.51.100.1", want: "the address of node n1"},
		"an old cluster":               {vip: "10.96.0.10", lacks: "ServiceCIDR"},
		"an old cluster, a pod's":      {vip: "10.244.1.9", lacks: "ServiceCIDR", want: "in the network of pods"},
		"without a right, a pod's":     {vip: "10.244.1.9", denied: "ServiceCIDR", want: "in the network of pods"},
		"without a right, a Service's": {vip: "10.96.0.10", denied: "Node", want: "in the network of Services"},
		"without all rights":           {vip: "192.0.2.10", denied: "Node"},
	} {
		t.Run(name, func(t *testing.T) {
			f := edge()
			f.List = func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
				switch scope.GVK.Kind {
				case c.lacks:
					return nil, &meta.NoKindMatchError{GroupKind: scope.GVK.GroupKind()}
				case c.denied:
					return nil, errors.New("forbidden")
				}
				return []*unstructured.Unstructured{live[scope.GVK.Kind]}, nil
			}
			config := load(t, "testdata/managed")
			config.Exposures[0].VIP = c.vip
			_, diags := openstack.Render(config, f)
			if c.want == "" {
				if diags.HasErrors() {
					t.Error(diags)
				}
				return
			}
			if len(diags) != 1 || diags[0].Summary != `The VIP of exposure "public" belongs to the cluster` || !strings.Contains(diags[0].Detail, c.want) || diags[0].Subject.Start.Line != 12 {
				t.Errorf("got %v, want %q at line 12", diags, c.want)
			}
			_, unread := openstack.CheckServed(config, f.List)
			if wantUnread := c.denied != "" && c.denied != "Node"; (unread != nil) != wantUnread {
				t.Errorf("not read: %v", unread)
			}
		})
	}
	t.Run("a VIP that is known later", func(t *testing.T) {
		config := load(t, "testdata/managed")
		config.Exposures[0].VIP, config.Exposures[0].Keepalived.Deferred = "", []string{"data.later"}
		set := find(t, render(t, config, edge()), "DaemonSet/exposure-public-keepalived")
		if !slices.Equal(set.Deferred, []string{"data.later"}) {
			t.Errorf("the DaemonSet waits for the data %q", set.Deferred)
		}
	})
	t.Run("no address of the family", func(t *testing.T) {
		f := edge()
		f.Nodes[0].Addresses = []string{"2001:db8::2"}
		_, diags := openstack.Render(load(t, "testdata/managed"), f)
		if len(diags) != 1 || diags[0].Summary != `Node "n2" has no address for VRRP` || !strings.Contains(diags[0].Detail, "2001:db8::2") {
			t.Errorf("got %v", diags)
		}
	})
	t.Run("nothing uses it", func(t *testing.T) {
		config := load(t, "testdata/managed")
		config.Services = nil
		for _, o := range ofExposure(render(t, config, edge())) {
			if o.Address.Kind != "Secret" {
				t.Errorf("%s is made for no service", o.Address)
			}
		}
	})
	t.Run("it encrypts itself", func(t *testing.T) {
		config := load(t, "testdata/managed")
		config.Services[0].Workloads[0].Ready.TLS = true
		_, diags := openstack.Render(config, edge())
		if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == `Port "api" of service "api" encrypts itself` }) {
			t.Errorf("got %v", diags.Errs())
		}
	})
}
