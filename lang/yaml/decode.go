package yaml

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	kubejson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
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
			line, message := explain(err)
			return nil, d.wrong(line, "%s", message)
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
	if key.Style != 0 || key.ShortTag() == "!!str" && !slices.Contains(switches, strings.ToLower(key.Value)) {
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

// nodes returns the values of a text with their lines; nil: they are not known.
func nodes(text []byte) *yaml3.Node {
	var root yaml3.Node
	if yaml3.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	return &root
}

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
		return line, "kubectl reads YAML 1.1 only: remove the line %YAML"
	}
	if strings.HasPrefix(text, "unsupported map key") || strings.HasPrefix(text, "invalid map key") {
		return line, "a key of a map must be text, a number or a boolean"
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
