package planner_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

var converter = applyconfigurations.NewTypeConverter(scheme.Scheme)

// server merges objects as the API server does, with the same library, but without defaults and
// validation.
type server struct{ t *testing.T }

// apply returns the result of a server-side apply; object nil: the apply creates the object.
func (s server) apply(object, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	fields := managedfieldstest.NewFakeFieldManager(converter, manifest.GroupVersionKind())
	if object == nil {
		object = &unstructured.Unstructured{Object: map[string]any{"apiVersion": manifest.GetAPIVersion(), "kind": manifest.GetKind()}}
	}
	out, err := fields.Apply(object.DeepCopy(), manifest.DeepCopy(), providers.FieldManager, true)
	if err != nil {
		s.t.Fatal(err)
	}
	return out.(*unstructured.Unstructured)
}

// update returns the result of an update of the whole object by another manager.
func (s server) update(live, object *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	fields := managedfieldstest.NewFakeFieldManager(converter, live.GroupVersionKind())
	out, err := fields.Update(live.DeepCopy(), object.DeepCopy(), "kubectl-edit")
	if err != nil {
		s.t.Fatal(err)
	}
	return out.(*unstructured.Unstructured)
}

// chance makes random objects.
type chance struct{ *rand.Rand }

func (c chance) some(names ...string) []string {
	names = slices.Clone(names)
	c.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:c.IntN(len(names)+1)]
}

func (c chance) list(element func(name string) any, names ...string) []any {
	out := []any{}
	for _, name := range c.some(names...) {
		out = append(out, element(name))
	}
	return out
}

func (c chance) value() string { return fmt.Sprint(c.IntN(3)) }

// container returns a container with lists that have one key field, with lists that have two, and
// with atomic lists.
func (c chance) container(name string) any {
	return map[string]any{
		"name": name, "image": "image:" + c.value(), "args": c.list(func(n string) any { return n }, "-v", "-x", "-d"),
		"env":   c.list(func(n string) any { return map[string]any{"name": n, "value": c.value()} }, "A", "B", "C"),
		"ports": c.list(c.port, "53/TCP", "53/UDP", "80/TCP"),
		"volumeMounts": c.list(func(n string) any {
			return map[string]any{"name": "v" + c.value(), "mountPath": n, "readOnly": c.IntN(2) == 0}
		}, "/a", "/b", "/c"),
	}
}

func (c chance) port(n string) any {
	number, protocol, _ := strings.Cut(n, "/")
	return map[string]any{"containerPort": map[string]int64{"53": 53, "80": 80}[number], "protocol": protocol, "name": "p" + c.value()}
}

// deployment returns a Deployment with labels, a set of finalizers, and random containers.
func (c chance) deployment() *unstructured.Unstructured {
	u := thing("apps/v1", "Deployment", "api")
	labels := map[string]any{}
	for _, name := range c.some("a", "b", "c.d/e") {
		labels[name] = c.value()
	}
	u.Object["metadata"].(map[string]any)["labels"] = labels
	u.Object["metadata"].(map[string]any)["finalizers"] = c.list(func(n string) any { return n }, "x/1", "x/2", "x/3")
	u.Object["spec"] = map[string]any{
		"replicas": int64(c.IntN(3)),
		"template": map[string]any{"spec": map[string]any{
			"containers":  append([]any{c.container("main")}, c.list(c.container, "side", "log")...),
			"tolerations": c.list(func(n string) any { return map[string]any{"key": n, "operator": "Exists"} }, "t1", "t2"),
			"volumes": c.list(func(n string) any {
				if c.IntN(2) == 0 {
					return map[string]any{"name": n, "emptyDir": map[string]any{}}
				}
				return map[string]any{"name": n, "hostPath": map[string]any{"path": "/" + c.value()}}
			}, "v0", "v1", "v2"),
		}},
	}
	return u
}

// clusterRole returns a ClusterRole with an atomic list.
func (c chance) clusterRole() *unstructured.Unstructured {
	u := thing("rbac.authorization.k8s.io/v1", "ClusterRole", "role")
	u.SetNamespace("")
	u.Object["rules"] = c.list(func(n string) any {
		return map[string]any{"apiGroups": []any{""}, "resources": []any{n}, "verbs": c.list(func(v string) any { return v }, "get", "list", "*")}
	}, "pods", "secrets", "nodes")
	return u
}

// mix returns parts of a, and the rest of b.
func (c chance) mix(a, b any) any {
	x, isMap := a.(map[string]any)
	y, both := b.(map[string]any)
	if !isMap || !both || c.IntN(4) == 0 {
		if c.IntN(2) == 0 {
			return a
		}
		return b
	}
	out := map[string]any{}
	for key := range x {
		if _, has := y[key]; has {
			out[key] = c.mix(x[key], y[key])
		} else if c.IntN(2) == 0 {
			out[key] = x[key]
		}
	}
	for key := range y {
		if _, has := x[key]; !has && c.IntN(2) == 0 {
			out[key] = y[key]
		}
	}
	return out
}

// TestValuesAreThoseOfTheServer makes plans for random objects that others have changed. It checks
// that before is part of the live object, that after is part of the server's answer, and that their
// difference changes the live object into the answer.
func TestValuesAreThoseOfTheServer(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c, s := chance{rand.New(rand.NewPCG(seed, 1))}, server{t}
	verbs := map[plans.Verb]int{}
	for i := range 200 {
		make, at := c.deployment, "service.a/Deployment/api"
		if i%4 == 0 {
			make, at = c.clusterRole, "service.a/ClusterRole/role"
		}
		first, next, others := make(), make(), make()
		if i%5 == 0 {
			next = first
		}
		live := s.apply(nil, first)
		meddled := live.DeepCopy()
		for _, field := range []string{"spec", "rules"} {
			if others.Object[field] != nil {
				meddled.Object[field] = c.mix(live.Object[field], others.Object[field])
			}
		}
		if i%3 > 0 {
			live = s.update(live, meddled)
		}
		live.SetUID("1")
		live.SetResourceVersion("1")
		var answer *unstructured.Unstructured
		w := &cluster{objects: []*unstructured.Unstructured{live}, answer: func(manifest *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
			answer = s.apply(live, manifest)
			return answer, nil
		}}
		in := input(w, declared(at, next))
		in.Adopt, in.ForceConflicts, in.Values = everything(in.Objects), true, true
		a := find(t, mustPlan(t, in), at)
		verbs[a.Verb]++
		if answer == nil {
			answer = live
		}
		if text := falsehood(live, answer, a.Values); text != "" {
			t.Fatalf("seed %d, object %d: %s\n%s", seed, i, text, showAll(live, answer, a))
		}
	}
	t.Logf("%v", verbs)
	if verbs[plans.Adopt] == 0 {
		t.Error("nothing was changed")
	}
}

func showAll(live, answer *unstructured.Unstructured, a plans.Action) string {
	return cmp.Diff(plain(live), plain(answer)) + "\nvalues:\n" + cmp.Diff(a.Values.Before, a.Values.After) + fmt.Sprintf("\nchanges: %+v", a.Changes)
}

// plain returns an object without the metadata and status that a server adds.
func plain(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetManagedFields(nil)
	u.SetUID("")
	u.SetResourceVersion("")
	u.SetGeneration(0)
	u.SetCreationTimestamp(metav1.Time{})
	delete(u.Object["metadata"].(map[string]any), "creationTimestamp")
	delete(u.Object, "status")
	return u
}

// falsehood describes the first error in the values of a change from live to answer. It returns ""
// if the values are right.
func falsehood(live, answer *unstructured.Unstructured, v *plans.Values) string {
	live, answer = plain(live), plain(answer)
	after := v.After
	if after == nil {
		after = v.Before
	}
	if where := partOf(v.Before.Values, live.Object, "before"); where != "" {
		return where + " is not in the live object"
	}
	if where := partOf(after.Values, answer.Object, "after"); where != "" {
		return where + " is not in the answer"
	}
	is, err := fields.Diff(&unstructured.Unstructured{Object: v.Before.Values}, &unstructured.Unstructured{Object: after.Values})
	if err != nil {
		return err.Error()
	}
	should, err := fields.Diff(live, answer)
	if err != nil {
		return err.Error()
	}
	if diff := cmp.Diff(should, is); diff != "" {
		return "their difference is not that of the live object and the answer (-want +got): " + diff
	}
	got, err := patched(live, v.Before.Values, after.Values)
	if err != nil {
		return err.Error()
	}
	want, err := converter.ObjectToTyped(answer)
	if err != nil {
		return err.Error()
	}
	if c, err := want.Compare(got); err != nil || !c.IsSame() {
		return fmt.Sprintf("the live object with the difference is not the answer: %v %v", c, err)
	}
	return ""
}

// patched returns the live object with the difference between before and after.
func patched(live *unstructured.Unstructured, before, after map[string]any) (*typed.TypedValue, error) {
	var types []*typed.TypedValue
	for _, object := range []map[string]any{live.Object, before, after} {
		value, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: object})
		if err != nil {
			return nil, err
		}
		types = append(types, value)
	}
	c, err := types[1].Compare(types[2])
	if err != nil {
		return nil, err
	}
	return types[0].RemoveItems(c.Removed).Merge(types[2])
}

// partOf finds the first field of part that whole lacks, with lists in the same order; empty: whole
// has all fields.
func partOf(part, whole any, path string) string {
	switch part := part.(type) {
	case map[string]any:
		fields, _ := whole.(map[string]any)
		for name, value := range part {
			other, has := fields[name]
			if !has {
				return path + "." + name
			}
			if where := partOf(value, other, path+"."+name); where != "" {
				return where
			}
		}
		return ""
	case []any:
		list, _ := whole.([]any)
		at := 0
		for i, element := range part {
			for at < len(list) && partOf(element, list[at], "") != "" {
				at++
			}
			if at == len(list) {
				return fmt.Sprintf("%s[%d]", path, i)
			}
			at++
		}
		return ""
	}
	if !reflect.DeepEqual(part, whole) {
		return path
	}
	return ""
}

// TestValuesOfAnAddedMount checks a list of mounts that values made from paths would get wrong.
func TestValuesOfAnAddedMount(t *testing.T) {
	s := server{t}
	was, is := thing("apps/v1", "Deployment", "api"), thing("apps/v1", "Deployment", "api")
	container := func(image string, ports []any, mounts ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "api", "image": image, "ports": ports, "volumeMounts": mounts}},
		}}}}
	}
	mount := func(at string) any { return map[string]any{"name": "conf", "mountPath": at} }
	port := func(number int64, name string) any {
		return map[string]any{"containerPort": number, "protocol": "TCP", "name": name}
	}
	was.Object["spec"] = container("i", []any{port(80, "web"), port(8080, "x")}, mount("/a"))["spec"]
	is.Object["spec"] = container("i", []any{port(8080, "y"), port(80, "web")}, mount("/b"), mount("/a"))["spec"]
	live := s.apply(nil, was)
	live.SetUID("1")
	w := &cluster{objects: []*unstructured.Unstructured{live}, answer: func(m *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return s.apply(live, m), nil
	}}
	in := input(w, declared("service.a/Deployment/api", is))
	in.Adopt, in.Values = everything(in.Objects), true
	v := find(t, mustPlan(t, in), "service.a/Deployment/api").Values
	for side, want := range map[*extract.Part]map[string]any{v.Before: was.Object, v.After: is.Object} {
		if diff := cmp.Diff(want["spec"], side.Values["spec"]); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	}
}

// TestValuesOfOthers checks the owner of each changed field, and that a plan shows fields of other
// owners only where they change.
func TestValuesOfOthers(t *testing.T) {
	s := server{t}
	want := thing("apps/v1", "Deployment", "api")
	want.Object["spec"] = map[string]any{"replicas": int64(3), "paused": true}
	live := s.apply(nil, want)
	edited := live.DeepCopy()
	edited.Object["spec"].(map[string]any)["replicas"] = int64(5)
	edited.Object["spec"].(map[string]any)["minReadySeconds"] = int64(7)
	live = s.update(live, edited)
	live.SetUID("1")
	w := &cluster{objects: []*unstructured.Unstructured{live}, answer: func(m *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return s.apply(live, m), nil
	}}
	in := input(w, declared("service.a/Deployment/api", want))
	in.Values = true
	in.State.Objects = append(in.State.Objects, recorded("service.a/Deployment/api", live))
	v := find(t, mustPlan(t, in), "service.a/Deployment/api").Values
	got := []any{v.Written.Values["spec"], v.Before.Values["spec"], v.After.Values["spec"]}
	spec := func(n int64) any { return map[string]any{"replicas": n, "paused": true} }
	if diff := cmp.Diff([]any{spec(3), spec(5), spec(3)}, got); diff != "" {
		t.Errorf("written, before and after (-want +got):\n%s", diff)
	}
}

// TestValuesKeepNoSecrets checks that values contain no value of a Secret: neither kolla's, known
// or not, nor those that others added.
func TestValuesKeepNoSecrets(t *testing.T) {
	const at = "service.a/Secret/a"
	s := server{t}
	manifest := thing("v1", "Secret", "a")
	manifest.SetAnnotations(map[string]string{"ours": "shown", providers.AnnotationChecksum: "sum-of-it"})
	was := manifest.DeepCopy()
	was.Object["data"] = map[string]any{"given": "d2Fz"}
	live := s.apply(nil, was)
	other := live.DeepCopy()
	other.Object["data"].(map[string]any)["added"] = "YWRkZWQ="
	other.SetAnnotations(map[string]string{"ours": "shown", providers.AnnotationChecksum: "sum-of-it", "theirs": `{"data":{"given":"d2Fz"}}`})
	live = s.update(live, other)
	live.SetUID("1")
	o := declared(at, manifest)
	o.Data = map[string]providers.SecretData{
		"given": {Parts: []providers.DataPart{{Sensitive: "two"}}},
		"made":  {Generate: &providers.Generator{Kind: "password", Length: 10}},
	}
	w := &cluster{objects: []*unstructured.Unstructured{live}, answer: func(m *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		answer := s.apply(live, m)
		delete(answer.Object["data"].(map[string]any), "added") // as drift
		annotations := answer.GetAnnotations()
		delete(annotations, "theirs")
		answer.SetAnnotations(annotations)
		return answer, nil
	}}
	in := input(w, o)
	in.State.Objects = append(in.State.Objects, recorded(at, live))
	in.Values = true
	values := find(t, mustPlan(t, in), at).Values
	annotations := map[string]any{"ours": "shown", providers.AnnotationChecksum: plans.Masked}
	marks := map[string]any{providers.AnnotationChecksum: true}
	metadata := func(annotations map[string]any) map[string]any {
		return map[string]any{"name": "a", "namespace": "openstack", "annotations": annotations}
	}
	want := &plans.Values{
		Before: &extract.Part{
			Values: map[string]any{
				"apiVersion": "v1", "kind": "Secret",
				"metadata": metadata(map[string]any{"ours": "shown", providers.AnnotationChecksum: plans.Masked, "theirs": plans.Masked}),
				"data":     map[string]any{"given": plans.Masked, "added": plans.Masked},
			},
			Sensitive: map[string]any{
				"data":     map[string]any{"given": true, "added": true},
				"metadata": map[string]any{"annotations": map[string]any{providers.AnnotationChecksum: true, "theirs": true}},
			},
		},
		After: &extract.Part{
			Values: map[string]any{
				"apiVersion": "v1", "kind": "Secret", "metadata": metadata(annotations), "data": map[string]any{"given": plans.Masked},
			},
			Sensitive: map[string]any{
				"data":     map[string]any{"given": true, "made": true},
				"metadata": map[string]any{"annotations": marks},
			},
			Unknown: map[string]any{"data": map[string]any{"made": true}},
		},
	}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
