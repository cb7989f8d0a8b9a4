package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
	"sigs.k8s.io/yaml"
)

// outline formats a structure as YAML in few lines. Parts that fit into width columns are in
// flow style, on one line. It only shortens long opaque values, such as keys, in the middle.
func outline(v any, width int) []string {
	switch v := v.(type) {
	case map[string]any:
		return members(v, width)
	case []any:
		var out []string
		for _, element := range v {
			out = append(out, item(element, width)...)
		}
		return out
	default:
		return strings.Split(scalar(v), "\n")
	}
}

// members formats the fields of a map. The field "name" comes first, because it identifies the
// map.
func members(m map[string]any, width int) []string {
	var out []string
	if name, ok := m["name"]; ok {
		out = entry("name:", name, width)
	}
	for key, value := range sorted(m) {
		if key != "name" {
			out = append(out, entry(scalar(key)+":", value, width)...)
		}
	}
	return out
}

// entry formats one field of a map.
func entry(head string, value any, width int) []string {
	if one, ok := flow(value); ok && (columns(head)+1+columns(one) <= width || len(one) == len("{}")) {
		return []string{head + " " + one}
	}
	const step = 2
	switch v := value.(type) {
	case map[string]any:
		return append([]string{head}, indented(members(v, width-step), "  ")...)
	case []any:
		out := []string{head}
		for _, element := range v {
			out = append(out, indented(item(element, width-step), "  ")...)
		}
		return out
	case string:
		if body, several := lines(v); several {
			return append([]string{head + " |"}, indented(body, "  ")...)
		}
	}
	return []string{head + " " + scalar(value)}
}

// item formats one element of a list.
func item(value any, width int) []string {
	const step = 2
	if one, ok := flow(value); ok && (step+columns(one) <= width || len(one) == len("{}")) {
		return []string{"- " + one}
	}
	if s, ok := value.(string); ok {
		if body, several := lines(s); several {
			return append([]string{"- |"}, indented(body, "  ")...)
		}
	}
	return indented(outline(value, width-step), "- ")
}

// indented puts a prefix before the first line, and indents all other lines.
func indented(lines []string, first string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "  " + l
		if i == 0 {
			out[i] = first + l
		}
	}
	return out
}

// flow formats a value on one line. ok is false if it needs several lines.
func flow(v any) (text string, ok bool) {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range sorted(v) {
			one, ok := flow(value)
			if !ok {
				return "", false
			}
			parts = append(parts, scalar(key)+": "+one)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	case []any:
		for _, value := range v {
			one, ok := flow(value)
			if !ok {
				return "", false
			}
			parts = append(parts, one)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case string:
		if _, several := lines(v); several {
			return "", false
		}
	}
	return scalar(v), true
}

// member formats one field on one line.
func member(key string, value any, width int) string {
	return strings.Join(entry(scalar(key)+":", value, width), " ")
}

// scalar formats a value without parts as YAML.
func scalar(v any) string {
	s, ok := v.(string)
	if !ok {
		return Quoted(v)
	}
	plain, err := yaml.Marshal(s)
	if err == nil && strings.TrimSuffix(string(plain), "\n") == s && !strings.ContainsAny(s, ",[]{}") {
		return short(s, len([]rune(s)), maxOpaque)
	}
	return short(Quoted(s), len([]rune(s)), maxOpaque)
}

// Quoted formats a value as JSON on one line.
func Quoted(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lines splits a text. several is false if there is a single line, or if separate lines would
// misrepresent the text.
func lines(s string) (all []string, several bool) {
	all = strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	clear := all[0] != "" && all[0][0] != ' ' && all[0][0] != '\t' && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsPrint(r)
	})
	return all, len(all) > 1 && clear
}

// maxOpaque is the maximum length of an opaque value that is shown whole.
const maxOpaque = 200

// opaque matches keys, certificates and checksums in an encoding such as base64.
var opaque = regexp.MustCompile(`^"?[A-Za-z0-9+/=_-]*"?$`)

// short removes the middle of an opaque value that is longer than limit columns. n is its
// length. It does not change other text.
func short(s string, n, limit int) string {
	const end = 24
	if columns(s) <= max(limit, maxOpaque) || !opaque.MatchString(s) {
		return s
	}
	runes := []rune(s)
	return fmt.Sprintf("%s…(%d characters)…%s", string(runes[:end]), n, string(runes[len(runes)-end:]))
}

// columns returns the number of columns that a text takes.
func columns(s string) int { return runewidth.StringWidth(s) }
