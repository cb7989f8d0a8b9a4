package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// workload returns a Deployment, StatefulSet or DaemonSet with three pods, which reads a config
// file from a ConfigMap.
func workload(kind, name string) *unstructured.Unstructured {
	u := thing("apps/v1", kind, name)
	u.Object["spec"] = map[string]any{
		"replicas": int64(3),
		"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": "1"}}, "spec": map[string]any{
			"containers": []any{map[string]any{
				"name": "main", "image": "quay.io/openstack.kolla/keystone:1",
				"env": []any{map[string]any{"name": "A", "value": "1"}},
			}},
			"volumes": []any{map[string]any{"name": "conf", "configMap": map[string]any{"name": "keystone.conf-1"}}},
		}},
	}
	if kind == "DaemonSet" {
		unstructured.RemoveNestedField(u.Object, "spec", "replicas")
	}
	return u
}

func put(t *testing.T, u *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func container(u *unstructured.Unstructured) map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "template", "spec", "containers")
	return list.([]any)[0].(map[string]any)
}

// image changes the image, so that pods restart.
func image(u *unstructured.Unstructured) {
	container(u)["image"] = "quay.io/openstack.kolla/keystone:2"
}

func TestImpactOfAWorkload(t *testing.T) {
	const because = ": image keystone:1 → keystone:2"
	tests := map[string]struct {
		kind string
		was  func(*testing.T, *unstructured.Unstructured) // nil: the object is new
		want func(*testing.T, *unstructured.Unstructured)
		says []string
	}{
		"new":         {kind: "Deployment", says: []string{"3 pods will be deployed"}},
		"new on each": {kind: "DaemonSet", says: []string{"will be deployed, one pod on each of its nodes"}},
		"new, without pods": {
			kind: "Deployment", want: func(t *testing.T, u *unstructured.Unstructured) { put(t, u, int64(0), "spec", "replicas") },
			says: []string{"will be deployed without pods: replicas is 0"},
		},
		"nothing that pods notice": {
			kind: "Deployment", was: func(t *testing.T, u *unstructured.Unstructured) { put(t, u, int64(1), "spec", "revisionHistoryLimit") },
		},
		"one at a time": {
			kind: "Deployment",
			was: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, map[string]any{"maxSurge": int64(1), "maxUnavailable": int64(0)}, "spec", "strategy", "rollingUpdate")
			},
			want: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, map[string]any{"maxSurge": int64(1), "maxUnavailable": int64(0)}, "spec", "strategy", "rollingUpdate")
				image(u)
			},
			says: []string{"3 pods restart, one at a time" + because},
		},
		"some at a time": {
			kind: "Deployment", was: func(*testing.T, *unstructured.Unstructured) {},
			want: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, map[string]any{"maxSurge": "34%", "maxUnavailable": "10%"}, "spec", "strategy", "rollingUpdate")
				image(u)
			},
			says: []string{"3 pods restart, 2 at a time" + because},
		},
		"all at once": {
			kind: "Deployment", was: func(*testing.T, *unstructured.Unstructured) {},
			want: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, "Recreate", "spec", "strategy", "type")
				image(u)
			},
			says: []string{"3 pods restart, all at once" + because},
		},
		"in order": {
			kind: "StatefulSet", was: func(*testing.T, *unstructured.Unstructured) {}, want: func(_ *testing.T, u *unstructured.Unstructured) { image(u) },
			says: []string{"3 pods restart, one at a time" + because},
		},
		"on request": {
			kind: "StatefulSet", was: func(*testing.T, *unstructured.Unstructured) {},
			want: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, "OnDelete", "spec", "updateStrategy", "type")
				image(u)
			},
			says: []string{"3 pods go on as before until kolla rollout 'service.a/StatefulSet/api' replaces them" + because},
		},
		"as many as there are nodes": {
			kind: "DaemonSet", was: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, int64(7), "status", "desiredNumberScheduled")
			},
			want: func(_ *testing.T, u *unstructured.Unstructured) { image(u) },
			says: []string{"7 pods restart, one at a time" + because},
		},
		"only one": {
			kind: "Deployment", was: func(t *testing.T, u *unstructured.Unstructured) { put(t, u, int64(1), "spec", "replicas") },
			want: func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, int64(1), "spec", "replicas")
				image(u)
			},
			says: []string{"1 pod restarts" + because},
		},
		"more of them": {
			kind: "Deployment", was: func(t *testing.T, u *unstructured.Unstructured) { put(t, u, int64(1), "spec", "replicas") },
			says: []string{"2 pods added"},
		},
		"fewer of them, and those others": {
			kind: "StatefulSet", was: func(t *testing.T, u *unstructured.Unstructured) { put(t, u, int64(4), "spec", "replicas") },
			want: func(_ *testing.T, u *unstructured.Unstructured) { image(u) },
			says: []string{"3 pods restart, one at a time" + because, "1 pod removed"},
		},
		"what comes and what goes": {
			kind: "StatefulSet", was: func(_ *testing.T, u *unstructured.Unstructured) {
				container(u)["env"] = []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "OLD", "value": "1"}}
				container(u)["tty"] = true
			},
			want: func(_ *testing.T, u *unstructured.Unstructured) {
				container(u)["env"] = []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "NEW", "value": "2"}}
			},
			says: []string{`3 pods restart, one at a time: NEW in the environment added, OLD in the environment removed, containers["main"].tty removed`},
		},
		"environment, resources and the rest": {
			kind: "StatefulSet", was: func(*testing.T, *unstructured.Unstructured) {},
			want: func(t *testing.T, u *unstructured.Unstructured) {
				container(u)["env"] = []any{map[string]any{"name": "A", "value": "2"}}
				container(u)["resources"] = map[string]any{"limits": map[string]any{"cpu": "1"}}
				put(t, u, "true", "spec", "template", "spec", "nodeSelector", "disk")
				put(t, u, "x", "spec", "template", "metadata", "annotations", "kolla.openstack.org/secret-fernet")
			},
			says: []string{"3 pods restart, one at a time: values of secret fernet changed, A in the environment changed, resources changed and 1 more"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := workload(test.kind, "api")
			if test.want != nil {
				test.want(t, want)
			}
			w := &world{}
			if test.was != nil {
				was := workload(test.kind, "api")
				test.was(t, was)
				w.add("service.a/"+test.kind+"/api", was)
			}
			plan := mustPlan(t, w.input(declared("service.a/"+test.kind+"/api", want)))
			var expected []report.Impact
			if test.says != nil {
				expected = []report.Impact{{Block: "service.a", Lines: test.says}}
			}
			if diff := cmp.Diff(expected, report.ImpactOf(plan)); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

// nodeWith returns a node with labels and a taint, such as "dedicated:NoSchedule".
func nodeWith(t *testing.T, name, taint string, labels map[string]string) *unstructured.Unstructured {
	node := thing("v1", "Node", name)
	node.SetLabels(labels)
	if key, effect, ok := strings.Cut(taint, ":"); ok {
		put(t, node, []any{map[string]any{"key": key, "effect": effect}}, "spec", "taints")
	}
	return node
}

// TestPodsOfANewDaemonSet checks that a plan counts the nodes that a new DaemonSet selects. The
// status of a new DaemonSet counts no pods. It counts the nodes as they are after the apply.
func TestPodsOfANewDaemonSet(t *testing.T) {
	compute := map[string]string{"role": "compute"}
	only := func(key, operator string, values ...any) func(*testing.T, *unstructured.Unstructured) {
		return func(t *testing.T, u *unstructured.Unstructured) {
			requirement := map[string]any{"key": key, "operator": operator, "values": values}
			term := map[string]any{"matchExpressions": []any{requirement}}
			if key == "metadata.name" {
				term = map[string]any{"matchFields": []any{requirement}}
			}
			put(t, u, []any{term}, "spec", "template", "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		}
	}
	selector := func(t *testing.T, u *unstructured.Unstructured) {
		put(t, u, map[string]any{"role": "compute"}, "spec", "template", "spec", "nodeSelector")
	}
	tolerates := func(toleration map[string]any) func(*testing.T, *unstructured.Unstructured) {
		return func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, []any{toleration}, "spec", "template", "spec", "tolerations")
		}
	}
	plain := []*unstructured.Unstructured{nodeWith(t, "a", "", compute), nodeWith(t, "b", "", compute), nodeWith(t, "c", "", nil)}
	dedicated := []*unstructured.Unstructured{nodeWith(t, "a", "dedicated:NoSchedule", nil), nodeWith(t, "b", "dedicated:PreferNoSchedule", nil), nodeWith(t, "c", "", nil)}
	tests := map[string]struct {
		nodes    []*unstructured.Unstructured
		set      func(*testing.T, *unstructured.Unstructured)
		labelled []string // nodes that get the label in the same plan
		says     string
	}{
		"no node is known":   {nil, selector, nil, "will be deployed, one pod on each of its nodes"},
		"all nodes":          {plain, nil, nil, "3 pods will be deployed"},
		"labels":             {plain, selector, nil, "2 pods will be deployed"},
		"labels of the plan": {plain, selector, []string{"c"}, "3 pods will be deployed"},
		"no node fits":       {plain[2:], selector, nil, "will be deployed without pods: no node has the labels and taints that it asks for"},
		"affinity, in":       {plain, only("role", "In", "compute", "other"), nil, "2 pods will be deployed"},
		"affinity, not in":   {plain, only("role", "NotIn", "compute"), nil, "1 pod will be deployed"},
		"affinity, exists":   {plain, only("role", "Exists"), nil, "2 pods will be deployed"},
		"affinity, name":     {plain, only("metadata.name", "In", "b"), nil, "1 pod will be deployed"},
		"name of the node": {plain, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, "a", "spec", "template", "spec", "nodeName")
		}, nil, "1 pod will be deployed"},
		"taints":                 {dedicated, nil, nil, "2 pods will be deployed"},
		"tolerated taints":       {dedicated, tolerates(map[string]any{"key": "dedicated", "operator": "Exists"}), nil, "3 pods will be deployed"},
		"other tolerations":      {dedicated, tolerates(map[string]any{"key": "other", "operator": "Exists"}), nil, "2 pods will be deployed"},
		"a node out of service":  {[]*unstructured.Unstructured{nodeWith(t, "a", "node.kubernetes.io/unschedulable:NoSchedule", nil)}, nil, nil, "1 pod will be deployed"},
		"a node without network": {[]*unstructured.Unstructured{nodeWith(t, "a", "node.kubernetes.io/network-unavailable:NoSchedule", nil)}, nil, nil, "will be deployed without pods: no node has the labels and taints that it asks for"},
		"the network of the node": {
			[]*unstructured.Unstructured{nodeWith(t, "a", "node.kubernetes.io/network-unavailable:NoSchedule", nil)},
			func(t *testing.T, u *unstructured.Unstructured) {
				put(t, u, true, "spec", "template", "spec", "hostNetwork")
			},
			nil, "1 pod will be deployed",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			for _, node := range test.nodes {
				labels := node.GetLabels()
				node = live(node, types.UID(node.GetName()))
				node.SetLabels(labels)
				w.cluster.objects = append(w.cluster.objects, node)
			}
			w.cluster.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				if u.GetKind() == "DaemonSet" {
					put(t, u, int64(0), "status", "desiredNumberScheduled")
				}
				return u, nil
			}
			set := workload("DaemonSet", "agent")
			if test.set != nil {
				test.set(t, set)
			}
			objects := []providers.Object{declared("service.a/DaemonSet/agent", set)}
			for _, node := range test.labelled {
				o := declared("role.compute/Node/"+node, nodeWith(t, node, "", compute))
				o.Partial = true
				objects = append(objects, o)
			}
			in := w.input(objects...)
			if err := in.Snapshot.Load(t.Context(), providers.Scope{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Node"}}); err != nil {
				t.Fatal(err)
			}
			want := []report.Impact{{Block: "service.a", Lines: []string{test.says}}}
			if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, in))); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImpactOfASuspendedJob checks that a Job that starts no pods has no impact.
func TestImpactOfASuspendedJob(t *testing.T) {
	suspended, none := thing("batch/v1", "Job", "suspended"), thing("batch/v1", "Job", "none")
	put(t, suspended, true, "spec", "suspend")
	put(t, none, int64(0), "spec", "parallelism")
	w := &world{}
	plan := mustPlan(t, w.input(declared("service.a/Job/suspended", suspended), declared("service.a/Job/none", none), declared("service.a/Job/runs", thing("batch/v1", "Job", "runs"))))
	want := []report.Impact{{Block: "service.a", Lines: []string{"job runs runs"}}}
	if diff := cmp.Diff(want, report.ImpactOf(plan)); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

// TestImpactOfAWorkloadWithoutPods checks that the impact gives no number of pods for a workload
// that has none.
func TestImpactOfAWorkloadWithoutPods(t *testing.T) {
	w := &world{}
	none := workload("Deployment", "api")
	put(t, none, int64(0), "spec", "replicas")
	w.add("service.a/Deployment/api", none)
	want := []report.Impact{grave("service.a", "will be deleted; it has no pods")}
	if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, destroy(w, "*")))); diff != "" {
		t.Errorf("impact of a destroy (-want +got):\n%s", diff)
	}
	in := w.input(declared("service.a/Deployment/api", none))
	in.Replace = []string{"service.a/Deployment/api"}
	want = []report.Impact{grave("service.a", "is deleted and made again; it has no pods: as requested")}
	if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, in))); diff != "" {
		t.Errorf("impact of a replacement (-want +got):\n%s", diff)
	}
}

// TestImpactOfAConfigFile checks that the impact names the changed settings and their file.
func TestImpactOfAConfigFile(t *testing.T) {
	tests := map[string]struct{ before, after, says string }{
		"a setting": {
			"[token]\nexpiration = 3600\n", "[token]\nexpiration = 7200\n",
			"[token] expiration in keystone.conf changed",
		},
		"settings": {
			"[token]\nexpiration = 1\n[cache]\na = 1\nb = 1\n", "[token]\nexpiration = 2\n[cache]\na = 2\nc = 1\n",
			"[cache] a, [cache] b and 2 more in keystone.conf changed",
		},
		"a repeated key and a long value": {
			"[a]\nk = 1\nk = 2\nl = 1,\n  2\n", "[a]\nk = 1\nk = 3\nl = 1,\n  3\n",
			"[a] k, [a] l in keystone.conf changed",
		},
		"comments only": {"# one\n[a]\nk = 1\n", "; two\n\n[a]\nk=1\n", "keystone.conf changed"},
		"no settings":   {"a: 1\n", "a: 2\n", "keystone.conf changed"},
		"no section":    {"k = 1\n", "k = 2\n", "keystone.conf changed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := func(n int, text string) *unstructured.Unstructured {
				u := thing("v1", "ConfigMap", fmt.Sprintf("keystone.conf-%d", n))
				u.Object["data"] = map[string]any{"keystone.conf": text}
				return u
			}
			w := &world{}
			w.add("service.a/ConfigMap/keystone.conf-1", file(1, test.before)).Family = "service.a/ConfigMap/keystone.conf"
			w.add("service.a/StatefulSet/api", workload("StatefulSet", "api"), "service.a/ConfigMap/keystone.conf-1")
			fresh := declared("service.a/ConfigMap/keystone.conf-2", file(2, test.after))
			fresh.Family = address("service.a/ConfigMap/keystone.conf")
			changed := workload("StatefulSet", "api")
			put(t, changed, []any{map[string]any{"name": "conf", "configMap": map[string]any{"name": "keystone.conf-2"}}}, "spec", "template", "spec", "volumes")
			plan := mustPlan(t, w.input(fresh, declared("service.a/StatefulSet/api", changed, "service.a/ConfigMap/keystone.conf-2")))
			want := []report.Impact{{Block: "service.a", Lines: []string{"3 pods restart, one at a time: " + test.says}}}
			if diff := cmp.Diff(want, report.ImpactOf(plan)); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

// grave returns an impact in which every line is grave.
func grave(block string, lines ...string) report.Impact {
	return report.Impact{Block: block, Lines: lines, Grave: lines}
}

func TestImpactOfOtherActions(t *testing.T) {
	w := smallCloud()
	plan := mustPlan(t, destroy(w, "*"))
	want := []report.Impact{
		grave("service.keystone", "1 pod will be deleted"),
		grave("service.mariadb",
			"1 pod will be deleted",
			"PersistentVolumeClaim openstack/data-mariadb-0 is deleted, and the data on its volume with it",
			"Secret openstack/mariadb is deleted, and generated values with it",
		),
	}
	if diff := cmp.Diff(want, report.ImpactOf(plan)); diff != "" {
		t.Errorf("impact of a destroy (-want +got):\n%s", diff)
	}

	service := thing("v1", "Service", "a")
	service.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(1)}}}
	w = &world{}
	w.add("service.a/Service/a", service)
	failed := thing("batch/v1", "Job", "sync")
	condition("Failed")(failed)
	w.add("service.a/Job/sync", failed)
	other := service.DeepCopy()
	put(t, other, []any{map[string]any{"port": int64(2)}}, "spec", "ports")
	boot := declared("service.a/Job/boot-1", thing("batch/v1", "Job", "boot-1"))
	boot.Family = address("service.a/Job/boot")
	in := w.input(
		declared("service.a/Service/a", other),
		declared("service.a/Job/sync", thing("batch/v1", "Job", "sync")),
		boot,
		declared("service.b/Deployment/one", workload("Deployment", "one")),
		declared("service.b/Deployment/two", workload("Deployment", "two")),
	)
	want = []report.Impact{
		{Block: "service.a", Lines: []string{"job boot runs", "job sync runs again", "the ports of Service openstack/a change"}},
		{Block: "service.b", Lines: []string{"one: 3 pods will be deployed", "two: 3 pods will be deployed"}},
	}
	if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, in))); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

// TestImpactOfAnImage checks that the impact names the parts in which two images differ.
func TestImpactOfAnImage(t *testing.T) {
	tests := map[string]struct{ before, after, says string }{
		"tag":               {"quay.io/kolla/keystone:1", "quay.io/kolla/keystone:2", "keystone:1 → keystone:2"},
		"registry":          {"quay.io/kolla/keystone:1", "quay.io/evil/keystone:1", "quay.io/kolla/keystone → quay.io/evil/keystone"},
		"registry, digests": {"a:5000/k@sha256:ab", "b/k@sha256:ab", "a:5000/k → b/k"},
		"no version":        {"a/k", "b/k", "a/k → b/k"},
		"everything":        {"a/k:1", "b/k:2", "a/k:1 → b/k:2"},
		"no registry":       {"k:1", "quay.io/k:1", "k → quay.io/k"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			was, is := workload("StatefulSet", "api"), workload("StatefulSet", "api")
			container(was)["image"], container(is)["image"] = test.before, test.after
			w := &world{}
			w.add("service.a/StatefulSet/api", was)
			want := []report.Impact{{Block: "service.a", Lines: []string{"3 pods restart, one at a time: image " + test.says}}}
			if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, w.input(declared("service.a/StatefulSet/api", is))))); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImpactOfAReplacementOnRequest(t *testing.T) {
	w := &world{}
	w.add("service.a/Deployment/api", workload("Deployment", "api"))
	in := w.input(declared("service.a/Deployment/api", workload("Deployment", "api")))
	in.Replace = []string{"service.a/Deployment/api"}
	want := []report.Impact{grave("service.a", "3 pods stop at once, and new ones are made: as requested")}
	if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, in))); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

func TestImpactOfAReplacement(t *testing.T) {
	w := &world{}
	w.add("service.a/Deployment/api", workload("Deployment", "api"))
	changed := workload("Deployment", "api")
	put(t, changed, "x", "spec", "selector", "matchLabels", "app")
	w.cluster.answer = func(u *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
		if o.Surrogate {
			return u, nil
		}
		return nil, invalid("spec.selector", "field is immutable")
	}
	want := []report.Impact{grave("service.a",
		"3 pods stop at once, and new ones are made: spec.selector cannot be changed in place",
	)}
	if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, w.input(declared("service.a/Deployment/api", changed))))); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}

func TestImpactOfARequestedReplacement(t *testing.T) {
	going := databaseSet("goes", "1Gi")
	put(t, going, "Delete", "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	headless := thing("v1", "Service", "web")
	headless.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
	tests := map[string]struct {
		at     string
		object *unstructured.Unstructured
		says   []string
	}{
		"workload":          {"service.a/Deployment/api", workload("Deployment", "api"), []string{"3 pods stop at once, and new ones are made: as requested"}},
		"volumes that stay": {"service.a/StatefulSet/db", databaseSet("db", "1Gi"), []string{"2 pods stop at once, and new ones are made: as requested"}},
		"volumes that go": {"service.a/StatefulSet/goes", going, []string{
			"2 pods stop at once, and new ones are made: as requested",
			"the data on the volumes of its replicas, which are deleted with it, is lost",
		}},
		"claim": {"service.a/PersistentVolumeClaim/data", thing("v1", "PersistentVolumeClaim", "data"), []string{
			"PersistentVolumeClaim openstack/data is deleted and made again, and the data on its volume is lost",
		}},
		"service":   {"service.a/Service/web", headless, []string{"Service openstack/web is deleted and made again: nothing reaches it in between"}},
		"of no use": {"service.a/ConfigMap/a", thing("v1", "ConfigMap", "a"), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(test.at, test.object)
			in := w.input(declared(test.at, test.object))
			in.Replace, in.DeleteData = []string{test.at}, []string{"*"}
			var got []string
			for _, impact := range report.ImpactOf(mustPlan(t, in)) {
				got = append(got, impact.Lines...)
			}
			if diff := cmp.Diff(test.says, got); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImpactOnADatabase checks that the restart of a workload's only pod is grave if the workload
// holds data: there is downtime.
func TestImpactOnADatabase(t *testing.T) {
	tests := map[string]struct {
		kind     string
		replicas int64
		with     func(*testing.T, *unstructured.Unstructured)
		want     plans.Effect
		says     string
	}{
		"database": {"StatefulSet", 1, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, []any{map[string]any{"metadata": map[string]any{"name": "data"}}}, "spec", "volumeClaimTemplates")
		}, plans.Effect{Strategy: plans.Rolling, AtATime: 1, Downtime: true, Grave: true}, ", and nothing answers meanwhile"},
		"database of three": {"StatefulSet", 3, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, []any{map[string]any{"metadata": map[string]any{"name": "data"}}}, "spec", "volumeClaimTemplates")
		}, plans.Effect{Strategy: plans.Rolling, AtATime: 1}, ", one at a time"},
		"cache": {"StatefulSet", 1, nil, plans.Effect{Strategy: plans.Rolling, AtATime: 1, Downtime: true}, ", and nothing answers meanwhile"},
		"recreated": {"Deployment", 1, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, "Recreate", "spec", "strategy", "type")
		}, plans.Effect{Strategy: plans.AllAtOnce, AtATime: 1, Downtime: true, Grave: true}, ", and nothing answers meanwhile"},
		"with a claim": {"Deployment", 1, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data"}}}, "spec", "template", "spec", "volumes")
			put(t, u, map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)}, "spec", "strategy", "rollingUpdate")
		}, plans.Effect{Strategy: plans.Rolling, AtATime: 1, Downtime: true, Grave: true}, ", and nothing answers meanwhile"},
		"stateless": {"Deployment", 1, nil, plans.Effect{Strategy: plans.Rolling, AtATime: 1}, ""},
		"all at once": {"Deployment", 3, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, "Recreate", "spec", "strategy", "type")
		}, plans.Effect{Strategy: plans.AllAtOnce, AtATime: 3, Downtime: true}, ", all at once"},
		"on request": {"StatefulSet", 1, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, "OnDelete", "spec", "updateStrategy", "type")
		}, plans.Effect{Strategy: plans.OnRequest}, " as before until kolla rollout 'service.a/StatefulSet/api' replaces it"},
		"others need it": {"Deployment", 3, nil, plans.Effect{Strategy: plans.Rolling, AtATime: 1, Data: "servers lose their network"}, ", one at a time (meanwhile servers lose their network)"},
		"others need it, on request": {"StatefulSet", 3, func(t *testing.T, u *unstructured.Unstructured) {
			put(t, u, "OnDelete", "spec", "updateStrategy", "type")
		}, plans.Effect{Strategy: plans.OnRequest, Data: "servers lose their network"}, "3 pods go on as before until kolla rollout 'service.a/StatefulSet/api' replaces them (meanwhile servers lose their network)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			was := workload(test.kind, "api")
			put(t, was, test.replicas, "spec", "replicas")
			if test.with != nil {
				test.with(t, was)
			}
			is := was.DeepCopy()
			image(is)
			w := &world{}
			w.cluster.objects = append(w.cluster.objects, live(thing("v1", "PersistentVolumeClaim", "data"), "uid of the claim"))
			w.add("service.a/"+test.kind+"/api", was)
			o := declared("service.a/"+test.kind+"/api", of("a", is))
			o.Loss = test.want.Data
			plan := mustPlan(t, w.input(o))
			want := test.want
			want.Kind, want.Name, want.Ref, want.Pods = plans.EffectRestart, "api", providers.RefOf(is), int(test.replicas)
			want.Causes = []plans.Cause{{Kind: plans.CauseImage, Before: "quay.io/openstack.kolla/keystone:1", After: "quay.io/openstack.kolla/keystone:2"}}
			if diff := cmp.Diff([]plans.Impact{{Block: "service.a", Service: "a", Effects: []plans.Effect{want}}}, plan.Impact); diff != "" {
				t.Errorf("impact (-want +got):\n%s", diff)
			}
			said := report.ImpactOf(plan)[0]
			if !strings.Contains(said.Lines[0], test.says+": image") || test.want.Grave != (len(said.Grave) == 1) {
				t.Errorf("it says %q, %q of it grave", said.Lines, said.Grave)
			}
		})
	}
}
