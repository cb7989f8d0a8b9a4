// Package ansible reads the files that describe a cloud of kolla-ansible: an inventory with its
// group_vars and host_vars, and files of variables such as globals.yml and passwords.yml.
//
// [ReadVariables] and [ReadInventory] read one file. [Scope] looks a variable up, and follows
// references such as "{{ network_interface }}". No message quotes a value, because it may be a
// password.
package ansible

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	yaml3 "go.yaml.in/yaml/v3"

	"kolla.openstack.org/kolla/lang/yaml"
)

// Variable is one variable of a file.
type Variable struct {
	Name string
	At   hcl.Range
	// Secret says that the variable comes from a file with passwords.
	Secret bool

	node *yaml3.Node
}

// Variables are the variables of one or several files, by name.
type Variables map[string]Variable

// Over returns the variables with those of v taking precedence.
func (v Variables) Over(weaker Variables) Variables {
	out := maps.Clone(weaker)
	if out == nil {
		out = Variables{}
	}
	maps.Copy(out, v)
	return out
}

// Names returns the names in alphabetical order.
func (v Variables) Names() []string { return slices.Sorted(maps.Keys(v)) }

// Text returns the text of a scalar as it is written. ok is false for lists and maps. An empty or
// null value is an empty text.
func (v Variable) Text() (text string, ok bool) {
	switch {
	case v.node == nil || v.node.Kind == yaml3.ScalarNode && v.node.ShortTag() == "!!null":
		return "", true
	case v.node.Kind == yaml3.ScalarNode:
		return v.node.Value, true
	}
	return "", false
}

// Field returns a field of a map, such as private_key. ok is false if there is none.
func (v Variable) Field(name string) (field Variable, ok bool) {
	if v.node == nil || v.node.Kind != yaml3.MappingNode {
		return Variable{}, false
	}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		if v.node.Content[i].Value == name {
			return Variable{Name: v.Name + "." + name, At: v.at(v.node.Content[i].Line), Secret: v.Secret, node: v.node.Content[i+1]}, true
		}
	}
	return Variable{}, false
}

// Elements returns the elements of a list. ok is false if the value is no list.
func (v Variable) Elements() (elements []Variable, ok bool) {
	if v.node == nil || v.node.Kind != yaml3.SequenceNode {
		return nil, false
	}
	for _, n := range v.node.Content {
		elements = append(elements, Variable{Name: v.Name, At: v.at(n.Line), Secret: v.Secret, node: n})
	}
	return elements, true
}

func (v Variable) at(line int) hcl.Range { return lineOf(v.At.Filename, line) }

// Texts returns all scalars in the value.
func (v Variable) Texts() []string {
	var out []string
	var walk func(n *yaml3.Node)
	walk = func(n *yaml3.Node) {
		if n.Kind == yaml3.ScalarNode && n.ShortTag() != "!!null" {
			out = append(out, n.Value)
		}
		for i, child := range n.Content {
			if n.Kind != yaml3.MappingNode || i%2 == 1 {
				walk(child)
			}
		}
	}
	if v.node != nil {
		walk(v.node)
	}
	return out
}

// Set returns a variable with a text for its value.
func Set(name, text string, at hcl.Range) Variable {
	return Variable{Name: name, At: at, node: &yaml3.Node{Kind: yaml3.ScalarNode, Tag: "!!str", Value: text}}
}

func lineOf(file string, line int) hcl.Range {
	pos := hcl.Pos{Line: line, Column: 1}
	return hcl.Range{Filename: file, Start: pos, End: pos}
}

// Error is a diagnostic about a line of a file.
func Error(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at}
}

// vaultMark begins a file that ansible-vault encrypted.
const vaultMark = "$ANSIBLE_VAULT;"

// maxDepth is how deep lists and maps in a file may be nested.
const maxDepth = 100

// ReadVariables reads a file of variables in YAML. Values that ansible-vault encrypted are errors.
func ReadVariables(name string, source []byte, secret bool) (Variables, hcl.Diagnostics) {
	root, diags := parse(name, source)
	if root == nil || diags.HasErrors() {
		return nil, diags
	}
	out := Variables{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Kind != yaml3.ScalarNode || key.Value == "<<" {
			diags = append(diags, Error(lineOf(name, key.Line), "Unreadable variable", "A variable is NAME: VALUE. Write the variables of an anchor out."))
			continue
		}
		out[key.Value] = Variable{Name: key.Value, At: lineOf(name, key.Line), Secret: secret, node: value}
	}
	return out, diags
}

// parse returns the map that a YAML file consists of; nil: the file is empty.
func parse(name string, source []byte) (*yaml3.Node, hcl.Diagnostics) {
	if bytes.HasPrefix(bytes.TrimLeft(source, "\ufeff \t\r\n"), []byte(vaultMark)) {
		return nil, hcl.Diagnostics{Error(lineOf(name, 1), "The file is encrypted",
			"ansible-vault encrypted the whole file. Decrypt a copy, and give its name: ansible-vault decrypt --output=COPY %s. Delete the copy afterwards.", name)}
	}
	documents, mistakes := yaml.Documents(source)
	var diags hcl.Diagnostics
	for _, m := range mistakes {
		diags = append(diags, unreadable(name, m))
	}
	if len(documents) > 1 {
		diags = append(diags, Error(lineOf(name, documents[1].Line.Start.Line), "More than one YAML document", "The file may have one document. Remove the line with --- above."))
	}
	if len(documents) != 1 || diags.HasErrors() {
		return nil, diags
	}
	if err := documents[0].CheckKeys(); err != nil {
		return nil, hcl.Diagnostics{unreadable(name, err)}
	}
	var root yaml3.Node
	if err := yaml3.Unmarshal(source, &root); err == nil && len(root.Content) == 1 {
		if diags := check(name, root.Content[0], 0); diags.HasErrors() {
			return nil, diags
		}
	}
	if _, err := documents[0].Decode(); err != nil {
		return nil, hcl.Diagnostics{unreadable(name, err)}
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml3.MappingNode {
		return nil, hcl.Diagnostics{Error(lineOf(name, 1), "Unreadable YAML", "The file has to be a map: NAME: VALUE.")}
	}
	return root.Content[0], nil
}

// unreadable is a mistake in a file. What begins with * may be a password without quotes.
func unreadable(name string, m *yaml.Error) *hcl.Diagnostic {
	message := m.Message
	if strings.Contains(message, "anchor") {
		message = "an alias has no anchor. A value that begins with * needs quotes"
	}
	return Error(lineOf(name, max(1, m.Range.Start.Line)), "Unreadable YAML", "%s%s.", strings.ToUpper(message[:1]), message[1:])
}

// check reports encrypted values and aliases, and nesting without end.
func check(name string, n *yaml3.Node, depth int) (diags hcl.Diagnostics) {
	at := lineOf(name, n.Line)
	switch {
	case depth > maxDepth:
		return hcl.Diagnostics{Error(at, "Nested too deep", "Lists and maps may nest %d deep.", maxDepth)}
	case n.Kind == yaml3.AliasNode:
		return hcl.Diagnostics{Error(at, "Alias in YAML", "kolla does not follow aliases (*NAME). Write the value out.")}
	case n.Tag == "!vault" || n.Kind == yaml3.ScalarNode && strings.HasPrefix(strings.TrimSpace(n.Value), vaultMark):
		return hcl.Diagnostics{Error(at, "The value is encrypted",
			"ansible-vault encrypted the value. Decrypt it with ansible -m debug -a var=NAME, and write the result into a copy of %s. Delete the copy afterwards.", name)}
	}
	for _, child := range n.Content {
		diags = append(diags, check(name, child, depth+1)...)
	}
	return diags
}

// Fields returns the names of the fields of a map, in their order.
func (v Variable) Fields() []string {
	var out []string
	if v.node != nil && v.node.Kind == yaml3.MappingNode {
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			out = append(out, v.node.Content[i].Value)
		}
	}
	return out
}
