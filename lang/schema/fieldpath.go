package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	pathField    = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*`)
	pathSelector = regexp.MustCompile(`^\[([^\]\["]+)\]`)
)

// splitFieldPath splits the text form of a path of fields into its elements, such as
// spec.containers["api"].image.
func SplitFieldPath(text string) ([]string, error) {
	var path []string
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

// cutElement takes the first element off the text of a path.
func cutElement(text string, first bool) (element, rest string, err error) {
	if strings.HasPrefix(text, `["`) {
		quoted, err := strconv.QuotedPrefix(text[1:])
		if err != nil || !strings.HasPrefix(text[1+len(quoted):], "]") {
			return "", "", fmt.Errorf("a bracket is not closed")
		}
		element, err = strconv.Unquote(quoted)
		return element, text[len(quoted)+2:], err
	}
	if match := pathSelector.FindStringSubmatch(text); match != nil {
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
	if element = pathField.FindString(text); element == "" {
		return "", "", fmt.Errorf("the name of a field is missing before %q", text)
	}
	return element, text[len(element):], nil
}

// isFieldName reports whether an element of a path can stand without brackets and quotes.
func IsFieldName(element string) bool { return pathField.FindString(element) == element }
