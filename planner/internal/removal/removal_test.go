package removal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/objecttest"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// live is an object in the cluster with the label of the cloud. Its UID is its name.
func live(kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion("v1")
	u.SetKind(kind)
	u.SetNamespace("openstack")
	u.SetName(name)
	u.SetUID(types.UID(name))
	u.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	return u
}

// record is the record of such an object.
func record(kind, name string) state.Object {
	return state.Object{Address: "service.a/" + kind + "/" + name, APIVersion: "v1", Kind: kind, Namespace: "openstack", Name: name, UID: name}
}

func index(t *testing.T, in inventory.Input) *inventory.Inventory {
	t.Helper()
	in.Cloud, in.Namespace = "prod", "openstack"
	if in.Snapshot == nil {
		in.Snapshot = providers.SnapshotOf()
	}
	inv, problems := inventory.Index(in)
	if inv == nil {
		t.Fatal(problems)
	}
	return inv
}

// An undeclared object is deleted only if it is the recorded one, has the label, and holds
// no data that the operator did not name.
func TestUndeclared(t *testing.T) {
	other := live("ConfigMap", "x")
	other.SetUID("somebody's")
	unlabelled := live("ConfigMap", "x")
	unlabelled.SetLabels(nil)
	tests := map[string]struct {
		live    *unstructured.Unstructured
		record  state.Object
		allowed []string
		want    string
		atRisk  bool
	}{
		"the recorded object":    {live: live("ConfigMap", "x"), record: record("ConfigMap", "x"), want: "delete"},
		"no object":              {record: record("ConfigMap", "x"), want: "forget"},
		"another object":         {live: other, record: record("ConfigMap", "x"), want: "forget"},
		"a released object":      {live: unlabelled, record: record("ConfigMap", "x"), want: "forget"},
		"data":                   {live: live("PersistentVolumeClaim", "x"), record: record("PersistentVolumeClaim", "x"), atRisk: true},
		"data that may be lost":  {live: live("PersistentVolumeClaim", "x"), record: record("PersistentVolumeClaim", "x"), allowed: []string{"service.a"}, want: "delete"},
		"data when all may be":   {live: live("PersistentVolumeClaim", "x"), record: record("PersistentVolumeClaim", "x"), allowed: []string{"*"}, want: "delete"},
		"data of another object": {live: live("PersistentVolumeClaim", "x"), record: record("PersistentVolumeClaim", "x"), allowed: []string{"service.b"}, atRisk: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{State: &state.State{Objects: []state.Object{test.record}}, DeleteData: test.allowed}
			if test.live != nil {
				in.Snapshot = providers.SnapshotOf(test.live)
			}
			got := removal.Undeclared(index(t, in), nil, nil, nil)
			if (len(got.AtRisk) > 0) != test.atRisk {
				t.Errorf("atRisk: %v", got.AtRisk)
			}
			var verbs []string
			for _, a := range got.Actions {
				verbs = append(verbs, string(a.Verb))
			}
			if strings.Join(verbs, " ") != test.want {
				t.Errorf("actions %v, want %q", verbs, test.want)
			}
		})
	}
}

// A deletion waits for the deletion of the recorded dependants of its object, and that of a
// claim for the workloads in its namespace.
func TestLinkDeletes(t *testing.T) {
	user := record("Service", "user")
	user.DependsOn = []string{"service.a/ConfigMap/used"}
	inv := index(t, inventory.Input{State: &state.State{Objects: []state.Object{record("ConfigMap", "used"), user}}})
	action := func(kind, version, name string) plans.Action {
		u := live(kind, name)
		u.SetAPIVersion(version)
		return plans.Action{Address: objecttest.Address(t, "service.a/"+kind+"/"+name), Verb: plans.Delete, Ref: providers.RefOf(u)}
	}
	actions := []plans.Action{action("ConfigMap", "v1", "used"), action("Service", "v1", "user"), action("PersistentVolumeClaim", "v1", "data"), action("StatefulSet", "apps/v1", "db")}
	removal.LinkDeletes(inv, actions)
	got := map[string]string{}
	for _, a := range actions {
		got[a.Address.Name] = fmt.Sprint(a.DependsOn)
	}
	want := map[string]string{"used": "[service.a/Service/user]", "user": "[]", "data": "[service.a/StatefulSet/db]", "db": "[]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
}

// A plan may delete half of the recorded objects, or as many as the operator allowed.
func TestGuard(t *testing.T) {
	number := func(n int) *int { return &n }
	tests := map[string]struct {
		recorded, deleted int
		most              *int
		destroy, refused  bool
	}{
		"few":                   {recorded: 4, deleted: 3},
		"half":                  {recorded: 8, deleted: 4},
		"more than half":        {recorded: 8, deleted: 5, refused: true},
		"more, as allowed":      {recorded: 8, deleted: 5, most: number(5)},
		"fewer than allowed":    {recorded: 8, deleted: 2, most: number(1), refused: true},
		"a destroy":             {recorded: 8, deleted: 8, destroy: true},
		"a destroy of too many": {recorded: 8, deleted: 8, destroy: true, most: number(7), refused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{State: &state.State{}, MaxDeletes: test.most, Destroy: test.destroy}
			var actions []plans.Action
			for i := range test.recorded {
				r := record("ConfigMap", fmt.Sprintf("c%d", i))
				in.State.Objects = append(in.State.Objects, r)
				if i < test.deleted {
					actions = append(actions, plans.Action{Address: objecttest.Address(t, r.Address), Verb: plans.Delete})
				}
			}
			if got := removal.LimitDeletes(index(t, in), actions); (len(got) > 0) != test.refused {
				t.Errorf("problems: %v", got)
			}
		})
	}
}
