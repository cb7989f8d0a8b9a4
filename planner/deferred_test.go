package planner_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// later is a declared object with values that are known after apply.
func later(at string, manifest *unstructured.Unstructured, dependsOn ...string) providers.Object {
	o := declared(at, manifest, dependsOn...)
	o.Deferred = []string{"data.registry"}
	return o
}

// deferredWorld is a cloud with two versions of a file. The second version is in use, and the next
// version is known after apply.
func deferredWorld(t *testing.T) (*world, []providers.Object) {
	w := &world{}
	for _, n := range []int{1, 2} {
		r := w.add(atGeneration(n), generation(n))
		r.Family = family
	}
	w.add("service.keystone/Deployment/api", mounting(t, 2))
	w.add("service.glance/ConfigMap/old", thing("v1", "ConfigMap", "old"))
	w.cluster.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		if strings.Contains(u.GetName()+fileOf(u), providers.UnknownVersion) {
			return nil, errors.New("the server was asked about what is not known")
		}
		return live(u, ""), nil
	}
	unknown := thing("v1", "ConfigMap", "keystone.conf-"+providers.UnknownVersion)
	unknown.Object["data"] = map[string]any{"keystone.conf": "[token]\nexpiration = " + configs.KnownAfterApply + "\n"}
	file := later(family+"-"+providers.UnknownVersion, unknown)
	file.Family = address(family)
	api := mounting(t, 2)
	put(t, api, []any{map[string]any{"name": "conf", "configMap": map[string]any{"name": unknown.GetName()}}}, "spec", "template", "spec", "volumes")
	return w, []providers.Object{
		declared("manifest.registry/ConfigMap/registry", thing("v1", "ConfigMap", "registry")),
		file,
		later("service.keystone/Deployment/api", api, file.Address.String()),
		declared("service.keystone/Job/after", thing("batch/v1", "Job", "after"), "service.keystone/Deployment/api"),
	}
}

// fileOf returns the first file that a workload mounts.
func fileOf(u *unstructured.Unstructured) string {
	volumes, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "volumes")
	for _, v := range volumes {
		volume, _ := v.(map[string]any)
		name, _, _ := unstructured.NestedString(volume, "configMap", "name")
		return name
	}
	return ""
}

// TestDeferred checks objects with values that are known after apply. They are planned without the
// server, as far as their values are known. The file versions that they may supersede stay, and the
// objects that depend on them wait.
func TestDeferred(t *testing.T) {
	w, objects := deferredWorld(t)
	plan := mustPlan(t, w.input(objects...))
	unknown := family + "-" + providers.UnknownVersion
	want := []string{
		"create manifest.registry/ConfigMap/registry",
		"create " + unknown,
		"update service.keystone/Deployment/api",
		"run service.keystone/Job/after",
		"delete service.glance/ConfigMap/old",
	}
	if diff := cmp.Diff(want, verbs(plan)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	for _, at := range []string{unknown, "service.keystone/Deployment/api"} {
		a := find(t, plan, at)
		if !a.Deferred() || a.Evidence.Kind != plans.Unverified || !strings.Contains(a.Evidence.Detail, "data.registry") {
			t.Errorf("%s: deferred %v, evidence %v", at, a.Deferred(), a.Evidence)
		}
	}
	file, api := find(t, plan, unknown), find(t, plan, "service.keystone/Deployment/api")
	if file.Supersedes != address(atGeneration(2)) {
		t.Errorf("the file takes the place of %q", file.Supersedes)
	}
	if api.Prior.UID != "uid of service.keystone/Deployment/api" {
		t.Errorf("the update is bound to %q", api.Prior.UID)
	}
	var shown []string
	for _, c := range api.Changes {
		if c.After != nil {
			shown = append(shown, c.Path)
		}
	}
	if !slices.Contains(shown, `spec.template.spec.volumes["conf"].configMap.name`) {
		t.Errorf("changes of the workload: %v", shown)
	}
	if got := plan.Counts().Deferred; got != 2 {
		t.Errorf("%d are counted as deferred", got)
	}
}

func TestDivide(t *testing.T) {
	w, objects := deferredWorld(t)
	in := w.input(objects...)
	in.Adopt = everything(in.Objects)
	saved := filepath.Join(t.TempDir(), "plan")
	if err := plans.Save(saved, mustPlan(t, in)); err != nil {
		t.Fatal(err)
	}
	plan, err := plans.Load(saved)
	if err != nil {
		t.Fatal(err)
	}
	now, rest := plan.Divide()
	if diff := cmp.Diff([]string{"create manifest.registry/ConfigMap/registry", "delete service.glance/ConfigMap/old"}, verbs(now)); diff != "" {
		t.Errorf("now (-want +got):\n%s", diff)
	}
	var waiting []string
	for _, a := range rest {
		waiting = append(waiting, a.Address.Kind)
	}
	if diff := cmp.Diff([]string{"ConfigMap", "Deployment", "Job"}, waiting); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data.registry"}, plan.Waiting()); diff != "" {
		t.Errorf("waits for (-want +got):\n%s", diff)
	}
	if plan.Resume == nil || plan.Resume.Adopt == nil {
		t.Errorf("how to go on: %v", plan.Resume)
	}
	if now.ID != plan.ID {
		t.Error("the first part is another plan")
	}
}

// TestDeferredSecret checks that a Secret with values that are known after apply hides its other
// values.
func TestDeferredSecret(t *testing.T) {
	w := &world{}
	o := later("manifest.copy/Secret/copy", thing("v1", "Secret", "copy"))
	o.Data = map[string]providers.SecretData{
		"key":   {Parts: []providers.DataPart{{Sensitive: configs.KnownAfterApply}}},
		"other": {Parts: []providers.DataPart{{Sensitive: "hunter2"}}},
	}
	plan := mustPlan(t, w.input(o))
	after := map[string]any{}
	for _, c := range find(t, plan, "manifest.copy/Secret/copy").Changes {
		after[c.Path] = c.After
	}
	if after[`data["key"]`] != plans.Unknown && after["data.key"] != plans.Unknown {
		t.Errorf("changes: %v", after)
	}
	if strings.Contains(text(t, plan), "hunter2") {
		t.Error("the plan holds the value")
	}
}

func TestDeferredReplace(t *testing.T) {
	w, objects := deferredWorld(t)
	in := w.input(objects...)
	in.Replace = []string{"service.keystone/Deployment/api"}
	if got := mustNotPlan(t, in); !strings.Contains(got, "cannot be replaced by this plan") {
		t.Error(got)
	}
}

// TestUnannounced checks that the plan of the rest does nothing but the actions that were shown.
func TestUnannounced(t *testing.T) {
	w, objects := deferredWorld(t)
	_, rest := mustPlan(t, w.input(objects...)).Divide()
	version := func(verb plans.Verb, at string, changes ...plans.Change) plans.Action {
		o := declared(at, thing("v1", address(at).Kind, address(at).Name))
		if strings.HasPrefix(at, family) {
			o.Family = address(family)
		}
		a := plans.Action{Address: o.Address, Verb: verb, Object: &o, Changes: changes}
		if verb == plans.Delete {
			a.Object = nil
		}
		return a
	}
	pruned := version(plans.Delete, atGeneration(1))
	pruned.Reasons = []plans.Reason{{Kind: plans.ReasonSuperseded}}
	elsewhere := version(plans.Delete, "service.glance/ConfigMap/glance.conf-1")
	elsewhere.Reasons = pruned.Reasons
	made, unowned := version(plans.Adopt, "service.keystone/Job/after"), version(plans.Adopt, "service.keystone/Job/after")
	made.Reasons = []plans.Reason{{Kind: plans.ReasonMoved}}
	unowned.Reasons = []plans.Reason{{Kind: plans.ReasonUnowned}}
	changed := unowned
	changed.Changes = []plans.Change{{Path: "data.theirs", Before: "precious"}}
	tests := map[string]struct {
		action plans.Action
		shown  bool
	}{
		"what was made just now":               {made, true},
		"what somebody else made":              {unowned, false},
		"what somebody else made, changed":     {changed, false},
		"the version that came":                {version(plans.Create, atGeneration(3)), true},
		"the version there was":                {version(plans.None, atGeneration(2)), true},
		"a version that nothing uses any more": {pruned, true},
		"the workload":                         {version(plans.Update, "service.keystone/Deployment/api"), true},
		"a workload that has to go for it":     {version(plans.Replace, "service.keystone/Deployment/api"), false},
		"what waited for it":                   {version(plans.Run, "service.keystone/Job/after"), true},
		"another object of the service":        {version(plans.Create, "service.keystone/Secret/keystone.conf-1"), true},
		"an object that is changed":            {version(plans.Update, "service.keystone/Service/keystone"), false},
		"an object that goes":                  {version(plans.Delete, "service.keystone/Service/keystone"), false},
		"another service":                      {version(plans.Create, "service.glance/ConfigMap/glance.conf-1"), false},
		"an old version of another service":    {elsewhere, false},
		"another service that stays":           {version(plans.None, "service.glance/ConfigMap/glance.conf-1"), true},
		"what waited, changed":                 {version(plans.Update, "service.keystone/Job/after"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := plans.Unannounced(&plans.Plan{Actions: []plans.Action{test.action}}, rest)
			if (len(got) == 0) != test.shown {
				t.Errorf("unannounced: %v", got)
			}
		})
	}
}

// TestUndecided checks that a restricted plan leaves out blocks whose instances are not known yet:
// the declared objects as well as the existing ones.
func TestUndecided(t *testing.T) {
	for _, undecided := range []string{"module.edge.service.redis", "module.edge.*"} {
		w := &world{}
		w.add(`module.edge["a"].service.redis["x"]/ConfigMap/there`, thing("v1", "ConfigMap", "there"))
		w.add(`service.redis/ConfigMap/other`, thing("v1", "ConfigMap", "other"))
		in := w.input(
			declared(`module.edge["a"].service.redis["y"]/ConfigMap/new`, thing("v1", "ConfigMap", "new")),
			declared("manifest.registry/ConfigMap/registry", thing("v1", "ConfigMap", "registry")),
		)
		in.Undecided = []string{undecided}
		in.Selection.Targets = []string{"manifest.registry", "service.redis", `module.edge["a"].service.redis`}
		plan, problems, err := planner.Make(t.Context(), in)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Summary, "has no effect yet") {
			t.Fatalf("Make: %v, problems %v", err, problems)
		}
		want := []string{"create manifest.registry/ConfigMap/registry", "delete service.redis/ConfigMap/other"}
		if diff := cmp.Diff(want, verbs(plan)); diff != "" {
			t.Errorf("%s: actions (-want +got):\n%s", undecided, diff)
		}
	}
}

// TestUndecidedRoles checks that nodes keep their labels of roles that are not known yet, whether
// or not another role has the node. Other labels are added.
func TestUndecidedRoles(t *testing.T) {
	node := func(name string, labels map[string]string) *unstructured.Unstructured {
		u := thing("v1", "Node", name)
		u.SetNamespace("")
		u.SetLabels(labels)
		return u
	}
	for _, undecided := range []string{"role.r", "module.edge.role.r", "module.edge.*", ""} {
		t.Run(undecided, func(t *testing.T) {
			w := &world{}
			for _, name := range []string{"node-1", "node-2"} {
				w.add("cloud.prod/Node/"+name, thing("v1", "Node", name)).Partial = true
				w.state.Objects[len(w.state.Objects)-1].Namespace = ""
				u := w.last()
				u.SetNamespace("")
				u.SetLabels(map[string]string{"example.org/r": "true", "theirs": "x"})
				owns(u, providers.ManagerOf("prod", true), metav1.ManagedFieldsOperationApply, then, `{"f:metadata":{"f:labels":{"f:example.org/r":{}}}}`)
			}
			o := declared("cloud.prod/Node/node-1", node("node-1", map[string]string{"example.org/known": "true"}))
			o.Partial = true
			in := w.input(o, declared("manifest.a/ConfigMap/a", thing("v1", "ConfigMap", "a")))
			in.Selection.Excludes = []string{"manifest.a"}
			if undecided != "" {
				in.Undecided = []string{undecided}
			}
			plan := mustPlan(t, in)
			labels := find(t, plan, "cloud.prod/Node/node-1").Object.Manifest.GetLabels()
			_, goes := labels["example.org/r"]
			if labels["example.org/known"] == "" || labels["theirs"] != "" || goes == (undecided == "") {
				t.Errorf("the node gets %v", labels)
			}
			if len(o.Manifest.GetLabels()) != 1 {
				t.Error("the caller's object was changed")
			}
			gone := slices.Contains(verbs(plan), "delete cloud.prod/Node/node-2")
			if gone != (undecided == "") {
				t.Errorf("actions: %v", verbs(plan))
			}
		})
	}
}

// TestUndecidedSecrets checks that Secrets of blocks whose instances are not known yet are kept,
// except by a destroy.
func TestUndecidedSecrets(t *testing.T) {
	for _, destroy := range []bool{false, true} {
		w := &world{}
		w.add(`secret.s["one"]/Secret/s-one`, thing("v1", "Secret", "s-one")).Holds = "generated values"
		w.add("manifest.a/ConfigMap/a", thing("v1", "ConfigMap", "a"))
		in := w.input(declared("manifest.a/ConfigMap/a", thing("v1", "ConfigMap", "a")))
		in.Undecided = []string{"secret.s"}
		in.Destroy = destroy
		in.Selection.Excludes = []string{"manifest.a"}
		in.DeleteData = []string{"*"}
		var want []string
		if destroy {
			want = []string{`delete secret.s["one"]/Secret/s-one`}
		}
		if diff := cmp.Diff(want, verbs(mustPlan(t, in))); diff != "" {
			t.Errorf("destroy %v: actions (-want +got):\n%s", destroy, diff)
		}
	}
}

// TestDeferredValues checks that fields that are known after apply are listed as unknown, without
// values.
func TestDeferredValues(t *testing.T) {
	w, objects := deferredWorld(t)
	in := w.input(objects...)
	in.Values = true
	plan := mustPlan(t, in)
	file := find(t, plan, family+"-"+providers.UnknownVersion).Values
	want := &plans.Values{After: &extract.Part{
		Values:  map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "openstack"}, "data": map[string]any{}},
		Unknown: map[string]any{"metadata": map[string]any{"name": true}, "data": map[string]any{"keystone.conf": true}},
	}}
	if diff := cmp.Diff(want, file); diff != "" {
		t.Errorf("a file (-want +got):\n%s", diff)
	}
	api := find(t, plan, "service.keystone/Deployment/api").Values
	unknown := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"volumes": []any{map[string]any{"configMap": map[string]any{"name": true}}},
	}}}}
	if diff := cmp.Diff(unknown, api.After.Unknown); diff != "" {
		t.Errorf("what is not known of a workload (-want +got):\n%s", diff)
	}
}
