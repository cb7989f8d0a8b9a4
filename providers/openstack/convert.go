package openstack

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// applyConfiguration is a whole object of client-go's, which holds only what was set.
type applyConfiguration interface {
	GetAPIVersion() *string
	GetKind() *string
	GetName() *string
}

// convert makes a manifest, or only what names it.
func (r *renderer) convert(c applyConfiguration) *unstructured.Unstructured {
	if r.namesOnly {
		return nameOnly(c)
	}
	return manifest(c)
}

// manifest converts an apply configuration.
func manifest(c applyConfiguration) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		panic(err) // our own values always convert
	}
	return &unstructured.Unstructured{Object: content}
}

// nameOnly is of a manifest only what names the object.
func nameOnly(c applyConfiguration) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": *c.GetAPIVersion(),
		"kind":       *c.GetKind(),
		"metadata":   map[string]any{"name": *c.GetName()},
	}}
}

func anyMap(texts map[string]string) map[string]any {
	out := make(map[string]any, len(texts))
	for key, text := range texts {
		out[key] = text
	}
	return out
}

// mark puts labels or annotations on a manifest, beside those that it has.
func mark(u *unstructured.Unstructured, field string, marks map[string]string) {
	metadata := u.Object["metadata"].(map[string]any)
	given, ok := metadata[field].(map[string]any)
	if !ok {
		metadata[field] = anyMap(marks)
		return
	}
	for key, text := range marks {
		given[key] = text
	}
}
