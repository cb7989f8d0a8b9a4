package charts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// value is a value of a chart: a leaf with its default, or a map of further values.
type value struct {
	comment string
	keys    []string // in the order of values.yaml
	values  map[string]*value
	open    bool // further keys are permitted

	initial any // the default
	schema  schema
}

// schema is a JSON schema.
type schema = map[string]any

// The schemas of leaves.
var (
	word     = schema{"type": "string"}
	flag     = schema{"type": "boolean"}
	count    = schema{"type": "integer", "minimum": 0}
	quantity = schema{"type": []string{"string", "number"}}
	digest   = schema{"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"}
	host     = schema{"type": "string", "pattern": "^[0-9A-Za-z.:-]*$"}
	labels   = schema{"type": "object", "additionalProperties": word}
	objects  = schema{"type": "array", "items": schema{"type": "object"}}

	amounts    = schema{"type": "object", "additionalProperties": quantity}
	quantities = schema{"type": "object", "additionalProperties": false, "properties": schema{
		"requests": amounts,
		"limits":   amounts,
		"claims":   objects,
	}}
	// option is an option of a config file. A list is an option that is repeated; null removes it.
	scalar = []string{"string", "number", "boolean", "null"}
	option = schema{"anyOf": []any{schema{"type": scalar}, schema{"type": "array", "items": schema{"type": scalar}}}}
	// options is a section, or a whole properties file.
	options  = schema{"type": []string{"object", "null"}, "additionalProperties": option}
	sections = schema{"type": "object", "additionalProperties": options}
)

func newValues() *value { return &value{values: map[string]*value{}} }

// branch returns the map at a path.
func (v *value) branch(path ...string) *value {
	for _, key := range path {
		next, ok := v.values[key]
		if !ok {
			next = newValues()
			v.keys = append(v.keys, key)
			v.values[key] = next
		}
		v = next
	}
	return v
}

// leaf sets the default at a path, and returns the expression of the value.
func (v *value) leaf(initial any, s schema, path ...string) string {
	at := v.branch(path...)
	at.initial, at.schema = initial, s
	return ref(path...)
}

// note adds a comment above a value.
func (v *value) note(comment string, path ...string) {
	v.branch(path...).comment = comment
}

var identifier = regexp.MustCompile(`^[A-Za-z_][0-9A-Za-z_]*$`)

// ref returns the expression of the value at a path: (index .Values.jobs "db-sync").resources.
func ref(path ...string) string {
	expression := ".Values"
	for _, key := range path {
		if identifier.MatchString(key) {
			expression += "." + key
		} else {
			expression = fmt.Sprintf("(index %s %q)", expression, key)
		}
	}
	return expression
}

// text returns values.yaml.
func (v *value) text() string {
	var b strings.Builder
	comment(&b, "", v.comment)
	for _, key := range v.keys {
		b.WriteString("\n")
		v.values[key].write(&b, "", key)
	}
	return b.String()
}

func (v *value) write(b *strings.Builder, indent, key string) {
	comment(b, indent, v.comment)
	if v.schema == nil && len(v.keys) > 0 {
		fmt.Fprintf(b, "%s%s:\n", indent, quoted(key))
		for _, k := range v.keys {
			v.values[k].write(b, indent+"  ", k)
		}
		return
	}
	var initial any = map[string]any{}
	if v.schema != nil {
		initial = v.initial
	}
	raw, err := yaml.Marshal(map[string]any{key: initial})
	if err != nil {
		panic(fmt.Sprintf("the value %s cannot be written: %v", key, err))
	}
	for line := range strings.Lines(string(raw)) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
}

func quoted(key string) string {
	raw, err := yaml.Marshal(key)
	if err != nil {
		panic(fmt.Sprintf("the key %s cannot be written: %v", key, err))
	}
	return strings.TrimSpace(string(raw))
}

func comment(b *strings.Builder, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s# %s\n", indent, strings.TrimSuffix(line, "\n"))
	}
}

// jsonSchema returns the schema of the values.
func (v *value) jsonSchema() schema {
	if v.schema != nil {
		return v.schema
	}
	properties := schema{}
	for _, key := range slices.Sorted(slices.Values(v.keys)) {
		properties[key] = v.values[key].jsonSchema()
	}
	return schema{"type": "object", "properties": properties, "additionalProperties": v.open}
}
