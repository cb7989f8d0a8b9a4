package planner_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// enforcing returns a namespace with a Pod Security level.
func enforcing(labels map[string]string) *unstructured.Unstructured {
	u := namespaceOf("openstack")
	u.SetUID("")
	u.SetLabels(labels)
	return u
}

func TestPodSecurity(t *testing.T) {
	const enforce, version = "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version"
	cron := thing("batch/v1", "CronJob", "api")
	put(t, cron, map[string]any{"spec": map[string]any{"hostNetwork": true}}, "spec", "jobTemplate", "spec", "template")
	bare := thing("v1", "Pod", "api")
	put(t, bare, true, "spec", "hostPID")
	tests := map[string]struct {
		was    map[string]string // labels of the namespace in the cluster; nil: it is new
		labels map[string]string // labels of the declared namespace
		pods   *unstructured.Unstructured
		says   []string // summary, and parts of the detail; nil: nothing
	}{
		"new namespace": {
			labels: map[string]string{enforce: "restricted"}, pods: workload("Deployment", "api"),
			says: []string{
				`the pods of Deployment openstack/api will be refused: the namespace enforces "restricted"`,
				"capabilities", "another pod_security in the cloud block (cloud.hcl:41)",
			},
		},
		"another level": {
			was: map[string]string{enforce: "privileged"}, labels: map[string]string{enforce: "baseline"}, pods: cron,
			says: []string{`the pods of CronJob openstack/api will be refused: the namespace enforces "baseline"`, "host namespaces (hostNetwork=true)"},
		},
		"a pod of its own": {
			labels: map[string]string{enforce: "baseline"}, pods: bare,
			says: []string{`the pods of Pod openstack/api will be refused: the namespace enforces "baseline"`, "host namespaces (hostPID=true)"},
		},
		"the same level": {was: map[string]string{enforce: "restricted"}, labels: map[string]string{enforce: "restricted"}, pods: workload("Deployment", "api")},
		"pods that pass": {labels: map[string]string{enforce: "baseline"}, pods: workload("Deployment", "api")},
		"no level":       {labels: map[string]string{}, pods: bare},
		"no pods":        {labels: map[string]string{enforce: "restricted"}, pods: thing("v1", "ConfigMap", "a")},
		"a version that asked for less": {
			labels: map[string]string{enforce: "restricted", version: "v1.0"}, pods: func() *unstructured.Unstructured {
				u := workload("Deployment", "api")
				put(t, u, map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}}, "spec", "template", "spec", "securityContext")
				return u
			}(),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := &cluster{}
			in := input(c,
				declared("cloud.prod/Namespace/openstack", enforcing(test.labels)),
				declared("manifest.a/"+test.pods.GetKind()+"/"+test.pods.GetName(), test.pods))
			c.objects = nil
			if test.was != nil {
				c.objects = []*unstructured.Unstructured{live(enforcing(nil), "openstack")}
				c.objects[0].SetLabels(map[string]string{providers.LabelCloud: "prod", enforce: test.was[enforce]})
				in.State.Objects = []state.Object{recorded("cloud.prod/Namespace/openstack", c.objects[0])}
			}
			_, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != min(len(test.says), 1) {
				t.Fatalf("problems are %+v", problems)
			}
			if test.says == nil {
				return
			}
			p := problems[0]
			if p.Summary != test.says[0] || !p.Warning || p.Source != "cloud.hcl:41" {
				t.Errorf("the problem is %+v", p)
			}
			for _, part := range test.says[1:] {
				if !strings.Contains(p.Detail, part) {
					t.Errorf("%q is not in %q", part, p.Detail)
				}
			}
		})
	}
}
