package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
)

const (
	atAPI  = "service.keystone/Deployment/keystone-api"
	atConf = "service.keystone/ConfigMap/keystone.conf"
)

// api returns a Deployment as kolla declares it; $NS, $IMAGE and $APP are filled in.
func api(b *bench, image, app string) string {
	return strings.NewReplacer("$NS", b.namespace, "$IMAGE", image, "$APP", app).Replace(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: keystone-api, namespace: $NS}
spec:
  replicas: 3
  selector: {matchLabels: {app: $APP}}
  template:
    metadata: {labels: {app: $APP}}
    spec:
      containers:
      - name: api
        image: $IMAGE
        ports:
        - {name: public, containerPort: 5000, protocol: TCP}
        resources: {requests: {cpu: 100m, memory: 1024Mi}}
`)
}

func conf(b *bench, text string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: keystone.conf, namespace: " + b.namespace + "}, data: {keystone.conf: " + text + "}}"
}

func TestCreateThenNothingThenUpdate(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, `"[token]\nexpiration = 1\n"`))
	b.declare(atAPI, api(b, "keystone:1", "keystone"), atConf)
	plan := b.plan()
	for _, a := range plan.Actions {
		if a.Verb != plans.Create || a.Evidence.Kind != plans.DryRun {
			t.Errorf("%s: %s, %+v", a.Address, a.Verb, a.Evidence)
		}
	}
	if plan.Actions[0].Address != address(atConf) {
		t.Errorf("the first action is on %s", plan.Actions[0].Address)
	}
	b.apply(plan)
	b.settled()

	b.declare(atConf, conf(b, `"[token]\nexpiration = 2\n"`))
	b.declare(atAPI, api(b, "keystone:2", "keystone"), atConf)
	plan = b.plan()
	a := b.action(plan, atConf)
	want := []plans.Change{{Path: `data["keystone.conf"]`, Before: "[token]\nexpiration = 1\n", After: "[token]\nexpiration = 2\n", Text: true}}
	if diff := cmp.Diff(want, a.Changes); diff != "" {
		t.Errorf("changes of the file (-want +got):\n%s", diff)
	}
	a = b.action(plan, atAPI)
	want = []plans.Change{{Path: `spec.template.spec.containers["api"].image`, Before: "keystone:1", After: "keystone:2"}}
	if diff := cmp.Diff(want, a.Changes); diff != "" {
		t.Errorf("changes of the workload (-want +got):\n%s", diff)
	}
	if a.Verb != plans.Update || len(a.Reasons) != 1 || a.Reasons[0].Kind != plans.ReasonConfig {
		t.Errorf("%s because of %+v", a.Verb, a.Reasons)
	}
	impact := []report.Impact{{Block: "service.keystone", Lines: []string{"3 pods restart, one at a time: image keystone:1 → keystone:2"}}}
	if diff := cmp.Diff(impact, report.ImpactOf(plan)); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
	b.apply(plan)
	b.settled()
}

func TestDriftByScale(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "scale", "-n", b.namespace, "deployment/keystone-api", "--replicas=5")

	a := b.action(b.plan(), atAPI)
	if a.Verb != plans.Update || !a.Force || len(a.Changes) != 1 || len(a.Reasons) != 1 {
		t.Fatalf("action is %s, force %v, %+v, %+v", a.Verb, a.Force, a.Changes, a.Reasons)
	}
	r, c := a.Reasons[0], a.Changes[0]
	if r.Kind != plans.ReasonDrift || r.Manager != "kubectl" || r.Path != "spec.replicas" {
		t.Errorf("reason is %+v", r)
	}
	if !c.Drift || c.Manager != "kubectl" || c.Before != int64(5) || c.After != int64(3) {
		t.Errorf("change is %+v", c)
	}
	b.apply(b.plan())
	b.settled()
}

// TestDriftHasADate checks that drift has a time. The server records the time of writes to the
// object itself, but not of writes through the subresource "scale".
func TestDriftHasADate(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	before := time.Now().Add(-2 * time.Second)
	clustertest.Kubectl(t, "set", "image", "-n", b.namespace, "deployment/keystone-api", "api=keystone:9")
	a := b.action(b.plan(), atAPI)
	if len(a.Changes) != 1 || a.Changes[0].Manager != "kubectl-set" || a.Changes[0].Time.Before(before) || a.Changes[0].Time.After(time.Now()) {
		t.Errorf("changes are %+v", a.Changes)
	}
}

// TestDriftByRemoval checks that drift by a removed field names no manager.
func TestDriftByRemoval(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "configmap/keystone.conf", "--type=json", `-p=[{"op":"remove","path":"/data"}]`)
	a := b.action(b.plan(), atConf)
	want := []plans.Change{{Path: `data["keystone.conf"]`, After: "x", Text: true, Drift: true}}
	if diff := cmp.Diff(want, a.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	b.apply(b.plan())
	b.settled()
}

// TestForeignFieldsStay checks that a plan leaves a field alone that another client added and kolla
// never declared.
func TestForeignFieldsStay(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "annotate", "-n", b.namespace, "deployment/keystone-api", "team=blue")
	b.settled()
}

// TestTakenBySomebodyElse checks that a plan takes fields back from any other manager.
func TestTakenBySomebodyElse(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "scale", "-n", b.namespace, "deployment/keystone-api", "--replicas=4")
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "deployment/keystone-api", "--field-manager=acme", `-p={"spec":{"replicas":5}}`)
	plan := b.plan()
	if a := b.action(plan, atAPI); !a.Force || a.Reasons[0].Manager != "acme" {
		t.Errorf("action is force %v because of %+v", a.Force, a.Reasons)
	}
	b.apply(plan)
	b.settled()
}

func TestImmutableSelector(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	b.declare(atAPI, api(b, "keystone:1", "identity"))
	a := b.action(b.plan(), atAPI)
	if a.Verb != plans.Replace || a.Evidence.Kind != plans.Surrogate {
		t.Fatalf("action is %s, %+v", a.Verb, a.Evidence)
	}
	if len(a.Reasons) != 1 || a.Reasons[0].Kind != plans.ReasonImmutable || a.Reasons[0].Path != "spec.selector" {
		t.Errorf("reasons are %+v", a.Reasons)
	}
	want := []plans.Change{
		{Path: "spec.selector", Before: selector("keystone"), After: selector("identity")},
		{Path: "spec.template.metadata.labels.app", Before: "keystone", After: "identity"},
	}
	if diff := cmp.Diff(want, a.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	b.apply(b.plan())
	b.settled()
}

func selector(app string) map[string]any {
	return map[string]any{"matchLabels": map[string]any{"app": app}}
}

// TestNamespaceIsNotYetThere checks that a plan works before the namespace exists.
func TestNamespaceIsNotYetThere(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t)+"-new")
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "namespace", b.namespace, "--wait=false", "--ignore-not-found")
	})
	b.declare("cloud.c/Namespace/n", "{apiVersion: v1, kind: Namespace, metadata: {name: "+b.namespace+"}}")
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	plan := b.plan()
	a := b.action(plan, atAPI)
	if a.Verb != plans.Create || a.Evidence.Kind != plans.Surrogate {
		t.Errorf("action is %s, %+v", a.Verb, a.Evidence)
	}
	if len(a.DependsOn) != 1 || plan.Actions[0].Address != address("cloud.c/Namespace/n") {
		t.Errorf("it depends on %v; the first action is on %s", a.DependsOn, plan.Actions[0].Address)
	}
	b.declare(atAPI, strings.Replace(api(b, "keystone:1", "keystone"), "containerPort: 5000", "containerPort: 500000", 1))
	if got := b.problem(b.input()); !strings.Contains(got, "containerPort") || strings.Contains(got, "default") {
		t.Errorf("problem is %q", got)
	}
	b.declare(atAPI, strings.Replace(api(b, "keystone:1", "keystone"), "replicas:", "replicaz:", 1))
	if got := b.problem(b.input()); !strings.Contains(got, ".spec.replicaz: field not declared in schema") || strings.Contains(got, "default") {
		t.Errorf("problem is %q", got)
	}
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(plan)
	b.settled()
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.live.example.org}
spec:
  group: live.example.org
  names: {kind: Widget, plural: widgets}
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
              size: {type: integer, default: 7}
              colour: {type: string}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, count: {type: integer}}
`

// TestCustomResource checks that kolla plans a custom resource together with the definition of its
// kind, and compares it once the cluster knows the kind.
func TestCustomResource(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "customresourcedefinition", "widgets.live.example.org", "--ignore-not-found")
	})
	const at, atDefinition = "manifest.w/Widget/w", "manifest.w/CustomResourceDefinition/widgets.live.example.org"
	widget := func(colour, count string) string {
		return "{apiVersion: live.example.org/v1, kind: Widget, metadata: {name: w, namespace: " + b.namespace + "}, spec: {colour: " + colour + ", parts: [{name: a, count: " + count + "}]}}"
	}
	b.declare(at, widget("red", "1"))
	b.declare(atDefinition, definition)
	plan := b.plan()
	if a := b.action(plan, at); a.Evidence.Kind != plans.Schema || len(a.DependsOn) != 1 {
		t.Errorf("evidence is %+v, it depends on %v", a.Evidence, a.DependsOn)
	}
	b.apply(&plans.Plan{Actions: plan.Actions[:1]})
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "--timeout=30s", "customresourcedefinition/widgets.live.example.org")
	clustertest.Eventually(t, "the server has the new kind", func() bool {
		plan, problems, err := planner.Make(t.Context(), b.input())
		return err == nil && len(problems) == 0 && b.action(plan, at).Evidence.Kind == plans.DryRun
	})
	b.apply(b.plan())
	b.settled()

	b.declare(at, widget("blue", "2"))
	want := []plans.Change{
		{Path: "spec.colour", Before: "red", After: "blue"},
		{Path: `spec.parts["a"].count`, Before: int64(1), After: int64(2)},
	}
	a := b.action(b.plan(), at)
	if diff := cmp.Diff(want, a.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if len(a.Reasons) != 1 || a.Reasons[0].Kind != plans.ReasonConfig {
		t.Errorf("reasons are %+v", a.Reasons)
	}
}

func TestAdopt(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	clustertest.Kubectl(t, "create", "configmap", "-n", b.namespace, "keystone.conf", "--from-literal=keystone.conf=theirs", "--from-literal=more=theirs too")
	b.declare(atConf, conf(b, "ours"))
	if got := b.problem(b.input()); !strings.Contains(got, "is not kolla's") {
		t.Errorf("problem is %q", got)
	}
	in := b.input()
	in.Adopt = everything(in.Objects)
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, %+v", err, problems)
	}
	a := b.action(plan, atConf)
	want := []plans.Change{
		{Path: `data["keystone.conf"]`, Before: "theirs", After: "ours", Text: true},
		{Path: `data["more"]`, Before: "theirs too", Text: true},
		{Path: `metadata.labels["kolla.openstack.org/cloud"]`, After: b.cloud()},
	}
	if diff := cmp.Diff(want, a.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if a.Verb != plans.Adopt || a.Reasons[0].Kind != plans.ReasonUnowned {
		t.Errorf("%s because of %+v", a.Verb, a.Reasons)
	}
	b.apply(plan)
	b.settled()
}

// TestAdoptAnotherSpelling checks that kolla takes an object over from its owner if only a spelling
// differs, although no value changes.
func TestAdoptAnotherSpelling(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	theirs := strings.Replace(api(b, "keystone:1", "keystone"), "1024Mi", "1Gi", 1)
	theirs = strings.Replace(theirs, "namespace:", "labels: {kolla.openstack.org/cloud: "+b.cloud()+"}, namespace:", 1)
	path := filepath.Join(t.TempDir(), "theirs.yaml")
	if err := os.WriteFile(path, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "apply", "--server-side", "-f", path)
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	in := b.input()
	in.Adopt = everything(in.Objects)
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, %+v", err, problems)
	}
	if a := b.action(plan, atAPI); a.Verb != plans.Adopt || !a.Force || len(a.Changes) > 0 {
		t.Errorf("%s, force %t:\n%s", a.Verb, a.Force, lines(a.Changes))
	}
	b.apply(plan)
	b.settled()
}

// TestNode checks that kolla owns the labels of a Node, but not the Node.
func TestNode(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	node := "{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {example.org/" + b.namespace + ": \"true\"}}}"
	const at = "role.control/Node/node-1"
	o := b.declare(at, node)
	o.Partial = true
	o.Manifest.SetLabels(map[string]string{"example.org/" + b.namespace: "true"})
	plan := b.plan()
	if a := b.action(plan, at); a.Verb != plans.Update || len(a.Changes) != 1 || a.Reasons[0].Kind != plans.ReasonConfig {
		t.Errorf("action is %s because of %+v:\n%s", a.Verb, a.Reasons, lines(a.Changes))
	}
	b.apply(plan)
	b.settled()
	clustertest.Kubectl(t, "label", "node/node-1", "--overwrite", "example.org/"+b.namespace+"=false")
	if a := b.action(b.plan(), at); !a.Force || a.Changes[0].Manager != "kubectl-label" {
		t.Errorf("action is force %v, %+v", a.Force, a.Changes)
	}
	b.apply(b.plan())
	b.objects = nil
	if a := b.action(b.plan(), at); a.Verb != plans.Delete || !a.Partial {
		t.Errorf("undeclared, it is %s", a.Verb)
	}
}

func TestReorderedListRollsPods(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	swap := func(first, second string) string {
		return strings.Replace(api(b, "keystone:1", "keystone"), "      containers:",
			"      initContainers: [{name: "+first+", image: i}, {name: "+second+", image: i}]\n      containers:", 1)
	}
	b.declare(atAPI, swap("one", "two"))
	b.apply(b.plan())
	b.settled()
	b.declare(atAPI, swap("two", "one"))
	want := []plans.Change{{Path: "spec.template.spec.initContainers", Before: []any{"one", "two"}, After: []any{"two", "one"}}}
	if diff := cmp.Diff(want, b.action(b.plan(), atAPI).Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	b.apply(b.plan())
	b.settled()
}
