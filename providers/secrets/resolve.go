package secrets

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
)

// Resolve returns the object's manifest as it is to be sent: for a Secret, with
// its values. Values that were generated before are kept, unless they are to be
// renewed. Values that are still missing are made when generate is set (an apply); otherwise (a plan) their keys
// are returned as pending, and a placeholder stands in for each. The manifest of
// any other object is returned as it is.
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
	if revision := annotations[providers.AnnotationRevision]; revision != "" && len(pending) == 0 {
		annotations[providers.AnnotationChecksum] = checksum(keyFor(manifest, live), revision, values)
		if end := notAfter(values[lang.KeyCertificate]); isMade(o) && end != "" {
			annotations[providers.AnnotationNotAfter] = end
		}
		manifest.SetAnnotations(annotations)
	}
	return manifest, pending, nil
}

// placeholder stands for a value that is made at apply; dry runs carry it.
const placeholder = "pending"

func resolveValue(d providers.SecretData, own []byte, live providers.Values, generate bool) (value []byte, known bool, err error) {
	if d.Generate == nil {
		return join(d.Parts, live)
	}
	switch {
	case own != nil:
		return own, true, nil
	case generate:
		value, err := generateValue(d.Generate)
		return value, true, err
	default:
		return []byte(placeholder), false, nil
	}
}

// join puts a derived value together.
func join(parts []providers.DataPart, live providers.Values) (value []byte, known bool, err error) {
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

// isMade reports whether kolla makes up the values of the object, or has made them for the
// one whose values it takes over.
func isMade(o *providers.Object) bool {
	if o.Generated() {
		return true
	}
	for _, data := range o.Data {
		if data.Carried {
			return true
		}
	}
	return false
}

// alphabet of passwords: safe in URLs, INI files, SQL strings and shells.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func generateValue(g *providers.Generator) ([]byte, error) {
	switch g.Kind {
	case "password":
		return password(g.Length)
	case "hex":
		raw := make([]byte, g.Length)
		rand.Read(raw)
		return hex.AppendEncode(nil, raw), nil
	case "base64":
		return random(g.Length), nil
	case "uuid":
		return []byte(uuid.NewString()), nil
	case "fernet":
		// 16 bytes of signing key and 16 of encryption key, as the Fernet
		// specification has them, in URL-safe base64.
		return random(32), nil
	}
	return nil, fmt.Errorf("no generator makes a secret of kind %q", g.Kind)
}

// random is a number of bytes in URL-safe base64.
func random(length int) []byte {
	raw := make([]byte, length)
	rand.Read(raw)
	return base64.URLEncoding.AppendEncode(nil, raw)
}

func password(length int) ([]byte, error) {
	out := make([]byte, length)
	for i := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return nil, fmt.Errorf("read random numbers: %w", err)
		}
		out[i] = alphabet[n.Int64()]
	}
	return out, nil
}
