package planner_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	nsAddress   = "cloud.prod/Namespace/kolla"
	dbAddress   = "service.db/ConfigMap/db"
	dbNew       = "service.db/ConfigMap/my.cnf-2"
	dbOld       = "service.db/ConfigMap/my.cnf-1"
	apiAddress  = "service.api/ConfigMap/api"
	keyedA      = `service.cache["a"]/ConfigMap/cache-a`
	keyedB      = `service.cache["b"]/ConfigMap/cache-b`
	oldBase     = "service.old/ConfigMap/base"
	oldUser     = "service.old/ConfigMap/user"
	stillUsesIt = "service.api/ConfigMap/user"
)

// tiers returns a cloud with new objects and objects to delete. The api needs the db, which needs a
// namespace. Two recorded objects depend on a third one, which is no longer declared.
func tiers(t *testing.T) planner.Input {
	t.Helper()
	inside := func(kind, name string) *unstructured.Unstructured {
		u := thing("v1", kind, name)
		u.SetNamespace("kolla")
		return u
	}
	w := &world{}
	w.add(oldBase, thing("v1", "ConfigMap", "base"))
	w.add(oldUser, thing("v1", "ConfigMap", "old-user"), oldBase)
	w.add(stillUsesIt, thing("v1", "ConfigMap", "user"), oldBase)
	w.add(dbOld, inside("ConfigMap", "my.cnf-1")).Family = "service.db/ConfigMap/my.cnf"
	namespace := thing("v1", "Namespace", "kolla")
	version := declared(dbNew, inside("ConfigMap", "my.cnf-2"))
	version.Family = address("service.db/ConfigMap/my.cnf")
	return w.input(
		declared(nsAddress, namespace),
		version,
		declared(dbAddress, inside("ConfigMap", "db"), dbNew),
		declared(apiAddress, inside("ConfigMap", "api"), dbAddress),
		declared(keyedA, inside("ConfigMap", "cache-a")),
		declared(keyedB, inside("ConfigMap", "cache-b")),
		declared(stillUsesIt, thing("v1", "ConfigMap", "user")),
	)
}

func TestSelection(t *testing.T) {
	all := []string{nsAddress, dbNew, dbAddress, apiAddress, keyedA, keyedB, stillUsesIt, oldBase, oldUser}
	without := func(gone ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(gone, a) })
	}
	tests := map[string]struct {
		selection plans.Selection
		destroy   bool
		want      []string
	}{
		"everything":                          {plans.Selection{}, false, all},
		"an object with its dependencies":     {plans.Selection{Targets: []string{dbAddress}}, false, []string{nsAddress, dbNew, dbAddress}},
		"a service with its dependencies":     {plans.Selection{Targets: []string{"service.db"}}, false, []string{nsAddress, dbNew, dbAddress}},
		"a block":                             {plans.Selection{Targets: []string{"cloud.prod"}}, false, []string{nsAddress}},
		"all versions":                        {plans.Selection{Targets: []string{"service.db/ConfigMap/my.cnf"}}, false, []string{nsAddress, dbNew}},
		"every instance":                      {plans.Selection{Targets: []string{"service.cache"}}, false, []string{nsAddress, keyedA, keyedB}},
		"one instance":                        {plans.Selection{Targets: []string{`service.cache["b"]`}}, false, []string{nsAddress, keyedB}},
		"several":                             {plans.Selection{Targets: []string{keyedA, dbNew}}, false, []string{nsAddress, dbNew, keyedA}},
		"a deletion with its dependants":      {plans.Selection{Targets: []string{oldBase}}, false, []string{oldBase, oldUser, stillUsesIt}},
		"a deletion that nothing depends on":  {plans.Selection{Targets: []string{oldUser}}, false, []string{oldUser}},
		"without an object and what needs it": {plans.Selection{Excludes: []string{dbAddress}}, false, without(dbAddress, apiAddress)},
		"without a deletion, nor what it uses": {
			plans.Selection{Excludes: []string{oldUser}}, false, without(oldUser, oldBase),
		},
		"without the update that a deletion waits for": {
			plans.Selection{Excludes: []string{stillUsesIt}}, false, without(stillUsesIt, oldBase),
		},
		"without the namespace":      {plans.Selection{Excludes: []string{"cloud.prod"}}, false, []string{stillUsesIt, oldBase, oldUser}},
		"a destroy with dependants":  {plans.Selection{Targets: []string{oldBase}}, true, []string{oldBase, oldUser, stillUsesIt}},
		"a destroy of a leaf":        {plans.Selection{Targets: []string{oldUser}}, true, []string{oldUser}},
		"a destroy that spares some": {plans.Selection{Excludes: []string{oldUser}}, true, []string{stillUsesIt, dbOld}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := tiers(t)
			in.Selection, in.Destroy = test.selection, test.destroy
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil || len(failures(problems)) > 0 {
				t.Fatal(err, problems)
			}
			var got []string
			for _, a := range plan.Actions {
				got = append(got, a.Address.String())
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(test.want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.selection, plan.Selection); diff != "" {
				t.Errorf("the plan does not say what was selected (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDestroySaysWhatDepends checks that a destroy with a target says why it deletes objects that
// the operator did not name.
func TestDestroySaysWhatDepends(t *testing.T) {
	tests := map[string]struct {
		target string
		want   map[string]string // details of the reasons
	}{
		"a chain":     {oldBase, map[string]string{oldBase: "", oldUser: "depends on " + oldBase, stillUsesIt: "depends on " + oldBase}},
		"a leaf":      {oldUser, map[string]string{oldUser: ""}},
		"a namespace": {nsAddress, map[string]string{nsAddress: "", dbOld: "is in namespace kolla"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := tiers(t)
			if test.target == nsAddress {
				w := &world{}
				w.add(nsAddress, thing("v1", "Namespace", "kolla"))
				inside := thing("v1", "ConfigMap", "my.cnf-1")
				inside.SetNamespace("kolla")
				w.add(dbOld, inside)
				in = w.input()
			}
			in.Destroy, in.Selection.Targets = true, []string{test.target}
			got := map[string]string{}
			for _, a := range mustPlan(t, in).Actions {
				got[a.Address.String()] = a.Reasons[0].Detail
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDestroyExcept checks that a destroy keeps an excluded object and its dependencies, and
// deletes the other objects.
func TestDestroyExcept(t *testing.T) {
	tests := map[string]struct {
		exclude string
		want    []string
	}{
		"what others need":       {"service.db", []string{"delete " + apiAddress}},
		"what needs others":      {"service.api", nil},
		"everything but nothing": {"service.gone", []string{"delete " + apiAddress, "delete " + dbAddress}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(dbAddress, thing("v1", "ConfigMap", "db"))
			w.add(apiAddress, thing("v1", "ConfigMap", "api"), dbAddress)
			objects := []providers.Object{
				declared(dbAddress, thing("v1", "ConfigMap", "db")),
				declared(apiAddress, thing("v1", "ConfigMap", "api"), dbAddress),
				declared("service.gone/ConfigMap/gone", thing("v1", "ConfigMap", "gone")),
			}
			in := w.input(objects...)
			in.Destroy = true
			in.Selection.Excludes = []string{test.exclude}
			if diff := cmp.Diff(test.want, verbs(mustPlan(t, in))); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestExcludedTarget checks that a target that is excluded, by itself or through a dependency,
// causes a warning.
func TestExcludedTarget(t *testing.T) {
	in := tiers(t)
	in.Selection = plans.Selection{Targets: []string{apiAddress, "service.cache"}, Excludes: []string{"service.db", keyedA}}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != 1 || !problems[0].Warning || problems[0].Summary != "-target="+apiAddress+" has no effect: it is excluded" ||
		!strings.Contains(problems[0].Detail, "-exclude=service.db") {
		t.Errorf("problems are %+v", problems)
	}
	if slices.ContainsFunc(plan.Actions, func(a plans.Action) bool { return a.Address == address(apiAddress) }) {
		t.Errorf("actions are %v", verbs(plan))
	}
}

// failures returns the problems that are not warnings.
func failures(problems []plans.Problem) []plans.Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p plans.Problem) bool { return p.Warning })
}

// TestVersionsStayMounted checks that a plan deletes no version that a workload outside of the
// selection may mount. Only a plan of the whole block shows that no workload mounts it.
func TestVersionsStayMounted(t *testing.T) {
	for name, test := range map[string]struct {
		targets []string
		pruned  bool
	}{
		"the whole block": {[]string{"service.db"}, true},
		"one object":      {[]string{dbNew}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			for _, version := range []string{"service.db/ConfigMap/my.cnf-0", dbOld} {
				r := w.add(version, thing("v1", "ConfigMap", address(version).Name))
				r.Family = "service.db/ConfigMap/my.cnf"
			}
			version := declared(dbNew, thing("v1", "ConfigMap", "my.cnf-2"))
			version.Family = address("service.db/ConfigMap/my.cnf")
			in := w.input(version, declared(dbAddress, thing("v1", "ConfigMap", "db")))
			in.Selection.Targets = test.targets
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil || len(failures(problems)) > 0 {
				t.Fatal(err, problems)
			}
			pruned := slices.ContainsFunc(plan.Actions, func(a plans.Action) bool { return a.Prunes() })
			if pruned != test.pruned {
				t.Errorf("an old version is pruned: %v, want %v", pruned, test.pruned)
			}
		})
	}
}

func TestUnknownAddresses(t *testing.T) {
	tests := map[string]struct {
		change func(*planner.Input)
		want   []string
	}{
		"near miss": {
			func(in *planner.Input) { in.Selection.Targets = []string{"service.d"} },
			[]string{"-target=service.d names no objects", `Did you mean "service.db"?`},
		},
		"object": {
			func(in *planner.Input) { in.Selection.Excludes = []string{"service.db/ConfigMap/bd"} },
			[]string{"-exclude=service.db/ConfigMap/bd names no objects", `Did you mean "service.db/ConfigMap/db"?`},
		},
		"name of a service": {
			func(in *planner.Input) { in.Selection.Targets = []string{"cache"} },
			[]string{"-target=cache names no objects", `Did you mean "service.cache"? "cache" is not the address of a block: expected TYPE.NAME`},
		},
		"block without objects": {
			func(in *planner.Input) { in.Selection.Targets = []string{"role.all"} },
			[]string{"-target=role.all names no objects", "A role has no objects of its own"},
		},
		"replace": {
			func(in *planner.Input) { in.Replace = []string{"service.nothing/Like/this"} },
			[]string{"-replace=service.nothing/Like/this names no objects"},
		},
		"replace what is left out": {
			func(in *planner.Input) {
				in.Replace, in.Selection.Targets = []string{dbAddress}, []string{"service.cache"}
			},
			[]string{"-replace=service.db/ConfigMap/db is not selected", "-target=service.cache"},
		},
		"a block cannot be replaced": {
			func(in *planner.Input) { in.Replace = []string{"service.db"} },
			[]string{"-replace=service.db names a block", "Name the object to replace"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := tiers(t)
			test.change(&in)
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil || plan != nil || len(problems) != 1 {
				t.Fatalf("plan %v, problems %v, error %v, want one problem", plan, problems, err)
			}
			for _, want := range test.want {
				if text := problems[0].Summary + "\n" + problems[0].Detail; !strings.Contains(text, want) {
					t.Errorf("problem is %q, want %q in it", text, want)
				}
			}
		})
	}
}

// TestReplaceMany checks parallel decisions that all read the list of deletable data.
func TestReplaceMany(t *testing.T) {
	w := &world{}
	var objects []providers.Object
	in := w.input()
	for i := range 64 {
		at := fmt.Sprintf("service.a/PersistentVolumeClaim/data-%d", i)
		claim := thing("v1", "PersistentVolumeClaim", fmt.Sprintf("data-%d", i))
		w.add(at, claim)
		objects = append(objects, declared(at, claim))
		in.Replace = append(in.Replace, at)
	}
	most := len(objects)
	in.Objects, in.DeleteData, in.MaxDeletes, in.Parallelism = objects, []string{"*"}, &most, most
	if counts := mustPlan(t, in).Counts(); counts.Destroy != most {
		t.Errorf("counts are %+v", counts)
	}
}

func TestReplace(t *testing.T) {
	claim := "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: openstack}}"
	tests := map[string]struct {
		situation
		verb    plans.Verb
		reason  plans.ReasonKind
		problem string
	}{
		"what is unchanged":         {situation: situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known}, verb: plans.Replace, reason: plans.ReasonRequested},
		"what is not there":         {situation: situation{at: atConfigMap, manifest: configMap, record: known}, verb: plans.Create, reason: plans.ReasonGone},
		"a finished job":            {situation: situation{at: atJob, manifest: job, adjust: versioned, live: condition("Complete"), record: known}, verb: plans.Replace, reason: plans.ReasonRequested},
		"a job that was cleaned up": {situation: situation{at: atJob, manifest: job, adjust: versioned, record: known}, verb: plans.Run, reason: plans.ReasonRequested},
		"what holds data":           {situation: situation{at: "service.a/PersistentVolumeClaim/data", manifest: claim, live: asItIs, record: known}, problem: "it holds the data on its volume"},
		"what was somebody else's": {
			situation: situation{at: atConfigMap, manifest: configMap, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) }, input: func(in *planner.Input) { in.Adopt = everything(in.Objects) }},
			verb:      plans.Replace, reason: plans.ReasonRequested,
		},
		"what a webhook sees that cannot be asked": {
			situation: situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, answer: says(refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, `admission webhook "w" does not support dry run`))},
			verb:      plans.Replace, reason: plans.ReasonRequested,
		},
		"what holds data, and is named": {
			situation: situation{at: "service.a/PersistentVolumeClaim/data", manifest: claim, live: asItIs, record: known, input: func(in *planner.Input) { in.DeleteData = []string{"service.a/PersistentVolumeClaim/data"} }},
			verb:      plans.Replace, reason: plans.ReasonRequested,
		},
		"fields of somebody's object": {situation: situation{at: atNode, manifest: node, adjust: func(o *providers.Object) { o.Partial = true }, live: asItIs, record: known}, problem: "kolla did not make Node ctl-1"},
		"what belongs to somebody else": {
			situation: situation{at: atConfigMap, manifest: configMap, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) }},
			problem:   "exists and is not kolla's",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := test.make(t)
			in.Replace = []string{test.at}
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if test.problem != "" {
				if len(problems) != 1 || !strings.Contains(problems[0].Summary, test.problem) {
					t.Errorf("problems are %v, want %q", problems, test.problem)
				}
				return
			}
			a := plan.Actions[0]
			if len(plan.Actions) != 1 || a.Verb != test.verb || len(a.Reasons) != 1 || a.Reasons[0].Kind != test.reason {
				t.Errorf("actions are %+v, want %s because %s", plan.Actions, test.verb, test.reason)
			}
		})
	}
}
