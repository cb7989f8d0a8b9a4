package addrs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// FieldPath names a field of an object and everything below it, in the form that plans show:
//
//	spec.replicas
//	spec.template.spec.containers["api"].image
//	metadata.annotations["example.org/team"]
//
// An element is the name of a field, the key of a map, or the selector of a list element:
// `containers["api"]` and `containers.api` are the same. `*` stands for any element, and at
// the end of an element for any rest of it.
type FieldPath []string

var (
	fieldName     = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*`)
	fieldSelector = regexp.MustCompile(`^\[([^\]\["]+)\]`)
)

// ParseFieldPath reads the text form of a path.
func ParseFieldPath(text string) (FieldPath, error) {
	var path FieldPath
	rest := text
	for rest != "" {
		element, after, err := cutElement(rest, len(path) == 0)
		if err != nil {
			return nil, fmt.Errorf("%q is not the path of a field: %w", text, err)
		}
		path, rest = append(path, element), after
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("the path of a field is not empty")
	}
	return path, nil
}

// cutElement cuts the first element off the text of a path.
func cutElement(text string, first bool) (element, rest string, err error) {
	if strings.HasPrefix(text, `["`) {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil || !strings.HasPrefix(text[1+len(quoted):], "]") {
			return "", "", fmt.Errorf("a bracket is not closed")
		}
		element, err = strconv.Unquote(quoted)
		return element, text[len(quoted)+2:], err
	}
	if match := fieldSelector.FindStringSubmatch(text); match != nil {
		return match[1], text[len(match[0]):], nil
	}
	if !first {
		if text[0] != '.' {
			return "", "", fmt.Errorf("a key with dots or slashes in it stands in brackets and quotes, such as metadata.annotations[\"example.org/team\"]")
		}
		text = text[1:]
	}
	if strings.HasPrefix(text, "*") {
		return "*", text[1:], nil
	}
	if element = fieldName.FindString(text); element == "" {
		return "", "", fmt.Errorf("the name of a field is missing before %q", text)
	}
	return element, text[len(element):], nil
}

// String returns the text form. ParseFieldPath reads it.
func (p FieldPath) String() string {
	var b strings.Builder
	for i, element := range p {
		switch {
		case element != "*" && fieldName.FindString(element) != element:
			b.WriteString("[" + strconv.Quote(element) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(element)
	}
	return b.String()
}

// Covers reports whether a field is at or below the path.
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

// MatchesStar reports whether a name equals the pattern, or starts with the part of the
// pattern before a final `*`.
func MatchesStar(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, prefix)
}
