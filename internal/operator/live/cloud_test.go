package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// changed is the configuration with another value.
func changed(greeting string) string {
	return strings.ReplaceAll(configuration, `"hello"`, `"`+greeting+`"`)
}

// note returns the value that the cluster has.
func (b *bench) note() string {
	b.Helper()
	return b.kubectl("get", "configmap", "note", "-n", b.target, "-o", "jsonpath={.data.greeting}", "--ignore-not-found")
}

// phases returns the phases of all plans by their names.
func (b *bench) phases() map[string]string {
	b.Helper()
	var all v1alpha1.CloudPlanList
	if err := b.client.List(context.Background(), &all, client.InNamespace(b.namespace)); err != nil {
		b.Fatal(err)
	}
	out := map[string]string{}
	for i := range all.Items {
		out[all.Items[i].Name] = string(all.Items[i].Status.Phase)
	}
	return out
}

// TestManual takes a cloud from nothing to ready, changes it, and puts drift back, each time with the
// approval of a person. An approval counts once and for one plan.
func TestManual(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("")
	first := b.until(v1alpha1.ReasonAwaitsApproval)
	if first.Status.Plan == nil || !strings.Contains(first.Status.Plan.Summary, "to add") {
		t.Fatalf("plan: %+v", first.Status.Plan)
	}
	if got := b.kubectl("get", "namespace", b.target, "--ignore-not-found"); got != "" {
		t.Errorf("a plan that waits has written: %s", got)
	}
	b.cloud("  approvedPlan: " + first.Status.Plan.Digest + "\n")
	done := b.until(v1alpha1.ReasonAsDeclared)
	if done.Status.LastApply == nil || done.Status.LastApply.Result != "done" || !done.Status.Managed {
		t.Errorf("last apply: %+v, managed %t", done.Status.LastApply, done.Status.Managed)
	}
	if b.note() != "hello" {
		t.Errorf("the ConfigMap has %q", b.note())
	}
	var service v1alpha1.CloudService
	if err := b.client.Get(context.Background(), client.ObjectKey{Namespace: b.namespace, Name: "prod-echo"}, &service); err != nil {
		t.Fatal(err)
	}
	if !meta.IsStatusConditionTrue(service.Status.Conditions, v1alpha1.Ready) || service.Status.Pods != "1/1" || service.Status.LastChange == nil {
		t.Errorf("CloudService: %+v", service.Status)
	}

	// Another source waits, although approvedPlan still names the first plan.
	b.files("files", changed("bonjour"))
	second := b.until(v1alpha1.ReasonOtherPlan)
	if second.Status.Plan.Digest == first.Status.Plan.Digest || b.note() != "hello" {
		t.Errorf("the second plan is %+v, and the ConfigMap has %q", second.Status.Plan, b.note())
	}
	b.cloud("  approvedPlan: " + second.Status.Plan.Digest + "\n")
	b.until(v1alpha1.ReasonAsDeclared)
	if b.note() != "bonjour" {
		t.Errorf("the ConfigMap has %q", b.note())
	}

	// What others change is found at once, and waits as well.
	b.kubectl("patch", "configmap", "note", "-n", b.target, "--field-manager=mallory", "--type=merge", "-p", `{"data":{"greeting":"drifted"}}`)
	third := b.until(v1alpha1.ReasonOtherPlan)
	if !meta.IsStatusConditionTrue(third.Status.Conditions, v1alpha1.Drifted) || third.Status.Drift == nil || third.Status.Drift.Objects != 1 {
		t.Errorf("drift: %+v", third.Status.Drift)
	}
	b.cloud("  approvedPlan: " + third.Status.Plan.Digest + "\n")
	fourth := b.until(v1alpha1.ReasonAsDeclared)
	if fourth.Status.Drift != nil || b.note() != "bonjour" {
		t.Errorf("drift: %+v, and the ConfigMap has %q", fourth.Status.Drift, b.note())
	}
	// The same drift again is another plan: an approval counts once.
	b.kubectl("patch", "configmap", "note", "-n", b.target, "--field-manager=mallory", "--type=merge", "-p", `{"data":{"greeting":"drifted"}}`)
	fifth := b.until(v1alpha1.ReasonOtherPlan)
	if fifth.Status.Plan.Digest == third.Status.Plan.Digest {
		t.Error("an approval that was used approves the same change again")
	}
	want := fmt.Sprint(map[string]string{"prod-1": "Applied", "prod-2": "Applied", "prod-3": "Applied", "prod-4": "Waiting"})
	if got := fmt.Sprint(b.phases()); got != want {
		t.Errorf("the history is %s, want %s", got, want)
	}
}

// TestDriftIsPutBack puts drift back without a person, also while a change of the source waits for one.
func TestDriftIsPutBack(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("  approval: drift\n")
	first := b.until(v1alpha1.ReasonAwaitsApproval)
	b.cloud("  approval: drift\n  approvedPlan: " + first.Status.Plan.Digest + "\n")
	b.until(v1alpha1.ReasonAsDeclared)
	b.files("files", changed("bonjour"))
	waiting := b.until(v1alpha1.ReasonOtherPlan)
	b.kubectl("delete", "configmap", "note", "-n", b.target)
	clustertest.Eventually(t, "what somebody deleted is back", func() bool { return b.note() == "hello" })
	clustertest.Eventually(t, "the change of the source waits again", func() bool {
		now := b.get().Status
		return now.Drift == nil && now.Plan != nil && now.Plan.Digest != waiting.Status.Plan.Digest && strings.Contains(now.Plan.Summary, "1 to change")
	})
}

// TestWithin applies what keeps the limits, and lets the rest wait.
func TestWithin(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	const limits = "  approval: within\n  limits: {changes: 20}\n"
	b.cloud(limits)
	b.until(v1alpha1.ReasonAsDeclared)
	without, _, _ := strings.Cut(configuration, "manifest \"note\"")
	b.files("files", without)
	waiting := b.until(v1alpha1.ReasonAwaitsApproval)
	if ready := meta.FindStatusCondition(waiting.Status.Conditions, v1alpha1.Ready); !strings.Contains(ready.Message, "1 delete, and the limit is 0") {
		t.Errorf("why it waits: %s", ready.Message)
	}
	b.cloud("  approval: within\n  limits: {changes: 20, deletes: 1}\n")
	b.until(v1alpha1.ReasonAsDeclared)
	if b.note() != "" {
		t.Error("what the source no longer has is still there")
	}
}

// TestBrokenSource keeps the last good source while the present one cannot be used, and says where the
// error is.
func TestBrokenSource(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("  approval: automatic\n")
	b.until(v1alpha1.ReasonAsDeclared)
	b.files("files", strings.Replace(configuration, `service "echo" {}`, `service "echo" { replicas = "many" }`, 1))
	broken := b.until(v1alpha1.ReasonInvalidSource)
	stalled := meta.FindStatusCondition(broken.Status.Conditions, v1alpha1.Stalled)
	if stalled == nil || !strings.HasPrefix(stalled.Message, "cloud.hcl:") {
		t.Errorf("Stalled: %+v", stalled)
	}
	b.files("files", configuration+"}")
	clustertest.Eventually(t, "a file that cannot be parsed is an error of the source", func() bool {
		ready := meta.FindStatusCondition(b.get().Status.Conditions, v1alpha1.Ready)
		return ready.Reason == v1alpha1.ReasonInvalidSource && !strings.Contains(ready.Message, "replicas")
	})
	b.kubectl("delete", "configmap", "note", "-n", b.target)
	clustertest.Eventually(t, "the last good source puts back what somebody deleted", func() bool { return b.note() == "hello" })
	b.until(v1alpha1.ReasonInvalidSource)
	b.kubectl("delete", "configmap", "files", "-n", b.namespace)
	b.until(v1alpha1.ReasonSourceFailed)
	b.kubectl("delete", "configmap", "note", "-n", b.target)
	clustertest.Eventually(t, "the last good source puts back what somebody deleted", func() bool { return b.note() == "hello" })
	if got := b.until(v1alpha1.ReasonSourceFailed); !strings.Contains(meta.FindStatusCondition(got.Status.Conditions, v1alpha1.Ready).Message, "there is no ConfigMap files") {
		t.Errorf("conditions: %+v", got.Status.Conditions)
	}
	b.files("files", changed("bonjour"))
	b.until(v1alpha1.ReasonAsDeclared)
}

// TestSourceIsConfined lets a source read nothing of the operator's own files and environment.
func TestSourceIsConfined(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("operators-own-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPERATORS_OWN", "operators-own-token")
	for name, more := range map[string]string{
		"function": fmt.Sprintf("manifest \"m\" {\n  object = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"m\" }, data = { t = file(%q) } }\n}\n", secret),
		"parent":   "manifest \"m\" {\n  object = { apiVersion = \"v1\", kind = \"ConfigMap\", metadata = { name = \"m\" }, data = { t = file(\"../../../../../../etc/hostname\") } }\n}\n",
		"secret":   "secret \"s\" {\n  from_env = \"OPERATORS_OWN\"\n}\n",
		"file":     fmt.Sprintf("secret \"s\" {\n  from_file = %q\n}\n", secret),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.files("files", configuration+more)
			b.start()
			b.cloud("  approval: automatic\n")
			var said string
			clustertest.Eventually(t, "the source is refused", func() bool {
				ready := meta.FindStatusCondition(b.get().Status.Conditions, v1alpha1.Ready)
				if ready != nil {
					said = ready.Reason + ": " + ready.Message
				}
				return ready != nil && (ready.Reason == v1alpha1.ReasonInvalidSource || ready.Reason == v1alpha1.ReasonPlanFailed)
			})
			if !strings.Contains(said, "read here") || strings.Contains(said, "operators-own-token") {
				t.Errorf("the refusal says: %s", said)
			}
		})
	}
}

// TestSuspend stops and resumes.
func TestSuspend(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("  approval: automatic\n  suspend: true\n")
	b.until(v1alpha1.ReasonSuspended)
	time.Sleep(2 * time.Second)
	if len(b.phases()) > 0 {
		t.Error("a suspended Cloud has plans")
	}
	b.cloud("  approval: automatic\n")
	b.until(v1alpha1.ReasonAsDeclared)
}

// TestHold leaves a service out.
func TestHold(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("  approval: automatic\n")
	b.until(v1alpha1.ReasonAsDeclared)
	b.kubectl("patch", "cloudservice", "prod-echo", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"hold":true}}`)
	b.files("files", strings.Replace(changed("bonjour"), `service "echo" {}`, "service \"echo\" {\n  workload \"server\" { replicas = 2 }\n}", 1))
	clustertest.Eventually(t, "the rest is applied", func() bool { return b.note() == "bonjour" })
	b.until(v1alpha1.ReasonAsDeclared)
	replicas := func() string {
		return b.kubectl("get", "deployment", "echo-server", "-n", b.target, "-o", "jsonpath={.spec.replicas}")
	}
	if got := replicas(); got != "1" {
		t.Errorf("a held service has %s replicas", got)
	}
	b.kubectl("patch", "cloudservice", "prod-echo", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"hold":false}}`)
	clustertest.Eventually(t, "the service is applied", func() bool { return replicas() == "2" })
}

// TestHoldAndDrift holds a service back while a change is approved. The former configuration must not come
// back as if it were drift, and the held change still waits when nothing is held any more.
func TestHoldAndDrift(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	approve := func(not string) *v1alpha1.Cloud {
		var cloud *v1alpha1.Cloud
		clustertest.Eventually(t, "a plan waits", func() bool {
			cloud = b.get()
			return cloud.Status.Plan != nil && cloud.Status.Plan.Digest != not
		})
		b.cloud("  approval: drift\n  approvedPlan: " + cloud.Status.Plan.Digest + "\n")
		return cloud
	}
	b.cloud("  approval: drift\n")
	first := approve("")
	b.until(v1alpha1.ReasonAsDeclared)
	b.kubectl("patch", "cloudservice", "prod-echo", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"hold":true}}`)
	b.files("files", strings.Replace(changed("bonjour"), `service "echo" {}`, "service \"echo\" {\n  workload \"server\" { replicas = 2 }\n}", 1))
	second := approve(first.Status.Plan.Digest)
	b.until(v1alpha1.ReasonAsDeclared)
	b.kubectl("delete", "configmap", "note", "-n", b.target)
	clustertest.Eventually(t, "what somebody deleted is back", func() bool { return b.note() != "" })
	if b.note() != "bonjour" {
		t.Errorf("the ConfigMap has %q: the former configuration came back", b.note())
	}
	b.until(v1alpha1.ReasonAsDeclared)
	b.kubectl("patch", "cloudservice", "prod-echo", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"hold":false}}`)
	b.until(v1alpha1.ReasonOtherPlan)
	if got := b.kubectl("get", "deployment", "echo-server", "-n", b.target, "-o", "jsonpath={.spec.replicas}"); got != "1" {
		t.Errorf("the held change is applied without a person: %s replicas", got)
	}
	approve(second.Status.Plan.Digest)
	b.until(v1alpha1.ReasonAsDeclared)
}

// TestProgress checks that the status says during an apply what that waits for, also if nothing else happens.
func TestProgress(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration+stuck)
	b.start()
	b.cloud("  approval: automatic\n")
	clustertest.Eventually(t, "the status says what the apply waits for", func() bool {
		reconciling := meta.FindStatusCondition(b.get().Status.Conditions, v1alpha1.Reconciling)
		return reconciling != nil && strings.Contains(reconciling.Message, " done\n") && strings.Contains(reconciling.Message, "manifest.stuck/Deployment/stuck: ")
	})
}

// stuck is a Deployment that no node takes.
const stuck = `
manifest "stuck" {
  object = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "stuck" }
    spec = {
      selector = { matchLabels = { app = "stuck" } }
      template = {
        metadata = { labels = { app = "stuck" } }
        spec     = { nodeSelector = { no = "such" }, containers = [{ name = "c", image = "c" }] }
      }
    }
  }
}
`

// TestApprovalTakenAway checks that a person who takes an approval away stops the rest of a plan.
func TestApprovalTakenAway(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration+stuck)
	b.start()
	b.cloud("  timeout: 2s\n")
	var plan *v1alpha1.PlanStatus
	clustertest.Eventually(t, "a plan waits", func() bool {
		plan = b.get().Status.Plan
		return plan != nil
	})
	b.cloud("  timeout: 2s\n  approvedPlan: " + plan.Digest + "\n")
	clustertest.Eventually(t, "the apply fails", func() bool {
		last := b.get().Status.LastApply
		return last != nil && last.Result == "failed"
	})
	b.kubectl("patch", "cloud", "prod", "-n", b.namespace, "--type=json", "-p", `[{"op":"remove","path":"/spec/approvedPlan"}]`)
	clustertest.Eventually(t, "the apply ends", func() bool {
		return meta.FindStatusCondition(b.get().Status.Conditions, v1alpha1.Reconciling) == nil
	})
	b.kubectl("delete", "deployment", "stuck", "-n", b.target)
	waiting := b.until(v1alpha1.ReasonAwaitsApproval)
	if got := b.kubectl("get", "deployment", "stuck", "-n", b.target, "--ignore-not-found"); got != "" {
		t.Errorf("without approval there is %s, and the plan is %+v", got, waiting.Status.Plan)
	}
}

// TestDelete destroys a cloud with its Cloud, and leaves it alone if that is the policy.
func TestDelete(t *testing.T) {
	for policy, stays := range map[string]bool{"Destroy": false, "Orphan": true} {
		t.Run(policy, func(t *testing.T) {
			b := newBench(t)
			b.files("files", configuration)
			b.start()
			b.cloud("  approval: automatic\n  deletionPolicy: " + policy + "\n")
			b.until(v1alpha1.ReasonAsDeclared)
			b.kubectl("delete", "cloud", "prod", "-n", b.namespace, "--timeout=60s")
			if got := b.note() != ""; got != stays {
				t.Errorf("the objects are there: %t, want %t", got, stays)
			}
		})
	}
}

// TestDestroyWaits lets a destroy wait for a person, unless everything is automatic.
func TestDestroyWaits(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("  approval: within\n  limits: {deletes: 1000}\n")
	b.until(v1alpha1.ReasonAsDeclared)
	b.kubectl("delete", "cloud", "prod", "-n", b.namespace, "--wait=false")
	waiting := b.until(v1alpha1.ReasonAwaitsApproval)
	if waiting.Status.Plan == nil || !waiting.Status.Plan.Destroy || b.note() != "hello" {
		t.Fatalf("plan: %+v; the ConfigMap has %q", waiting.Status.Plan, b.note())
	}
	b.kubectl("patch", "cloud", "prod", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"approvedPlan":"`+waiting.Status.Plan.Digest+`"}}`)
	clustertest.Eventually(t, "the Cloud is gone", func() bool {
		return b.kubectl("get", "cloud", "prod", "-n", b.namespace, "--ignore-not-found") == ""
	})
	if b.note() != "" {
		t.Error("the objects are still there")
	}
}

// TestDestroyOfHypervisors stops workloads that others need after a person approved it, and never automatically. Data
// stays.
func TestDestroyOfHypervisors(t *testing.T) {
	b := newBench(t)
	b.files("files", strings.NewReplacer(`"Deployment"`, `"DaemonSet"`, `"echo"
  }`, `"echo"
    loss  = "servers stop"
  }`).Replace(configuration))
	b.start()
	b.cloud("  approval: automatic\n")
	b.until(v1alpha1.ReasonAsDeclared)
	b.kubectl("delete", "cloud", "prod", "-n", b.namespace, "--wait=false")
	refused := b.until(v1alpha1.ReasonRefused)
	said := meta.FindStatusCondition(refused.Status.Conditions, v1alpha1.Ready).Message
	for _, want := range []string{"servers stop", "unless spec.approval is automatic"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	b.kubectl("patch", "cloud", "prod", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"approval":"manual"}}`)
	waiting := b.until(v1alpha1.ReasonAwaitsApproval)
	if dangers := strings.Join(waiting.Status.Plan.Dangers, "\n"); !strings.Contains(dangers, "servers stop") || b.note() != "hello" {
		t.Errorf("the dangers are %s; the ConfigMap has %q", dangers, b.note())
	}
	b.kubectl("patch", "cloud", "prod", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"approvedPlan":"`+waiting.Status.Plan.Digest+`"}}`)
	b.kubectl("wait", "--for=delete", "cloud/prod", "-n", b.namespace, "--timeout=60s")
	if b.note() != "" {
		t.Error("the objects are still there")
	}
}

// TestBadInput names what is wrong with a Cloud.
func TestBadInput(t *testing.T) {
	b := newBench(t)
	write := func(spec string) string {
		object := &unstructured.Unstructured{}
		text := fmt.Sprintf("apiVersion: kolla.openstack.org/v1alpha1\nkind: Cloud\nmetadata: {name: bad, namespace: %s}\nspec: %s\n", b.namespace, spec)
		if err := yaml.Unmarshal([]byte(text), object); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(b.client.Create(t.Context(), object))
	}
	for spec, want := range map[string]string{
		"{serviceAccountName: kolla, source: {}}":                                                                                    "exactly one of configMaps, git and oci",
		"{serviceAccountName: kolla, source: {configMaps: [{name: a}], oci: {url: \"oci://r/x\"}}}":                                  "exactly one of configMaps, git and oci",
		"{source: {configMaps: [{name: a}]}}":                                                                                        "serviceAccountName: Required value",
		"{serviceAccountName: kolla, source: {configMaps: [{name: a}]}, path: ../x}":                                                 "has no ..",
		"{serviceAccountName: kolla, source: {git: {url: \"https://u:p@host/x\"}}}":                                                  "spec.source.git.url",
		"{serviceAccountName: kolla, source: {git: {url: \"https://host/x\", branch: a, tag: b}}}":                                   "a branch, a tag or a commit",
		"{serviceAccountName: kolla, source: {configMaps: [{name: a}]}, approvedPlan: prod-1}":                                       "spec.approvedPlan",
		"{serviceAccountName: kolla, source: {configMaps: [{name: a}]}, interval: 1s}":                                               "at least 10s",
		"{serviceAccountName: kolla, source: {configMaps: [{name: a}]}, approval: sometimes}":                                        "Unsupported value: \"sometimes\"",
		"{serviceAccountName: kolla, source: {configMaps: [{name: a}]}, variablesFrom: [{configMap: {name: a}, secret: {name: b}}]}": "a configMap or a secret",
	} {
		if got := write(spec); !strings.Contains(got, want) {
			t.Errorf("spec %s:\n%s\nwant %q", spec, got, want)
		}
	}
}

// TestTwoClouds leaves a cloud with the Cloud that has it, if a younger one declares it from the beginning, and if
// an older one declares it later.
func TestTwoClouds(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.files("older", strings.NewReplacer("NAME", "NAME-older", "TARGET", "TARGET-older").Replace(configuration))
	t.Cleanup(func() { b.kubectl("delete", "namespace", b.target+"-older", "--ignore-not-found", "--wait=false") })
	b.start()
	const automatic = "  approval: automatic\n"
	b.apply(b.manifest("older", "{configMaps: [{name: older}]}", automatic))
	b.kubectl("wait", "--for=condition=Ready", "cloud/older", "-n", b.namespace, "--timeout=120s")
	b.cloud(automatic)
	b.until(v1alpha1.ReasonAsDeclared)
	b.apply(b.manifest("second", "{configMaps: [{name: files}]}", automatic))
	b.files("older", configuration)
	for _, name := range []string{"second", "older"} {
		b.kubectl("wait", "--for=condition=Stalled", "cloud/"+name, "-n", b.namespace, "--timeout=60s")
		said := b.kubectl("get", "cloud", name, "-n", b.namespace, "-o", `jsonpath={.status.conditions[?(@.type=="Stalled")].reason}: {.status.conditions[?(@.type=="Stalled")].message}`)
		if !strings.HasPrefix(said, v1alpha1.ReasonConflict+": Cloud "+b.namespace+"/prod has the cloud") {
			t.Errorf("the Cloud %s says: %s", name, said)
		}
	}
	b.files("files", changed("bonjour"))
	clustertest.Eventually(t, "the cloud goes on", func() bool { return b.note() == "bonjour" })
	b.until(v1alpha1.ReasonAsDeclared)
}

// TestServiceNames gives two services whose names would be the same each a CloudService of its own.
func TestServiceNames(t *testing.T) {
	b := newBench(t)
	const automatic = "  approval: automatic\n"
	services := map[string]string{"a-b": "c", "a": "b-c"}
	for cloud, service := range services {
		text := strings.NewReplacer("NAME", "NAME-"+cloud, "TARGET", "TARGET-"+cloud, `"echo"`, `"`+service+`"`).Replace(configuration)
		b.files(cloud, text)
		b.apply(b.manifest(cloud, "{configMaps: [{name: "+cloud+"}]}", automatic))
		t.Cleanup(func() {
			b.kubectl("delete", "namespace", b.target+"-"+cloud, b.target+"-"+cloud+"-state", "--ignore-not-found", "--wait=false")
		})
	}
	b.start()
	read := func() string {
		return b.kubectl("get", "cloudservices", "-n", b.namespace, "-o", `jsonpath={range .items[*]}{.metadata.uid} {.metadata.name} {.spec.cloud}/{.spec.service} {.metadata.ownerReferences[*].name}{"\n"}{end}`)
	}
	for cloud := range services {
		b.kubectl("wait", "--for=condition=Ready", "cloud/"+cloud, "-n", b.namespace, "--timeout=120s")
	}
	before := read()
	for _, want := range []string{"a/service.b-c a\n", "a-b/service.c a-b\n"} {
		if !strings.Contains(before, want) {
			t.Errorf("there is no %q in:\n%s", want, before)
		}
	}
	for cloud := range services {
		b.kubectl("annotate", "cloud", cloud, "-n", b.namespace, v1alpha1.AnnotationReconcile+"=now")
		clustertest.Eventually(t, "the operator looks again", func() bool {
			return b.kubectl("get", "cloud", cloud, "-n", b.namespace, "-o", "jsonpath={.status.lastReconcile}") == "now"
		})
	}
	if after := read(); after != before {
		t.Errorf("the CloudServices were\n%s\nand are\n%s", before, after)
	}
}

// TestRights refuses a plan whose objects the service account may not write, and names the next step.
func TestRights(t *testing.T) {
	b := newBench(t)
	b.kubectl("delete", "clusterrolebinding", b.namespace)
	b.kubectl("create", "clusterrolebinding", b.namespace, "--clusterrole=view", "--serviceaccount="+b.namespace+":kolla")
	b.files("files", configuration)
	b.start()
	b.cloud("  approval: automatic\n")
	var said string
	clustertest.Eventually(t, "the Cloud says what is missing", func() bool {
		ready := meta.FindStatusCondition(b.get().Status.Conditions, v1alpha1.Ready)
		if ready != nil {
			said = ready.Message
		}
		return strings.Contains(said, "kolla rbac")
	})
	if !strings.Contains(said, "kolla") || b.note() != "" {
		t.Errorf("it says: %s", said)
	}
}
