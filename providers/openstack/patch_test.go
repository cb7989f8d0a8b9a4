package openstack_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestPatchDiagnostics checks the diagnostics for patches that do not fit, in a plan and in a check
// of the configuration.
func TestPatchDiagnostics(t *testing.T) {
	config := load(t, "testdata/patched-wrong")
	_, diags := rendered(config, facts())
	var b strings.Builder
	for _, d := range diags {
		severity := "Error"
		if d.Severity == hcl.DiagWarning {
			severity = "Warning"
		}
		fmt.Fprintf(&b, "%s: %s\n  at %s:%s\n  %s\n\n", severity, d.Summary, filepath.Base(d.Subject.Filename), strings.SplitN(d.Subject.String(), ":", 2)[1], d.Detail)
	}
	golden.Compare(t, "testdata/patched-wrong/want.txt", []byte(b.String()))
	if _, checked := openstack.Check(config, facts()); cmp.Diff(diags, checked) != "" {
		t.Errorf("a check finds something else (-rendered +checked):\n%s", cmp.Diff(diags, checked))
	}
}

// TestPatchesMergeAsApply checks that a patch that removes nothing gives the same result as a
// server-side apply.
func TestPatchesMergeAsApply(t *testing.T) {
	config := load(t, "testdata/patched")
	patches := config.Services[0].Patches
	for i, p := range patches {
		drop(p.Object)
		config.Services[0].Patches = nil
		before := render(t, config, facts())
		config.Services[0].Patches = patches[i : i+1]
		after := render(t, config, facts())
		taken := 0
		for j, o := range before {
			name := o.Address.Name
			if o.Family.Name != "" {
				name = o.Family.Name
			}
			if !p.Matches(o.Address.Kind, name) {
				continue
			}
			taken++
			content := map[string]any{"apiVersion": o.Manifest.GetAPIVersion(), "kind": o.Manifest.GetKind()}
			for key, value := range p.Object {
				content[key] = value
			}
			types := providers.BuiltinTypes()
			base, err := types.ObjectToTyped(o.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			patch, err := types.ObjectToTyped(&unstructured.Unstructured{Object: content})
			if err != nil {
				t.Fatal(err)
			}
			merged, err := base.Merge(patch)
			if err != nil {
				t.Fatal(err)
			}
			want := &unstructured.Unstructured{Object: merged.AsValue().Unstructured().(map[string]any)}
			for _, u := range []*unstructured.Unstructured{want, after[j].Manifest} {
				if o.IsJob() { // the name of a changed Job is different
					u.SetName(name)
					u.SetAnnotations(nil)
				}
			}
			if diff := cmp.Diff(want.Object, after[j].Manifest.Object); diff != "" {
				t.Errorf("%s over %s (-as applied +as patched):\n%s", p.Label, o.Address, diff)
			}
		}
		if taken == 0 {
			t.Errorf("nothing takes the patch at %s", p.Label)
		}
	}
}

// drop removes null values from a map.
func drop(fields map[string]any) {
	for key, value := range fields {
		if inner, ok := value.(map[string]any); ok {
			drop(inner)
		} else if value == nil {
			delete(fields, key)
		}
	}
}

// TestPatchedJobRunsAgain checks that a changed patch gives a Job another name, and changes no
// other name.
func TestPatchedJobRunsAgain(t *testing.T) {
	of := func(assignment string) map[string]string {
		config, diags := lang.Load("testdata/patched", lang.Options{Catalogue: openstack.Catalogue(), Vars: []lang.Var{{Assignment: assignment}}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		out := map[string]string{}
		for _, o := range render(t, config, facts()) {
			out[logical(o)] = o.Address.Name
		}
		return out
	}
	one, other := of("extended=false"), of("extended=true")
	for name := range one {
		if changed, want := one[name] != other[name], name == "service.page/Job/page-fill"; changed != want {
			t.Errorf("%s has another name: %v, want %v", name, changed, want)
		}
	}
}
