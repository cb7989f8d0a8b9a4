package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// spoofed is a field manager that looks like a controller. Any client can use such a name.
const spoofed = "evil-controller"

// power is the declaration of an object with the name NAME, and the writes to it that give a
// stranger power over the cloud.
type power struct {
	resource schema.GroupVersionResource
	address  string
	declared string
	writes   map[string]string // JSON patches, keyed by the field that they change
}

// named gives the object a name.
func (p power) named(name string) power {
	p.address = strings.ReplaceAll(p.address, "NAME", name)
	p.declared = strings.ReplaceAll(p.declared, "NAME", name)
	return p
}

// powers maps each kind to its declaration and writes.
var powers = map[string]power{
	"Deployment": {
		resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		address:  "manifest.m/Deployment/NAME",
		declared: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      volumes: [{name: conf, emptyDir: {}}]
      initContainers: []
      tolerations: []
      containers:
      - name: api
        image: api:1
        command: ["serve", "--port=80"]
        env: [{name: MODE, value: safe}]
        ports: [{containerPort: 80}]
        volumeMounts: [{name: conf, mountPath: /etc/api}]
        securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false}
        resources: {limits: {memory: 1Gi}}
`,
		writes: map[string]string{
			"image":                           `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"evil:1"}]`,
			"command":                         `[{"op":"replace","path":"/spec/template/spec/containers/0/command","value":["mine"]}]`,
			"args":                            `[{"op":"add","path":"/spec/template/spec/containers/0/args","value":["--mine"]}]`,
			"container":                       `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"miner","image":"miner:1"}}]`,
			"initContainer":                   `[{"op":"add","path":"/spec/template/spec/initContainers","value":[{"name":"miner","image":"miner:1"}]}]`,
			"volume":                          `[{"op":"add","path":"/spec/template/spec/volumes/-","value":{"name":"root","hostPath":{"path":"/"}}}]`,
			"another volume of the name":      `[{"op":"replace","path":"/spec/template/spec/volumes/0","value":{"name":"conf","hostPath":{"path":"/"}}}]`,
			"volume and mount":                `[{"op":"add","path":"/spec/template/spec/volumes/-","value":{"name":"root","hostPath":{"path":"/"}}},{"op":"add","path":"/spec/template/spec/containers/0/volumeMounts/-","value":{"name":"root","mountPath":"/host"}}]`,
			"env":                             `[{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"LD_PRELOAD","value":"/evil.so"}}]`,
			"env of the same name":            `[{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"MODE","value":"unsafe"}}]`,
			"envFrom":                         `[{"op":"add","path":"/spec/template/spec/containers/0/envFrom","value":[{"secretRef":{"name":"theirs"}}]}]`,
			"port":                            `[{"op":"add","path":"/spec/template/spec/containers/0/ports/-","value":{"containerPort":81,"hostPort":81}}]`,
			"another port of the key":         `[{"op":"add","path":"/spec/template/spec/containers/0/ports/-","value":{"containerPort":80,"hostPort":80}}]`,
			"another port of the key, first":  `[{"op":"add","path":"/spec/template/spec/containers/0/ports/0","value":{"containerPort":80,"hostPort":80}}]`,
			"privileged":                      `[{"op":"replace","path":"/spec/template/spec/containers/0/securityContext","value":{"privileged":true}}]`,
			"runAsUser":                       `[{"op":"add","path":"/spec/template/spec/securityContext/runAsUser","value":0}]`,
			"capability":                      `[{"op":"add","path":"/spec/template/spec/containers/0/securityContext/capabilities","value":{"add":["SYS_ADMIN"]}}]`,
			"hostNetwork":                     `[{"op":"add","path":"/spec/template/spec/hostNetwork","value":true}]`,
			"hostPID":                         `[{"op":"add","path":"/spec/template/spec/hostPID","value":true}]`,
			"serviceAccountName":              `[{"op":"add","path":"/spec/template/spec/serviceAccountName","value":"admin"}]`,
			"lifecycle hook":                  `[{"op":"add","path":"/spec/template/spec/containers/0/lifecycle","value":{"postStart":{"exec":{"command":["sh"]}}}}]`,
			"label of the pods":               `[{"op":"add","path":"/spec/template/metadata/labels/role","value":"database"}]`,
			"annotation of the pods":          `[{"op":"add","path":"/spec/template/metadata/annotations","value":{"sidecar.example.org/inject":"yes"}}]`,
			"strategy, which is a default":    `[{"op":"replace","path":"/spec/strategy","value":{"type":"Recreate"}}]`,
			"a default of a number":           `[{"op":"replace","path":"/spec/template/spec/terminationGracePeriodSeconds","value":0}]`,
			"replicas, with no autoscaler":    `[{"op":"replace","path":"/spec/replicas","value":0}]`,
			"who owns it":                     `[{"op":"add","path":"/metadata/ownerReferences","value":[{"apiVersion":"v1","kind":"ConfigMap","name":"theirs","uid":"UID"}]}]`,
			"toleration":                      `[{"op":"add","path":"/spec/template/spec/tolerations","value":[{"operator":"Exists"}]}]`,
			"nodeSelector":                    `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"evil":"true"}}]`,
			"pull policy":                     `[{"op":"replace","path":"/spec/template/spec/containers/0/imagePullPolicy","value":"Never"}]`,
			"pull policy of another tag":      `[{"op":"replace","path":"/spec/template/spec/containers/0/imagePullPolicy","value":"Always"}]`,
			"requests":                        `[{"op":"add","path":"/spec/template/spec/containers/0/resources/requests","value":{"cpu":"1","memory":"1Mi"}}]`,
			"requests like the limits":        `[{"op":"add","path":"/spec/template/spec/containers/0/resources/requests","value":{"memory":"1Gi"}}]`,
			"both what is declared and added": `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"evil:1"},{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"miner","image":"miner:1"}}]`,
		},
	},
	"Service": {
		resource: schema.GroupVersionResource{Version: "v1", Resource: "services"},
		address:  "manifest.m/Service/NAME",
		declared: "{apiVersion: v1, kind: Service, metadata: {name: NAME}, spec: {selector: {app: api}, ports: [{name: http, port: 80, targetPort: 8080}]}}",
		writes: map[string]string{
			"externalIPs":              `[{"op":"add","path":"/spec/externalIPs","value":["192.0.2.7"]}]`,
			"port":                     `[{"op":"add","path":"/spec/ports/-","value":{"name":"more","port":81}}]`,
			"targetPort":               `[{"op":"replace","path":"/spec/ports/0/targetPort","value":9090}]`,
			"selector":                 `[{"op":"replace","path":"/spec/selector","value":{"app":"evil"}}]`,
			"selector, added to":       `[{"op":"add","path":"/spec/selector/more","value":"evil"}]`,
			"type":                     `[{"op":"replace","path":"/spec/type","value":"NodePort"}]`,
			"externalTrafficPolicy":    `[{"op":"replace","path":"/spec/type","value":"NodePort"},{"op":"add","path":"/spec/externalTrafficPolicy","value":"Local"}]`,
			"publishNotReadyAddresses": `[{"op":"add","path":"/spec/publishNotReadyAddresses","value":true}]`,
		},
	},
	"ClusterRole": {
		resource: schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		address:  "manifest.m/ClusterRole/NAME",
		declared: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NAME}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
		writes: map[string]string{
			"rule":            `[{"op":"add","path":"/rules/-","value":{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}}]`,
			"verbs":           `[{"op":"replace","path":"/rules/0/verbs","value":["*"]}]`,
			"aggregationRule": `[{"op":"add","path":"/aggregationRule","value":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}]`,
		},
	},
	"NetworkPolicy": {
		resource: schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
		address:  "manifest.m/NetworkPolicy/NAME",
		declared: "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: NAME}, spec: {podSelector: {}, policyTypes: [Ingress]}}",
		writes: map[string]string{
			"podSelector, declared as empty": `[{"op":"add","path":"/spec/podSelector/matchLabels","value":{"none":"such"}}]`,
			"ingress":                        `[{"op":"add","path":"/spec/ingress","value":[{}]}]`,
			"policyTypes":                    `[{"op":"replace","path":"/spec/policyTypes","value":["Egress"]}]`,
		},
	},
	"RoleBinding": {
		resource: schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		address:  "manifest.m/RoleBinding/NAME",
		declared: "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: NAME}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: readers}]}",
		writes: map[string]string{
			"subject": `[{"op":"add","path":"/subjects/-","value":{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"evil"}}]`,
		},
	},
	"ConfigMap": {
		resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		address:  "manifest.m/ConfigMap/NAME",
		declared: "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, data: {a: one}}",
		writes: map[string]string{
			"value":      `[{"op":"replace","path":"/data/a","value":"two"}]`,
			"key":        `[{"op":"add","path":"/data/b","value":"two"}]`,
			"binaryData": `[{"op":"add","path":"/binaryData","value":{"c":"AAAA"}}]`,
		},
	},
	"Secret": {
		resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"},
		address:  "manifest.m/Secret/NAME",
		declared: "{apiVersion: v1, kind: Secret, metadata: {name: NAME}, data: {a: b25l}}",
		writes: map[string]string{
			"value": `[{"op":"replace","path":"/data/a","value":"dHdv"}]`,
			"key":   `[{"op":"add","path":"/data/b","value":"dHdv"}]`,
		},
	},
	"Namespace": {
		resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
		address:  "manifest.m/Namespace/NAME",
		declared: "{apiVersion: v1, kind: Namespace, metadata: {name: NAME, labels: {pod-security.kubernetes.io/enforce: restricted}}}",
		writes: map[string]string{
			"Pod Security":          `[{"op":"replace","path":"/metadata/labels/pod-security.kubernetes.io~1enforce","value":"privileged"}]`,
			"Pod Security version":  `[{"op":"add","path":"/metadata/labels/pod-security.kubernetes.io~1enforce-version","value":"v1.0"}]`,
			"Pod Security, removed": `[{"op":"remove","path":"/metadata/labels/pod-security.kubernetes.io~1enforce"}]`,
		},
	},
	"ValidatingWebhookConfiguration": {
		resource: schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
		address:  "manifest.m/ValidatingWebhookConfiguration/NAME",
		declared: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: NAME}, webhooks: [{name: a.example.org, sideEffects: None, failurePolicy: Ignore, admissionReviewVersions: [v1], clientConfig: {service: {namespace: a, name: a}}, rules: [{apiGroups: [none.example.org], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}]}`,
		writes: map[string]string{
			"target":  `[{"op":"replace","path":"/webhooks/0/clientConfig/service/name","value":"evil"}]`,
			"webhook": `[{"op":"add","path":"/webhooks/-","value":{"name":"b.example.org","sideEffects":"None","failurePolicy":"Ignore","admissionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"a","name":"b"}},"rules":[]}}]`,
		},
	},
}

// atOdds are writes that the server rejects in combination with the declaration.
var atOdds = []string{"privileged", "another volume of the name", "container", "image"}

// stranger writes to objects as any client could.
type stranger struct {
	t       *testing.T
	objects dynamic.Interface
}

func newStranger(t *testing.T) stranger {
	return stranger{t, dynamic.NewForConfigOrDie(unlimited(t, clustertest.Kubeconfig()))}
}

func (s stranger) at(resource schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return s.objects.Resource(resource)
	}
	return s.objects.Resource(resource).Namespace(namespace)
}

func (s stranger) patch(resource schema.GroupVersionResource, namespace, name, patch string) {
	s.t.Helper()
	_, err := s.at(resource, namespace).Patch(s.t.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: spoofed})
	if err != nil {
		s.t.Fatalf("patch: %v", err)
	}
}

func (s stranger) get(resource schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	s.t.Helper()
	live, err := s.at(resource, namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return live
}

// hide removes the stranger's name from the object, and gives the taken fields back to kolla: a
// client that may write an object may also write its managedFields.
func (s stranger) hide(resource schema.GroupVersionResource, namespace, name string, before *unstructured.Unstructured) {
	s.t.Helper()
	for {
		live, err := s.at(resource, namespace).Get(s.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		live.SetManagedFields(before.GetManagedFields())
		switch _, err := s.at(resource, namespace).Update(s.t.Context(), live, metav1.UpdateOptions{FieldManager: spoofed}); {
		case apierrors.IsConflict(err): // a controller wrote
		case err != nil:
			s.t.Fatalf("update: %v", err)
		default:
			return
		}
	}
}

// manners are the ways in which a stranger leaves an object that he wrote to.
var manners = []string{"written", "hidden", "wiped"}

// harmed is an object to which a stranger wrote.
type harmed struct {
	name   string // of the subtest
	manner string
	at     string
	ref    providers.Ref
	before *unstructured.Unstructured // the object before the write
}

// TestPowersAreDrift checks that a write to a field that gives power over the cloud is drift under
// any field manager: every plan shows it until an apply reverts it.
func TestPowersAreDrift(t *testing.T) {
	for kind, power := range powers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clustertest.Namespace(t))
			s := newStranger(t)
			clustertest.Kubectl(t, "create", "configmap", "theirs", "-n", b.namespace)
			theirs := s.get(powers["ConfigMap"].resource, b.namespace, "theirs")
			var objects []harmed
			for what := range power.writes {
				for _, manner := range manners {
					if manner == "wiped" && !slices.Contains(atOdds, what) {
						continue
					}
					// Objects of the cluster have names that no other test has.
					one := power.named(fmt.Sprintf("%s-%d", b.namespace, len(objects)))
					o := b.declare(one.address, one.declared)
					if !slices.Contains([]string{"ClusterRole", "Namespace", "ValidatingWebhookConfiguration"}, kind) {
						o.Manifest.SetNamespace(b.namespace)
					}
					objects = append(objects, harmed{name: what, manner: manner, at: one.address, ref: o.Ref()})
				}
			}
			b.apply(b.plan())
			b.settled()
			t.Cleanup(func() {
				for _, h := range objects {
					if h.ref.Namespace == "" {
						clustertest.Kubectl(t, "delete", strings.ToLower(kind), h.ref.Name, "--wait=false")
					}
				}
			})
			for i := range objects {
				h := &objects[i]
				h.before = s.get(power.resource, h.ref.Namespace, h.ref.Name)
				s.patch(power.resource, h.ref.Namespace, h.ref.Name, strings.ReplaceAll(power.writes[h.name], "UID", string(theirs.GetUID())))
				switch h.manner {
				case "hidden":
					s.hide(power.resource, h.ref.Namespace, h.ref.Name, h.before)
				case "wiped":
					s.patch(power.resource, h.ref.Namespace, h.ref.Name, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`)
				}
			}
			for range 2 {
				plan := b.plan()
				if !plan.Drifted() {
					t.Error("the plan does not say that anything drifted")
				}
				for _, h := range objects {
					t.Run(h.name+", "+h.manner, func(t *testing.T) { h.isDrift(t, b.action(plan, h.at)) })
				}
			}
			b.apply(b.plan())
			b.settled()
			for _, h := range objects {
				t.Run(h.name+", "+h.manner+", put back", func(t *testing.T) {
					after := s.get(power.resource, h.ref.Namespace, h.ref.Name)
					for _, u := range []*unstructured.Unstructured{h.before, after} {
						unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
					}
					if changes, err := fields.Diff(h.before, after); err != nil || len(changes) > 0 {
						t.Errorf("it is not what it was (%v):\n%s", err, lines(changes))
					}
				})
			}
		})
	}
}

// isDrift fails the test unless the action reverts the write, and names the writer if the server
// knows the name.
func (h harmed) isDrift(t *testing.T, a plans.Action) {
	if a.Verb != plans.Update || len(a.Changes) == 0 {
		t.Fatalf("action is %s by %s:\n%s", a.Verb, a.Evidence.Kind, lines(a.Changes))
	}
	for _, c := range a.Changes {
		// A missing field has no owner, nor has a field that the server added.
		known := h.manner == "written" && c.Before != nil && !strings.HasSuffix(c.Path, ".nodePort")
		if !c.Drift || known && (c.Manager != spoofed || time.Since(c.Time) > time.Hour) {
			t.Errorf("not told as drift by %s: %+v", spoofed, c)
		}
	}
}

// TestPowersAreDriftForAnEmptyState checks that a plan finds an earlier write without the state's
// fingerprint, even after another write.
func TestPowersAreDriftForAnEmptyState(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	power := powers["Deployment"].named("api")
	b.declare(power.address, power.declared).Manifest.SetNamespace(b.namespace)
	b.apply(b.plan())
	s := newStranger(t)
	before := s.get(power.resource, b.namespace, "api")
	s.patch(power.resource, b.namespace, "api", power.writes["pull policy"])
	s.hide(power.resource, b.namespace, "api", before) // not a default: a stranger wrote it
	s.patch(power.resource, b.namespace, "api", power.writes["container"])
	for i := range b.state.Objects {
		b.state.Objects[i].Fingerprint.Owned = ""
	}
	a := b.action(b.plan(), power.address)
	if a.Verb != plans.Update || len(a.Changes) != 2 || a.Changes[0].Path != `spec.template.spec.containers["api"].imagePullPolicy` || a.Changes[1].Path != `spec.template.spec.containers["miner"]` {
		t.Errorf("action is %s:\n%s", a.Verb, lines(a.Changes))
	}
}

const shelves = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shelves.$NS.example.org}
spec:
  group: $NS.example.org
  names: {kind: Shelf, plural: shelves}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              boxes:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                maxItems: 5
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, paper: {type: string}, iron: {type: string}}
                  x-kubernetes-validations: [{rule: "!has(self.paper) || !has(self.iron)", message: paper or iron}]
              lock: {type: string}
              seal: {type: string}
            x-kubernetes-validations:
            - {rule: "!has(oldSelf.lock) || has(self.lock)", message: it stays locked}
            - {rule: "!has(oldSelf.seal) || has(self.seal)", message: the seal is immutable}
`

// newShelves returns a bench whose cluster has the kind Shelf in its own API group.
func newShelves(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, clustertest.Namespace(t))
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "crd", "shelves."+b.namespace+".example.org", "--ignore-not-found", "--wait=false")
	})
	b.declare("manifest.a/CustomResourceDefinition/shelves", strings.ReplaceAll(shelves, "$NS", b.namespace))
	b.apply(b.plan())
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "crd/shelves."+b.namespace+".example.org")
	return b
}

// TestCustomResourcesAtOdds checks that a plan removes the fields that others added to a custom
// resource, even if the server rejects them in combination with the declaration.
func TestCustomResourcesAtOdds(t *testing.T) {
	const at = "manifest.a/Shelf/a"
	for name, manner := range map[string]string{"written": "", "hidden": "hidden", "wiped": "wiped"} {
		t.Run(name, func(t *testing.T) {
			b := newShelves(t)
			o := b.declare(at, "{apiVersion: "+b.namespace+".example.org/v1, kind: Shelf, metadata: {name: a, namespace: "+b.namespace+"}, spec: {boxes: [{name: a, paper: x}, {name: b}]}}")
			b.apply(b.plan())
			b.settled()
			s := newStranger(t)
			shelf := schema.GroupVersionResource{Group: o.Ref().GVK.Group, Version: "v1", Resource: "shelves"}
			before := s.get(shelf, b.namespace, "a")
			s.patch(shelf, b.namespace, "a", `[{"op":"replace","path":"/spec/boxes/0","value":{"name":"a","iron":"y"}},{"op":"add","path":"/spec/boxes/-","value":{"name":"c"}}]`)
			switch manner {
			case "hidden":
				s.hide(shelf, b.namespace, "a", before)
			case "wiped":
				s.patch(shelf, b.namespace, "a", `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`)
			}
			plan := b.plan()
			a := b.action(plan, at)
			want := []string{`spec.boxes["a"].iron`, `spec.boxes["a"].paper`, `spec.boxes["c"]`}
			if a.Verb != plans.Update || a.Evidence.Kind != plans.DryRun || !slices.Equal(pathsOf(a.Changes), want) || !plan.Drifted() {
				t.Fatalf("%s by %s, drifted %t:\n%s", a.Verb, a.Evidence.Kind, plan.Drifted(), lines(a.Changes))
			}
			b.apply(plan)
			b.settled()
			if changes, err := fields.Diff(before, s.get(shelf, b.namespace, "a")); err != nil || len(changes) > 0 {
				t.Errorf("it is not what it was (%v):\n%s", err, lines(changes))
			}
		})
	}
}

// TestAddedForGood checks that the plan reports a field that the server does not let kolla remove.
// The field must not block the object's other changes.
func TestAddedForGood(t *testing.T) {
	const at = "manifest.a/Shelf/a"
	for _, field := range []string{"lock", "seal"} {
		t.Run(field, func(t *testing.T) {
			b := newShelves(t)
			declare := func(paper string) *providers.Object {
				return b.declare(at, "{apiVersion: "+b.namespace+".example.org/v1, kind: Shelf, metadata: {name: a, namespace: "+b.namespace+"}, spec: {boxes: [{name: a, paper: "+paper+"}]}}")
			}
			shelf := schema.GroupVersionResource{Group: declare("x").Ref().GVK.Group, Version: "v1", Resource: "shelves"}
			b.apply(b.plan())
			b.settled()
			newStranger(t).patch(shelf, b.namespace, "a", `[{"op":"add","path":"/spec/`+field+`","value":"theirs"}]`)
			for _, paper := range []string{"x", "z"} {
				declare(paper)
				plan, problems, err := planner.Make(t.Context(), b.input())
				if err != nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Detail, "spec."+field+", by "+spoofed) {
					t.Fatalf("Make: %v, problems %+v", err, problems)
				}
				if len(plan.Foreign) != 1 || !plan.Foreign[0].Reported || plan.Foreign[0].Fields[0].Path != "spec."+field || !plan.Drifted() {
					t.Errorf("the plan leaves %+v", plan.Foreign)
				}
				if paper != "x" {
					b.apply(plan)
				}
			}
		})
	}
}

func pathsOf(changes []plans.Change) []string {
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}
