package live_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const atThing = "manifest.a/Thing/a"

// change is a declaration before and after; $NS is filled in.
type change struct {
	before, after string
	// meanwhile happens to the object in the cluster before it is planned again.
	meanwhile func(b *bench)
	paths     []string // the immutable fields
	// refused is the reason why kolla does not replace the object until the operator names it;
	// empty: kolla replaces it.
	refused string
	lost    string // the data that are lost with the object once the operator has named it
	keeps   bool   // the object's pods survive
}

// TestImmutable checks changes of immutable fields, for which each kind has its own message. The
// plan names the fields, a dry run proves that the server accepts the new object, and after the
// apply nothing is left to do.
func TestImmutable(t *testing.T) {
	for name, test := range immutables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clustertest.Namespace(t))
			in := func(text string) string { return strings.ReplaceAll(text, "$NS", b.namespace) }
			t.Cleanup(func() {
				if ref := b.objects[0].Ref(); ref.Namespace == "" {
					clustertest.Kubectl(t, "delete", ref.GVK.Kind, ref.Name, "--ignore-not-found", "--wait=false")
				}
			})
			b.declare(atThing, in(test.before))
			b.apply(b.plan())
			if test.meanwhile != nil {
				test.meanwhile(b)
			}
			b.settled()
			base := slices.Clone(b.objects)
			b.declare(atThing, in(test.after))
			b.compares(base, test.paths)
			allowed := b.input()
			if test.refused != "" {
				b.refused(test.refused, test.paths)
				allowed.DeleteData = []string{atThing}
			}
			plan, problems, err := planner.Make(t.Context(), allowed)
			if err != nil || len(problems) > 0 {
				t.Fatalf("Make: %v, problems %+v", err, problems)
			}
			a := b.action(plan, atThing)
			if a.Verb != plans.Replace || a.Evidence.Kind != plans.Surrogate || a.Holds != test.lost || a.KeepsPods != test.keeps {
				t.Errorf("action is %s, proven by %+v, losing %q", a.Verb, a.Evidence, a.Holds)
			}
			if diff := cmp.Diff(test.paths, immutablePaths(a)); diff != "" {
				t.Errorf("what cannot change (-want +got):\n%s", diff)
			}
			if len(a.Changes) == 0 {
				t.Error("no change is shown")
			}
			b.apply(plan)
			b.settled()
		})
	}
}

// compares fails the test if a comparison without the server names another field as immutable, or
// misses the immutable fields of the usual kinds.
func (b *bench) compares(base []providers.Object, paths []string) {
	b.t.Helper()
	plan, _, err := planner.Compare(b.t.Context(), planner.Input{Cloud: b.cloud(), Namespace: b.namespace, Objects: b.objects, Now: time.Now()}, base, nil)
	if err != nil || plan == nil {
		b.t.Fatalf("Compare: %v", err)
	}
	a := b.action(plan, atThing)
	for _, r := range a.Reasons {
		known := slices.ContainsFunc(paths, func(path string) bool { return fields.Within(path, r.Path) || fields.Within(r.Path, path) })
		if a.Verb == plans.Replace && !known {
			b.t.Errorf("without the server, %s cannot change; with it, only %q", r.Path, paths)
		}
	}
	known := []string{"ConfigMap", "Secret", "Deployment", "DaemonSet", "StatefulSet", "Job", "StorageClass", "RoleBinding", "ClusterRoleBinding"}
	if a.Verb != plans.Replace && slices.Contains(known, a.Ref.GVK.Kind) {
		b.t.Errorf("without the server the action is %s, though %q cannot change", a.Verb, paths)
	}
}

// optionsIn matches the command-line options in a message.
var optionsIn = regexp.MustCompile(`-[a-z]+(?:-[a-z]+)*=\S+`)

// refused fails the test unless the plan refuses to replace the object because it holds data. The
// message must name the fields and the one option that allows the replacement.
func (b *bench) refused(holds string, paths []string) {
	b.t.Helper()
	in := b.input()
	in.DeleteData = []string{"manifest.b/Thing/b"}
	_, problems, err := planner.Make(b.t.Context(), in)
	problems = slices.DeleteFunc(problems, func(p plans.Problem) bool { return p.Warning })
	if err != nil || len(problems) != 1 {
		b.t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	got := problems[0]
	if !strings.Contains(got.Summary, "cannot be changed in place, and holds "+holds) {
		b.t.Errorf("summary is %q", got.Summary)
	}
	if !strings.HasPrefix(got.Detail, strings.Join(paths, ", ")+" cannot change. ") {
		b.t.Errorf("detail is %q, want the fields %q", got.Detail, paths)
	}
	if options := optionsIn.FindAllString(got.Detail, -1); len(options) != 1 || options[0] != "-delete-data="+atThing+"." {
		b.t.Errorf("detail %q names the options %q", got.Detail, options)
	}
}

// TestReplacementThatIsNotTaken checks that kolla does not replace an object if the server rejects
// the new one: the old object stays.
func TestReplacementThatIsNotTaken(t *testing.T) {
	tests := map[string]struct{ other, before, after, want string }{
		"node port of a headless Service": {
			before: aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30881}]"),
			after:  aService("type: NodePort, clusterIP: None, ports: [{name: a, port: 80, nodePort: 30881}]"),
			want:   "may not be set to 'None' for NodePort services",
		},
		"node port that is left behind": {
			before: aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30882}]"),
			after:  aService("type: ClusterIP, clusterIP: None, ports: [{name: a, port: 80, nodePort: 30882}]"),
			want:   "spec.ports[0].nodePort",
		},
		"one node port twice": {
			before: aService("type: NodePort, clusterIP: 10.96.77.21, ports: [{name: a, port: 80, nodePort: 30883}]"),
			after:  aService("type: NodePort, clusterIP: 10.96.77.22, ports: [{name: a, port: 80, nodePort: 30883}, {name: b, port: 81, nodePort: 30883}]"),
			want:   "duplicate nodePort: {TCP 30883}",
		},
		"node port of another Service": {
			other:  aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30885}]"),
			before: aService("type: NodePort, clusterIP: 10.96.77.23, ports: [{name: a, port: 80, nodePort: 30884}]"),
			after:  aService("type: NodePort, clusterIP: 10.96.77.24, ports: [{name: a, port: 80, nodePort: 30885}]"),
			want:   "provided port is already allocated",
		},
		"address of another Service": {
			other:  aService("clusterIP: 10.96.77.25, ports: [{name: a, port: 80}]"),
			before: aService("clusterIP: 10.96.77.26, ports: [{name: a, port: 80}]"),
			after:  aService("clusterIP: 10.96.77.25, ports: [{name: a, port: 80}]"),
			want:   "10.96.77.25 is the address of Service ",
		},
		"selector of other pods": {
			before: namespaced("apps/v1", "Deployment", ofPods("one", "i", "")),
			after:  strings.Replace(namespaced("apps/v1", "Deployment", ofPods("two", "i", "")), "labels: {app: two}", "labels: {app: three}", 1),
			want:   "`selector` does not match template `labels`",
		},
		"no room in the quota": {
			before: namespaced("v1", "ConfigMap", "immutable: true, data: {a: x}"),
			after:  namespaced("v1", "ConfigMap", "immutable: true, data: {a: z}"),
			want:   "leave room for one more in the quota",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, clustertest.Namespace(t))
			in := func(text string) string { return strings.ReplaceAll(text, "$NS", b.namespace) }
			if test.other != "" {
				b.declare("manifest.a/Thing/other", strings.Replace(in(test.other), "name: a, namespace", "name: other, namespace", 1))
			}
			b.declare(atThing, in(test.before))
			b.apply(b.plan())
			if strings.Contains(name, "quota") {
				clustertest.Kubectl(t, "create", "quota", "-n", b.namespace, "full", "--hard=count/configmaps=2")
				clustertest.Eventually(t, "the quota counts", func() bool {
					return clustertest.Kubectl(t, "get", "quota", "-n", b.namespace, "full", "-o", "jsonpath={.status.used}") != ""
				})
			}
			b.declare(atThing, in(test.after))
			if got := b.problem(b.input()); !strings.Contains(got, test.want) || strings.Contains(got, "cannot change.") {
				t.Errorf("problem is %q", got)
			}
		})
	}
}

// TestClaimInUse checks that kolla does not replace a claim that pods use. It would only be gone
// once the pods are.
func TestClaimInUse(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	in := func(text string) string { return strings.ReplaceAll(text, "$NS", b.namespace) }
	b.declare(atThing, in(aClaim("one", "1Gi")))
	b.declare("manifest.a/Pod/user", in("{apiVersion: v1, kind: Pod, metadata: {name: user, namespace: $NS}, spec: {nodeSelector: {no: node}, containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]}}"))
	b.apply(b.plan())
	b.declare(atThing, in(aClaim("two", "1Gi")))
	allowed := b.input()
	allowed.DeleteData = []string{atThing}
	if got := b.problem(allowed); !strings.Contains(got, "is in use by Pod "+b.namespace+"/user") {
		t.Errorf("problem is %q", got)
	}
	clustertest.Kubectl(t, "delete", "pod", "-n", b.namespace, "user", "--now")
	b.objects = b.objects[:1]
	allowed = b.input()
	allowed.DeleteData = []string{atThing}
	plan, problems, err := planner.Make(t.Context(), allowed)
	if err != nil || len(problems) > 0 || b.action(plan, atThing).Verb != plans.Replace {
		t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	b.apply(plan)
	b.settled()
}

// TestNamespaceIsNotReplaced checks that kolla does not replace a namespace that contains objects.
// The steps in the refusal delete the whole namespace.
func TestNamespaceIsNotReplaced(t *testing.T) {
	const atNamespace = "cloud.c/Namespace/n"
	b := newBench(t, clustertest.Namespace(t)+"-own")
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "namespace", b.namespace, "--wait=false", "--ignore-not-found")
	})
	b.declare(atNamespace, "{apiVersion: v1, kind: Namespace, metadata: {name: "+b.namespace+"}}")
	b.declare("manifest.a/ConfigMap/a", strings.ReplaceAll(namespaced("v1", "ConfigMap", "data: {a: x}"), "$NS", b.namespace))
	b.declare("manifest.a/PersistentVolumeClaim/a", strings.ReplaceAll(aClaim("one", "1Gi"), "$NS", b.namespace))
	b.apply(b.plan())
	in := b.input()
	in.Replace, in.DeleteData = []string{atNamespace}, []string{"*"}
	_, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) == 0 || !strings.Contains(problems[0].Detail, "kolla destroy -target="+atNamespace+" -delete-data='*'") {
		t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	in = b.input()
	in.Destroy, in.DeleteData, in.Selection.Targets = true, []string{"*"}, []string{atNamespace}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 || len(plan.Actions) != 3 || len(plan.Kept) > 0 {
		t.Errorf("Make: %v, problems %+v, plan %+v", err, problems, plan)
	}
	if last := plan.Actions[len(plan.Actions)-1]; last.Verb != plans.Delete || last.Address != address(atNamespace) {
		t.Errorf("last is %s %s", last.Verb, last.Address)
	}
}

// TestDefinitionIsNotReplaced checks that kolla does not replace a definition. A definition is
// valid only under its own name, so a dry run of a new one is impossible.
func TestDefinitionIsNotReplaced(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	const at = "manifest.w/CustomResourceDefinition/gears.live.example.org"
	text := strings.NewReplacer("widgets", "gears", "Widget", "Gear").Replace(definition)
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "customresourcedefinition", "gears.live.example.org", "--ignore-not-found")
	})
	b.declare(at, text)
	b.apply(b.plan())
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "--timeout=30s", "customresourcedefinition/gears.live.example.org")
	b.declare(at, strings.Replace(text, "scope: Namespaced", "scope: Cluster", 1))
	got := b.problem(b.input())
	if !strings.Contains(got, "spec.scope cannot change") || !strings.Contains(got, "apply with -delete-data="+at) {
		t.Errorf("problem is %q", got)
	}
	b.objects = nil
	in := b.input()
	in.DeleteData = []string{at}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 || b.action(plan, at).Verb != plans.Delete {
		t.Errorf("Make: %v, problems %+v", err, problems)
	}
}

// TestMutableAfterAll checks that some fields that look immutable change in place.
func TestMutableAfterAll(t *testing.T) {
	tests := map[string]struct{ before, after string }{
		"selector of a PodDisruptionBudget": {
			before: namespaced("policy/v1", "PodDisruptionBudget", "spec: {maxUnavailable: 1, selector: {matchLabels: {app: one}}}"),
			after:  namespaced("policy/v1", "PodDisruptionBudget", "spec: {maxUnavailable: 1, selector: {matchLabels: {app: two}}}"),
		},
		"larger claim": {before: aClaim("grows-$NS", "2Gi"), after: aClaim("grows-$NS", "3Gi")},
		"node port":    {before: aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30891}]"), after: aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30892}]")},
		"no node port": {before: aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30893}]"), after: aService("ports: [{name: a, port: 80}]")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, clustertest.Namespace(t))
			in := func(text string) string { return strings.ReplaceAll(text, "$NS", b.namespace) }
			if strings.Contains(name, "claim") {
				b.declare("manifest.a/StorageClass/grows", in("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: grows-$NS}, provisioner: example.org/none, allowVolumeExpansion: true}"))
				t.Cleanup(func() { clustertest.Kubectl(t, "delete", "storageclass", "grows-"+b.namespace) })
			}
			b.declare(atThing, in(test.before))
			b.apply(b.plan())
			if strings.Contains(name, "claim") {
				bound(b)
			}
			b.declare(atThing, in(test.after))
			plan := b.plan()
			if a := b.action(plan, atThing); a.Verb != plans.Update {
				t.Errorf("action is %s because of %+v", a.Verb, a.Reasons)
			}
			b.apply(plan)
			b.settled()
		})
	}
}

func immutablePaths(a plans.Action) []string {
	var paths []string
	for _, r := range a.Reasons {
		if r.Kind == plans.ReasonImmutable {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// bound makes a claim look as if it had a volume.
func bound(b *bench) {
	clustertest.Kubectl(b.t, "patch", "-n", b.namespace, "pvc/a", "--subresource=status", "--type=merge",
		`-p={"status":{"phase":"Bound","capacity":{"storage":"2Gi"},"accessModes":["ReadWriteOnce"]}}`)
}

func namespaced(apiVersion, kind, rest string) string {
	return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: a, namespace: $NS}, " + rest + "}"
}

func clusterWide(apiVersion, kind, rest string) string {
	return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: $NS}, " + rest + "}"
}

// ofPods returns the spec of a workload whose pods have the label app.
func ofPods(app, image, rest string) string {
	return "spec: {" + rest + " selector: {matchLabels: {app: " + app + "}}, template: {metadata: {labels: {app: " + app + "}}, spec: {nodeSelector: {no: node}, containers: [{name: c, image: " + image + "}]}}}"
}

// template returns a claim template of a StatefulSet and the rest of its spec.
func template(size, rest string) string {
	return "replicas: 0, serviceName: a, " + rest + " volumeClaimTemplates: [" + claimTemplate("d", size) + "],"
}

func claimTemplate(name, size string) string {
	return "{metadata: {name: " + name + "}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: " + size + "}}}}"
}

func aService(rest string) string { return namespaced("v1", "Service", "spec: {"+rest+"}") }

func aClaim(class, size string) string {
	return namespaced("v1", "PersistentVolumeClaim", "spec: {storageClassName: "+class+", accessModes: [ReadWriteOnce], resources: {requests: {storage: "+size+"}}}")
}

func aJob(image, rest string) string {
	return namespaced("batch/v1", "Job", "spec: {suspend: true, "+rest+" template: {spec: {restartPolicy: Never, containers: [{name: c, image: "+image+"}]}}}")
}

var immutables = map[string]change{
	"ConfigMap": {
		before: namespaced("v1", "ConfigMap", "immutable: true, data: {a.conf: x}"),
		after:  namespaced("v1", "ConfigMap", "immutable: true, data: {a.conf: z}"),
		paths:  []string{`data["a.conf"]`},
	},
	"ConfigMap that is to be mutable again": {
		before: namespaced("v1", "ConfigMap", "immutable: true, data: {a: x}"),
		after:  namespaced("v1", "ConfigMap", "data: {a: x}"),
		paths:  []string{"immutable"},
	},
	"type of a Secret": {
		before: namespaced("v1", "Secret", "type: example.org/one"),
		after:  namespaced("v1", "Secret", "type: example.org/two"),
		paths:  []string{"type"},
	},
	"immutable Secret": {
		before: namespaced("v1", "Secret", "immutable: true, data: {a: eA==}"),
		after:  namespaced("v1", "Secret", "immutable: true, data: {a: eg==}"),
		paths:  []string{`data["a"]`},
	},
	"selector of a Deployment": {
		before: namespaced("apps/v1", "Deployment", ofPods("one", "i", "")),
		after:  namespaced("apps/v1", "Deployment", ofPods("two", "i", "")),
		paths:  []string{"spec.selector"},
	},
	"selector of a DaemonSet": {
		before: namespaced("apps/v1", "DaemonSet", ofPods("one", "i", "")),
		after:  namespaced("apps/v1", "DaemonSet", ofPods("two", "i", "")),
		paths:  []string{"spec.selector"},
	},
	"selector of a ReplicaSet": {
		before: namespaced("apps/v1", "ReplicaSet", ofPods("one", "i", "replicas: 0,")),
		after:  namespaced("apps/v1", "ReplicaSet", ofPods("two", "i", "replicas: 0,")),
		paths:  []string{"spec.selector"},
	},
	"StatefulSet without volumes": {
		before: namespaced("apps/v1", "StatefulSet", ofPods("one", "i", "replicas: 0, serviceName: one,")),
		after:  namespaced("apps/v1", "StatefulSet", ofPods("one", "j", "replicas: 0, serviceName: two, podManagementPolicy: Parallel,")),
		paths:  []string{"spec.serviceName", "spec.podManagementPolicy"},
	},
	"claim templates": {
		before: namespaced("apps/v1", "StatefulSet", ofPods("one", "i", template("1Gi", ""))),
		after:  namespaced("apps/v1", "StatefulSet", ofPods("one", "j", template("2Gi", ""))),
		paths:  []string{"spec.volumeClaimTemplates"},
		keeps:  true,
	},
	"another claim": {
		before:  namespaced("apps/v1", "StatefulSet", ofPods("one", "i", template("1Gi", ""))),
		after:   namespaced("apps/v1", "StatefulSet", ofPods("one", "i", strings.Replace(template("1Gi", ""), "[{", "["+claimTemplate("logs", "1Gi")+", {", 1))),
		paths:   []string{"spec.volumeClaimTemplates"},
		refused: "volumes of its own for each replica",
	},
	"order in which pods start": {
		before: namespaced("apps/v1", "StatefulSet", ofPods("one", "i", "replicas: 0, serviceName: one,")),
		after:  namespaced("apps/v1", "StatefulSet", ofPods("one", "i", "replicas: 0, serviceName: one, podManagementPolicy: Parallel,")),
		paths:  []string{"spec.podManagementPolicy"},
		keeps:  true,
	},
	"service of volumes": {
		before:  namespaced("apps/v1", "StatefulSet", ofPods("one", "i", strings.Replace(template("1Gi", ""), "serviceName: a", "serviceName: one", 1))),
		after:   namespaced("apps/v1", "StatefulSet", ofPods("one", "i", strings.Replace(template("1Gi", ""), "serviceName: a", "serviceName: two", 1))),
		paths:   []string{"spec.serviceName"},
		refused: "volumes of its own for each replica",
	},
	"claim templates of volumes that go with it": {
		before:  namespaced("apps/v1", "StatefulSet", ofPods("one", "i", template("1Gi", "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete},"))),
		after:   namespaced("apps/v1", "StatefulSet", ofPods("one", "i", template("2Gi", "persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain},"))),
		paths:   []string{"spec.volumeClaimTemplates"},
		refused: "the data on the volumes of its replicas, which are deleted with it",
		lost:    "the data on the volumes of its replicas, which are deleted with it",
	},
	"storage class of a claim": {
		before: aClaim("one", "2Gi"), after: aClaim("two", "2Gi"),
		paths: []string{"spec.storageClassName"}, refused: "the data on its volume", lost: "the data on its volume",
	},
	"smaller claim": {
		before: aClaim("one", "2Gi"), after: aClaim("one", "1Gi"), meanwhile: bound,
		paths: []string{"spec.resources.requests.storage"}, refused: "the data on its volume", lost: "the data on its volume",
	},
	"claim that changes in both ways": {
		before: aClaim("one", "2Gi"), after: aClaim("two", "1Gi"), meanwhile: bound,
		paths: []string{"spec.storageClassName", "spec.resources.requests.storage"}, refused: "the data on its volume", lost: "the data on its volume",
	},
	"volume": {
		before:  clusterWide("v1", "PersistentVolume", "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /one}}"),
		after:   clusterWide("v1", "PersistentVolume", "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /two}}"),
		paths:   []string{"spec.hostPath.path"},
		refused: "the data on it",
		lost:    "the data on it",
	},
	"template of a Job": {
		before: aJob("one", ""), after: aJob("two", ""),
		paths: []string{`spec.template.spec.containers["c"].image`},
	},
	"more of a Job": {
		before: aJob("one", "completionMode: NonIndexed,"), after: aJob("two", "completionMode: Indexed, completions: 2,"),
		paths: []string{`spec.template.spec.containers["c"].image`, "spec.completionMode"},
	},
	"cluster IP": {
		before: aService("clusterIP: 10.96.77.1, ports: [{port: 80}]"),
		after:  aService("clusterIP: 10.96.77.2, ports: [{port: 80}]"),
		paths:  []string{"spec.clusterIP"},
	},
	"cluster IP beside a port that stays": {
		before: aService("type: NodePort, clusterIP: 10.96.77.3, ports: [{name: a, port: 80, nodePort: 30871}]"),
		after:  aService("type: NodePort, clusterIP: 10.96.77.4, ports: [{name: a, port: 80, nodePort: 30871}]"),
		paths:  []string{"spec.clusterIP"},
	},
	"node port to headless": {
		before: aService("type: NodePort, ports: [{name: a, port: 80, nodePort: 30872}]"),
		after:  aService("type: ClusterIP, clusterIP: None, ports: [{name: a, port: 80}]"),
		paths:  []string{"spec.clusterIP"},
	},
	"headless to node port": {
		before: aService("clusterIP: None, selector: {a: b}, ports: [{name: a, port: 80}]"),
		after:  aService("type: NodePort, clusterIP: 10.96.77.5, selector: {a: b}, ports: [{name: a, port: 80, nodePort: 30873}]"),
		paths:  []string{"spec.clusterIP"},
	},
	"port of health checks beside what stays": {
		before: aService("type: LoadBalancer, clusterIP: 10.96.77.6, externalTrafficPolicy: Local, healthCheckNodePort: 30874, ports: [{name: a, port: 80, nodePort: 30875}, {name: u, port: 80, protocol: UDP, nodePort: 30875}]"),
		after:  aService("type: LoadBalancer, clusterIP: 10.96.77.6, externalTrafficPolicy: Local, healthCheckNodePort: 30876, ports: [{name: a, port: 80, nodePort: 30875}, {name: u, port: 80, protocol: UDP, nodePort: 30875}]"),
		paths:  []string{"spec.healthCheckNodePort"},
	},
	"cluster IP beside a port of health checks that stays": {
		before: aService("type: LoadBalancer, clusterIP: 10.96.77.7, externalTrafficPolicy: Local, healthCheckNodePort: 30877, ports: [{name: a, port: 80}]"),
		after:  aService("type: LoadBalancer, clusterIP: 10.96.77.8, externalTrafficPolicy: Local, healthCheckNodePort: 30877, ports: [{name: a, port: 80}]"),
		paths:  []string{"spec.clusterIP"},
	},
	"class of a load balancer": {
		before: aService("type: LoadBalancer, loadBalancerClass: example.org/one, ports: [{port: 80}]"),
		after:  aService("type: LoadBalancer, loadBalancerClass: example.org/two, ports: [{port: 80}]"),
		paths:  []string{"spec.loadBalancerClass"},
	},
	"role of a binding": {
		before: namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: one}"),
		after:  namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: two}"),
		paths:  []string{"roleRef"},
	},
	"role of a binding for the cluster": {
		before: clusterWide("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: one}"),
		after:  clusterWide("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: two}"),
		paths:  []string{"roleRef"},
	},
	"StorageClass": {
		before: clusterWide("storage.k8s.io/v1", "StorageClass", "provisioner: one.example.org, parameters: {pool: one}"),
		after:  clusterWide("storage.k8s.io/v1", "StorageClass", "provisioner: two.example.org, parameters: {pool: two}, reclaimPolicy: Retain, volumeBindingMode: WaitForFirstConsumer"),
		paths:  []string{"provisioner", "parameters.pool", "reclaimPolicy", "volumeBindingMode"},
	},
	"CSIDriver": {
		before: clusterWide("storage.k8s.io/v1", "CSIDriver", "spec: {attachRequired: false}"),
		after:  clusterWide("storage.k8s.io/v1", "CSIDriver", "spec: {attachRequired: true}"),
		paths:  []string{"spec.attachRequired"},
	},
	"PriorityClass": {
		before: clusterWide("scheduling.k8s.io/v1", "PriorityClass", "value: 10"),
		after:  clusterWide("scheduling.k8s.io/v1", "PriorityClass", "value: 11"),
		paths:  []string{"value"},
	},
	"default PriorityClass": {
		before: clusterWide("scheduling.k8s.io/v1", "PriorityClass", "value: 10, globalDefault: true"),
		after:  clusterWide("scheduling.k8s.io/v1", "PriorityClass", "value: 11, globalDefault: true"),
		paths:  []string{"value"},
	},
	"IngressClass": {
		before: clusterWide("networking.k8s.io/v1", "IngressClass", "spec: {controller: example.org/one}"),
		after:  clusterWide("networking.k8s.io/v1", "IngressClass", "spec: {controller: example.org/two}"),
		paths:  []string{"spec.controller"},
	},
	"RuntimeClass": {
		before: clusterWide("node.k8s.io/v1", "RuntimeClass", "handler: one"),
		after:  clusterWide("node.k8s.io/v1", "RuntimeClass", "handler: two"),
		paths:  []string{"handler"},
	},
	"EndpointSlice": {
		before: namespaced("discovery.k8s.io/v1", "EndpointSlice", "addressType: IPv4, endpoints: []"),
		after:  namespaced("discovery.k8s.io/v1", "EndpointSlice", "addressType: IPv6, endpoints: []"),
		paths:  []string{"addressType"},
	},
}

// TestCustomResourceIsNotReplacedUnasked checks that kolla does not replace a custom resource
// without permission. Only its operator knows what a deletion does.
func TestCustomResourceIsNotReplacedUnasked(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	const at = "manifest.d/Database/d"
	create(t, "customresourcedefinition", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.immutable.example.org}
spec:
  group: immutable.example.org
  names: {kind: Database, plural: databases}
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
              size: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf, message: size is immutable}]}
`)
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "--timeout=30s", "customresourcedefinition/databases.immutable.example.org")
	database := func(size int) string {
		return fmt.Sprintf("{apiVersion: immutable.example.org/v1, kind: Database, metadata: {name: d, namespace: %s}, spec: {size: %d}}", b.namespace, size)
	}
	b.declare(at, database(1))
	clustertest.Eventually(t, "the server takes the new kind", func() bool {
		plan, problems, err := planner.Make(t.Context(), b.input())
		return err == nil && len(problems) == 0 && b.action(plan, at).Evidence.Kind == plans.DryRun
	})
	b.apply(b.plan())
	b.declare(at, database(2))
	holds(t, b.problem(b.input()), "cannot be changed in place", "spec.size cannot change", "-replace="+at)
	in := b.input()
	in.Replace = []string{at}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, %+v", err, problems)
	}
	if a := b.action(plan, at); a.Verb != plans.Replace {
		t.Errorf("decided %s", a.Verb)
	}
}
