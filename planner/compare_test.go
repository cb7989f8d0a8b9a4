package planner_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// rendered returns an object as a provider renders it, with the label of the cloud.
func rendered(at string, object map[string]any) providers.Object {
	u := &unstructured.Unstructured{Object: object}
	a := address(at)
	u.SetKind(a.Kind)
	u.SetName(a.Name)
	u.SetNamespace("openstack")
	u.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	u.SetAnnotations(map[string]string{providers.AnnotationAddress: at})
	return providers.Object{Address: a, Manifest: u, Source: "cloud.hcl:1"}
}

func textMap(at, value string) providers.Object {
	return rendered(at, map[string]any{"apiVersion": "v1", "data": map[string]any{"file": value}})
}

// compared returns the plan between two renderings.
func compared(t *testing.T, base, head []providers.Object, change ...func(*planner.Input)) *plans.Plan {
	t.Helper()
	in := planner.Input{Cloud: "prod", Namespace: "openstack", Objects: head, Values: true, Now: now}
	for _, c := range change {
		c(&in)
	}
	plan, problems, err := planner.Compare(t.Context(), in, base, nil)
	if err != nil || plan == nil || slices.ContainsFunc(problems, func(p plans.Problem) bool { return !p.Warning }) {
		t.Fatalf("%v, problems %v", err, problems)
	}
	return plan
}

// TestCompare checks the actions between two renderings, and that the plan has the values of both.
func TestCompare(t *testing.T) {
	family := func(o providers.Object) providers.Object {
		o.Family = address("service.a/ConfigMap/a.conf")
		return o
	}
	base := []providers.Object{
		textMap("service.a/ConfigMap/same", "1"), textMap("service.a/ConfigMap/changed", "1"), textMap("service.a/ConfigMap/gone", "1"),
		textMap("service.old/ConfigMap/moved", "1"), family(textMap("service.a/ConfigMap/a.conf-1111111111", "a = 1\n")),
	}
	head := []providers.Object{
		textMap("service.a/ConfigMap/same", "1"), textMap("service.a/ConfigMap/changed", "2"), textMap("service.a/ConfigMap/new", "1"),
		textMap("service.b/ConfigMap/moved", "1"), family(textMap("service.a/ConfigMap/a.conf-2222222222", "a = 2\n")),
	}
	plan := compared(t, base, head)
	got := verbs(plan)
	slices.Sort(got)
	want := []string{
		"create service.a/ConfigMap/a.conf-2222222222", "create service.a/ConfigMap/new", "delete service.a/ConfigMap/gone",
		"forget service.old/ConfigMap/moved", "none service.a/ConfigMap/same", "update service.a/ConfigMap/changed", "update service.b/ConfigMap/moved",
	}
	if !slices.Equal(got, want) {
		t.Errorf("actions:\n%q, want\n%q", got, want)
	}
	if a := find(t, plan, "service.a/ConfigMap/a.conf-2222222222"); a.Supersedes != address("service.a/ConfigMap/a.conf-1111111111") || len(a.Changes) != 1 || a.Changes[0].Before != "a = 1\n" {
		t.Errorf("the new version takes the place of %s: %+v", a.Supersedes, a.Changes)
	}
	if a := find(t, plan, "service.b/ConfigMap/moved"); !a.OnlyMoves() || a.MovedFrom() != "service.old/ConfigMap/moved" {
		t.Errorf("moved: %+v", a)
	}
	a := find(t, plan, "service.a/ConfigMap/changed")
	before, _, _ := unstructured.NestedString(a.Values.Before.Values, "data", "file")
	after, _, _ := unstructured.NestedString(a.Values.After.Values, "data", "file")
	if before != "1" || after != "2" || a.Evidence.Kind != plans.Rendered {
		t.Errorf("values %q and %q, evidence %s", before, after, a.Evidence.Kind)
	}
	if again := compared(t, head, head); again.Changes() {
		t.Errorf("a rendering differs from itself: %q", verbs(again))
	}
}

// TestCompareSecrets checks that a plan shows a change of a given value, but not of a generated
// one, and contains no secret values.
func TestCompareSecrets(t *testing.T) {
	secret := func(at, given string, length int) providers.Object {
		o := rendered(at, map[string]any{"apiVersion": "v1", "type": "Opaque"})
		o.Data = map[string]providers.SecretData{
			"given":     {Parts: []providers.DataPart{{Sensitive: given}}},
			"generated": {Generate: &providers.Generator{Kind: "password", Length: length}},
		}
		o.Holds = "generated values"
		return o
	}
	plan := compared(t, []providers.Object{secret("service.a/Secret/s", "hunter2", 20)}, []providers.Object{secret("service.a/Secret/s", "hunter3", 30)})
	a := find(t, plan, "service.a/Secret/s")
	if len(a.Changes) != 1 || a.Changes[0].Path != `data["given"]` && a.Changes[0].Path != "data.given" || a.Changes[0].Before != plans.Masked || a.Changes[0].After != plans.Masked {
		t.Errorf("changes: %+v", a.Changes)
	}
	gone := compared(t, []providers.Object{secret("service.a/Secret/s", "hunter2", 20), textMap("service.a/ConfigMap/x", "1")}, []providers.Object{textMap("service.a/ConfigMap/x", "1")})
	if a := find(t, gone, "service.a/Secret/s"); a.Verb != plans.Delete || a.Holds != "generated values" {
		t.Errorf("deleted: %+v", a)
	}
	for _, p := range []*plans.Plan{plan, gone} {
		if said := text(t, p); strings.Contains(said, "hunter") || strings.Contains(said, "aHVudGVy") {
			t.Errorf("a value is in the plan: %s", said)
		}
	}
}

// TestCompareFixed checks that a change of an immutable field needs a replacement, and that the
// plan names the lost data.
func TestCompareFixed(t *testing.T) {
	set := func(size, image string) providers.Object {
		return rendered("service.db/StatefulSet/db", map[string]any{"apiVersion": "apps/v1", "spec": map[string]any{
			"replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": "db"}},
			"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": "Delete"},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "db"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "db", "image": image}}},
			},
			"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{
				"resources": map[string]any{"requests": map[string]any{"storage": size}},
			}}},
		}})
	}
	plan := compared(t, []providers.Object{set("1Gi", "db:1")}, []providers.Object{set("2Gi", "db:1")})
	a := find(t, plan, "service.db/StatefulSet/db")
	if a.Verb != plans.Replace || len(a.Reasons) != 1 || a.Reasons[0].Path != "spec.volumeClaimTemplates" || a.Holds == "" {
		t.Errorf("%s for %+v, holds %q", a.Verb, a.Reasons, a.Holds)
	}
	plan = compared(t, []providers.Object{set("1Gi", "db:1")}, []providers.Object{set("1Gi", "db:2")})
	if a := find(t, plan, "service.db/StatefulSet/db"); a.Verb != plans.Update {
		t.Errorf("an image is changed with %s", a.Verb)
	}
	if len(plan.Impact) != 1 || plan.Impact[0].Effects[0].Kind != plans.EffectRestart || plan.Impact[0].Effects[0].Pods != 1 {
		t.Errorf("impact: %+v", plan.Impact)
	}
}

// TestCompareRenamed checks that the data of a service with another name is left behind.
func TestCompareRenamed(t *testing.T) {
	of := func(service string) []providers.Object {
		set := rendered("service.db/StatefulSet/"+service+"-server", map[string]any{"apiVersion": "apps/v1", "spec": map[string]any{
			"replicas":             int64(1),
			"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{}}},
		}})
		secret := rendered("service.db/Secret/"+service+"-root", map[string]any{"apiVersion": "v1"})
		secret.Data = map[string]providers.SecretData{"value": {Generate: &providers.Generator{Kind: "password", Length: 20}}}
		secret.Holds = "generated values"
		for _, o := range []providers.Object{set, secret} {
			labels := o.Manifest.GetLabels()
			labels[providers.LabelService] = service
			o.Manifest.SetLabels(labels)
		}
		return []providers.Object{set, secret}
	}
	plan := compared(t, of("old"), of("new"))
	if len(plan.Losses) != 1 || !plan.Losses[0].Kept || plan.Losses[0].Refs[0].Name != "data-old-server-0" {
		t.Errorf("losses: %+v", plan.Losses)
	}
	if a := find(t, plan, "service.db/Secret/old-root"); a.ValuesCopiedTo != address("service.db/Secret/new-root") || a.Holds != "" {
		t.Errorf("the values of the old Secret go to %s; lost: %q", a.ValuesCopiedTo, a.Holds)
	}
}

// TestComparePrevented checks that prevent_destroy causes a problem, and that there still is a
// plan.
func TestComparePrevented(t *testing.T) {
	o := textMap("service.a/ConfigMap/kept", "1")
	o.Lifecycle = &providers.Lifecycle{PreventDestroy: true, Source: "cloud.hcl:9"}
	plan, problems, err := planner.Compare(t.Context(), planner.Input{Cloud: "prod", Namespace: "openstack", Now: now, Moves: []addrs.Move{}}, []providers.Object{o}, nil)
	if err != nil || plan == nil || len(problems) != 1 || problems[0].Warning {
		t.Errorf("%v, %v, problems %v", plan, err, problems)
	}
}

// TestCompareJobs checks that a Job of a manifest runs again between two renderings only if the
// work of its pods changes.
func TestCompareJobs(t *testing.T) {
	job := func(image, label string) []providers.Object {
		return []providers.Object{rendered("manifest.a/Job/a", map[string]any{"apiVersion": "batch/v1", "spec": map[string]any{"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"a": label}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "a", "image": image}}},
		}}})}
	}
	for name, test := range map[string]struct {
		head []providers.Object
		want plans.Verb
	}{
		"another image": {job("other", "b"), plans.Replace},
		"another label": {job("image", "c"), plans.None},
	} {
		t.Run(name, func(t *testing.T) {
			if got := compared(t, job("image", "b"), test.head).Actions[0].Verb; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
