package planner_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// TestPodsOnDownNodes checks that a plan names the pods of StatefulSets on nodes that are down, and the
// command by which they start elsewhere.
func TestPodsOnDownNodes(t *testing.T) {
	const at = "service.store/StatefulSet/db"
	condition := func(status string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status, "lastTransitionTime": then.Format("2006-01-02T15:04:05Z07:00")}}}
	}
	for name, test := range map[string]struct {
		status  string // of the node; empty: none
		taint   string
		of      types.UID // of the StatefulSet of the pod; empty: that of the service
		refresh bool
		hidden  string // a kind that cannot be listed
		denied  bool   // the user may not list pods
		want    bool
	}{
		"up":                    {status: "True"},
		"without a status":      {},
		"down":                  {status: "False", want: true},
		"silent":                {status: "Unknown", want: true},
		"silent, in a refresh":  {status: "Unknown", refresh: true, want: true},
		"out of service":        {status: "Unknown", taint: "node.kubernetes.io/out-of-service"},
		"down, and tainted":     {status: "Unknown", taint: "node.kubernetes.io/unreachable", want: true},
		"a pod of others":       {status: "Unknown", of: "theirs"},
		"pods that are hidden":  {status: "Unknown", hidden: "Pod"},
		"pods that are refused": {status: "Unknown", denied: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, databaseSet("db", "2Gi"))
			owner := w.last().GetUID()
			if test.of != "" {
				owner = test.of
			}
			node, pod := thing("v1", "Node", "ctl-1"), thing("v1", "Pod", "db-0")
			node.Object["spec"] = map[string]any{}
			if test.taint != "" {
				put(t, node, []any{map[string]any{"key": test.taint, "effect": "NoExecute"}}, "spec", "taints")
			}
			if test.status != "" {
				node.Object["status"] = condition(test.status)
			}
			put(t, pod, "ctl-1", "spec", "nodeName")
			isController := true
			pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: owner, Controller: &isController}})
			w.cluster.objects = append(w.cluster.objects, node, pod)
			w.cluster.hidden.Kind = test.hidden
			if test.denied {
				w.cluster.fail = map[string]error{"Pod": &providers.PermissionError{}}
			}
			in := w.input(declared(at, databaseSet("db", "2Gi")))
			in.RefreshOnly = test.refresh
			if err := in.Snapshot.Load(t.Context(), providers.Scope{GVK: node.GroupVersionKind()}); err != nil {
				t.Fatal(err)
			}
			found := warningsOf(t, in, "Pods wait for a node that is down")
			switch {
			case !test.want && len(found) == 0:
			case !test.want, len(found) != 1,
				!strings.Contains(found[0].Detail, "  ctl-1 (since 2026-11-21 02:11 UTC): db-0\n"),
				!strings.Contains(found[0].Detail, "\n  kubectl taint node ctl-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute\n"):
				t.Errorf("warnings are %+v, want one: %t", found, test.want)
			}
		})
	}
}

// TestMissingClaims checks that a plan warns of pods that mount a claim which does not exist.
func TestMissingClaims(t *testing.T) {
	const at = "service.web/Deployment/web"
	for name, test := range map[string]struct {
		alter func(w *world, in *planner.Input)
		want  bool
	}{
		"missing": {want: true},
		"there": {alter: func(w *world, _ *planner.Input) {
			w.cluster.objects = append(w.cluster.objects, live(thing("v1", "PersistentVolumeClaim", "images"), "x"))
		}},
		"declared": {alter: func(_ *world, in *planner.Input) {
			in.Objects = append(in.Objects, declared("manifest.c/PersistentVolumeClaim/images", thing("v1", "PersistentVolumeClaim", "images")))
		}},
		"hidden":           {alter: func(w *world, _ *planner.Input) { w.cluster.hidden.Kind = "PersistentVolumeClaim" }},
		"not known before": {alter: func(_ *world, in *planner.Input) { in.Objects[0].Deferred = []string{"data.x"} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			u := thing("apps/v1", "Deployment", "web")
			put(t, u, []any{map[string]any{"name": "v", "persistentVolumeClaim": map[string]any{"claimName": "images"}}}, "spec", "template", "spec", "volumes")
			in := w.input(declared(at, u))
			if test.alter != nil {
				test.alter(w, &in)
			}
			found := warningsOf(t, in, "The claim images of Deployment openstack/web does not exist")
			if (len(found) == 1) != test.want {
				t.Errorf("warnings are %+v, want one: %t", found, test.want)
			}
		})
	}
}
