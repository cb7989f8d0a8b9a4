package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

const atService = "service.keystone/Service/keystone"

// declareCloud declares objects of several shapes: lists with composite keys, atomic lists and
// maps, a file, empty maps, and quantities in unusual spellings.
func declareCloud(b *bench) {
	b.declare(atConf, conf(b, "x"))
	b.declare(atAPI, strings.NewReplacer("1024Mi", "1073741824", "containers:", "volumes: [{name: tmp, emptyDir: {}}]\n      containers:").Replace(api(b, "keystone:1", "keystone")))
	b.declare(atService, "{apiVersion: v1, kind: Service, metadata: {name: keystone, namespace: "+b.namespace+"}, spec: {selector: {app: keystone}, ports: [{name: a, port: 80, protocol: TCP}, {name: b, port: 80, protocol: UDP}]}}")
}

// evidence fails the test unless all objects are unchanged according to this kind of evidence.
func (b *bench) evidence(want plans.EvidenceKind) {
	b.t.Helper()
	for _, a := range b.plan().Actions {
		if len(a.Changes) > 0 || a.Evidence.Kind != want {
			b.t.Errorf("%s: %s by %q, want %q:\n%s", a.Address, a.Verb, a.Evidence.Kind, want, lines(a.Changes))
		}
	}
}

// recheck updates the state as an apply without changes does.
func (b *bench) recheck() {
	b.t.Helper()
	for _, a := range b.plan().Actions {
		for i := range b.state.Objects {
			if a.Verb == plans.None && b.state.Objects[i].Address == a.Address.String() {
				b.state.Objects[i].Fingerprint, b.state.Objects[i].DesiredDigest = a.Fingerprint, a.Object.Digest()
			}
		}
	}
}

func TestUnchangedIsKnownByItsFingerprint(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	declareCloud(b)
	b.apply(b.plan())
	b.evidence(plans.Fingerprint)
	b.settled()

	before := b.client.Requests()["patch (dry-run)"]
	clustertest.Kubectl(t, "annotate", "-n", b.namespace, "deployment/keystone-api", "team=blue")
	clustertest.Kubectl(t, "label", "-n", b.namespace, "service/keystone", "team=blue")
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "deployment/keystone-api", "--subresource=status", `-p={"status":{"collisionCount":1}}`)
	b.evidence(plans.Fingerprint)
	if after := b.client.Requests()["patch (dry-run)"]; after != before {
		t.Errorf("%d dry runs of objects in which kolla's own fields are the same", after-before)
	}
	b.settled()
}

func TestUnchangedIsKnownByWhatIsOwned(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.declare(atAPI, strings.Replace(api(b, "keystone:1", "keystone"), "1024Mi", "1Gi", 1))
	b.apply(b.plan())
	known := slices.Clone(b.state.Objects)
	// Only the server can tell which fields of a Deployment others added and which are defaults. A
	// ConfigMap has only declared fields.
	b.state.Objects[1].Fingerprint = state.Fingerprint{}
	b.state.Objects[0].Fingerprint = state.Fingerprint{}
	for at, want := range map[string]plans.EvidenceKind{atAPI: plans.DryRun, atConf: plans.Ownership} {
		if a := b.action(b.plan(), at); a.Verb != plans.None || a.Evidence.Kind != want {
			t.Errorf("with an old state, %s: %s by %s", at, a.Verb, a.Evidence.Kind)
		}
	}
	for name, forget := range map[string]func(*state.Object){
		"another server":        func(o *state.Object) { o.Fingerprint.Server = "v1.99.0" },
		"another configuration": func(o *state.Object) { o.DesiredDigest = strings.Repeat("0", 64) },
		"other admission":       func(o *state.Object) { o.Fingerprint.Admission = strings.Repeat("0", 64) },
	} {
		b.state.Objects = append([]state.Object(nil), known...)
		for i := range b.state.Objects {
			forget(&b.state.Objects[i])
		}
		b.evidence(plans.Ownership)
		b.settled()
		b.recheck()
		b.evidence(plans.Fingerprint)
		if t.Failed() {
			t.Fatalf("with %s", name)
		}
	}
}

// TestDoubtIsForTheServer checks that a plan asks the server about fields that the server
// normalizes or defaults.
func TestDoubtIsForTheServer(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, strings.Replace(api(b, "keystone:1", "keystone"), "1024Mi", "1073741824", 1))
	b.apply(b.plan())
	b.evidence(plans.Fingerprint)
	b.state.Objects[0].Fingerprint = state.Fingerprint{}
	b.evidence(plans.DryRun)
	b.recheck()
	b.evidence(plans.Fingerprint)
}

// TestEditsAreForTheServer checks that a plan asks the server after any edit of fields that kolla
// owns.
func TestEditsAreForTheServer(t *testing.T) {
	edits := map[string][]string{
		"a value":             {"set", "image", "deployment/keystone-api", "api=keystone:9"},
		"by a subresource":    {"scale", "deployment/keystone-api", "--replicas=9"},
		"a removed element":   {"patch", "deployment/keystone-api", "--type=json", `-p=[{"op":"remove","path":"/spec/template/spec/containers/1/ports"}]`},
		"a removed field":     {"patch", "service/keystone", "--type=json", `-p=[{"op":"remove","path":"/spec/selector"}]`},
		"a reordered list":    {"patch", "deployment/keystone-api", "--type=json", `-p=[{"op":"move","from":"/spec/template/spec/containers/1","path":"/spec/template/spec/containers/0"}]`},
		"an atomic map":       {"patch", "service/keystone", `-p={"spec":{"selector":{"more":"yes"}}}`},
		"another's apply":     {"apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", ""},
		"in kolla's own name": {"apply", "--server-side", "--field-manager=kolla", "-f", ""},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clustertest.Namespace(t))
			declareCloud(b)
			b.declare(atAPI, strings.Replace(api(b, "keystone:1", "keystone"), "      - name: api", "      - {name: first, image: i}\n      - name: api", 1))
			b.apply(b.plan())
			b.evidence(plans.Fingerprint)
			if edit[len(edit)-1] == "" {
				file := filepath.Join(t.TempDir(), "edit.yaml")
				text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: keystone.conf, namespace: " + b.namespace + "}, data: {keystone.conf: theirs}}"
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				edit[len(edit)-1] = file
			}
			clustertest.Kubectl(t, append([]string{"-n", b.namespace}, edit...)...)
			in := b.input()
			in.ForceConflicts = true
			plan, problems, err := planner.Make(t.Context(), in)
			problems = slices.DeleteFunc(problems, func(p plans.Problem) bool {
				return name == "in kolla's own name" && p.Warning && strings.HasPrefix(p.Summary, "The state is older than what was written")
			})
			if err != nil || len(problems) > 0 {
				t.Fatalf("Make: %v, problems %+v", err, problems)
			}
			updates := 0
			for _, a := range plan.Actions {
				if a.Verb == plans.Update && a.Evidence.Kind == plans.DryRun && len(a.Changes) > 0 {
					updates++
				} else if a.Verb != plans.None || a.Evidence.Kind != plans.Fingerprint {
					t.Errorf("%s: %s by %q", a.Address, a.Verb, a.Evidence.Kind)
				}
			}
			if updates != 1 {
				t.Errorf("%d objects would be updated, want 1", updates)
			}
			b.apply(plan)
			b.settled()
			b.evidence(plans.Fingerprint)
		})
	}
}

// TestSharedFieldsAreForTheServer checks that a plan asks the server when another manager owns a
// declared field with the declared value. Nothing changes, but the fields that kolla owns do not
// prove it.
func TestSharedFieldsAreForTheServer(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "configmap/keystone.conf", `-p={"data":{"more":"y"}}`)
	o := b.declare(atConf, conf(b, "x"))
	o.Manifest.Object["data"].(map[string]any)["more"] = "y"
	b.evidence(plans.DryRun)
	b.recheck()
	b.evidence(plans.DryRun)
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "configmap/keystone.conf", `-p={"data":{"more":"z"}}`)
	if a := b.action(b.plan(), atConf); a.Verb != plans.Update || len(a.Changes) != 1 {
		t.Errorf("after their edit: %s\n%s", a.Verb, lines(a.Changes))
	}
}

// TestPluralsAreRegular checks that the plurals of Kubernetes' kinds are regular, except one, which
// the planner knows. The planner matches webhooks by plural.
func TestPluralsAreRegular(t *testing.T) {
	config := clustertest.Config(t)
	_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerGroupsAndResourcesWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			kind := version.WithKind(r.Kind)
			if strings.Contains(r.Name, "/") || !scheme.Scheme.Recognizes(kind) || r.Kind == "Endpoints" {
				continue
			}
			checked++
			if plural, _ := meta.UnsafeGuessKindToResource(kind); plural.Resource != r.Name {
				t.Errorf("%s is %s, not %s", kind, r.Name, plural.Resource)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d kinds", checked)
	}
}

// TestUnchangedOverARestart checks that a restarted server, which has read its objects from
// storage, returns them unchanged.
func TestUnchangedOverARestart(t *testing.T) {
	t.Parallel() // the test has its own server
	own := clustertest.Start(t)
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: own.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	identity, err := client.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, client: client, namespace: "default", cluster: identity}
	declareCloud(b)
	b.apply(b.plan())
	b.evidence(plans.Fingerprint)
	own.Restart(t, "kube-apiserver")
	b.evidence(plans.Fingerprint)
	b.settled()
}

// TestVerifyAllFindsAWrongState checks that -verify=full finds a wrong record in the state.
func TestVerifyAllFindsAWrongState(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.apply(b.plan())
	clustertest.Kubectl(t, "patch", "-n", b.namespace, "configmap/keystone.conf", `-p={"data":{"keystone.conf":"theirs"}}`)
	live, err := b.client.List(t.Context(), b.objects[0].Ref().GVK, b.namespace)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := proof.ReadRules(t.Context(), b.client, b.cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range live {
		if u.GetName() == "keystone.conf" {
			b.state.Objects[0].Fingerprint = rules.Written(u, "kolla", proof.Terms{})
		}
	}
	b.evidence(plans.Fingerprint) // without -verify=full the plan believes the state
	in := b.input()
	in.VerifyAll = true
	got := b.problem(in)
	for _, want := range []string{"ConfigMap " + b.namespace + "/keystone.conf", `"fingerprint"`, `data["keystone.conf"]`, "bug of kolla's"} {
		if !strings.Contains(got, want) {
			t.Errorf("the problem does not say %s: %s", want, got)
		}
	}
}

// TestRequestsOfAnUnchangedCloud checks that a plan of an unchanged cloud needs one LIST per kind,
// namespace and page of 500, and at most five other requests.
func TestRequestsOfAnUnchangedCloud(t *testing.T) {
	for name, count := range map[string]int{"41 objects": 20, "1001 objects": 500} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, clustertest.Namespace(t))
			for i := range count {
				text := conf(b, "x")
				b.declare(fmt.Sprintf("service.s/ConfigMap/c-%d", i), strings.Replace(text, "name: keystone.conf", fmt.Sprintf("name: c-%d", i), 1))
				text = strings.NewReplacer("name: keystone-api", fmt.Sprintf("name: d-%d", i), "replicas: 3", "replicas: 0").Replace(api(b, "keystone:1", "keystone"))
				b.declare(fmt.Sprintf("service.s/Deployment/d-%d", i), text)
			}
			b.declare(atService, "{apiVersion: v1, kind: Service, metadata: {name: keystone, namespace: "+b.namespace+"}, spec: {selector: {app: keystone}, ports: [{name: a, port: 80, protocol: TCP}]}}")
			b.apply(b.plan())

			fresh := newBench(t, b.namespace)
			fresh.state, fresh.objects = b.state, b.objects
			fresh.evidence(plans.Fingerprint)
			got := fresh.client.Requests()
			// The kinds are Namespaces, Services, Deployments, ConfigMaps (including one of the
			// cluster's own), and two kinds of admission.
			lists := 2 + (count+499)/500 + (count+1+499)/500 + 2
			others := 0
			for verb, n := range got {
				if verb != "list" {
					others += n
				}
			}
			if got["list"] != lists || others+2 > 5 {
				t.Errorf("requests are %v, want %d lists and at most 3 others", got, lists)
			}
		})
	}
}

// TestRequestsOfCustomResources checks that custom resources of all kinds need only two more
// requests: for the kinds that exist, and for their storage versions.
func TestRequestsOfCustomResources(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	create(t, "customresourcedefinition", strings.ReplaceAll(definition, "live.example.org", "requests.example.org"))
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "--timeout=30s", "customresourcedefinition/widgets.requests.example.org")
	const at = "manifest.w/Widget/w"
	b.declare(atConf, conf(b, "x"))
	b.declare(at, "{apiVersion: requests.example.org/v1, kind: Widget, metadata: {name: w, namespace: "+b.namespace+"}, spec: {colour: red, parts: [{name: a, count: 1}]}}")
	clustertest.Eventually(t, "the server takes the new kind", func() bool {
		plan, problems, err := planner.Make(t.Context(), b.input())
		return err == nil && len(problems) == 0 && b.action(plan, at).Evidence.Kind == plans.DryRun
	})
	b.apply(b.plan())

	fresh := newBench(t, b.namespace)
	fresh.state, fresh.objects = b.state, b.objects
	if a := fresh.action(fresh.plan(), at); a.Verb != plans.None || a.Evidence.Kind != plans.Ownership {
		t.Errorf("decided %s by %q", a.Verb, a.Evidence.Kind)
	}
	// The LISTs are for Namespaces, ConfigMaps, Widgets, their definitions and two kinds of
	// admission. Two more requests identify the cluster, and one finds its kinds.
	want := map[string]int{"list": 6, "get": 2, "discovery": 1}
	if diff := cmp.Diff(want, fresh.client.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
