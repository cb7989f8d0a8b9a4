package inventory_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// declared returns a ConfigMap with the address.
func declared(t *testing.T, at string) providers.Object {
	t.Helper()
	a := objecttest.Address(t, at)
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion("v1")
	u.SetKind(a.Kind)
	u.SetNamespace("openstack")
	u.SetName(a.Name)
	return providers.Object{Address: a, Manifest: u}
}

func record(at, name string) state.Object {
	return state.Object{Address: at, APIVersion: "v1", Kind: "ConfigMap", Namespace: "openstack", Name: name, UID: name}
}

func TestIndexRefuses(t *testing.T) {
	twice := declared(t, "service.b/ConfigMap/a")
	lost := declared(t, "service.b/ConfigMap/b")
	lost.DependsOn = []addrs.Object{objecttest.Address(t, "service.c/ConfigMap/c")}
	tests := map[string]struct {
		change func(*inventory.Input)
		want   string
	}{
		"one object declared twice": {
			func(in *inventory.Input) { in.Objects = append(in.Objects, twice) },
			"ConfigMap openstack/a is declared twice",
		},
		"a missing dependency": {
			func(in *inventory.Input) { in.Objects = append(in.Objects, lost) },
			"service.b/ConfigMap/b depends on service.c/ConfigMap/c, which is not declared",
		},
		"an unknown object to adopt": {
			func(in *inventory.Input) { in.Adopt = []string{"service.a/ConfigMap/z"} },
			"-adopt=service.a/ConfigMap/z: it is not declared",
		},
		"the state of another cloud": {
			func(in *inventory.Input) { in.State = &state.State{Cloud: "other", Serial: 1} },
			"",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{Cloud: "prod", Namespace: "openstack", Objects: []providers.Object{declared(t, "service.a/ConfigMap/a")}}
			test.change(&in)
			inv, problems := inventory.Index(in)
			if inv != nil || len(problems) == 0 {
				t.Fatalf("an inventory, and problems %v", problems)
			}
			if test.want != "" && !slices.ContainsFunc(problems, func(p plans.Problem) bool { return p.Summary == test.want }) {
				t.Errorf("problems %v, want %q", problems, test.want)
			}
		})
	}
}

// TestIndexMoves checks that a moved block gives a record its new address. The record then belongs
// to the declared object, and not to another object at the old address.
func TestIndexMoves(t *testing.T) {
	move := addrs.Move{From: inventory.TargetsOf([]string{"service.old"})[0], To: inventory.TargetsOf([]string{"service.new"})[0]}
	inv, problems := inventory.Index(inventory.Input{
		Cloud: "prod", Namespace: "openstack", Moves: []addrs.Move{move},
		Objects: []providers.Object{declared(t, "service.new/ConfigMap/a")},
		State:   &state.State{Objects: []state.Object{record("service.old/ConfigMap/a", "a")}},
	})
	if inv == nil {
		t.Fatal(problems)
	}
	r := inv.RecordForObject(&inv.Input.Objects[0])
	if r == nil || !r.Moved || r.Address != objecttest.Address(t, "service.new/ConfigMap/a") || r.RecordedAddress() != objecttest.Address(t, "service.old/ConfigMap/a") {
		t.Errorf("the record is %+v", r)
	}
	if inv.RecordByAddress(objecttest.Address(t, "service.old/ConfigMap/a")) != nil {
		t.Error("the old address still has a record")
	}
}
