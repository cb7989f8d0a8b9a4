package configs

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Manifest is a block with Kubernetes objects as they are.
type Manifest struct {
	Block     string // address
	Name      string
	Reason    string // purpose of the powers of its pods; may be empty
	Objects   []ManifestObject
	Needs     []string
	Reasons   []Reason // one for each of Needs
	Lifecycle Lifecycle
	Range     hcl.Range
}

// ManifestObject is one object of a manifest.
type ManifestObject struct {
	// Content is the decoded object. Numbers are int64 or float64.
	Content map[string]any
	// Deferred are the data blocks that have to be read before Content is known. Until then
	// KnownAfterApply stands for values that depend on them.
	Deferred []string
	Range    hcl.Range // of the document in its file, or of the object attribute
	// Places maps paths in Content, such as ".spec.ports[0].name", to their places in the source.
	// It has only the values that are not text, and the maps in lists of a file.
	Places map[string]hcl.Range
}

// Place returns the place of a field of the object, or of the nearest part around the field.
func (m ManifestObject) Place(field string) hcl.Range { return placeOf(m.Places, field, m.Range) }

// placeOf returns the place of a field, or of the nearest part around it, or that of the whole.
func placeOf(places map[string]hcl.Range, field string, whole hcl.Range) hcl.Range {
	for field != "" {
		if at, ok := places[field]; ok {
			return at
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return whole
}

// KnownAfterApply stands for a value that is known only after the apply.
const KnownAfterApply = "(known after apply)"
