// Package secrets makes and renews the values of Secrets: random values, key pairs and
// certificates. Resolve adds the values of a providers.Object to its manifest. Due returns the
// reason to renew a certificate. A revision names the values of a Secret without revealing
// them; see RevisionOf. Package providers has the types that describe how a value is made, such
// as providers.Generator.
package secrets

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
)

// Resolve returns the manifest for the server. It puts values into the manifest of a Secret, and
// returns the manifest of any other object unchanged. It keeps values that were generated before,
// unless they must be renewed. With generate (an apply), it generates missing values. Without
// generate (a plan), it puts a placeholder for each missing value, and pending lists their keys.
func Resolve(o *providers.Object, live providers.Values, generate bool) (manifest *unstructured.Unstructured, pending []string, err error) {
	if len(o.Data) == 0 {
		return o.Manifest, nil, nil
	}
	manifest = o.Manifest.DeepCopy()
	values := map[string][]byte{}
	own := live(manifest.GetNamespace(), manifest.GetName())
	together, err := makeTogether(o, own, live, generate)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.Ref(), err)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		kept := own[key]
		if isMadeTogether(o.Data[key]) {
			kept = together[key]
		}
		value, known, err := resolveValue(o.Data[key], kept, live, generate)
		if err != nil {
			return nil, nil, fmt.Errorf("%s, key %s: %w", o.Ref(), key, err)
		}
		if !known {
			pending = append(pending, key)
		}
		values[key] = value
	}
	data := map[string]any{}
	for key, value := range values {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	if err := unstructured.SetNestedMap(manifest.Object, data, "data"); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.Ref(), err)
	}
	annotations := manifest.GetAnnotations()
	if o.Rotates() && annotations != nil {
		annotations[providers.AnnotationRotated] = rotatedAt(generate)
		manifest.SetAnnotations(annotations)
	}
	if revision := annotations[providers.AnnotationRevision]; revision != "" && len(pending) == 0 {
		annotations[providers.AnnotationChecksum] = checksum(keyFor(manifest, live), revision, values)
		if end := notAfter(values[configs.KeyCertificate]); isMade(o) && end != "" {
			annotations[providers.AnnotationNotAfter] = end
		}
		manifest.SetAnnotations(annotations)
	}
	return manifest, pending, nil
}

// placeholder replaces a value that the apply will make. Dry runs send it.
const placeholder = "pending"

// resolveValue returns one value. own is the existing value in the Secret, or nil. known is
// false if the apply will make the value.
func resolveValue(d providers.SecretData, own []byte, live providers.Values, generate bool) (value []byte, known bool, err error) {
	if d.Generate == nil {
		return Join(d.Parts, live)
	}
	switch {
	case own != nil && (d.Generate.Renew == "" || isMadeTogether(d)):
		return own, true, nil
	case generate:
		value, err := generateValue(d.Generate)
		return value, true, err
	default:
		return []byte(placeholder), false, nil
	}
}

// Join joins the parts of a derived value. known is false if a Secret of a part is not there yet.
func Join(parts []providers.DataPart, live providers.Values) (value []byte, known bool, err error) {
	for _, part := range parts {
		switch {
		case part.Omitted:
			return nil, false, fmt.Errorf("it is made from a sensitive variable, whose value is not in the plan file")
		case part.From == nil:
			value = append(value, part.Literal+part.Sensitive...)
		default:
			source, ok := live(part.From.Namespace, part.From.Name)[part.From.Key]
			if !ok {
				return []byte(placeholder), false, nil
			}
			text, err := escape.Into(part.Place, string(source))
			if err != nil {
				return nil, false, fmt.Errorf("the value of %s cannot be used here: %w", part.From, err)
			}
			value = append(value, text...)
		}
	}
	return value, true, nil
}

// isMade reports whether kolla generates the values of the object, or generated them for
// the Secret whose values the object takes over.
func isMade(o *providers.Object) bool {
	return o.HasData(func(d providers.SecretData) bool { return d.Generate != nil || d.Carried })
}
