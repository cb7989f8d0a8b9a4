package operator

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

func TestSourceInWords(t *testing.T) {
	git := func(branch, tag, commit string) v1alpha1.Source {
		return v1alpha1.Source{Git: &v1alpha1.Git{URL: "https://example.org/x", Branch: branch, Tag: tag, Commit: commit}}
	}
	for want, spec := range map[string]v1alpha1.CloudSpec{
		"the directory prod of the branch main of https://example.org/x": {Source: git("main", "", ""), Path: "prod/"},
		"the default branch of https://example.org/x":                    {Source: git("", "", ""), Path: "."},
		"the tag v1 of https://example.org/x":                            {Source: git("", "v1", "")},
		"the commit 0a1b of https://example.org/x":                       {Source: git("", "", "0a1b")},
		"the artefact oci://r/x:latest":                                  {Source: v1alpha1.Source{OCI: &v1alpha1.OCI{URL: "oci://r/x"}}},
		"the artefact oci://r/x@sha256:1":                                {Source: v1alpha1.Source{OCI: &v1alpha1.OCI{URL: "oci://r/x", Digest: "sha256:1"}}},
		"the ConfigMap a and the ConfigMap b":                            {Source: v1alpha1.Source{ConfigMaps: []v1alpha1.Reference{{Name: "a"}, {Name: "b"}}}},
	} {
		if got := SourceInWords(spec); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDraftFile compares files of a ConfigMap with a directory.
func TestDraftFile(t *testing.T) {
	dir := fstest.MapFS{"same.hcl": {Data: []byte("s")}, "other.hcl": {Data: []byte("new")}, "more.hcl": {Data: []byte("m")}, "motd": {Data: []byte("hi")}}
	d := &Draft{}
	in := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"same.hcl": "s", "other.hcl": "old", "gone.hcl": "g", "motd": "ho", "elsewhere.txt": "e", "kolla.vars.hcl": "v"}}
	for _, name := range []string{"same.hcl", "other.hcl", "gone.hcl", "motd", "elsewhere.txt", "kolla.vars.hcl", "more.hcl"} {
		if err := d.compare(in, name, dir); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]Edit{{"a", "other.hcl", "old", "new"}, {"a", "gone.hcl", "g", ""}, {"a", "motd", "ho", "hi"}, {"a", "more.hcl", "", "m"}}, d.Edits); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"same.hcl": "s", "other.hcl": "new", "motd": "hi", "elsewhere.txt": "e", "kolla.vars.hcl": "v", "more.hcl": "m"}, in.Data); diff != "" {
		t.Error(diff)
	}
}
