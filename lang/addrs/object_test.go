package addrs_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/addrs"
)

func TestObject(t *testing.T) {
	tests := []struct {
		text string
		want addrs.Object
	}{
		{"service.keystone/Deployment/keystone-api", addrs.Object{Block: "service.keystone", Kind: "Deployment", Name: "keystone-api"}},
		{"cloud.prod/Namespace/openstack", addrs.Object{Block: "cloud.prod", Kind: "Namespace", Name: "openstack"}},
		{"manifest.x/ConfigMap/monitoring/grafana", addrs.Object{Block: "manifest.x", Kind: "ConfigMap", Namespace: "monitoring", Name: "grafana"}},
		{`service.redis["a/b"]/Deployment/redis`, addrs.Object{Block: `service.redis["a/b"]`, Kind: "Deployment", Name: "redis"}},
		{`service.redis["a\"/b"]/Deployment/redis`, addrs.Object{Block: `service.redis["a\"/b"]`, Kind: "Deployment", Name: "redis"}},
	}
	for _, test := range tests {
		got, err := addrs.ParseObject(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
		if got.String() != test.text {
			t.Errorf("%s becomes %s", test.text, got)
		}
	}
	for _, text := range []string{"", "x", "service.x", "service.x/Deployment", "servicex/Deployment/a", "service.x//a", "service.x/a/b/c/d", "service.x/a/b/"} {
		if got, err := addrs.ParseObject(text); err == nil {
			t.Errorf("%q is an address: %+v", text, got)
		}
	}
}

func TestObjectAsJSON(t *testing.T) {
	want := map[addrs.Object]addrs.Object{
		{Block: "service.a", Kind: "Secret", Name: "x"}: {Block: "role.b", Kind: "Node", Name: "y"},
	}
	source, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got map[addrs.Object]addrs.Object
	if err := json.Unmarshal(source, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"x":"y"}`), &got); err == nil {
		t.Error("something that is no address was read")
	}
}

func TestObjectOrder(t *testing.T) {
	addresses := []addrs.Object{
		{Block: "b", Kind: "A", Name: "a"},
		{Block: "a", Kind: "B", Name: "a"},
		{Block: "a", Kind: "A", Namespace: "n", Name: "a"},
		{Block: "a", Kind: "A", Name: "b"},
		{Block: "a", Kind: "A", Name: "a"},
	}
	want := slices.Clone(addresses)
	slices.Reverse(want)
	slices.SortFunc(addresses, addrs.Object.Compare)
	if diff := cmp.Diff(want, addresses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParseObject(f *testing.F) {
	f.Add("service.keystone/Deployment/keystone-api")
	f.Add(`service.redis["a/b"]/ConfigMap/x/redis`)
	f.Add(`a."\`)
	f.Fuzz(func(t *testing.T, text string) {
		address, err := addrs.ParseObject(text)
		if err != nil {
			return
		}
		if address.String() != text {
			t.Errorf("%q becomes %q", text, address)
		}
	})
}
