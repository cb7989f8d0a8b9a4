package dryrun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/providers"
)

func TestThrowAwayNameIsValidWhereTheNameIs(t *testing.T) {
	cases := []struct {
		name     string
		validate func(string) []string
	}{
		{"a", validation.IsDNS1123Label},
		{"keystone-api", validation.IsDNS1035Label},
		{"2025-mariadb", validation.IsDNS1123Label},
		{"keystone.conf-4be2a1", validation.IsDNS1123Subdomain},
		{strings.Repeat("a", 63), validation.IsDNS1123Label},
		{strings.Repeat("a", 64), validation.IsDNS1123Label},
		{"keystone.conf", validation.IsDNS1123Label},
		{"2025", validation.IsDNS1035Label},
		{"Keystone", validation.IsDNS1123Subdomain},
		{"keystone-", validation.IsDNS1123Label},
	}
	for _, c := range cases {
		for range 50 {
			got := throwAwayName(c.name)
			grown := strings.HasSuffix(c.name, "-") // it ends with a letter now
			if valid, want := len(c.validate(got)) == 0, len(c.validate(c.name)) == 0; valid != want && !grown {
				t.Errorf("%q is valid: %t; %q is: %t", c.name, want, got, valid)
			}
			if got == c.name || len(got) < surrogateLength || (len(c.name) >= surrogateLength && len(got) != len(c.name)) {
				t.Errorf("%q stands in for %q", got, c.name)
			}
		}
	}
}

func TestSurrogateRestoresNothingButItsName(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "sync", "namespace": "cloud"},
	}}
	s, err := newSurrogate(object, providers.SurrogateNamespace)
	if err != nil {
		t.Fatal(err)
	}
	name := s.object.GetName()
	if s.object.GetNamespace() != "default" || object.GetName() != "sync" {
		t.Fatalf("sent as %s/%s, and the manifest is now %s", s.object.GetNamespace(), name, object.GetName())
	}
	answer := s.object.DeepCopy()
	answer.SetLabels(map[string]string{"job-name": name, "longer": name + "-x", "env": "default"})
	answer.Object["list"] = []any{name, "default", int64(1), map[string]any{"deep": name}}
	want := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"name": "sync", "namespace": "cloud",
			"labels": map[string]any{"job-name": "sync", "longer": name + "-x", "env": "default"},
		},
		"list": []any{"sync", "default", int64(1), map[string]any{"deep": "sync"}},
	}
	if diff := cmp.Diff(want, s.restore(answer).Object); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	complaint := apierrors.NewBadRequest("Job " + name + " is odd")
	if got := s.restoreError(complaint).Error(); got != "Job sync is odd" {
		t.Errorf("the complaint is %q", got)
	}
	if complaint.Error() == "Job sync is odd" {
		t.Error("the error was changed in place")
	}
}
