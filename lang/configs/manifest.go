package configs

import (
	"strconv"
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
	Places   Places    // of the values in Content
}

// Place returns the place of a field of the object, or of the nearest part around the field.
func (m ManifestObject) Place(field string) hcl.Range { return placeOf(m.Places, field, m.Range) }

// Places finds the places of values in a text that declares them. It looks only when it is asked:
// the paths of all values may need much more memory than the text.
type Places interface {
	// Find returns the place of the value with a path, such as ".spec.ports[0].name", or of the
	// nearest part around it; ok is false if that is the whole.
	Find(field string) (at hcl.Range, ok bool)
}

func placeOf(places Places, field string, whole hcl.Range) hcl.Range {
	if places != nil {
		if at, ok := places.Find(field); ok {
			return at
		}
	}
	return whole
}

// InMap returns the rest of a path that leads to a member of a map, or into it.
func InMap(field, key string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(field, ".")
	if ok {
		rest, ok = strings.CutPrefix(rest, key)
	}
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// InList returns the number of an element of a list to which a path leads, and the rest of the path.
func InList(field string) (i int, rest string, ok bool) {
	number, rest, closed := strings.Cut(field, "]")
	number, ok = strings.CutPrefix(number, "[")
	i, err := strconv.Atoi(number)
	return i, rest, ok && closed && err == nil && i >= 0
}

// KnownAfterApply stands for a value that is known only after the apply.
const KnownAfterApply = "(known after apply)"
