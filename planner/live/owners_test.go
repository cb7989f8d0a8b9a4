package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// controllerManager is the field manager of the local cluster's controllers, which are all part of
// one program.
const controllerManager = "kolla-devcluster"

// replicas returns the declared number of pods in the Deployment keystone-api.
func (b *bench) replicas() int64 {
	b.t.Helper()
	list, err := b.client.List(b.t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, b.namespace)
	if err != nil || len(list) != 1 {
		b.t.Fatalf("list: %v, %d", err, len(list))
	}
	n, _, _ := unstructured.NestedInt64(list[0].Object, "spec", "replicas")
	return n
}

// autoscale creates an autoscaler with a minimum number of pods, and waits until it has scaled.
func (b *bench) autoscale(least string) {
	b.t.Helper()
	clustertest.Kubectl(b.t, "autoscale", "-n", b.namespace, "deployment/keystone-api", "--min="+least, "--max=9")
	for range 120 {
		if json.Number(least) == json.Number(string(rune('0'+b.replicas()))) {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	b.t.Fatalf("the autoscaler leaves %d replicas", b.replicas())
}

// TestAutoscaler checks that kolla leaves the replicas to an autoscaler and says so, even when it
// changes other fields. Once the autoscaler is gone, kolla sets the replicas again.
func TestAutoscaler(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	b.autoscale("5")

	a := b.action(b.plan(), atAPI)
	if a.Verb != plans.None || len(a.Yields) != 1 {
		t.Fatalf("action is %s, %+v, %+v", a.Verb, a.Yields, a.Changes)
	}
	if y := a.Yields[0]; y.Path != "spec.replicas" || y.Manager != controllerManager {
		t.Errorf("yield is %+v", y)
	}
	b.settled()

	b.declare(atAPI, api(b, "keystone:2", "keystone"))
	a = b.action(b.plan(), atAPI)
	if a.Verb != plans.Update || a.Force || len(a.Changes) != 1 {
		t.Fatalf("action is %s, force %v:\n%s", a.Verb, a.Force, lines(a.Changes))
	}
	b.apply(b.plan())
	if n := b.replicas(); n != 5 {
		t.Fatalf("after an apply there are %d replicas", n)
	}
	b.settled()

	clustertest.Kubectl(t, "delete", "-n", b.namespace, "hpa/keystone-api")
	a = b.action(b.plan(), atAPI)
	if a.Verb != plans.Update || len(a.Yields) > 0 || len(a.Changes) != 1 || a.Changes[0].Path != "spec.replicas" {
		t.Fatalf("action is %s, %+v:\n%s", a.Verb, a.Yields, lines(a.Changes))
	}
	if last := a.Reasons[len(a.Reasons)-1]; last.Kind != plans.ReasonIdle || last.Manager != controllerManager {
		t.Errorf("reasons are %+v", a.Reasons)
	}
	b.apply(b.plan())
	if n := b.replicas(); n != 3 {
		t.Errorf("taken back there are %d replicas", n)
	}
	b.settled()
}

// TestAutoscalerOfUndeclaredReplicas checks that undeclared replicas belong to an existing
// autoscaler, even at 0, and that every plan lists them.
func TestAutoscalerOfUndeclaredReplicas(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, strings.Replace(api(b, "keystone:1", "keystone"), "  replicas: 3\n", "", 1))
	b.apply(b.plan())
	b.autoscale("4")
	for range 2 {
		plan := b.plan()
		if a := b.action(plan, atAPI); a.Verb != plans.None || len(plan.Foreign) != 1 || plan.Foreign[0].Fields[0].Path != "spec.replicas" {
			t.Fatalf("action is %s, left to others is %+v:\n%s", a.Verb, plan.Foreign, lines(a.Changes))
		}
		// The API server does not record who scaled to 0.
		clustertest.Kubectl(t, "scale", "-n", b.namespace, "deployment/keystone-api", "--replicas=0")
	}
	clustertest.Kubectl(t, "delete", "-n", b.namespace, "hpa/keystone-api")
	if a := b.action(b.plan(), atAPI); a.Verb != plans.Update || len(a.Changes) != 1 || a.Changes[0].Path != "spec.replicas" {
		t.Errorf("without it, action is %s:\n%s", a.Verb, lines(a.Changes))
	}
}

// TestAutoscalerAtZero checks that declared replicas stay with an autoscaler when it is scaled to
// 0.
func TestAutoscalerAtZero(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	b.autoscale("5")
	clustertest.Kubectl(t, "scale", "-n", b.namespace, "deployment/keystone-api", "--replicas=0")
	if a := b.action(b.plan(), atAPI); a.Verb != plans.None || len(a.Yields) != 1 {
		t.Errorf("action is %s, %+v:\n%s", a.Verb, a.Yields, lines(a.Changes))
	}
}

// TestIgnoredBelowWhatOthersAdded checks that a plan leaves an ignored field alone inside a field
// that others added.
func TestIgnoredBelowWhatOthersAdded(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone")).Lifecycle = &providers.Lifecycle{IgnoreFields: []string{"spec.template.spec.dnsConfig.nameservers"}}
	b.apply(b.plan())
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "deployment/keystone-api", `-p={"spec":{"template":{"spec":{"dnsConfig":{"nameservers":["192.0.2.1"]}}}}}`)
	b.settled()
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "deployment/keystone-api", `-p={"spec":{"template":{"spec":{"dnsConfig":{"searches":["evil.example"]}}}}}`)
	a := b.action(b.plan(), atAPI)
	if a.Verb != plans.Update || len(a.Changes) != 1 || a.Changes[0].Path != "spec.template.spec.dnsConfig.searches" {
		t.Errorf("action is %s:\n%s", a.Verb, lines(a.Changes))
	}
}

// TestIgnoredFields checks that kolla sends an ignored field with a new object, and never changes
// it afterwards.
func TestIgnoredFields(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	ignoring := func(image string, replicas string, fields ...string) {
		text := strings.Replace(api(b, image, "keystone"), "replicas: 3", "replicas: "+replicas, 1)
		b.declare(atAPI, text).Lifecycle = &providers.Lifecycle{IgnoreFields: fields}
	}
	ignoring("keystone:1", "3", "spec.replicas")
	b.apply(b.plan())
	if n := b.replicas(); n != 3 {
		t.Fatalf("a new object has %d replicas", n)
	}
	b.settled()

	// kolla is the only owner of the field, and keeps its value.
	ignoring("keystone:2", "4", "spec.replicas")
	b.apply(b.plan())
	if n := b.replicas(); n != 3 {
		t.Fatalf("after a change of what is ignored there are %d replicas", n)
	}
	b.settled()

	// Another client takes the field, and keeps it from then on.
	clustertest.Kubectl(t, "scale", "-n", b.namespace, "deployment/keystone-api", "--replicas=6")
	b.settled()
	ignoring("keystone:3", "4", "spec.replicas")
	b.apply(b.plan())
	if n := b.replicas(); n != 6 {
		t.Fatalf("after somebody's change there are %d replicas", n)
	}
	b.settled()

	// Ignore a field of a list element, and all fields below a field.
	clustertest.Kubectl(t, "set", "image", "-n", b.namespace, "deployment/keystone-api", "api=keystone:9")
	clustertest.Kubectl(t, "set", "resources", "-n", b.namespace, "deployment/keystone-api", "--requests=cpu=200m")
	ignoring("keystone:4", "4", "spec.replicas", `spec.template.spec.containers["api"].image`, "spec.template.spec.containers[*].resources")
	b.settled()

	ignoring("keystone:4", "4")
	a := b.action(b.plan(), atAPI)
	if len(a.Changes) != 3 || !a.Force {
		t.Errorf("without the rule: force %v\n%s", a.Force, lines(a.Changes))
	}
	b.apply(b.plan())
	b.settled()
}

// TestIgnoredElement checks that kolla leaves a whole ignored container to its other owner, and
// keeps a container that only kolla owns.
func TestIgnoredElement(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	text := strings.Replace(api(b, "keystone:1", "keystone"), "      containers:\n", "      containers:\n      - {name: proxy, image: proxy:1}\n", 1)
	rule := &providers.Lifecycle{IgnoreFields: []string{`spec.template.spec.containers["proxy"]`}}
	b.declare(atAPI, text).Lifecycle = rule
	b.apply(b.plan())
	b.declare(atAPI, strings.Replace(text, "proxy:1", "proxy:2", 1)).Lifecycle = rule
	b.settled()
	clustertest.Kubectl(t, "set", "image", "-n", b.namespace, "deployment/keystone-api", "proxy=proxy:7")
	b.settled()
	b.declare(atAPI, strings.Replace(text, "keystone:1", "keystone:2", 1)).Lifecycle = rule
	b.apply(b.plan())
	b.settled()
}

// TestForeignOwner checks that the lifecycle block decides about fields that another client has
// owned from the beginning.
func TestForeignOwner(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "configmap/keystone.conf", "--field-manager=helm", `-p={"data":{"other":"theirs"}}`)
	declare := func(l *providers.Lifecycle) {
		b.declare(atConf, strings.Replace(conf(b, "x"), ", data: {", ", data: {other: ours, ", 1)).Lifecycle = l
	}
	declare(nil)
	if a := b.action(b.plan(), atConf); a.Verb != plans.Update || !a.Force || len(a.Changes) != 1 || a.Changes[0].Manager != "helm" {
		t.Errorf("action is %s, force %t:\n%s", a.Verb, a.Force, lines(a.Changes))
	}
	declare(&providers.Lifecycle{YieldTo: []string{"helm"}})
	a := b.action(b.plan(), atConf)
	if a.Verb != plans.None || len(a.Yields) != 1 {
		t.Errorf("yielded: %s, %+v", a.Verb, a.Yields)
	}
	declare(&providers.Lifecycle{ForceFields: []string{"data.other"}})
	a = b.action(b.plan(), atConf)
	if a.Verb != plans.Update || !a.Force {
		t.Errorf("forced: %s, %v", a.Verb, a.Force)
	}
	b.apply(b.plan())
	b.settled()
}

// restless is a cluster whose controllers write to an object after each of the first dry runs.
type restless struct {
	*kubernetes.Client
	write func()
	left  int
}

func (r *restless) DryRun(ctx context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	if options.Over != nil && r.left > 0 {
		r.left--
		r.write()
	}
	return r.Client.DryRun(ctx, object, options)
}

func TestRemovalWhileControllersWrite(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "deployment/keystone-api", `-p={"spec":{"template":{"spec":{"dnsConfig":{"searches":["evil.example"]}}}}}`)
	in := b.input()
	revision := 100
	// Controllers of the cluster answer these writes with their own writes. The limit of ten
	// attempts covers both.
	in.Reader = &restless{Client: b.client, left: 4, write: func() {
		revision++
		clustertest.Kubectl(t, "patch", "-n", b.namespace, "deployment/keystone-api", "--subresource=status", fmt.Sprintf(`-p={"status":{"collisionCount":%d}}`, revision))
	}}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	if a := b.action(plan, atAPI); a.Verb != plans.Update || len(a.Changes) != 1 || !strings.HasPrefix(a.Changes[0].Path, "spec.template.spec.dnsConfig") {
		t.Errorf("action is %s:\n%s", a.Verb, lines(a.Changes))
	}
}
