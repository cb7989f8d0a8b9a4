package dryrun

import (
	"regexp"
	"strings"
)

var (
	// goValue is how a value appears in a message about a wrong type: as the Go text of
	// what the server holds it in.
	goValue = regexp.MustCompile(`got &value\.valueUnstructured\{Value:(.*?)\}(; |\n|$)`)
	// goType is the name of the type that was expected.
	goType = regexp.MustCompile(`expected (string|map|list|boolean|numeric \(int or float\)|numeric)\b?,? `)
)

// plainTypes puts what a message says of wrong types into words: "expected a string,
// got the number 1". Of lists and maps only that they are some is said.
func plainTypes(message string) string {
	if !strings.Contains(message, "valueUnstructured") {
		return message
	}
	message = goType.ReplaceAllStringFunc(message, func(found string) string {
		kind := strings.Trim(strings.TrimPrefix(found, "expected "), ", ")
		if strings.HasPrefix(kind, "numeric") {
			kind = "number"
		}
		return "expected a " + kind + ", "
	})
	return goValue.ReplaceAllStringFunc(message, func(found string) string {
		parts := goValue.FindStringSubmatch(found)
		return "got " + goWords(parts[1]) + parts[2]
	})
}

// goWords puts the Go text of a value into words.
func goWords(value string) string {
	switch {
	case value == "<nil>" || value == "interface {}(nil)":
		return "null"
	case value == "true" || value == "false":
		return "the boolean " + value
	case strings.HasPrefix(value, `"`):
		return "the string " + value
	case strings.HasPrefix(value, "map["):
		return "a map"
	case strings.HasPrefix(value, "[]"):
		return "a list"
	default:
		return "the number " + value
	}
}
