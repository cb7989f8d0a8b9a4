package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// thing returns a manifest of any kind.
func thing(apiVersion, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(name)
	if kind != "Namespace" && kind != "Node" {
		u.SetNamespace("openstack")
	}
	return u
}

// world is a cluster with a state that knows some of its objects.
type world struct {
	cluster cluster
	state   state.State
}

// add puts an object into the cluster, and into the state.
func (w *world) add(at string, u *unstructured.Unstructured, dependsOn ...string) *state.Object {
	u = live(u, types.UID("uid of "+at))
	u.SetAnnotations(map[string]string{providers.AnnotationAddress: at})
	w.cluster.objects = append(w.cluster.objects, u)
	r := recorded(at, u)
	r.DependsOn = dependsOn
	w.state.Objects = append(w.state.Objects, r)
	return &w.state.Objects[len(w.state.Objects)-1]
}

func (w *world) last() *unstructured.Unstructured { return w.cluster.objects[len(w.cluster.objects)-1] }

func (w *world) input(objects ...providers.Object) planner.Input {
	in := input(&w.cluster, objects...)
	w.state.Cluster = in.State.Cluster
	in.State = &w.state
	return in
}

func TestUndeclaredData(t *testing.T) {
	const at = "service.a/Secret/a"
	w := &world{}
	w.add(at, thing("v1", "Secret", "a")).Holds = "generated values"
	if got := mustNotPlan(t, w.input()); !strings.Contains(got, "holds generated values") || !strings.Contains(got, "-delete-data="+at) {
		t.Errorf("problem is %q", got)
	}
	for _, name := range []string{at, "*"} {
		w := &world{}
		w.add(at, thing("v1", "Secret", "a")).Holds = "generated values"
		in := w.input()
		in.DeleteData = []string{name}
		if a := find(t, mustPlan(t, in), at); a.Verb != plans.Delete {
			t.Errorf("with -delete-data=%s the verb is %s", name, a.Verb)
		}
	}
}

// TestUndeclaredService checks that one problem covers all data of an undeclared service, with one
// option to delete the data.
func TestUndeclaredService(t *testing.T) {
	build := func() *world {
		w := &world{}
		w.add("service.a/Secret/a-admin", thing("v1", "Secret", "a-admin")).Holds = "generated values"
		w.add("service.a/Secret/a-db", thing("v1", "Secret", "a-db")).Holds = "generated values"
		w.add(`service.b["x"]/Secret/b`, thing("v1", "Secret", "b")).Holds = "generated values"
		return w
	}
	tests := map[string]struct {
		declared []providers.Object
		want     string
	}{
		"all of it": {nil, `service.a is no longer declared, and 2 of its objects hold data (): What would be lost:

  Secret openstack/a-admin: generated values
  Secret openstack/a-db: generated values

To keep them, put their declarations back. If you renamed the block, declare its new name in a moved block. To delete all of them, plan with -delete-data=service.a. A removed block can say the same: delete_data = "generated". To leave them in the cluster without kolla, declare for each:

  removed {
    from = "service.a/Secret/a-admin"
    lifecycle {
      destroy = false
    }
  }`},
		"some of it": {[]providers.Object{declared("service.a/ConfigMap/a", thing("v1", "ConfigMap", "a"))}, "2 objects of service.a are no longer declared, and hold data"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustNotPlan(t, build().input(test.declared...))
			if !strings.Contains(got, test.want) || strings.Count(got, "-delete-data=") != 2 || !strings.Contains(got, `Secret openstack/b is no longer declared, and holds generated values`) {
				t.Errorf("problems are\n%s", got)
			}
		})
	}
	for _, names := range [][]string{{"service.a", "service.b"}, {"service.a/Secret/a-admin", "service.a/Secret/a-db", `service.b["x"]`}} {
		in := build().input()
		in.DeleteData = names
		if plan := mustPlan(t, in); plan.Counts().Destroy != 3 || len(plan.Warnings) > 0 {
			t.Errorf("with %v: %+v, %+v", names, plan.Counts(), plan.Warnings)
		}
	}
}

func TestUndeclaredNamespace(t *testing.T) {
	const at = "manifest.x/Namespace/extra"
	inside := func(kind, name string) *unstructured.Unstructured {
		u := thing("v1", kind, name)
		u.SetNamespace("extra")
		return u
	}
	tests := map[string]struct {
		inside *unstructured.Unstructured
		named  bool
		known  bool   // to the state
		want   string // of the problem; empty: it is deleted
		holds  string // the data that is deleted with it
	}{
		"somebody's object, not named": {inside: inside("ConfigMap", "theirs"), want: "ConfigMap extra/theirs (): To keep it, put its declaration back. To delete it, first delete or move what is in it. To delete it with all that is in it, plan with -delete-data=" + at + " ("},
		"kolla's own":                  {named: true, known: true, inside: live(inside("ConfigMap", "ours"), "uid-ours"), want: "ConfigMap extra/ours (): To keep it, put its declaration back. To delete it, first delete or move what is in it. To leave it in the cluster without kolla, declare:\n\n  removed {"},
		"what every one has":           {named: true, inside: inside("ConfigMap", "kube-root-ca.crt"), holds: "everything in it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, thing("v1", "Namespace", "extra"))
			if test.inside != nil {
				w.cluster.objects = append(w.cluster.objects, test.inside)
			}
			if test.known {
				r := recorded("manifest.a/ConfigMap/ours", test.inside)
				r.Holds = "what it says"
				w.state.Objects = append(w.state.Objects, r)
			}
			in := w.input()
			if test.named {
				in.DeleteData = []string{at}
			}
			if test.want == "" {
				a := find(t, mustPlan(t, in), at)
				if a.Verb != plans.Delete || a.Occupied || a.Holds != test.holds {
					t.Errorf("verb is %s, occupied %v, it holds %q", a.Verb, a.Occupied, a.Holds)
				}
				return
			}
			if got := mustNotPlan(t, in); !strings.Contains(got, test.want) {
				t.Errorf("problem is %q, lacks %q", got, test.want)
			}
		})
	}
}

// TestMoved checks that an object that only gets another address is neither deleted nor lost.
func TestMoved(t *testing.T) {
	w := &world{}
	w.add("service.old/ConfigMap/a", thing("v1", "ConfigMap", "a"))
	w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return w.cluster.objects[0], nil
	}
	plan := mustPlan(t, w.input(declared("service.new/ConfigMap/a", thing("v1", "ConfigMap", "a"))))
	if diff := cmp.Diff([]string{"adopt service.new/ConfigMap/a", "forget service.old/ConfigMap/a"}, verbs(plan)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	for _, a := range plan.Actions {
		if a.Reasons[0].Kind != plans.ReasonMoved {
			t.Errorf("reasons of %s are %+v", a.Address, a.Reasons)
		}
	}
}

// TestDeleteAfterUpdate checks that an undeclared object is deleted after the update of the objects
// that used it.
func TestDeleteAfterUpdate(t *testing.T) {
	w := &world{}
	w.add("service.cache/ConfigMap/cache", thing("v1", "ConfigMap", "cache"))
	w.add("service.a/ConfigMap/a", thing("v1", "ConfigMap", "a"), "service.cache/ConfigMap/cache")
	changed := thing("v1", "ConfigMap", "a")
	changed.Object["data"] = map[string]any{"x": "1"}
	plan := mustPlan(t, w.input(declared("service.a/ConfigMap/a", changed)))
	if diff := cmp.Diff([]string{"update service.a/ConfigMap/a", "delete service.cache/ConfigMap/cache"}, verbs(plan)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if a := find(t, plan, "service.cache/ConfigMap/cache"); len(a.DependsOn) != 1 {
		t.Errorf("the deletion waits for %v", a.DependsOn)
	}
}

func TestOrphans(t *testing.T) {
	w := &world{}
	w.add(atConfigMap, thing("v1", "ConfigMap", "a"))
	w.add("service.b/ConfigMap/b", thing("v1", "ConfigMap", "b"))
	w.state.Objects = w.state.Objects[:1]
	w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return w.cluster.objects[0], nil
	}
	plan, problems, err := planner.Make(t.Context(), w.input(declared(atConfigMap, thing("v1", "ConfigMap", "a"))))
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != 1 || !problems[0].Warning || problems[0].Address != address("service.b/ConfigMap/b") {
		t.Errorf("problems are %+v", problems)
	}
	if diff := cmp.Diff([]string{"none " + atConfigMap}, verbs(plan)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

const family = "service.keystone/ConfigMap/keystone.conf"

// generation returns one version of a config file, which differs in its expiration.
func generation(n int) *unstructured.Unstructured {
	u := thing("v1", "ConfigMap", fmt.Sprintf("keystone.conf-%d", n))
	u.Object["data"] = map[string]any{"keystone.conf": fmt.Sprintf("[token]\nexpiration = %d\n", n)}
	return u
}

func atGeneration(n int) string { return fmt.Sprintf("%s-%d", family, n) }

func TestFamilies(t *testing.T) {
	tests := map[string]struct {
		recorded []int // generations in the state, oldest first
		absent   []int // those of recorded that another client deleted
		desired  int   // 0: the service is no longer declared
		want     []string
		supersedes,
		before int
	}{
		"first":                  {desired: 1, want: []string{"create 1"}},
		"second":                 {recorded: []int{1}, desired: 2, want: []string{"create 2"}, supersedes: 1, before: 1},
		"third":                  {recorded: []int{1, 2}, desired: 3, want: []string{"create 3", "delete 1"}, supersedes: 2, before: 2},
		"nothing new":            {recorded: []int{1, 2}, desired: 2, want: []string{"none 2"}},
		"left over":              {recorded: []int{1, 2, 3}, desired: 3, want: []string{"none 3", "delete 1"}},
		"back to the one before": {recorded: []int{1, 2}, desired: 1, want: []string{"none 1"}},
		"the one before is gone": {recorded: []int{1, 2}, absent: []int{2}, desired: 3, want: []string{"create 3", "forget 2"}, supersedes: 1, before: 1},
		"all gone":               {recorded: []int{1}, absent: []int{1}, desired: 2, want: []string{"create 2", "forget 1"}},
		"undeclared":             {recorded: []int{1, 2}, want: []string{"delete 1", "delete 2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			gone := map[int]bool{}
			for _, n := range test.absent {
				gone[n] = true
			}
			for i, n := range test.recorded {
				r := w.add(atGeneration(n), generation(n))
				r.Family = family
				r.Applied = then.Add(time.Duration(i) * time.Minute)
				owns(w.last(), "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:keystone.conf":{}}}`)
				if gone[n] {
					w.cluster.objects = w.cluster.objects[:len(w.cluster.objects)-1]
				}
			}
			w.cluster.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				u = live(u, "")
				u.SetAnnotations(map[string]string{providers.AnnotationAddress: family + strings.TrimPrefix(u.GetName(), "keystone.conf")})
				owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:keystone.conf":{}}}`)
				return u, nil
			}
			var objects []providers.Object
			if test.desired > 0 {
				o := declared(atGeneration(test.desired), generation(test.desired))
				o.Family = address(family)
				objects = append(objects, o)
			}
			plan := mustPlan(t, w.input(objects...))
			var got []string
			for _, v := range verbs(plan) {
				got = append(got, strings.Replace(v, family+"-", "", 1))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if test.supersedes == 0 {
				return
			}
			a := find(t, plan, atGeneration(test.desired))
			if a.Supersedes != address(atGeneration(test.supersedes)) || a.Reasons[0].Kind != plans.ReasonConfig {
				t.Errorf("supersedes %s because of %+v", a.Supersedes, a.Reasons)
			}
			want := []plans.Change{{
				Path: `data["keystone.conf"]`, Text: true,
				Before: fmt.Sprintf("[token]\nexpiration = %d\n", test.before),
				After:  fmt.Sprintf("[token]\nexpiration = %d\n", test.desired),
			}}
			if diff := cmp.Diff(want, a.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			for _, a := range plan.Actions {
				if a.Verb == plans.Delete && !slices.Contains(a.DependsOn, address(atGeneration(test.desired))) {
					t.Errorf("%s does not wait for the new member", a.Address)
				}
			}
		})
	}
}

// smallCloud returns a cloud with a namespace, a database with a volume, and objects that use the
// database.
func smallCloud() *world {
	w := &world{}
	w.add("cloud.prod/Namespace/openstack", thing("v1", "Namespace", "openstack")).Holds = "everything in it"
	w.add("service.mariadb/Secret/mariadb", thing("v1", "Secret", "mariadb"), "cloud.prod/Namespace/openstack").Holds = "generated values"
	set := thing("apps/v1", "StatefulSet", "mariadb")
	set.Object["spec"] = map[string]any{"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}}}
	w.add("service.mariadb/StatefulSet/mariadb", set, "service.mariadb/Secret/mariadb")
	w.add("service.keystone/Job/sync-1", thing("batch/v1", "Job", "sync-1"), "service.mariadb/StatefulSet/mariadb")
	w.add("service.keystone/Deployment/keystone-api", thing("apps/v1", "Deployment", "keystone-api"), "service.keystone/Job/sync-1")
	w.add("role.control/Node/ctl-1", thing("v1", "Node", "ctl-1")).Partial = true
	claim := live(thing("v1", "PersistentVolumeClaim", "data-mariadb-0"), "uid-claim")
	claim.SetLabels(map[string]string{providers.LabelCloud: "prod", providers.LabelService: "mariadb"})
	w.cluster.objects = append(w.cluster.objects, claim)
	return w
}

func destroy(w *world, deleteData ...string) planner.Input {
	in := w.input()
	// The state already has the namespace.
	w.cluster.objects = w.cluster.objects[:len(w.cluster.objects)-1]
	in.Destroy = true
	in.DeleteData = deleteData
	return in
}

func TestDestroy(t *testing.T) {
	const secret, claim, namespace = "service.mariadb/Secret/mariadb", "service.mariadb/PersistentVolumeClaim/data-mariadb-0", "cloud.prod/Namespace/openstack"
	tests := map[string]struct {
		deleteData []string
		change     func(*world)
		deleted    []string // after the workloads
		kept       []string
	}{
		"data stays, and what it is in": {
			kept: []string{claim, secret, namespace},
		},
		"some data goes": {
			deleteData: []string{claim},
			deleted:    []string{"delete " + claim},
			kept:       []string{secret, namespace},
		},
		"all data goes": {
			deleteData: []string{"*"},
			deleted:    []string{"delete " + claim, "delete " + secret, "delete " + namespace},
		},
		"something foreign": {
			deleteData: []string{"*"},
			change: func(w *world) {
				w.cluster.objects = append(w.cluster.objects, thing("v1", "ConfigMap", "theirs"))
			},
			deleted: []string{"delete " + claim, "delete " + secret},
			kept:    []string{namespace},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := smallCloud()
			if test.change != nil {
				test.change(w)
			}
			plan := mustPlan(t, destroy(w, test.deleteData...))
			var kept []string
			for _, k := range plan.Kept {
				kept = append(kept, k.Address.String())
			}
			if diff := cmp.Diff(test.kept, kept, cmp.Transformer("set", set)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			want := append([]string{
				"delete role.control/Node/ctl-1",
				"delete service.keystone/Deployment/keystone-api",
				"delete service.keystone/Job/sync-1",
				"delete service.mariadb/StatefulSet/mariadb",
			}, test.deleted...)
			if diff := cmp.Diff(want, verbs(plan), cmp.Transformer("set", set)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			checkDeleteOrder(t, plan, smallCloud().state.Objects)
			if !plan.Destroy {
				t.Error("the plan does not say that it destroys")
			}
		})
	}
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

// checkDeleteOrder fails the test if an object is deleted before its dependants or its contents.
func checkDeleteOrder(t *testing.T, plan *plans.Plan, objects []state.Object) {
	t.Helper()
	at := map[string]int{}
	for i, a := range plan.Actions {
		at[a.Address.String()] = i + 1
	}
	after := func(later, earlier string) {
		if at[later] > 0 && at[earlier] > 0 && at[later] < at[earlier] {
			t.Errorf("%s is deleted before %s:\n%s", later, earlier, strings.Join(verbs(plan), "\n"))
		}
	}
	for _, o := range objects {
		for _, on := range o.DependsOn {
			after(on, o.Address)
		}
		if o.Kind != "Namespace" && o.Kind != "Node" {
			after("cloud.prod/Namespace/openstack", o.Address)
		}
	}
	after("service.mariadb/PersistentVolumeClaim/data-mariadb-0", "service.mariadb/StatefulSet/mariadb")
	after("cloud.prod/Namespace/openstack", "service.mariadb/PersistentVolumeClaim/data-mariadb-0")
}

func TestDeleteDataThatMatchesNothing(t *testing.T) {
	_, problems, err := planner.Make(t.Context(), destroy(smallCloud(), "service.mariadb/Secret/slip"))
	if err != nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Summary, "service.mariadb/Secret/slip") {
		t.Errorf("problems are %+v, error %v", problems, err)
	}
}

// TestDestroyLeavesForgeries checks that a destroy does not delete an object whose UID is not in
// the state, even if it has the cloud's label, an address and kolla's field manager.
func TestDestroyLeavesForgeries(t *testing.T) {
	w := &world{}
	w.add(atConfigMap, thing("v1", "ConfigMap", "a"))
	twin := w.last().DeepCopy()
	twin.SetName("copy")
	twin.SetUID("uid-copy")
	token(twin, "token-1")
	volume := live(thing("v1", "PersistentVolumeClaim", "volume"), "uid-volume")
	w.cluster.objects = append(w.cluster.objects, twin, volume)
	in := w.input()
	in.Destroy = true
	in.DeleteData = []string{"*"}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"delete " + atConfigMap}, verbs(plan)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if len(problems) != 1 || !problems[0].Warning || !strings.HasPrefix(problems[0].Summary, "ConfigMap openstack/copy carries the label of this cloud, and the state does not know it") {
		t.Errorf("problems are %+v", problems)
	}
	const at = "cloud.prod/PersistentVolumeClaim/volume"
	if len(plan.Kept) != 1 || plan.Kept[0].Address.String() != at {
		t.Errorf("kept is %+v", plan.Kept)
	}

	in.DeleteData = []string{at}
	plan, _, err = planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"delete " + at, "delete " + atConfigMap}, verbs(plan)); diff != "" {
		t.Errorf("actions with the volume named (-want +got):\n%s", diff)
	}
}

// TestDestroyWithoutAState checks that a destroy without a state deletes nothing, but reports the
// objects with the cloud's label.
func TestDestroyWithoutAState(t *testing.T) {
	w := smallCloud()
	w.state.Objects = nil
	got := mustNotPlan(t, destroy(w, "*"))
	for _, want := range []string{"5 objects carry the label of this cloud, and the state does not know them", "kolla state rebuild"} {
		if !strings.Contains(got, want) {
			t.Errorf("problem is %q, lacks %q", got, want)
		}
	}
}
