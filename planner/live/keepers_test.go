package live_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

var (
	ingresses       = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	services        = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	pods            = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

// made applies one object, and returns a bench whose plan has nothing to do.
func made(t *testing.T, at, text string) (*bench, stranger) {
	t.Helper()
	b := newBench(t, clustertest.Namespace(t))
	b.declare(at, text).Manifest.SetNamespace(b.namespace)
	b.apply(b.plan())
	b.settled()
	return b, newStranger(t)
}

// drifts fails the test unless plans show a change of the path as drift by the stranger, and would
// revert it.
func (b *bench) drifts(at, path string, verb plans.Verb) plans.Change {
	b.t.Helper()
	var found plans.Change
	for range 2 {
		plan := b.plan()
		a := b.action(plan, at)
		i := slices.IndexFunc(a.Changes, func(c plans.Change) bool { return c.Path == path })
		if a.Verb != verb || !plan.Drifted() || i < 0 || !a.Changes[i].Drift {
			b.t.Fatalf("action is %s by %s, drifted %t:\n%s", a.Verb, a.Evidence.Kind, plan.Drifted(), lines(a.Changes))
		}
		found = a.Changes[i]
	}
	return found
}

// listed returns the additions to the object that the plan leaves to others. It fails the test if
// the plan would change the object.
func (b *bench) listed(at string) []plans.Foreign {
	b.t.Helper()
	plan := b.plan()
	if a := b.action(plan, at); a.Verb != plans.None {
		b.t.Fatalf("action is %s:\n%s", a.Verb, lines(a.Changes))
	}
	return slices.DeleteFunc(plan.Foreign, func(f plans.Foreign) bool { return f.Address != address(at) })
}

// leaves fails the test unless plans list the paths as left to the stranger, and show no drift.
func (b *bench) leaves(at string, paths ...string) {
	b.t.Helper()
	var got []string
	for _, f := range b.listed(at) {
		for _, c := range f.Fields {
			got = append(got, c.Path)
			if f.Reported || c.Manager != spoofed || c.Before == nil || c.Time.IsZero() {
				b.t.Errorf("listed is %+v of %+v", c, f)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, paths) {
		b.t.Errorf("listed are %q, want %q", got, paths)
	}
}

const (
	atIngress = "manifest.m/Ingress/front"
	front     = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: front}, spec: {defaultBackend: {service: {name: api, port: {number: 80}}}}}"
	steal     = `[{"op":"add","path":"/spec/ingressClassName","value":"evil"}]`
)

// TestForeignIngressClass checks that a class that a stranger sets on an Ingress is drift. The
// controller of the class would serve the Ingress.
func TestForeignIngressClass(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		b, s := made(t, atIngress, front)
		before := s.get(ingresses, b.namespace, "front")
		s.patch(ingresses, b.namespace, "front", steal)
		if hidden {
			s.hide(ingresses, b.namespace, "front", before)
		}
		c := b.drifts(atIngress, "spec.ingressClassName", plans.Update)
		if !hidden && c.Manager != spoofed {
			t.Errorf("not told who: %+v", c)
		}
		b.apply(b.plan())
		b.settled()
		if spec := s.get(ingresses, b.namespace, "front").Object["spec"].(map[string]any); spec["ingressClassName"] != nil {
			t.Errorf("the class is still %v", spec["ingressClassName"])
		}
	}
}

// TestDefaultIngressClass checks that the default class stays on an Ingress. The server sets it
// only on new objects.
func TestDefaultIngressClass(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	class := b.namespace + "-class"
	clustertest.Kubectl(t, "create", "-f", manifestFile(t, `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: `+class+`, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}, spec: {controller: example.org/a}}`))
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "ingressclass", class) })
	b.declare(atIngress, front).Manifest.SetNamespace(b.namespace)
	b.apply(b.plan())
	b.settled()
	s := newStranger(t)
	has := func() any {
		return s.get(ingresses, b.namespace, "front").Object["spec"].(map[string]any)["ingressClassName"]
	}
	if has() != class {
		t.Fatalf("its class is %v", has())
	}
	b.state.Objects[0].Fingerprint.Owned = "" // forget who owns the fields
	b.settled()
	s.patch(ingresses, b.namespace, "front", steal)
	c := b.drifts(atIngress, "spec.ingressClassName", plans.Replace)
	if c.Manager != spoofed || c.Before != "evil" || c.After != class {
		t.Errorf("told is %+v", c)
	}
	b.apply(b.plan())
	b.settled()
	if has() != class {
		t.Errorf("its class is %v", has())
	}
	// After a write to the object, the plan must find out the default class.
	s.patch(ingresses, b.namespace, "front", `[{"op":"add","path":"/spec/rules","value":[{"host":"evil.example.org"}]}]`)
	b.drifts(atIngress, "spec.rules", plans.Update)
	b.apply(b.plan())
	b.settled()
	// The class is no longer the default, but it was when the Ingress was created.
	clustertest.Kubectl(t, "annotate", "ingressclass", class, "ingressclass.kubernetes.io/is-default-class-")
	b.state.Objects[0].Fingerprint.Owned = ""
	b.settled()
}

// TestForeignHeadless checks a Service that lost its cluster IP through two updates. Only a new
// Service gets one.
func TestForeignHeadless(t *testing.T) {
	const at = "manifest.m/Service/api"
	b, s := made(t, at, "{apiVersion: v1, kind: Service, metadata: {name: api}, spec: {selector: {app: api}, ports: [{port: 80}]}}")
	s.patch(services, b.namespace, "api", `[{"op":"replace","path":"/spec/type","value":"ExternalName"},{"op":"add","path":"/spec/externalName","value":"evil.example.org"}]`)
	s.patch(services, b.namespace, "api", `[{"op":"replace","path":"/spec/type","value":"ClusterIP"},{"op":"remove","path":"/spec/externalName"},{"op":"add","path":"/spec/clusterIP","value":"None"}]`)
	in := b.input()
	in.ForeignPolicy = plans.ReportForeign
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, %+v", err, problems)
	}
	if a := b.action(plan, at); a.Verb != plans.None || !a.Reported || len(plan.Foreign) != 1 || plan.Foreign[0].Fields[0].Path != "spec.clusterIP" {
		t.Errorf("action is %s, reported is %+v", a.Verb, plan.Foreign)
	}
	// The lifecycle block can leave the Service without a cluster IP.
	b.objects[0].Lifecycle = &providers.Lifecycle{IgnoreFields: []string{"spec.clusterIP", "spec.clusterIPs"}}
	b.leaves(at, "spec.clusterIP")
	b.objects[0].Lifecycle = nil
	c := b.drifts(at, "spec.clusterIP", plans.Replace)
	if c.Manager != spoofed {
		t.Errorf("not told who: %+v", c)
	}
	b.apply(b.plan())
	b.settled()
	if ip := s.get(services, b.namespace, "api").Object["spec"].(map[string]any)["clusterIP"]; ip == "None" {
		t.Errorf("its address is %v", ip)
	}
}

// TestDeclaredHeadless checks that a plan leaves a Service alone that is declared as headless.
func TestDeclaredHeadless(t *testing.T) {
	const at = "manifest.m/Service/api"
	b, _ := made(t, at, "{apiVersion: v1, kind: Service, metadata: {name: api}, spec: {clusterIP: None, selector: {app: api}, ports: [{port: 80}]}}")
	b.state.Objects[0].Fingerprint.Owned = ""
	b.settled()
}

// TestEphemeralContainers checks containers that kubectl debug adds to a Pod. They stay for the
// life of the Pod.
func TestEphemeralContainers(t *testing.T) {
	const at = "manifest.m/Pod/tool"
	b, s := made(t, at, "{apiVersion: v1, kind: Pod, metadata: {name: tool}, spec: {containers: [{name: tool, image: 'tool:1'}]}}")
	_, err := s.at(pods, b.namespace).Patch(t.Context(), "tool", types.StrategicMergePatchType,
		[]byte(`{"spec":{"ephemeralContainers":[{"name":"debugger","image":"evil:1","targetContainerName":"tool"}]}}`),
		metav1.PatchOptions{FieldManager: spoofed}, "ephemeralcontainers")
	if err != nil {
		t.Fatal(err)
	}
	s.patch(pods, b.namespace, "tool", `[{"op":"add","path":"/spec/activeDeadlineSeconds","value":3600}]`)
	s.patch(pods, b.namespace, "tool", `[{"op":"add","path":"/spec/tolerations/-","value":{"operator":"Exists"}}]`)
	b.tells(at, "spec.activeDeadlineSeconds", "spec.ephemeralContainers", "spec.tolerations")
	in := b.input()
	in.Replace = []string{at}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, %+v", err, problems)
	}
	if len(plan.Foreign) > 0 {
		t.Errorf("a replacement leaves %+v", plan.Foreign)
	}
}

// tells fails the test unless plans count the object as drifted, and list these fields as written
// by the stranger and not removable by an update.
func (b *bench) tells(at string, paths ...string) {
	b.t.Helper()
	for range 2 {
		foreign := b.listed(at)
		if len(foreign) != 1 || !foreign[0].Reported || !foreign[0].Stuck || len(foreign[0].Fields) != len(paths) {
			b.t.Fatalf("listed is %+v", foreign)
		}
		for i, path := range paths {
			if c := foreign[0].Fields[i]; c.Path != path || c.Manager != spoofed || c.Time.IsZero() {
				b.t.Errorf("told is %+v", c)
			}
		}
		plan := b.plan()
		if !plan.Drifted() || plan.Tally().Changed != 1 {
			b.t.Errorf("drifted %t, %+v", plan.Drifted(), plan.Tally())
		}
	}
}

// TestForeignJob checks that plans show writes to an existing Job, whether its name depends on its
// content or not. To revert them means to run the Job again, which only the operator can decide.
func TestForeignJob(t *testing.T) {
	const at = "manifest.m/Job/sync"
	for name, family := range map[string]string{"by its name": at, "by what it runs": ""} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, clustertest.Namespace(t))
			o := b.declare(at, "{apiVersion: batch/v1, kind: Job, metadata: {name: sync}, spec: {backoffLimit: 3, template: {spec: {restartPolicy: Never, containers: [{name: sync, image: 'sync:1'}]}}}}")
			o.Manifest.SetNamespace(b.namespace)
			if family != "" {
				o.Family = address(family)
			}
			b.apply(b.plan())
			b.settled()
			s := newStranger(t)
			jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
			s.patch(jobs, b.namespace, "sync", `[{"op":"replace","path":"/spec/parallelism","value":50},{"op":"add","path":"/spec/ttlSecondsAfterFinished","value":3600}]`)
			b.tells(at, "spec.parallelism", "spec.ttlSecondsAfterFinished")
			if family != "" { // otherwise kolla compares the field like any other
				s.patch(jobs, b.namespace, "sync", `[{"op":"replace","path":"/spec/backoffLimit","value":9}]`)
				b.tells(at, "spec.backoffLimit", "spec.parallelism", "spec.ttlSecondsAfterFinished")
			}
		})
	}
}

// TestYieldToByLeaf checks that yield_to leaves a manager only the fields that this manager wrote,
// and not fields that others wrote beside them.
func TestYieldToByLeaf(t *testing.T) {
	power := powers["Deployment"].named("api")
	b := newBench(t, clustertest.Namespace(t))
	o := b.declare(power.address, power.declared)
	o.Manifest.SetNamespace(b.namespace)
	o.Lifecycle = &providers.Lifecycle{YieldTo: []string{spoofed}, IgnoreFields: []string{"spec.template.spec.priorityClassName", "spec.minReadySeconds"}}
	b.apply(b.plan())
	b.settled()
	s := newStranger(t)
	apply := func(manager, template string) {
		t.Helper()
		u := b.objects[0].Manifest.DeepCopy()
		u.Object = map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "api"}}
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(template), &spec); err != nil {
			t.Fatal(err)
		}
		u.Object["spec"] = spec
		if _, err := s.at(deployments, b.namespace).Apply(t.Context(), "api", u, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			t.Fatal(err)
		}
	}
	apply(spoofed, `{minReadySeconds: 1, template: {spec: {dnsConfig: {nameservers: ["192.0.2.1"]}}}}`)
	b.leaves(power.address, "spec.minReadySeconds", "spec.template.spec.dnsConfig")
	apply("another", `{template: {spec: {dnsConfig: {searches: [evil.example.org]}}}}`)
	// The trusted manager wrote first, but the later write counts.
	apply(spoofed, `{minReadySeconds: 1, template: {spec: {dnsConfig: {nameservers: ["192.0.2.2"]}}}}`)
	c := b.drifts(power.address, "spec.template.spec.dnsConfig.searches", plans.Update)
	if c.Manager != "another" {
		t.Errorf("told is %+v", c)
	}
	b.apply(b.plan())
	b.settled()
	b.leaves(power.address, "spec.minReadySeconds", "spec.template.spec.dnsConfig")
}

// TestSecretsOfAccounts checks that plans leave fields of ServiceAccounts alone that token
// controllers write.
func TestSecretsOfAccounts(t *testing.T) {
	const at = "manifest.m/ServiceAccount/api"
	b, s := made(t, at, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: api}}")
	before := s.get(serviceAccounts, b.namespace, "api")
	s.patch(serviceAccounts, b.namespace, "api", `[{"op":"add","path":"/secrets","value":[{"name":"api-token"}]},{"op":"add","path":"/imagePullSecrets","value":[{"name":"api-dockercfg"}]}]`)
	b.leaves(at, "imagePullSecrets", "secrets")
	if a := b.action(b.plan(), at); a.Evidence.Kind == plans.DryRun {
		t.Error("the server was asked")
	}
	b.settled()
	s.hide(serviceAccounts, b.namespace, "api", before)
	if foreign := b.listed(at); len(foreign) != 1 || len(foreign[0].Fields) != 2 {
		t.Errorf("listed is %+v, of what nobody says he wrote", foreign)
	}
	s.patch(serviceAccounts, b.namespace, "api", `[{"op":"add","path":"/automountServiceAccountToken","value":false}]`)
	b.drifts(at, "automountServiceAccountToken", plans.Update)
}

// TestCertificatesOfWebhooks checks that plans leave CA bundles of webhooks alone. cert-manager and
// others write the certificates that the API server uses to call webhooks.
func TestCertificatesOfWebhooks(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	name := b.namespace + "-hook"
	power := powers["ValidatingWebhookConfiguration"].named(name)
	b.declare(power.address, power.declared)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "validatingwebhookconfiguration", name) })
	b.apply(b.plan())
	b.settled()
	newStranger(t).patch(power.resource, "", name, `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"`+certificate(t)+`"}]`)
	b.leaves(power.address, `webhooks["a.example.org"].clientConfig.caBundle`)
	b.settled()
}

// TestAdditionsToCustomResources checks that additions by operators to custom resources are drift,
// unless the lifecycle block leaves them to the operator.
func TestAdditionsToCustomResources(t *testing.T) {
	const at = "manifest.m/Widget/w"
	b := newBench(t, clustertest.Namespace(t))
	group := b.namespace + ".example.org"
	widgets := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	clustertest.Kubectl(t, "create", "-f", manifestFile(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.`+group+`}, spec: {group: `+group+`, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {more: {type: string}, spec: {type: object, properties: {a: {type: string}, b: {type: string}, size: {type: integer, default: 7}}}}}}}]}}`))
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "crd", "widgets."+group) })
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "crd/widgets."+group)
	o := b.declare(at, "{apiVersion: "+group+"/v1, kind: Widget, metadata: {name: w}, spec: {a: one}}")
	o.Manifest.SetNamespace(b.namespace)
	b.apply(b.plan())
	b.settled()
	s := newStranger(t)
	s.patch(widgets, b.namespace, "w", `[{"op":"add","path":"/spec/b","value":"two"}]`)
	b.drifts(at, "spec.b", plans.Update)
	b.apply(b.plan())
	b.settled()
	s.patch(widgets, b.namespace, "w", `[{"op":"replace","path":"/spec/a","value":"evil"},{"op":"add","path":"/spec/b","value":"two"},{"op":"add","path":"/more","value":"evil"}]`)
	o.Lifecycle = &providers.Lifecycle{IgnoreFields: []string{"spec.b"}}
	b.drifts(at, "spec.a", plans.Update)
	b.drifts(at, "more", plans.Update)
	b.apply(b.plan())
	b.settled()
	b.leaves(at, "spec.b")
}

func manifestFile(t *testing.T, text string) string {
	t.Helper()
	path := t.TempDir() + "/manifest.yaml"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWarningsAreOfWhatAnApplyGives checks that a plan repeats the server's warnings about pods
// only for the object that results from the apply, not for a container that the plan removes.
func TestWarningsAreOfWhatAnApplyGives(t *testing.T) {
	var mu sync.Mutex
	var elsewhere []kubernetes.Warning
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: clustertest.Kubeconfig(), Warn: func(w kubernetes.Warning) {
		mu.Lock()
		defer mu.Unlock()
		elsewhere = append(elsewhere, w)
	}})
	if err != nil {
		t.Fatal(err)
	}
	power := powers["Deployment"].named("api")
	b, s := made(t, power.address, power.declared)
	b.client = client
	clustertest.Kubectl(t, "label", "namespace", b.namespace, "pod-security.kubernetes.io/warn=baseline")
	s.patch(power.resource, b.namespace, "api", `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"miner","image":"miner:1","securityContext":{"privileged":true}}}]`)
	b.apply(b.plan()) // this plan has no problem, and so must not cause a warning
	if len(elsewhere) > 0 {
		t.Errorf("the server warned of %q", elsewhere)
	}
	// The server does warn about the declared object.
	s.patch(power.resource, b.namespace, "api", `[{"op":"add","path":"/spec/template/spec/hostPID","value":true}]`)
	b.declare(power.address, strings.Replace(power.declared, "      tolerations: []\n", "      tolerations: []\n      hostNetwork: true\n", 1)).Manifest.SetNamespace(b.namespace)
	plan, problems, err := planner.Make(t.Context(), b.input())
	if err != nil || plan == nil {
		t.Fatal(err)
	}
	if len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Detail, "host namespaces (hostNetwork=true)") {
		t.Errorf("problems are %+v", problems)
	}
	b.apply(plan)
	if len(elsewhere) > 0 {
		t.Errorf("the server warned once more of %q", elsewhere)
	}
}

// certificate returns a certificate in the form that a webhook's configuration uses.
func certificate(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}
