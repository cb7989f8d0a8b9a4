package v1alpha1

import (
	"bytes"
	"embed"
)

//go:embed crds/*.yaml
var definitions embed.FS

// Definitions returns the CustomResourceDefinitions as a stream of YAML documents.
func Definitions() []byte {
	entries, err := definitions.ReadDir("crds")
	if err != nil {
		panic(err) // embedded
	}
	var out bytes.Buffer
	for _, e := range entries {
		text, err := definitions.ReadFile("crds/" + e.Name())
		if err != nil {
			panic(err)
		}
		out.Write(text)
	}
	return out.Bytes()
}
