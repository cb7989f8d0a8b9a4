// Package decode reads the answers of an API server: one object (Serializer), or a list (List).
//
// Answers are most of the data that a plan or an apply reads, and nearly all that it keeps in memory.
// The decoder of client-go passes over an answer four times, and allocates each field name of each
// object. This one passes once, and allocates each name once. The results are equal.
package decode

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Serializer decodes unstructured objects, also those of watches. All else is left to the
// serializer that it contains: that of package dynamic, which answers in JSON only.
type Serializer struct{ runtime.NegotiatedSerializer }

// DecoderToVersion is part of runtime.NegotiatedSerializer.
func (s Serializer) DecoderToVersion(d runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return decoder{s.NegotiatedSerializer.DecoderToVersion(d, version)}
}

// statusKind is the kind of a *metav1.Status.
var statusKind = schema.GroupKind{Kind: "Status"}

// decoder is the decoder of a Serializer.
type decoder struct{ runtime.Decoder }

// Decode is part of runtime.Decoder. The objects that client-go expects as a type, such as a Status,
// and those with a fault are left to its decoder.
func (d decoder) Decode(raw []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	target, isObject := into.(*unstructured.Unstructured)
	if defaults != nil || into != nil && !isObject {
		return d.Decoder.Decode(raw, defaults, into)
	}
	p := newParser(raw)
	defer p.free()
	content, err := p.object(0)
	object := &unstructured.Unstructured{Object: content}
	kind := object.GroupVersionKind()
	_, isList := content["items"]
	if p.peek(); err != nil || p.at < len(raw) || kind.Kind == "" || kind.Version == "" || isList || kind.GroupKind() == statusKind {
		return d.Decoder.Decode(raw, defaults, into)
	}
	if target != nil {
		target.Object, object = content, target
	}
	return object, &kind, nil
}
