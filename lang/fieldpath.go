package lang

import (
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/lang/schema"
)

// FieldPath names fields of an object in the form in which plans show them, and
// stands for the field and everything below it:
//
//	spec.replicas
//	spec.template.spec.containers["api"].image
//	metadata.annotations["example.org/team"]
//
// Each of its elements is the name of a field, or what selects an element of a list
// or a key of a map: `containers["api"]` and `containers.api` are the same. `*`
// stands for any element, and at the end of one for any rest of it.
type FieldPath []string

// ParseFieldPath reads the text form of a path.
func ParseFieldPath(text string) (FieldPath, error) { return schema.SplitFieldPath(text) }

// String gives a text that ParseFieldPath reads.
func (p FieldPath) String() string {
	var b strings.Builder
	for i, element := range p {
		switch {
		case element != "*" && !schema.IsFieldName(element):
			b.WriteString("[" + strconv.Quote(element) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(element)
	}
	return b.String()
}

// Covers reports whether a field is the one that the path stands for, or below it.
func (p FieldPath) Covers(field FieldPath) bool {
	if len(field) < len(p) {
		return false
	}
	for i, element := range p {
		if !MatchesStar(element, field[i]) {
			return false
		}
	}
	return true
}

// MatchesStar reports whether a name is the pattern, or begins as a pattern that
// ends in `*` does.
func MatchesStar(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, prefix)
}
