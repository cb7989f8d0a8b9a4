package selection_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// input has a declared chain api -> db -> volume, a declared web, and two recorded objects
// that are no longer declared: old, and user, which depends on old.
func input(t *testing.T) inventory.Input {
	t.Helper()
	object := func(name string, dependsOn ...string) providers.Object {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetAPIVersion("v1")
		u.SetKind("ConfigMap")
		u.SetNamespace("openstack")
		u.SetName(name)
		o := providers.Object{Address: objecttest.Address(t, "service."+name+"/ConfigMap/"+name), Manifest: u}
		for _, on := range dependsOn {
			o.DependsOn = append(o.DependsOn, objecttest.Address(t, "service."+on+"/ConfigMap/"+on))
		}
		return o
	}
	record := func(name string, dependsOn ...string) state.Object {
		return state.Object{Address: "service." + name + "/ConfigMap/" + name, APIVersion: "v1", Kind: "ConfigMap", Namespace: "openstack", Name: name, UID: name, DependsOn: dependsOn}
	}
	return inventory.Input{
		Cloud: "prod", Namespace: "openstack", Snapshot: providers.SnapshotOf(),
		Objects: []providers.Object{object("api", "db"), object("db", "volume"), object("volume"), object("web")},
		State:   &state.State{Objects: []state.Object{record("old"), record("user", "service.old/ConfigMap/old")}},
	}
}

// TestOf checks that a selection contains the dependencies of objects that stay, and the dependants
// of objects that will be deleted.
func TestOf(t *testing.T) {
	tests := map[string]struct {
		selection plans.Selection
		want      []string
	}{
		"all":                       {want: []string{"api", "db", "old", "user", "volume", "web"}},
		"a target":                  {plans.Selection{Targets: []string{"service.db"}}, []string{"db", "volume"}},
		"a target far up":           {plans.Selection{Targets: []string{"service.api"}}, []string{"api", "db", "volume"}},
		"a target to delete":        {plans.Selection{Targets: []string{"service.old"}}, []string{"old", "user"}},
		"an exclusion":              {plans.Selection{Excludes: []string{"service.db"}}, []string{"old", "user", "volume", "web"}},
		"an exclusion to delete":    {plans.Selection{Excludes: []string{"service.user"}}, []string{"api", "db", "volume", "web"}},
		"a target and an exclusion": {plans.Selection{Targets: []string{"service.api", "service.web"}, Excludes: []string{"service.volume"}}, []string{"web"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t)
			in.Selection = test.selection
			inv, problems := inventory.Index(in)
			if inv == nil {
				t.Fatal(problems)
			}
			set, problems := selection.Of(inv)
			for _, p := range problems {
				if !p.Warning {
					t.Error(p)
				}
			}
			var got []string
			for _, name := range []string{"api", "db", "old", "user", "volume", "web"} {
				if set.Has(objecttest.Address(t, "service."+name+"/ConfigMap/"+name)) {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*inventory.Input)
		want   string
	}{
		"a target without objects": {
			func(in *inventory.Input) { in.Selection.Targets = []string{"service.apy"} },
			"-target=service.apy names no objects",
		},
		"a replacement of a whole block": {
			func(in *inventory.Input) { in.Replace = []string{"service.web"} },
			"-replace=service.web names a block",
		},
		"a replacement outside the selection": {
			func(in *inventory.Input) {
				in.Selection.Targets, in.Replace = []string{"service.db"}, []string{"service.web/ConfigMap/web"}
			},
			"-replace=service.web/ConfigMap/web is not selected",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(t)
			test.change(&in)
			inv, _ := inventory.Index(in)
			_, problems := selection.Of(inv)
			if !slices.ContainsFunc(problems, func(p plans.Problem) bool { return !p.Warning && p.Summary == test.want }) {
				t.Errorf("problems %v, want %q", problems, test.want)
			}
		})
	}
}
