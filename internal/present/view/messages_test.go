package view_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/plans"
)

// cloudHCL is the configuration of the sample diagnostics.
const cloudHCL = `cloud "prod" {
  release = "2025.1"
}

variable "admin" {
  sensitive = true
}

exposure "public" {
  vip = cidrhost(var.net, local.offset)
}

service "keystone" {
	role    = role.control
	replica = 3	# tabs before and after
	region  = "東京リージョン" + var.admin
}

service "glance" {
  config "glance-api.conf" {
    values = {
      DEFAULT = {
        a = 1
        b = 2
        c = 3
        d = 4
        e = 5
        f = 6
        worker = var.sizes["small"]
      }
    }
  }
}
`

// parsed returns the parsed cloudHCL.
func parsed() map[string]*hcl.File {
	file, diags := hclsyntax.ParseConfig([]byte(cloudHCL), "cloud.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		panic(diags)
	}
	return map[string]*hcl.File{"cloud.hcl": file}
}

// rangeOf finds text in cloudHCL.
func rangeOf(s string) *hcl.Range {
	start := strings.Index(cloudHCL, s)
	end := start + len(s)
	return &hcl.Range{Filename: "cloud.hcl", Start: position(start), End: position(end)}
}

func position(offset int) hcl.Pos {
	before := cloudHCL[:offset]
	return hcl.Pos{Line: 1 + strings.Count(before, "\n"), Column: 1 + len(before) - 1 - strings.LastIndex(before, "\n"), Byte: offset}
}

// diagnostics prints diagnostics of every form.
func diagnostics(p *view.Printer) {
	p.Diagnostics(hcl.Diagnostics{
		{
			Severity: hcl.DiagError, Summary: "No such role",
			Detail:  `This configuration has no role "control". Declare one with: role "control" { nodes = ["NODE"] }.`,
			Subject: rangeOf("role.control"),
		},
		{
			Severity: hcl.DiagError, Summary: "Unknown service attribute",
			Detail:  `An argument named "replica" is not expected here. Did you mean "replicas"?`,
			Subject: rangeOf("replica"),
		},
		{
			Severity: hcl.DiagError, Summary: "Invalid operand", Detail: "A number is required.",
			Subject: rangeOf(`"東京リージョン"`), Extra: lang.Facts{{Reference: "var.admin", Statement: "has a sensitive value"}, {Reference: "var.later", Statement: "will be known only after the apply"}},
		},
		{
			Severity: hcl.DiagError, Summary: "Error in function call",
			Detail:  "Call to function \"cidrhost\" failed: the prefix 10.0.0.0/30 has room for 4 hosts, and number 300 was asked for. Every one of these works:\n\n  cidrhost(\"10.0.0.0/30\", 0)\n  cidrhost(\"10.0.0.0/30\", 3)",
			Subject: rangeOf("cidrhost(var.net, local.offset)"), Extra: lang.Facts{{Reference: "local.offset", Statement: "is 300"}, {Reference: "var.net", Statement: `is "10.0.0.0/30"`}},
		},
		{
			Severity: hcl.DiagWarning, Summary: "Unknown option",
			Detail:  `glance-api.conf of release 2025.1 has no option "worker" in section DEFAULT. Did you mean "workers"?`,
			Subject: rangeOf("worker"), Context: rangeOf(cloudHCL[strings.Index(cloudHCL, "    values = {") : strings.Index(cloudHCL, "    values = {")+160]),
			Extra: lang.Facts{{Reference: `var.sizes["small"]`, Statement: "is 2"}},
		},
		{
			Severity: hcl.DiagError, Summary: "Missing variable", Detail: "A value is needed.",
			Subject: &hcl.Range{Filename: "other.hcl", Start: hcl.Pos{Line: 3}},
		},
		{Severity: hcl.DiagError, Summary: "No configuration", Detail: "There is no *.hcl file in this directory."},
		{Severity: hcl.DiagError, Summary: "No configuration", Detail: "There is no *.hcl file in this directory."},
	}, parsed())
}

// problems prints errors and warnings about objects.
func problems(p *view.Printer) {
	p.Problems([]plans.Problem{
		{
			Address: address("service.glance/Deployment/glance-api"), Source: "cloud.hcl:41",
			Summary: "Fields are owned by others",
			Detail:  "spec.template.spec.containers[\"api\"].image is owned by \"argocd-controller\", and kolla never had it. Decide with one of:\n\n  lifecycle { ignore_fields = [\"spec.template.spec.containers\"] }\n  kolla apply -force-conflicts",
		},
		{Warning: true, Address: address("service.a/Deployment/a"), Source: "cloud.hcl:1", Summary: "No server to ask", Detail: "The webhook refuses dry runs."},
		{Warning: true, Address: address("service.b/Deployment/b"), Summary: "No server to ask", Detail: "The webhook refuses dry runs."},
		{Source: "cloud.hcl:7", Summary: "Two owners", Detail: "Both want it."},
	})
	p.Warn("The state is of an older kolla", "It is written in the new format at the next apply.")
	p.Failure("Cannot reach the cluster", "dial tcp 10.0.0.10:6443: connect: connection refused")
}

// appliedWarned prints an apply with a job that gave warnings.
func appliedWarned(p *view.Printer) {
	must(p.Applied(applied.Result{Added: 1, Took: 2 * time.Second, Messages: []plans.Problem{{
		Warning: true, Address: address("service.neutron/Job/neutron-upgrade-check-52a1"), Source: "cloud.hcl:41", Summary: "The job succeeded, and gives a warning",
		Detail: "Warning: Worker counts configured: The default number of workers has changed and should be configured.\nWarning: Policy File JSON to YAML Migration: None",
	}}}))
}

func appliedComplete(p *view.Printer) {
	must(p.Applied(applied.Result{Added: 5, Changed: 1, Took: 72 * time.Second}))
	must(p.Applied(applied.Result{Added: 1, Imported: 2, Forgotten: 1, Took: 900 * time.Millisecond}))
	must(p.Applied(applied.Result{Destroy: true, Destroyed: 13, Took: 2 * time.Hour}))
}

func appliedFailed(p *view.Printer) {
	mariadb := address("service.mariadb/StatefulSet/mariadb")
	keystone := address("service.keystone/Job/keystone-db-sync-88e0")
	must(p.Applied(applied.Result{
		Added: 20, Changed: 1, Took: 312 * time.Second,
		Failed: []applied.Failed{
			{Address: mariadb, Source: "cloud.hcl:38", Reason: "2 of 3 pods cannot be scheduled: no node with kolla.openstack.org/role-control=true has room", After: 131 * time.Second},
			{Address: keystone, Reason: "the job failed: BackoffLimitExceeded", Detail: []string{
				"last log lines of keystone-db-sync-88e0-x7k2p:",
				"  2026-11-21 03:01:12.001 1 ERROR keystone \x1b[31moslo_db.exception.DBConnectionError\n  Access denied for user 'keystone'@'10.42.0.7'",
			}, After: 9200 * time.Millisecond},
		},
		Skipped: []applied.Skipped{
			{Address: address("service.glance/Job/glance-db-create-1c22"), Because: mariadb},
			{Address: address("service.keystone/Deployment/keystone-api"), Because: keystone},
			{Address: address("service.glance/Deployment/glance-api"), Because: mariadb},
		},
	}))
}

// appliedForbidden prints an apply in which a user lacks a permission for many objects.
func appliedForbidden(p *view.Printer) {
	failed := applied.Failed{
		Address: address("service.nova/ConfigMap/nova.conf-0"), Source: "cloud.hcl:81",
		Reason: `user "jane" is not allowed to delete configmaps in namespace openstack`, Advice: "Give the user a Role with this rule.",
	}
	for i := range 8 {
		failed.Others = append(failed.Others, address(fmt.Sprintf("service.nova/ConfigMap/nova.conf-%d", i+1)))
	}
	must(p.Applied(applied.Result{Took: 2 * time.Second, Failed: []applied.Failed{failed}}))
}

func appliedInterrupted(p *view.Printer) {
	must(p.Applied(applied.Result{
		Added: 3, Took: 12 * time.Second, Interrupted: true,
		Skipped: []applied.Skipped{{Address: address("service.keystone/Deployment/keystone-api")}},
	}))
	// A large saved plan with a failure and many skipped objects.
	a := applied.Result{
		Added: 3, Changed: 12, Took: 40 * time.Second, Interrupted: true, Saved: true,
		Failed: []applied.Failed{{Address: address("service.svc00/Deployment/svc00-api"), Reason: "the image cannot be pulled", After: 9 * time.Second, Detail: []string{
			"Failed to pull image \"registry.example.org:5000/mirrors/svc00:2025.1\": not found: manifest unknown: the registry has no such tag",
		}}},
	}
	for i := range 36 {
		for _, kind := range []string{"ConfigMap", "Service", "Deployment"} {
			a.Skipped = append(a.Skipped, applied.Skipped{Address: address(fmt.Sprintf("service.svc%02d/%s/svc%02d-api", i, kind, i))})
		}
	}
	must(p.Applied(a))
	must(p.Applied(applied.Result{Took: time.Second, Interrupted: true, Saved: true, Destroyed: 1, Destroy: true}))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
