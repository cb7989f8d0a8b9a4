package providers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Digest identifies what is desired: 64 hexadecimal digits over the manifest and
// over how the values of a Secret come about. No secret value goes into it, not
// even a literal from a sensitive variable, so that it may be stored; and it is
// the same before and after the object went through a plan file.
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
	raw, err := json.Marshal([]any{o.Manifest.Object, data})
	if err != nil {
		panic(fmt.Sprintf("the manifest of %s is not JSON: %v", o.Address, err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Hash is the short hash that names carry: ten hexadecimal digits over the
// fields and their boundaries.
func Hash(fields ...string) string {
	h := sha256.New()
	for _, field := range fields {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	return strings.ToLower(hex.EncodeToString(h.Sum(nil))[:10])
}
