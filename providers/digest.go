package providers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Digest returns 64 hexadecimal digits that identify the desired object. They cover the
// manifest and the recipes of a Secret's values. They cover no secret value, not even a literal
// from a sensitive variable, so the digest may be stored, and not the time of a rotation. A plan
// file does not change the digest.
func (o *Object) Digest() string {
	data := make(map[string]SecretData, len(o.Data))
	for key, value := range o.Data {
		parts := make([]DataPart, len(value.Parts))
		for i, part := range value.Parts {
			part.Omitted = part.Omitted || part.Sensitive != ""
			parts[i] = part
		}
		generate := value.Generate
		if generate != nil && generate.Renew != "" {
			kept := *generate
			kept.Renew, kept.Former = "", nil
			generate = &kept
		}
		data[key] = SecretData{Generate: generate, Parts: parts}
	}
	// Maps are encoded in the order of their keys.
	raw, err := json.Marshal([]any{o.unrotated(), data})
	if err != nil {
		panic(fmt.Sprintf("the manifest of %s is not JSON: %v", o.Address, err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// unrotated returns the manifest without the time of a rotation, which only the apply knows.
func (o *Object) unrotated() map[string]any {
	if _, rotated := o.Manifest.GetAnnotations()[AnnotationRotated]; !rotated {
		return o.Manifest.Object
	}
	bare := o.Manifest.DeepCopy()
	unstructured.RemoveNestedField(bare.Object, "metadata", "annotations", AnnotationRotated)
	return bare.Object
}

// Hash returns the short hash for names: ten hexadecimal digits over the fields and their
// boundaries.
func Hash(fields ...string) string {
	h := sha256.New()
	for _, field := range fields {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	return strings.ToLower(hex.EncodeToString(h.Sum(nil))[:10])
}
