package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/operator"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
	"kolla.openstack.org/kolla/state/cluster"
)

// many is a cloud whose apply takes a while.
func many(greeting string) string {
	return changed(greeting) + `
manifest "many" {
  for_each = toset([for i in range(150) : tostring(i)])
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "many-${each.key}" }
    data       = { greeting = var.greeting }
  }
}
`
}

// state reads the state of the cloud.
func (b *bench) state() *state.State {
	b.Helper()
	connection, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: clustertest.Kubeconfig()})
	if err != nil {
		b.Fatal(err)
	}
	namespace := b.target + "-state"
	st, err := state.New(cluster.New(b.Context(), connection.Records(namespace), cluster.Options{Namespace: namespace, Cloud: b.namespace})).Read()
	if err != nil {
		b.Fatal(err)
	}
	return st
}

// checkWhole checks that the cluster has the objects of the state, each once, and no others of the cloud.
func (b *bench) checkWhole(greeting string) {
	b.Helper()
	var list struct {
		Items []struct {
			Metadata struct{ Name, UID string }
			Data     map[string]string
		}
	}
	text := b.kubectl("get", "configmaps", "-n", b.target, "-l", "kolla.openstack.org/cloud="+b.namespace, "-o", "json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		b.Fatal(err)
	}
	live := map[string]string{}
	for _, item := range list.Items {
		live[item.Metadata.UID] = item.Metadata.Name
		if got := item.Data["greeting"]; got != greeting {
			b.Errorf("%s has %q, want %q", item.Metadata.Name, got, greeting)
		}
	}
	known := 0
	for _, o := range b.state().Objects {
		if o.Kind != "ConfigMap" {
			continue
		}
		known++
		if live[o.UID] != o.Name || !o.Ready {
			b.Errorf("the state knows %s with UID %s (ready: %t), and the cluster has %q", o.Name, o.UID, o.Ready, live[o.UID])
		}
	}
	if known != 151 || len(live) != 151 {
		b.Errorf("the state knows %d ConfigMaps, and the cluster has %d, want 151", known, len(live))
	}
}

// TestKilled kills the operator at some instants, and with KOLLA_TEST_LONG=1 at twenty. Each time another one goes on, and at the end nothing
// is lost or doubled.
func TestKilled(t *testing.T) {
	t.Parallel() // it mostly waits for leases
	b := newBench(t)
	b.files("files", many("g0"))
	b.cloud("  approval: automatic\n")
	kills, during := 5, 0
	if os.Getenv("KOLLA_TEST_LONG") != "" {
		kills = 20
	}
	for i := range kills {
		b.files("files", many(fmt.Sprintf("g%d", i)))
		process := b.spawn()
		before := b.get().Status.Plans
		wait := time.Duration(rand.IntN(1500)) * time.Millisecond
		if i%2 == 0 {
			wait /= 5
		}
		clustertest.Eventually(t, "a plan is made, or applied", func() bool {
			if i%2 == 0 { // in the middle of the apply, unless that is over already
				phase := b.newest()
				return phase == v1alpha1.Applying || phase == v1alpha1.Applied && b.get().Status.Plans > before
			}
			return b.get().Status.Plans > before
		})
		time.Sleep(wait)
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait()
		if b.newest() == v1alpha1.Applying {
			during++
		}
		b.kubectl("delete", "lease", "kolla-operator", "-n", b.namespace, "--ignore-not-found") // do not wait for its end
	}
	t.Logf("%d of %d kills were during an apply", during, kills)
	if during == 0 {
		t.Error("no kill was during an apply: the test proves nothing")
	}
	b.files("files", many("end"))
	b.spawn()
	b.until(v1alpha1.ReasonAsDeclared)
	b.checkWhole("end")
}

// TestApprovedGoesOn kills the operator again and again during the apply of a plan that a person approved.
// The next operator goes on with the rest, and asks nobody, however long the history is.
func TestApprovedGoesOn(t *testing.T) {
	t.Parallel() // it mostly waits for leases
	b := newBench(t)
	b.files("files", many("first")+`
definition "late" {
  job "upgrade" {
    runs  = "upgrade"
    image = "late"
  }
  workload "server" {
    kind  = "Deployment"
    image = "late"
  }
}

# It is new as long as none of its objects was made, also if the state announces them.
service "late" {
  depends_on = [manifest.many]
}
`)
	process := b.spawn()
	b.cloud("  history: 1\n")
	plan := b.until(v1alpha1.ReasonAwaitsApproval).Status.Plan
	b.cloud("  history: 1\n  approvedPlan: " + plan.Digest + "\n")
	for _, name := range []string{"prod-1", "prod-2"} {
		before := b.written()
		clustertest.Eventually(t, "a part of "+name+" is applied", func() bool {
			return b.phases()[name] == string(v1alpha1.Applying) && b.written() > before+10
		})
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait()
		b.kubectl("delete", "lease", "kolla-operator", "-n", b.namespace, "--ignore-not-found")
		process = b.spawn()
	}
	b.until(v1alpha1.ReasonAsDeclared)
	b.checkWhole("first")
	want := fmt.Sprint(map[string]string{"prod-1": "Failed", "prod-3": "Applied"})
	if got := fmt.Sprint(b.phases()); got != want {
		t.Errorf("the history is %s, want %s", got, want)
	}
}

// written returns how many ConfigMaps the cloud has.
func (b *bench) written() int {
	b.Helper()
	var all corev1.ConfigMapList
	if err := b.client.List(context.Background(), &all, client.InNamespace(b.target)); err != nil {
		b.Fatal(err)
	}
	return len(all.Items)
}

// newest returns the phase of the newest plan.
func (b *bench) newest() v1alpha1.Phase {
	b.Helper()
	cloud := b.get()
	return v1alpha1.Phase(b.phases()[fmt.Sprintf("prod-%d", cloud.Status.Plans)])
}

// TestLeaderCutOff stops the process of the leader during an apply. The other one goes on, and when the
// first wakes up, it writes nothing more.
func TestLeaderCutOff(t *testing.T) {
	t.Parallel() // it mostly waits for leases
	b := newBench(t)
	b.files("files", many("first"))
	first := b.spawn()
	b.cloud("  approval: automatic\n")
	clustertest.Eventually(t, "an apply has written a part", func() bool { return b.written() > 10 })
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if phase := b.newest(); phase != v1alpha1.Applying {
		t.Fatalf("the leader was cut off when its plan was %s: the test proves nothing", phase)
	}
	b.spawn()
	b.files("files", many("second"))
	cut := time.Now()
	b.until(v1alpha1.ReasonAsDeclared)
	t.Logf("the other operator was done %s after the leader was cut off", time.Since(cut).Round(time.Second))
	b.checkWhole("second")
	version := b.kubectl("get", "configmaps", "-n", b.target, "-o", "jsonpath={.items[*].metadata.resourceVersion}")
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the former leader goes on")
	}
	if after := b.kubectl("get", "configmaps", "-n", b.target, "-o", "jsonpath={.items[*].metadata.resourceVersion}"); after != version {
		t.Error("the former leader has written")
	}
	b.checkWhole("second")
}

// TestSecretsNowhere looks for the value of a sensitive variable in everything that the operator writes.
func TestSecretsNowhere(t *testing.T) {
	const value = "swordfish-of-the-operator"
	b := newBench(t)
	b.files("files", configuration+`
variable "password" {
  type      = string
  sensitive = true
}
manifest "login" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "login" }
    stringData = { password = var.password, url = "https://kolla:${var.password}@example.org" }
  }
}
`)
	b.kubectl("create", "secret", "generic", "values", "-n", b.namespace, "--from-literal=password="+value)
	b.start()
	b.cloud("  approval: automatic\n  variablesFrom: [{secret: {name: values}}]\n")
	b.until(v1alpha1.ReasonAsDeclared)
	if got := b.kubectl("get", "secret", "login", "-n", b.target, "-o", "jsonpath={.data.password}"); got == "" {
		t.Fatal("the Secret is not there: the test proves nothing")
	}
	b.kubectl("patch", "secret", "login", "-n", b.target, "--type=merge", "-p", `{"stringData":{"password":"x"}}`)
	clustertest.Eventually(t, "the value is put back", func() bool {
		return strings.HasPrefix(b.kubectl("get", "secret", "login", "-n", b.target, "-o", "jsonpath={.data.password}"), "c3dvcmRma")
	})
	b.until(v1alpha1.ReasonAsDeclared)
	everything := b.kubectl("get", "clouds,cloudplans,cloudservices,events,configmaps", "-n", b.namespace, "-o", "yaml")
	names := b.kubectl("get", "secrets", "-n", b.namespace, "-o", `jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}`)
	for name := range strings.Lines(names) {
		if name = strings.TrimSpace(name); name == "values" || name == "prod-applied" { // the variables themselves
			continue
		}
		everything += b.kubectl("get", "secret", name, "-n", b.namespace, "-o", `go-template={{range $k, $v := .data}}{{$v | base64decode}}{{end}}`)
	}
	for name := range b.phases() {
		data, err := operator.ReadParts(t.Context(), b.client, b.namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := plans.Read(data[operator.KeyPlan])
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(plan) // the file is compressed
		if err != nil {
			t.Fatal(err)
		}
		everything += string(text)
	}
	if !strings.Contains(everything, "manifest.login/Secret/login") {
		t.Error("the plans do not have the Secret: the test proves nothing")
	}
	if i := strings.Index(everything, value); i >= 0 {
		t.Errorf("the value is in: %s", everything[max(0, i-300):i+50])
	}
}
