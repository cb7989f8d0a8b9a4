package planner_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// TestClosedNodes checks that a plan says which nodes others closed, who did so, and for which pods.
func TestClosedNodes(t *testing.T) {
	const at = "service.web/Deployment/web"
	role := map[string]any{"role": "true"}
	taint := func(key, effect string) []any {
		return []any{map[string]any{"key": key, "value": "x", "effect": effect}}
	}
	for name, test := range map[string]struct {
		kind       string
		spec       map[string]any // of the node
		ours       string         // taints that kolla put there
		tolerates  map[string]any
		selector   map[string]any
		want, also string // empty: no warning
	}{
		"open":                {},
		"cordoned":            {spec: map[string]any{"unschedulable": true}, want: "node-1 is cordoned (by kubectl-cordon, 2026-11-21 02:11 UTC): no new pods of " + at, also: "kubectl uncordon node-1"},
		"cordoned, DaemonSet": {kind: "DaemonSet", spec: map[string]any{"unschedulable": true}},
		"another role":        {spec: map[string]any{"unschedulable": true}, selector: map[string]any{"other": "true"}},
		"any node":            {spec: map[string]any{"unschedulable": true}, selector: map[string]any{}},
		"tainted":             {spec: map[string]any{"taints": taint("gpu", "NoSchedule")}, want: "node-1 has the taint gpu=x:NoSchedule: no new pods"},
		"tainted, DaemonSet":  {kind: "DaemonSet", spec: map[string]any{"taints": taint("gpu", "NoExecute")}, want: "gpu=x:NoExecute", also: "Pods that run there stay, but a taint with NoExecute makes the cluster delete them."},
		"out of service":      {spec: map[string]any{"taints": taint("node.kubernetes.io/out-of-service", "NoExecute")}, want: "node.kubernetes.io/out-of-service=x:NoExecute"},
		"tainted by us":       {spec: map[string]any{"taints": taint("gpu", "NoSchedule")}, ours: "gpu=x:NoSchedule"},
		"preferred elsewhere": {spec: map[string]any{"taints": taint("gpu", "PreferNoSchedule")}},
		"not ready":           {spec: map[string]any{"taints": taint("node.kubernetes.io/not-ready", "NoExecute")}},
		"tolerated":           {spec: map[string]any{"taints": taint("gpu", "NoSchedule")}, tolerates: map[string]any{"key": "gpu", "operator": "Exists"}},
		"another is tolerated": {
			spec: map[string]any{"taints": taint("gpu", "NoSchedule")}, tolerates: map[string]any{"key": "gpu", "value": "y"}, want: "gpu=x:NoSchedule",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			kind := "Deployment"
			if test.kind != "" {
				kind = test.kind
			}
			u := thing("apps/v1", kind, "web")
			selector := test.selector
			if selector == nil {
				selector = role
			}
			put(t, u, selector, "spec", "template", "spec", "nodeSelector")
			if test.tolerates != nil {
				put(t, u, []any{test.tolerates}, "spec", "template", "spec", "tolerations")
			}
			in := w.input(declared("service.web/"+kind+"/web", u))
			node := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node", "spec": test.spec}}
			if test.spec == nil {
				node.Object["spec"] = map[string]any{}
			}
			node.SetName("node-1")
			node.SetLabels(map[string]string{"role": "true"})
			if test.ours != "" {
				node.SetAnnotations(map[string]string{providers.AnnotationTaints("prod"): test.ours})
			}
			owns(node, "kubectl-cordon", metav1.ManagedFieldsOperationUpdate, then, `{"f:spec":{"f:unschedulable":{}}}`)
			w.cluster.objects = append(w.cluster.objects, node)
			if err := in.Snapshot.Load(t.Context(), providers.Scope{GVK: node.GroupVersionKind()}); err != nil {
				t.Fatal(err)
			}
			found := warningsOf(t, in, "no new pods start")
			switch {
			case test.want == "" && len(found) == 0:
			case test.want == "", len(found) != 1, !strings.Contains(found[0].Detail, test.want), !strings.Contains(found[0].Detail, test.also), found[0].Summary != "Others let no new pods start on 1 node":
				t.Errorf("warnings %+v, want %q", found, test.want)
			}
		})
	}
}
