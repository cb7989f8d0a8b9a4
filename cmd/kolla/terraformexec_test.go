package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestTerraformExec checks that HashiCorp's library for running Terraform can run kolla instead,
// with the options that the library always passes, and can read kolla's output.
func TestTerraformExec(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	config := `cloud "` + clustertest.Namespace(t) + `" {
  release = "2025.1"
}

variable "size" {
  type    = number
  default = 1
}

service "memcached" {}

manifest "page" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "page" }, data = { size = tostring(var.size) } }
}

output "host" {
  value = service.memcached.host
}
`
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	// The test binary behaves as kolla under this name.
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kolla := filepath.Join(t.TempDir(), "kolla")
	if err := os.Symlink(program, kolla); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	tf, err := tfexec.NewTerraform(dir, kolla)
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	tf.SetStderr(&output)
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, &output)
		}
	}

	version, _, err := tf.Version(ctx, true)
	must("Version", err)
	if got := version.Core().String(); got != "1.14.0" {
		t.Errorf("kolla says that it is like Terraform %s", got)
	}
	must("Init", tf.Init(ctx, tfexec.Upgrade(true)))

	validation, err := tf.Validate(ctx)
	must("Validate", err)
	if !validation.Valid || validation.ErrorCount != 0 {
		t.Errorf("Validate says %+v", validation)
	}
	formatted, unformatted, err := tf.FormatCheck(ctx)
	must("FormatCheck", err)
	if !formatted || len(unformatted) > 0 {
		t.Errorf("FormatCheck says %t, %v", formatted, unformatted)
	}
	text, err := tf.FormatString(ctx, "a=1\n")
	must("FormatString", err)
	if text != "a = 1\n" {
		t.Errorf("FormatString makes %q", text)
	}
	extra := filepath.Join(dir, "extra.hcl")
	if err := os.WriteFile(extra, []byte("locals {\na=1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	must("FormatWrite", tf.FormatWrite(ctx))
	if written, err := os.ReadFile(extra); err != nil || string(written) != "locals {\n  a = 1\n}\n" {
		t.Errorf("FormatWrite makes %q, %v", written, err)
	}

	changes, err := tf.Plan(ctx, tfexec.Out("change.plan"), tfexec.Var("size=2"), tfexec.LockTimeout("5s"))
	must("Plan", err)
	if !changes {
		t.Error("Plan says that there is nothing to do")
	}
	plan, err := tf.ShowPlanFile(ctx, "change.plan")
	must("ShowPlanFile", err)
	created := 0
	for _, c := range plan.ResourceChanges {
		if c.Change.Actions.Create() {
			created++
		}
	}
	if created < 4 || plan.Variables["size"] == nil {
		t.Errorf("the plan creates %d objects, with the variables %v", created, plan.Variables)
	}
	raw, err := tf.ShowPlanFileRaw(ctx, "change.plan")
	must("ShowPlanFileRaw", err)
	if !strings.Contains(raw, "Plan: ") {
		t.Errorf("the plan reads: %s", raw)
	}
	must("Apply of variables", tf.Apply(ctx, tfexec.Var("size=2"), tfexec.Refresh(true), tfexec.Lock(true), tfexec.Parallelism(5)))
	var events bytes.Buffer
	more, err := tf.PlanJSON(ctx, &events, tfexec.Var("size=3"), tfexec.Out("change.plan"))
	must("PlanJSON", err)
	if !more || !strings.Contains(events.String(), `"type":"change_summary"`) {
		t.Errorf("PlanJSON says %t: %s", more, &events)
	}

	state, err := tf.Show(ctx)
	must("Show", err)
	if state.Values == nil || len(state.Values.RootModule.Resources) < 4 {
		t.Errorf("the state is %+v", state.Values)
	}
	outputs, err := tf.Output(ctx)
	must("Output", err)
	var host string
	if err := json.Unmarshal(outputs["host"].Value, &host); err != nil || !strings.HasPrefix(host, "memcached.") {
		t.Errorf("output host is %s: %v", outputs["host"].Value, err)
	}
	if _, err := tf.Plan(ctx, tfexec.Out("back.plan")); err != nil {
		t.Errorf("Plan: %v", err)
	}
	must("Apply of a plan", tf.Apply(ctx, tfexec.DirOrPlan("back.plan")))
	if _, err := tf.Graph(ctx); err != nil {
		t.Errorf("Graph: %v", err)
	}

	// If kolla cannot do what Terraform does, the client gets the reason.
	if err := tf.Apply(ctx, tfexec.Lock(false)); err == nil || !strings.Contains(err.Error(), "It always takes the lock") {
		t.Errorf("an apply without a lock: %v", err)
	}
	must("Destroy", tf.Destroy(ctx))
	changes, err = tf.Plan(ctx, tfexec.Destroy(true))
	must("Plan", err)
	if changes {
		t.Error("after Destroy there is something to destroy")
	}
}
