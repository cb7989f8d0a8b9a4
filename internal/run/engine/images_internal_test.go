package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestImagesOn checks which digests the images on a node have.
func TestImagesOn(t *testing.T) {
	node := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"images": []any{
		map[string]any{"names": []any{"q.io:5000/k/keystone@sha256:aa", "q.io:5000/k/keystone:1"}},
		map[string]any{"names": []any{"q.io/nova@sha256:bb", "q.io/nova@sha256:cc", "q.io/nova:1", "other.io/nova:1"}},
		map[string]any{"names": []any{"q.io/locked@sha256:dd"}},
		map[string]any{"names": []any{"q.io/imported:1"}},
		map[string]any{"sizeBytes": int64(1)},
	}}}}
	want := map[string][]string{
		"q.io:5000/k/keystone:1":         {"sha256:aa"},
		"q.io:5000/k/keystone@sha256:aa": {"sha256:aa"},
		"q.io/nova:1":                    {"sha256:bb", "sha256:cc"},
		"q.io/nova@sha256:bb":            {"sha256:bb"},
		"q.io/nova@sha256:cc":            {"sha256:cc"},
		"other.io/nova:1":                nil,
		"q.io/locked@sha256:dd":          {"sha256:dd"},
		"q.io/imported:1":                nil,
	}
	if diff := cmp.Diff(want, ImagesOn(node)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
