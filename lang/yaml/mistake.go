package yaml

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

const (
	tab   = "the line is indented with a tab, and YAML needs spaces: replace the tab by spaces"
	quote = "the quote that begins in this line has no end: add the second quote"
)

var (
	// unclosed matches the messages about a bracket without its end.
	unclosed = regexp.MustCompile(`^did not find expected ',' or`)
	// noSpace matches a key whose value begins without a space: "name:x".
	noSpace = regexp.MustCompile(`^[\s-]*[\w./-]+:[^\s/]`)
	// twoColons matches a second key in a line: "name: a: b".
	twoColons = regexp.MustCompile(`^[^"']*:\s.*:(\s|$)`)
	// reserved matches a value that begins with a character that needs quotes.
	reserved = regexp.MustCompile("(^|[:,\\[{-])\\s*([@`%])")
	// template matches the marks of a template where a line or a value begins.
	template = regexp.MustCompile(`^[\s-]*([^\s"'#|>]+:\s+)?\{\{`)
	// anchorName matches the name in the message about a missing anchor.
	anchorName = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// mistake returns the error of the parser at the line where a person would mend it.
func (d Document) mistake(err error) *Error {
	line, message := explain(err)
	if n := d.find(template, 0); n > 0 {
		return d.wrong(n, "{{ and }} belong to a template: give the YAML that is made from it, as helm template prints it. A value that begins with {{ needs quotes")
	}
	text := d.textOf(line)
	switch {
	case strings.Contains(message, "tab character"), strings.Contains(message, "cannot start any token") && isIndentedWithTab(text):
		return d.wrong(line, tab)
	case strings.Contains(message, "cannot start any token"):
		if m := reserved.FindStringSubmatch(text); m != nil {
			return d.wrong(line, "a value that begins with %s needs quotes", m[2])
		}
	case message == "found unexpected end of stream":
		return d.wrong(d.opened(line, 0), quote)
	case unclosed.MatchString(message):
		return d.wrong(line, "a comma, or the end of the list or map that begins in line %d, is missing here or before", d.line(d.opened(line, 1)).Start.Line)
	case message == "could not find expected ':'":
		return d.wrong(d.opened(line, 0), "a colon is missing in this line: KEY: VALUE")
	case message == "did not find expected key":
		return d.wrong(line, "a key is expected here, as deep as the keys before it in its map: check the indentation")
	case strings.HasPrefix(message, "mapping values are not allowed"):
		return d.misplaced(line)
	case message == badKey:
		return d.badKey(line)
	}
	if m := anchorName.FindStringSubmatch(message); m != nil {
		return d.wrong(d.find(regexp.MustCompile(`(^|[\s,\[{])\*`+regexp.QuoteMeta(m[1])+`($|[\s,\]}:])`), line), "%s", message)
	}
	return d.wrong(line, "%s", message)
}

// CheckSyntax reports a document that cannot be parsed.
func (d Document) CheckSyntax() *Error {
	if d.root != nil || d.json {
		return nil
	}
	if _, err := yaml.YAMLToJSON(append(slices.Clip(d.Text), '\n')); err != nil {
		return d.mistake(err)
	}
	return nil
}

// textOf returns the n-th line of the document.
func (d Document) textOf(n int) string {
	at := d.line(n)
	return string(d.Text[at.Start.Byte-d.from.Byte : at.End.Byte-d.from.Byte])
}

func isIndentedWithTab(line string) bool {
	return strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")
}

// find returns the first line that matches a pattern, or the given line.
func (d Document) find(pattern *regexp.Regexp, line int) int {
	for i, at := range d.lines() {
		if pattern.Match(d.Text[at.Start.Byte-d.from.Byte : at.End.Byte-d.from.Byte]) {
			return i + 1
		}
	}
	return line
}

// opened returns the line where an unclosed quote or bracket begins. The decoder of kubectl reports
// only the line where it stopped, so the text is parsed with the other one. An added first line makes
// up for its treatment of line 0 as unknown. further is 1 for brackets, whose lines it counts from 0.
func (d Document) opened(line, further int) int {
	text := append([]byte("\n"), bytes.TrimPrefix(d.Text, []byte("\ufeff"))...)
	var root yaml3.Node
	err := yaml3.Unmarshal(text, &root)
	if err == nil {
		return line
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return line
	}
	n, _ := strconv.Atoi(m[1])
	return n - 1 + further
}

// misplaced reports a colon where no key can be.
func (d Document) misplaced(line int) *Error {
	if twoColons.MatchString(d.textOf(line)) {
		return d.wrong(line, "a value with a colon and a space in it needs quotes")
	}
	for n := line - 1; n > 0; n-- {
		before := d.textOf(n)
		if trimmed := strings.TrimSpace(before); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if noSpace.MatchString(before) {
			return d.wrong(n, "a colon after a key needs a space behind it")
		}
		break
	}
	return d.wrong(line, "a key cannot be here, because the line before it is a value: check the indentation")
}

// badKey reports a map, a list or null in the place of a key.
func (d Document) badKey(line int) *Error {
	if d.root != nil {
		if key := keyOfNoScalar(d.root); key != nil {
			line = key.Line
		}
	}
	return d.wrong(line, badKey)
}

// keyOfNoScalar returns the first key that is a map, a list or null; nil: there is none.
func keyOfNoScalar(n *yaml3.Node) *yaml3.Node {
	for i, part := range n.Content {
		if key := target(part); n.Kind == yaml3.MappingNode && i%2 == 0 && (key.Kind != yaml3.ScalarNode || key.ShortTag() == "!!null") {
			return part
		}
		if found := keyOfNoScalar(part); found != nil {
			return found
		}
	}
	return nil
}
