package yaml

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	kubejson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/base/parallel"
	"kolla.openstack.org/kolla/lang/configs"
)

// Decode decodes a document as kubectl does: whole numbers become int64. It returns nil for a
// document that kubectl skips, such as null. A key that occurs twice is an error.
func (d Document) Decode() (map[string]any, *Error) {
	if err := d.CheckKeys(); err != nil {
		return nil, err
	}
	asJSON := d.Text
	if !d.json {
		decode := yaml.YAMLToJSON
		if d.root == nil {
			decode = yaml.YAMLToJSONStrict
		}
		var err error
		// kubectl ends the last line of a text.
		if asJSON, err = decode(append(slices.Clip(d.Text), '\n')); err != nil {
			return nil, d.mistake(err)
		}
	}
	var content any
	twice, err := kubejson.UnmarshalStrict(asJSON, &content, kubejson.DisallowDuplicateFields)
	if err != nil {
		return nil, d.wrong(1, "it is not JSON: %s", err)
	}
	if len(twice) > 0 {
		return nil, d.wrong(1, "%s", twice[0])
	}
	object, ok := content.(map[string]any)
	if !ok && content != nil {
		return nil, &Error{Range: d.Line, Message: "an object is needed, with apiVersion, kind and metadata"}
	}
	return object, nil
}

// Decode decodes documents. contents and wrong have an element for each document.
func Decode(documents []Document) (contents []map[string]any, wrong []*Error) {
	contents, wrong = make([]map[string]any, len(documents)), make([]*Error, len(documents))
	parallel.Each(len(documents), func(i int) { contents[i], wrong[i] = documents[i].Decode() })
	return contents, wrong
}

// CheckKeys reports a key that occurs twice in a map: one of the values would be lost. A key of a
// merged map may occur again.
func (d Document) CheckKeys() *Error {
	if d.root == nil {
		return nil
	}
	if key := twice(d.root); key != nil {
		return d.wrong(key.Line, "key %q is already set in this map", keyName(key))
	}
	return nil
}

// twice returns the first key that occurs a second time in its map; nil: there is none.
func twice(n *yaml3.Node) *yaml3.Node {
	seen := map[string]bool{}
	for i, part := range n.Content {
		if n.Kind == yaml3.MappingNode && i%2 == 0 && part.Kind == yaml3.ScalarNode && part.ShortTag() != "!!merge" {
			name := keyName(part)
			if seen[name] {
				return part
			}
			seen[name] = true
		}
		if found := twice(part); found != nil {
			return found
		}
	}
	return nil
}

// switches are the words that YAML 1.1 reads as true and false, in small letters.
var switches = []string{"true", "false", "yes", "no", "on", "off", "y", "n"}

// keyName returns the name of a key in JSON. Numbers and booleans become text there.
func keyName(key *yaml3.Node) string {
	if isText(key) {
		return key.Value
	}
	var value map[string]any
	if err := yaml.Unmarshal([]byte(key.Value+": 0"), &value); err == nil {
		for name := range value {
			return name
		}
	}
	return key.Value
}

// Compact returns the document without its values, which take more memory than its text. Find then
// parses it again.
func (d Document) Compact() Document {
	d.root = nil
	return d
}

// Find returns the line of the value with a path, such as ".items[0].spec.replicas", or that of the
// nearest part around it. ok is false if that is the document. The document must have been decoded,
// which bounds its aliases.
func (d Document) Find(field string) (at hcl.Range, ok bool) {
	root := d.root
	if root == nil {
		root = nodes(d.Text)
	}
	if root == nil {
		return hcl.Range{}, false
	}
	line, rest := find(root.Content[0], field, 0)
	if len(rest) == len(field) || line == 0 {
		return hcl.Range{}, false
	}
	lines := d.lines()
	return lines[min(line, len(lines))-1], true
}

// find follows a path from a value whose line is known. It returns the line of the last value that
// exists, and the rest of the path.
func find(n *yaml3.Node, field string, line int) (last int, rest string) {
	if n.Kind == yaml3.AliasNode {
		return find(n.Alias, field, line)
	}
	if i, inner, ok := configs.InList(field); ok && n.Kind == yaml3.SequenceNode && i < len(n.Content) {
		return find(n.Content[i], inner, target(n.Content[i]).Line)
	}
	last, rest = line, field
	if n.Kind != yaml3.MappingNode {
		return last, rest
	}
	follow := func(n *yaml3.Node, field string, line int) {
		if further, left := find(n, field, line); len(left) < len(rest) {
			last, rest = further, left
		}
	}
	var merged []*yaml3.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		inner, ok := configs.InMap(field, keyName(key))
		if !ok {
			continue
		}
		at := key.Line
		if t := target(value); t.Kind == yaml3.ScalarNode {
			at = t.Line
		}
		follow(value, inner, at)
	}
	for _, value := range merged { // their keys count less
		if value.Kind != yaml3.SequenceNode {
			follow(value, field, line)
			continue
		}
		for _, each := range value.Content {
			follow(each, field, line)
		}
	}
	return last, rest
}

// target returns the value that an alias means, and any other value unchanged.
func target(n *yaml3.Node) *yaml3.Node {
	if n.Kind == yaml3.AliasNode {
		return n.Alias
	}
	return n
}

// isText reports whether a scalar is text in YAML 1.1.
func isText(n *yaml3.Node) bool {
	return n.Style != 0 || n.ShortTag() == "!!str" && !slices.Contains(switches, strings.ToLower(n.Value))
}

// nodes returns the values of a text with their lines; nil: they are not known.
func nodes(text []byte) *yaml3.Node {
	var root yaml3.Node
	if yaml3.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	return &root
}

// badKey is the mistake of a key that JSON cannot have.
const badKey = "a key of a map must be text, a number or a boolean"

var (
	yamlLine = regexp.MustCompile(`line (\d+): (?s:(.*))`)
	// fromZero matches the messages whose lines the parser counts from 0.
	fromZero = regexp.MustCompile(`^did not find expected (<|node content|key|'-' indicator|',' or)`)
	// quoted matches values in a message.
	quoted = regexp.MustCompile("(?s) `.*`")
)

// explain returns the line and the message of an error of the parser.
func explain(err error) (line int, message string) {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	line = 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
		if fromZero.MatchString(text) {
			line++
		}
	}
	if text == "found incompatible YAML document" {
		return line, "only YAML 1.1 is read: remove the line %YAML"
	}
	if strings.HasPrefix(text, "unsupported map key") || strings.HasPrefix(text, "invalid map key") {
		return line, badKey
	}
	return line, strings.TrimSpace(quoted.ReplaceAllString(text, ""))
}

// CheckSize returns an error for a document that expands too much or is nested too deep.
func (d Document) CheckSize() error {
	var content any
	err := yaml2.Unmarshal(d.Text, &content)
	if err != nil && (strings.Contains(err.Error(), "excessive aliasing") || strings.Contains(err.Error(), "exceeded max depth")) {
		_, message := explain(err)
		return errors.New(message)
	}
	return nil // the decoder of the values reports other errors
}
