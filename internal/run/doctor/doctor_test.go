package doctor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/internal/run/doctor"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// parse reads objects from documents in YAML.
func parse(t *testing.T, documents string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for document := range strings.SplitSeq(documents, "\n---\n") {
		out = append(out, objecttest.Read(t, document))
	}
	return out
}

// declared returns objects of a configuration. Each is of the block "manifest.m".
func declared(t *testing.T, documents string) []providers.Object {
	t.Helper()
	var out []providers.Object
	for _, u := range parse(t, documents) {
		address := objecttest.Address(t, "manifest.m/"+u.GetKind()+"/"+u.GetName())
		out = append(out, providers.Object{Address: address, Manifest: u})
	}
	return out
}

// facts returns the facts of a cloud with these objects, in a cluster with those.
func facts(t *testing.T, config, live string) *cluster.Facts {
	t.Helper()
	f := &cluster.Facts{
		Config:   &configs.Config{Cloud: configs.Cloud{Name: "prod", Namespace: "openstack"}},
		Cluster:  providers.Identity{Server: "https://192.0.2.1:6443", Version: "v1.37.1"},
		Now:      now,
		Live:     providers.SnapshotOf(),
		Resource: kubernetes.GuessedResource,
	}
	if config != "" {
		f.Objects = declared(t, config)
	}
	if live != "" {
		f.Live = providers.SnapshotOf(parse(t, live)...)
	}
	return f
}

// result makes one check.
func result(t *testing.T, name string, f *cluster.Facts) doctor.Result {
	t.Helper()
	checks, err := doctor.Select([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return doctor.Examine(f, checks).Results[0]
}

// found returns the findings of one check as "SEVERITY SUBJECT: PROBLEM". Each must have a reason and
// a next step.
func found(t *testing.T, name string, f *cluster.Facts) []string {
	t.Helper()
	got := result(t, name, f)
	if got.NotChecked != "" {
		t.Errorf("the check was not made: %s", got.NotChecked)
	}
	var out []string
	for _, f := range got.Findings {
		if f.Reason == "" || f.Next == "" {
			t.Errorf("%s has no reason or no next step: %+v", f.Subject, f)
		}
		out = append(out, fmt.Sprintf("%s %s: %s", f.Severity, f.Subject, f.Problem))
	}
	return out
}

// expect compares the findings of one check with the wanted ones.
func expect(t *testing.T, name string, f *cluster.Facts, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, found(t, name, f)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestSelect checks that -only and -skip choose checks, and that an unknown name is an error with
// the names.
func TestSelect(t *testing.T) {
	all := doctor.Names(doctor.Checks())
	for name, c := range map[string]struct {
		only, skip []string
		want       []string
		err        string
	}{
		"all":            {want: all},
		"only":           {only: []string{"vip", "roles"}, want: []string{"roles", "vip"}},
		"skip":           {skip: all[1:], want: all[:1]},
		"both":           {only: []string{"roles", "vip"}, skip: []string{"vip"}, want: []string{"roles"}},
		"unknown":        {only: []string{"role"}, err: `No check "role"`},
		"unknown skip":   {skip: []string{"name-server"}, err: `No check "name-server"`},
		"nothing's left": {only: []string{"vip"}, skip: []string{"vip"}, err: "No check is left"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := doctor.Select(c.only, c.skip)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				if _, detail, _ := failure.Explain(err); strings.HasPrefix(c.err, `No check "`) && !strings.Contains(detail, "storage-class") {
					t.Errorf("the error does not list the checks: %s", detail)
				}
			case err != nil:
				t.Fatal(err)
			default:
				if diff := cmp.Diff(c.want, doctor.Names(got)); diff != "" {
					t.Errorf("checks (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestNotChecked checks that no check passes whose objects could not be read: it says why.
func TestNotChecked(t *testing.T) {
	denied := &providers.PermissionError{User: "ann", Verb: "list", Resource: "nodes"}
	config := `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: openstack}, spec: {template: {spec: {containers: [{name: c, image: "i:1"}], volumes: [{name: s, secret: {secretName: tls}}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: openstack}, spec: {ports: [{port: 80, nodePort: 30080}]}}`
	for _, check := range doctor.Checks() {
		t.Run(check.Name, func(t *testing.T) {
			f := facts(t, config, "")
			f.Config.Exposures = []configs.Exposure{
				{Block: "exposure.public", Name: "public", VIP: "192.0.2.10"},
				{Block: "exposure.web", Name: "web", Mode: configs.ModeIngress, Domain: "example.org"},
			}
			f.Config.Services = []configs.Service{{Exposure: "web"}}
			f.Unasked, f.Unrendered, f.Unprobed = denied, denied, denied
			f.Cluster.Version = ""
			f.Unread = unread(denied)
			got := result(t, check.Name, f)
			if got.NotChecked == "" || check.Name != "kubernetes-version" && !strings.Contains(got.NotChecked, `ser "ann" is not allowed to list nodes`) {
				t.Errorf("not checked: %q", got.NotChecked)
			}
		})
	}
}

// unread returns the error for all lists.
func unread(err error) map[providers.Scope]error {
	out := map[providers.Scope]error{}
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Node"},
		{Version: "v1", Kind: "Pod"},
		{Version: "v1", Kind: "Service"},
		{Version: "v1", Kind: "Namespace"},
		{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
		{Group: "batch", Version: "v1", Kind: "CronJob"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	} {
		out[providers.Scope{GVK: kind}] = err
	}
	out[providers.Scope{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Namespace: "kube-system"}] = err
	out[providers.Scope{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "openstack"}] = err
	out[providers.Scope{GVK: schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, Namespace: "kube-node-lease"}] = err
	return out
}

// TestReport checks the counts, the summary and the JSON of a report.
func TestReport(t *testing.T) {
	f := facts(t, "", "")
	f.Cluster.Version = "v1.20.0"
	f.Mistakes = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Role has no node", Detail: "Add one."}, {Severity: hcl.DiagWarning, Summary: "advice"}}
	f.Unasked = errors.New("the server is busy")
	checks, err := doctor.Select([]string{"kubernetes-version", "configuration", "permissions"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	report := doctor.Examine(f, checks)
	if want := "3 checks: 2 errors, 0 warnings and 1 check that could not be made."; report.Summary() != want {
		t.Errorf("summary %q, want %q", report.Summary(), want)
	}
	if report.Clean() {
		t.Error("the report counts as clean")
	}
	var out strings.Builder
	if err := report.JSON(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"format_version": "1.0"`, `"error_count": 2`, `"not_checked_count": 1`, `"not_checked": "The server is busy."`, `"next_step": "Add one."`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the JSON lacks %s:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "advice") {
		t.Error("a warning of the configuration is a finding")
	}
	report.Mask(func(text string) string { return strings.ReplaceAll(text, "Add one", "***") })
	if got := report.Results[1].Findings[0].Next; got != "***." {
		t.Errorf("masked text %q", got)
	}
}
