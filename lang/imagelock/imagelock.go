// Package imagelock reads and writes the file with the digests of a cloud's images. A tag may be
// moved to another image, and each node keeps the image that it pulled. With the file, all nodes run
// the same images until somebody writes it anew.
//
// The file is a JSON object. It maps full references to digests:
//
//	{
//	  "quay.io/openstack.kolla/keystone:2025.1-rocky-9": "sha256:4f1c..."
//	}
package imagelock

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// File is the name of the file. It is beside the configuration.
const File = "kolla.images.json"

// digest is the form of a digest. Registries support no other algorithm everywhere.
var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// IsDigest reports whether a text is the digest of an image.
func IsDigest(text string) bool { return digest.MatchString(text) }

// Read reads the parsed file. It returns the digests by the references of the images.
func Read(body hcl.Body) (map[string]string, hcl.Diagnostics) {
	attributes, diags := body.JustAttributes()
	lock := make(map[string]string, len(attributes))
	for name, a := range attributes {
		value, more := a.Expr.Value(nil)
		diags = append(diags, more...)
		if more.HasErrors() {
			continue
		}
		if value.Type() != cty.String || value.IsNull() || !IsDigest(value.AsString()) {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Subject: a.Range.Ptr(), Summary: "Not the digest of an image",
				Detail: "Expected sha256: and 64 hexadecimal digits. `kolla images -lock` writes this file anew.",
			})
			continue
		}
		lock[name] = value.AsString()
	}
	return lock, diags
}

// Encode returns the content of the file.
func Encode(lock map[string]string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(lock); err != nil {
		panic(err) // strings always encode
	}
	return out.Bytes()
}
