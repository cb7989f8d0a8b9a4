package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// configuration has a ConfigMap, a data block that reads it, and a second ConfigMap with a value
// from the data block.
const configuration = `
cloud "c" {
  release   = "2025.1"
  namespace = %q
}

manifest "registry" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "registry" }
    data       = { host = "registry.example.org" }
  }
}

data "registry" {
  kind       = "ConfigMap"
  name       = "registry"
  depends_on = [manifest.registry]
}

manifest "copy" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "copy" }
    data       = { url = "https://${data.registry.object.data.host}" }
  }
}

output "url" {
  value = "https://${data.registry.object.data.host}"
}
`

// reporter fails the test for every message to the operator.
type reporter struct{ t *testing.T }

func (r reporter) Diagnostics(diags hcl.Diagnostics, _ map[string]*hcl.File) {
	for _, d := range diags {
		r.t.Error(d)
	}
}

func (r reporter) Problems(problems []plans.Problem) {
	for _, p := range problems {
		r.t.Error(p.Summary, p.Detail)
	}
}

func (r reporter) Warn(summary, detail string) { r.t.Error(summary, detail) }

// reconcile loads, plans and applies once, like a program that runs in a loop. It returns the plan
// and the number of rounds of the apply.
func reconcile(t *testing.T, dir string, options engine.Options) (*plans.Plan, int) {
	t.Helper()
	ctx, report := t.Context(), reporter{t}
	cluster := engine.NewCluster(kubernetes.Options{Kubeconfig: clustertest.Kubeconfig()}, report)
	if err := cluster.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	e := &engine.Engine{Source: engine.Directory(dir, report), Cluster: cluster, Reporter: report, Version: "test"}
	loading := engine.Loading{Cluster: cluster, Destroy: options.Destroy}
	if options.Destroy {
		loading.Cluster = nil
	}
	loaded, err := e.Source.Load(ctx, loading)
	if err != nil {
		t.Fatal(err)
	}
	session, err := state.Open(filepath.Join(dir, state.DefaultFile)).Lock(ctx, state.LockInfo{Operation: "apply"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	made, err := e.Plan(ctx, loaded, session.State(), options)
	if err != nil {
		t.Fatal(err)
	}
	if made.Plan.Empty() {
		return made.Plan, 0
	}
	applied, err := e.Apply(ctx, session, made, engine.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range applied.Rounds {
		for _, o := range round.Result.Outcomes {
			if o.Err != nil {
				t.Fatalf("%s: %v", o.Action.Address, o.Err)
			}
		}
	}
	outputs, checks, err := engine.Outcome(made.Plan, applied.Config, session.State())
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Conclude(outputs, checks); err != nil {
		t.Fatal(err)
	}
	return made.Plan, len(applied.Rounds)
}

// TestLoop checks that a program without a command line can plan and apply a configuration
// in a loop: data are read in a second round, the outputs are in the state, an unchanged
// cloud has an empty plan, drift is repaired, and a destroy leaves nothing.
func TestLoop(t *testing.T) {
	const namespace = "engine-loop"
	dir := t.TempDir()
	text := fmt.Sprintf(configuration, namespace)
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	value := func() string {
		return clustertest.Kubectl(t, "-n", namespace, "get", "configmap", "copy", "-o", "jsonpath={.data.url}")
	}

	plan, rounds := reconcile(t, dir, engine.Options{})
	if add := plan.Counts().Add; add == 0 || rounds != 2 {
		t.Errorf("the first apply adds %d objects in %d rounds, want some in two", add, rounds)
	}
	if got := value(); got != "https://registry.example.org" {
		t.Errorf("the value of the data block is %q", got)
	}
	st, err := state.Open(filepath.Join(dir, state.DefaultFile)).Read()
	if err != nil || len(st.Outputs) != 1 || !strings.Contains(string(st.Outputs[0].Value), "registry.example.org") {
		t.Errorf("outputs in the state: %+v, %v", st.Outputs, err)
	}

	if plan, _ := reconcile(t, dir, engine.Options{}); !plan.Empty() || plan.Tally().NotCompared > 0 {
		t.Errorf("the second plan has changes: %+v", plan.Actions)
	}

	clustertest.Kubectl(t, "-n", namespace, "patch", "configmap", "copy", "--field-manager=kolla", "-p", `{"data":{"url":"drift"}}`)
	if plan, _ := reconcile(t, dir, engine.Options{}); plan.Counts().Change != 1 {
		t.Errorf("drift: %+v", plan.Counts())
	}
	if got := value(); got != "https://registry.example.org" {
		t.Errorf("after drift: %q", got)
	}

	reconcile(t, dir, engine.Options{Destroy: true})
	if left := clustertest.Kubectl(t, "get", "namespace", namespace, "--ignore-not-found", "-o", "name"); left != "" {
		t.Errorf("the destroy left %s", left)
	}
}

// TestApplyRefusesDeniedPlans checks that a program that does not call Enforce cannot carry
// out a plan that a policy denies.
func TestApplyRefusesDeniedPlans(t *testing.T) {
	denied := &plans.Plan{Policies: []plans.PolicyResult{{Name: "p", Status: plans.PolicyDenied}}}
	applied, err := new(engine.Engine).Apply(t.Context(), nil, &engine.PlanResult{Plan: denied}, engine.ApplyOptions{})
	if applied != nil || err == nil || !strings.Contains(err.Error(), "denies") {
		t.Errorf("applied %v, %v", applied, err)
	}
}
