package order_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/providers"
)

// objects reads the documents of a YAML text. Objects that have namespaces are in
// "test", unless they say otherwise. "depends-on", an annotation, names the dependencies
// that are declared, such as "ConfigMap/c".
func objects(t *testing.T, text string) []providers.Object {
	t.Helper()
	var out []providers.Object
	for _, document := range strings.Split(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		text, err := yaml.YAMLToJSON([]byte(document))
		if err == nil {
			err = u.UnmarshalJSON(text)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		clusterWide := slices.Contains([]string{"Namespace", "ClusterRole", "ClusterRoleBinding", "StorageClass", "PriorityClass", "CustomResourceDefinition", "APIService", "ValidatingWebhookConfiguration", "PersistentVolume"}, u.GetKind())
		if !clusterWide && u.GetNamespace() == "" {
			u.SetNamespace("test")
		}
		o := providers.Object{Address: addrs.Object{Block: "manifest.m", Kind: u.GetKind(), Name: u.GetName()}, Manifest: u}
		for _, on := range strings.Fields(u.GetAnnotations()["depends-on"]) {
			kind, name, _ := strings.Cut(on, "/")
			o.DependsOn = append(o.DependsOn, addrs.Object{Block: "manifest.m", Kind: kind, Name: name})
		}
		out = append(out, o)
	}
	return out
}

// edges writes edges as lines, "Job/sync: ConfigMap/bin ServiceAccount/sync", in order.
func edges(all map[addrs.Object][]addrs.Object) []string {
	var lines []string
	for from, list := range all {
		line := fmt.Sprintf("%s/%s:", from.Kind, from.Name)
		for _, on := range list {
			line += fmt.Sprintf(" %s/%s", on.Kind, on.Name)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec: {group: example.org, names: {kind: Widget, plural: widgets}}`

const operator = `
apiVersion: v1
kind: Service
metadata: {name: hook}
spec: {selector: {app: operator}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator}
spec: {template: {metadata: {labels: {app: operator, tier: a}}, spec: {containers: []}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other}
spec: {template: {metadata: {labels: {app: other}}, spec: {containers: []}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: check}
webhooks:
- clientConfig: {service: {namespace: test, name: hook}}
  rules: [{apiGroups: [example.org], apiVersions: [v1], resources: [widgets]}]`

func TestEdges(t *testing.T) {
	tests := map[string]struct {
		objects string
		want    []string
	}{
		"nothing": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", nil},
		"all that a pod names": {
			`
apiVersion: batch/v1
kind: Job
metadata: {name: sync}
spec:
  template:
    spec:
      serviceAccountName: sync
      priorityClassName: high
      imagePullSecrets: [{name: pull}]
      initContainers:
      - {name: a, env: [{name: A, valueFrom: {configMapKeyRef: {name: env, key: a}}}, {name: B, valueFrom: {secretKeyRef: {name: env, key: a}}}]}
      containers:
      - {name: b, envFrom: [{configMapRef: {name: envs}}, {secretRef: {name: envs}}]}
      volumes:
      - {name: a, configMap: {name: bin}}
      - {name: b, secret: {secretName: etc}}
      - {name: c, persistentVolumeClaim: {claimName: data}}
      - {name: d, projected: {sources: [{configMap: {name: part}}, {secret: {name: part}}]}}
      - {name: e, configMap: {name: elsewhere}}
` + all(`ServiceAccount sync/PriorityClass high/Secret pull/ConfigMap env/Secret env/ConfigMap envs/Secret envs/ConfigMap bin/Secret etc/PersistentVolumeClaim data/ConfigMap part/Secret part/ConfigMap unused`),
			[]string{"Job/sync: ConfigMap/bin ConfigMap/env ConfigMap/envs ConfigMap/part PersistentVolumeClaim/data PriorityClass/high Secret/env Secret/envs Secret/etc Secret/part Secret/pull ServiceAccount/sync"},
		},
		"in each kind that makes pods": {
			`
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: a}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: p}, spec: {template: {spec: {serviceAccountName: a}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: p}, spec: {serviceName: db, template: {spec: {serviceAccountName: a}}, volumeClaimTemplates: [{spec: {storageClassName: fast}}]}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: p}, spec: {template: {spec: {serviceAccountName: a}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: p}, spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: a}}}}}}
` + all("ServiceAccount a/Service db/StorageClass fast"),
			[]string{
				"CronJob/p: ServiceAccount/a", "DaemonSet/p: ServiceAccount/a", "Deployment/p: ServiceAccount/a",
				"Pod/p: ServiceAccount/a", "StatefulSet/p: Service/db ServiceAccount/a StorageClass/fast",
			},
		},
		"claims that a StatefulSet would make": {
			`
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, template: {spec: {}}, volumeClaimTemplates: [{metadata: {name: data}}]}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: one}, spec: {template: {spec: {}}, volumeClaimTemplates: [{metadata: {name: data}}]}}
` + all("PersistentVolumeClaim data-db-0/PersistentVolumeClaim data-db-1/PersistentVolumeClaim data-db-2/PersistentVolumeClaim data-one-0/PersistentVolumeClaim data-one-1"),
			[]string{"StatefulSet/db: PersistentVolumeClaim/data-db-0 PersistentVolumeClaim/data-db-1", "StatefulSet/one: PersistentVolumeClaim/data-one-0"},
		},
		"not in another namespace": {`
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: other}, spec: {serviceAccountName: a}}
` + all("ServiceAccount a"), nil},
		"namespace": {`
{apiVersion: v1, kind: Namespace, metadata: {name: test}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, []string{"ConfigMap/a: Namespace/test"}},
		"what is declared is not repeated": {`
{apiVersion: v1, kind: Namespace, metadata: {name: test}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {depends-on: Namespace/test}}}`, nil},
		"roles, claims and tokens": {
			`
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a}, roleRef: {kind: Role, name: r}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: c}, roleRef: {kind: ClusterRole, name: r}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}, spec: {storageClassName: fast, volumeName: v}}
---
{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: e, annotations: {kubernetes.io/service-account.name: a}}}
` + all("Role r/ClusterRole r/StorageClass fast/PersistentVolume v/ServiceAccount a"),
			[]string{
				"ClusterRoleBinding/c: ClusterRole/r", "PersistentVolumeClaim/d: PersistentVolume/v StorageClass/fast",
				"RoleBinding/a: Role/r", "RoleBinding/b: ClusterRole/r", "Secret/e: ServiceAccount/a",
			},
		},
		"a custom kind": {definition + `
---
{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}}`, []string{"Widget/w: CustomResourceDefinition/widgets.example.org"}},
		// The webhook needs its Service, and does not wait for pods; the object that it
		// is asked about does.
		"a webhook": {definition + "\n---" + operator + `
---
{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}}
---
{apiVersion: other.org/v1, kind: Widget, metadata: {name: v}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, []string{
			"ValidatingWebhookConfiguration/check: Service/hook",
			"Widget/w: Deployment/operator CustomResourceDefinition/widgets.example.org",
		}},
		"a webhook that converts": {strings.Replace(definition, "names:", "conversion: {webhook: {clientConfig: {service: {namespace: test, name: hook}}}}, names:", 1) + "\n---" + operator[:strings.LastIndex(operator, "\n---")] + `
---
{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}}`, []string{
			"CustomResourceDefinition/widgets.example.org: Service/hook",
			"Widget/w: CustomResourceDefinition/widgets.example.org Deployment/operator",
		}},
		"a group of another API server": {operator + `
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.example.org}, spec: {group: example.org, service: {namespace: test, name: hook}}}
---
{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}}`, []string{
			"APIService/v1.example.org: Deployment/operator Service/hook",
			"ValidatingWebhookConfiguration/check: Service/hook",
			"Widget/w: APIService/v1.example.org Deployment/operator",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := objects(t, test.objects)
			for range 3 {
				got := order.Edges(in)
				var want []string
				for _, line := range test.want {
					from, list, _ := strings.Cut(line, ": ")
					on := strings.Fields(list)
					slices.Sort(on)
					want = append(want, from+": "+strings.Join(on, " "))
				}
				if diff := cmp.Diff(want, edges(got)); diff != "" {
					t.Fatalf("edges (-want +got):\n%s", diff)
				}
				slices.Reverse(in) // nothing is up to the order of the input
			}
		})
	}
}

// all is bare objects, "Kind name/Kind name", as further documents.
func all(text string) string {
	versions := map[string]string{"PriorityClass": "scheduling.k8s.io/v1", "StorageClass": "storage.k8s.io/v1", "Role": "rbac.authorization.k8s.io/v1", "ClusterRole": "rbac.authorization.k8s.io/v1"}
	out := ""
	for _, one := range strings.Split(text, "/") {
		kind, name, _ := strings.Cut(one, " ")
		version := "v1"
		if v, ok := versions[kind]; ok {
			version = v
		}
		out += fmt.Sprintf("\n---\n{apiVersion: %s, kind: %s, metadata: {name: %s}}", version, kind, name)
	}
	return out
}

// TestEdgesCloseNoCycle checks that what is read from objects never makes a plan
// impossible: the weakest edge of a cycle is left out, and no more.
func TestEdgesCloseNoCycle(t *testing.T) {
	tests := map[string]struct {
		objects string
		want    []string
	}{
		// The account is declared to come after the pod that names it.
		"against what is declared": {`
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: a, volumes: [{name: c, configMap: {name: c}}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, annotations: {depends-on: Pod/p}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`, []string{"Pod/p: ConfigMap/c"}},
		// The operator names a custom resource's secret, which a webhook of its own guards.
		"the guard goes before the rest": {definition + "\n---" + operator + `
---
{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, annotations: {depends-on: ConfigMap/c}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {depends-on: ServiceAccount/a}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: needs, annotations: {depends-on: Widget/w}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: behind}, spec: {template: {metadata: {labels: {app: operator}}, spec: {serviceAccountName: a, volumes: [{name: n, configMap: {name: needs}}]}}}}`, []string{
			"DaemonSet/behind: ConfigMap/needs ServiceAccount/a",
			"ValidatingWebhookConfiguration/check: Service/hook",
			"Widget/w: CustomResourceDefinition/widgets.example.org Deployment/operator",
		}},
		"a namespace that comes late": {`
{apiVersion: v1, kind: Namespace, metadata: {name: test, annotations: {depends-on: ConfigMap/a}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}`, []string{"ConfigMap/b: Namespace/test"}},
		"what is declared to be a cycle stays": {`
{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {depends-on: Pod/q}}, spec: {serviceAccountName: a}}
---
{apiVersion: v1, kind: Pod, metadata: {name: q, annotations: {depends-on: Pod/p}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}`, []string{"Pod/p: ServiceAccount/a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, edges(order.Edges(objects(t, test.objects)))); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStage(t *testing.T) {
	stages := [][]schema.GroupKind{
		{{Kind: "Namespace"}},
		{{Kind: "ResourceQuota"}},
		{
			{Kind: "ServiceAccount"},
			{Kind: "Secret"},
			{Kind: "ConfigMap"},
			{Group: "storage.k8s.io", Kind: "StorageClass"},
			{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
			{Group: "rbac.authorization.k8s.io", Kind: "Role"},
			{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"},
			{Kind: "Service"},
		},
		{{Group: "batch", Kind: "Job"}},
		{{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}},
		{{Group: "example.org", Kind: "Widget"}},
	}
	for want, kinds := range stages {
		for _, kind := range kinds {
			if got := order.Stage(kind); got != want {
				t.Errorf("%s is in stage %d, want %d", kind, got, want)
			}
		}
	}
}
