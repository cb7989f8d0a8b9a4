package rights_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// of parses objects from YAML.
func of(t *testing.T, documents ...string) []providers.Object {
	t.Helper()
	var objects []providers.Object
	for _, text := range documents {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, providers.Object{Manifest: u})
	}
	return objects
}

// texts formats the rules, one per line: "ns: group/resource[names]: verbs".
func texts(roles []rights.Role) string {
	var b strings.Builder
	for _, role := range roles {
		for _, rule := range role.Rules {
			where := strings.Join(rule.Groups, ",") + "/" + strings.Join(rule.Resources, ",")
			if rule.Names != nil {
				where += "[" + strings.Join(rule.Names, ",") + "]"
			}
			fmt.Fprintf(&b, "%s: %s%s: %s\n", role.Namespace, where, strings.Join(rule.URLs, ","), strings.Join(rule.Verbs, ","))
		}
	}
	return b.String()
}

func resource(kind schema.GroupVersionKind) string {
	if name, ok := kubernetes.BuiltinResource(kind); ok {
		return name
	}
	return kubernetes.GuessedResource(kind)
}

// always lists the rules that every plan needs.
const always = `: /namespaces[kube-system]: get
: /namespaces: list
: admissionregistration.k8s.io/mutatingadmissionpolicies,mutatingadmissionpolicybindings,mutatingwebhookconfigurations: list
`

// lookedFor returns the rules for the kinds that a destroy lists in its own namespaces, except
// ConfigMaps.
func lookedFor() []string {
	groups := map[string][]string{}
	for _, kind := range kinds.Swept() {
		if name := resource(kind); name != "configmaps" {
			groups[kind.Group] = append(groups[kind.Group], name)
		}
	}
	var rules []string
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[group])
		rules = append(rules, fmt.Sprintf("other: %s/%s: list\n", group, strings.Join(groups[group], ",")))
	}
	return rules
}

// TestOf checks that a configuration gets exactly these rules, in the namespace "other",
// where a destroy looks for no more than volumes.
func TestOf(t *testing.T) {
	looked := strings.Join(lookedFor(), "")
	const volumes = "other: /persistentvolumeclaims: list\nother: apps/statefulsets: list\n"
	for name, test := range map[string]struct {
		objects []string
		known   []state.Object
		roles   []configs.Role
		reads   []rights.Read
		full    string
		plan    string
	}{
		"a ConfigMap": {
			objects: []string{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}`},
			full:    "other: /configmaps: get,list,watch,create,patch,delete\n" + volumes,
			plan:    "other: /configmaps: get,list\n" + volumes,
		},
		"what only the state knows": {
			known: []state.Object{{APIVersion: "v1", Kind: "Service", Namespace: "other", Name: "s"}, {APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass", Name: "p"}},
			full: ": scheduling.k8s.io/priorityclasses: list\n: scheduling.k8s.io/priorityclasses[p]: get,watch,patch,delete\n" +
				"other: /services: get,list,watch,patch,delete\n" + volumes,
			plan: ": scheduling.k8s.io/priorityclasses: list\n: scheduling.k8s.io/priorityclasses[p]: get\nother: /services: get,list\n" + volumes,
		},
		"a custom resource": {
			objects: []string{`{apiVersion: example.org/v1, kind: Thing, metadata: {name: a, namespace: other}}`},
			full:    ": apiextensions.k8s.io/customresourcedefinitions: list\nother: example.org/things: get,list,watch,create,patch,delete\n" + volumes,
			plan:    ": apiextensions.k8s.io/customresourcedefinitions: list\nother: example.org/things: get,list\n" + volumes,
		},
		"a custom resource and its definition": {
			objects: []string{
				`{apiVersion: example.org/v1, kind: Thing, metadata: {name: a, namespace: other}}`,
				`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.org}}`,
			},
			full: ": apiextensions.k8s.io/customresourcedefinitions: list\n: apiextensions.k8s.io/customresourcedefinitions[things.example.org]: get,watch,create,patch,delete\n" +
				"other: example.org/things: get,list,watch,create,patch,delete\n" + volumes,
			plan: ": apiextensions.k8s.io/customresourcedefinitions: list\n: apiextensions.k8s.io/customresourcedefinitions[things.example.org]: get\n" +
				"other: example.org/things: get,list\n" + volumes,
		},
		"a name that is known later": {
			objects: []string{`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "p-(known-after-apply)"}}`},
			full:    ": scheduling.k8s.io/priorityclasses: list\n: scheduling.k8s.io/priorityclasses: get,watch,create,patch,delete\n",
			plan:    ": scheduling.k8s.io/priorityclasses: list\n: scheduling.k8s.io/priorityclasses: get\n",
		},
		"nodes by name": {
			objects: []string{`{apiVersion: v1, kind: Node, metadata: {name: n-1}}`},
			roles:   []configs.Role{{Nodes: []string{"n-1"}}},
			full:    ": /nodes: list,watch\n: /nodes[n-1]: get,patch\n",
			plan:    ": /nodes: list\n: /nodes[n-1]: get\n",
		},
		"nodes by labels, in a role of roles": {
			roles: []configs.Role{{Roles: []configs.Role{{Match: map[string]string{"a": "b"}}}}},
			full:  ": /nodes: list,watch\n: /nodes: get,patch\n",
			plan:  ": /nodes: list\n: /nodes: get\n",
		},
		"Secrets of others": {
			reads: []rights.Read{{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "other"}},
			full:  "other: /secrets: list\n",
			plan:  "other: /secrets: list\n",
		},
		"roles that give rights": {
			objects: []string{
				`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: c}, rules: [{nonResourceURLs: [/metrics], verbs: [get]}]}`,
				`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, aggregationRule: {}}`,
				`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: other}, roleRef: {kind: ClusterRole, name: view}}`,
			},
			full: ": rbac.authorization.k8s.io/clusterroles: list\n: rbac.authorization.k8s.io/clusterroles[all,c]: get,watch,create,patch,delete\n" +
				": //metrics: get\n: rbac.authorization.k8s.io/clusterroles[all]: escalate\n" +
				"other: rbac.authorization.k8s.io/rolebindings: get,list,watch,create,patch,delete\n" + volumes +
				"other: rbac.authorization.k8s.io/clusterroles[view]: bind\n",
			plan: ": rbac.authorization.k8s.io/clusterroles: list\n: rbac.authorization.k8s.io/clusterroles[all,c]: get\n" +
				"other: rbac.authorization.k8s.io/rolebindings: get,list\n" + volumes,
		},
		"what Services and claims ask for": {
			objects: []string{
				`{apiVersion: v1, kind: Service, metadata: {name: s, namespace: other}, spec: {clusterIP: 10.0.0.9}}`,
				`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: other}, spec: {storageClassName: fast}}`,
			},
			full: ": storage.k8s.io/storageclasses[fast]: get\n: /services[kubernetes]: get\n: /services: list\n" +
				"other: /persistentvolumeclaims,services: get,list,watch,create,patch,delete\nother: discovery.k8s.io/endpointslices: list\nother: /events: list,watch\nother: /pods: list\nother: apps/statefulsets: list\n",
			plan: ": /services[kubernetes]: get\n: /services: list\nother: /persistentvolumeclaims,services: get,list\nother: discovery.k8s.io/endpointslices: list\nother: apps/statefulsets: list\n",
		},
		"pods that are asked and replaced": {
			objects: []string{`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: other, annotations: {kolla.openstack.org/carries: "{}"}}, spec: {updateStrategy: {type: OnDelete}}}`},
			full: ": /nodes: list,watch\nother: apps/daemonsets: get,list,watch,create,patch,delete\nother: /events,pods: list,watch\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\n" +
				"other: /pods: get,delete\nother: /pods/exec: get,create\nother: apps/controllerrevisions: list,watch\n" + volumes,
			plan: ": /nodes: list\nother: apps/daemonsets: get,list\nother: /events,pods: list\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\nother: apps/controllerrevisions: list\n" + volumes,
		},
		"data that are saved": {
			objects: []string{`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: d, namespace: other, annotations: {kolla.openstack.org/backup: "{}"}}}`},
			full: ": /nodes: list,watch\nother: apps/statefulsets: get,list,watch,create,patch,delete\nother: autoscaling/horizontalpodautoscalers: list\nother: /events,pods: list,watch\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\n" +
				"other: /pods: get,create,patch,delete\nother: /pods/exec: get,create\nother: /persistentvolumeclaims: list\n",
			plan: ": /nodes: list\nother: apps/statefulsets: get,list\nother: autoscaling/horizontalpodautoscalers: list\nother: /events,pods: list\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\nother: /persistentvolumeclaims: list\n",
		},
		"pods that mount a claim of somebody else": {
			objects: []string{`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: other}, spec: {template: {spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: theirs}}]}}}}`},
			full: ": /nodes: list,watch\nother: apps/deployments: get,list,watch,create,patch,delete\nother: autoscaling/horizontalpodautoscalers: list\nother: /events,pods: list,watch\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\n" +
				"other: /persistentvolumeclaims: get,list,watch\nother: apps/statefulsets: list\n",
			plan: ": /nodes: list\nother: apps/deployments: get,list\nother: autoscaling/horizontalpodautoscalers: list\nother: /events,pods: list\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\n" + volumes,
		},
		"a namespace with a Role, and one without": {
			objects: []string{
				`{apiVersion: v1, kind: Namespace, metadata: {name: other}}`,
				`{apiVersion: v1, kind: Namespace, metadata: {name: empty}}`,
				`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}`,
			},
			full: ": /namespaces[other]: get,watch,patch\n: /namespaces[empty]: get,watch,create,patch,delete\n" +
				"other: /configmaps: get,list,watch,create,patch,delete\n" + looked,
			plan: ": /namespaces[other]: get\n: /namespaces[empty]: get\nother: /configmaps: get,list\n" + looked,
		},
		"a DaemonSet that leaves": {
			known: []state.Object{{APIVersion: "apps/v1", Kind: "DaemonSet", Namespace: "other", Name: "d"}},
			full: ": /nodes: list,watch\nother: apps/daemonsets: get,list,watch,patch,delete\nother: /events,pods: list,watch\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\n" +
				"other: /pods/exec: get,create\nother: apps/controllerrevisions: list,watch\n" + volumes,
			plan: ": /nodes: list\nother: apps/daemonsets: get,list\nother: /events,pods: list\nother: /pods/log: get\nother: metrics.k8s.io/pods: list\nother: apps/controllerrevisions: list\n" + volumes,
		},
		"what the server wants to see in the hands of those who write it": {
			objects: []string{
				`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}}`,
				`{apiVersion: certificates.k8s.io/v1beta1, kind: ClusterTrustBundle, metadata: {name: "example.org:ca:one"}, spec: {signerName: example.org/ca}}`,
				`{apiVersion: certificates.k8s.io/v1beta1, kind: ClusterTrustBundle, metadata: {name: free}}`,
			},
			full: ": admissionregistration.k8s.io/validatingadmissionpolicies: list\n: admissionregistration.k8s.io/validatingadmissionpolicies[p]: get,watch,create,patch,delete\n" +
				": certificates.k8s.io/clustertrustbundles: list\n: certificates.k8s.io/clustertrustbundles[example.org:ca:one,free]: get,watch,create,patch,delete\n" +
				": /configmaps: get,list\n: certificates.k8s.io/signers[example.org/ca]: attest\n",
			plan: ": admissionregistration.k8s.io/validatingadmissionpolicies: list\n: admissionregistration.k8s.io/validatingadmissionpolicies[p]: get\n" +
				": certificates.k8s.io/clustertrustbundles: list\n: certificates.k8s.io/clustertrustbundles[example.org:ca:one,free]: get\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := rights.Input{Cloud: "x", Namespace: "", Objects: of(t, test.objects...), Known: test.known, Roles: test.roles, Reads: test.reads, Resource: resource}
			if diff := cmp.Diff(always+test.full, texts(rights.Of(in))); diff != "" {
				t.Errorf("full (-want +got):\n%s", diff)
			}
			in.ReadOnly = true
			if diff := cmp.Diff(always+test.plan, texts(rights.Of(in))); diff != "" {
				t.Errorf("read-only (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRegistrations checks that plans may ask Keystone, and no other Service, in its namespace, and the pods
// of MariaDB, and no others.
func TestRegistrations(t *testing.T) {
	objects := of(t,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: other}}`,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: b, namespace: other}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: third}}`)
	for i := range 2 {
		objects[i].Registers = &providers.Registration{Keystone: &providers.KeystoneRegistration{Keystone: providers.InternalURL{Scheme: "http", Namespace: "other", Service: "keystone", Port: "5000"}}}
	}
	objects[1].Registers.Database = &providers.DatabaseRegistration{Server: providers.PodServer{Members: []providers.PodPort{
		{Namespace: "other", Pod: "db-1", Port: 3307}, {Namespace: "other", Pod: "db-0", Port: 3307}, {Namespace: "other", Pod: "db-0", Port: 3306}, {Namespace: "else", Pod: "db-2", Port: 3306},
	}}}
	for _, readOnly := range []bool{false, true} {
		got := texts(rights.Of(rights.Input{Cloud: "prod", Namespace: "prod", Objects: objects, Resource: resource, ReadOnly: readOnly}))
		if strings.Count(got, "pods/portforward") != 1 || !strings.Contains(got, "other: /pods/portforward[db-0,db-1]: get,create\n") {
			t.Errorf("read-only %t:\n%s", readOnly, got)
		}
		if strings.Count(got, "services/proxy") != 1 || !strings.Contains(got, "other: /services/proxy[http:keystone:5000]: get,create\n") {
			t.Errorf("read-only %t:\n%s", readOnly, got)
		}
	}
}
