// Package schema says what may be written in a configuration: the types of blocks, their
// arguments, and the form of names and values. It is data. It evaluates nothing and reports
// nothing.
//
// FileType is the top of a file, and CatalogueType the top of a file of the catalogue. A
// BlockType lists the arguments (Attribute) and the blocks that may stand in a block of that
// type. An AttributeType says which values an argument takes, and a Form how a string has to
// look. The reference of the language is made from these descriptions, and each Example is
// loaded by a test.
//
// A type of block, or an argument, is exported if other packages treat it specially.
package schema

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

// BlockType describes one type of block: its meaning, its arguments and the blocks in it.
type BlockType struct {
	Name string
	// Label is the noun for the thing that the label names, such as "service". It is empty
	// if blocks of the type have no label.
	Label string
	// LabelForm is the form of the label.
	LabelForm forms.Form
	// Single allows at most one block of the type in its parent.
	Single bool
	Doc    string
	// Example shows all arguments, except those that the example of the parent shows. It is
	// valid in a configuration that declares the services of the catalogue, the roles control
	// and compute, and the exposure public.
	Example string
	// ReadAs is the reference that expressions write, such as "service.NAME", and Reads lists
	// its attributes. ReadAs is empty if nothing can be read. Reads is empty if the value is
	// the user's own.
	ReadAs string
	Reads  []Reading
	// AnyAttribute allows arguments of any name.
	AnyAttribute bool
	// Alternatives are groups of arguments that exclude each other. If a service sets an
	// argument of a group, the definition's other arguments of that group do not apply.
	Alternatives [][]string
	Attributes   []Attribute
	Blocks       []*BlockType
}

// Attribute describes one argument of a block type.
type Attribute struct {
	Name     string
	Type     AttributeType
	Required bool
	Unless   string     // not required if this other argument is set
	Default  any        // string, int or bool; nil: no default
	OneOf    []string   // the allowed values; nil: any
	Min, Max int        // bounds of a number; Max 0: no upper bound
	Form     forms.Form // of the string, or of each value in a list or map
	Names    string     // type of the blocks that a list names
	Value    string     // for the reference of the language, if Type is too general there
	Doc      string
}

// Reading is an attribute of a block that expressions can read.
type Reading struct {
	Name string
	Doc  string
}

// AttributeType is the type of the value of an argument.
type AttributeType string

// The types of values.
const (
	TypeString      AttributeType = "string"
	TypeNumber      AttributeType = "number" // a whole number
	TypeBool        AttributeType = "bool"
	TypeList        AttributeType = "list of strings"
	TypeMap         AttributeType = "map of strings"
	TypeAny         AttributeType = "any"
	TypeObject      AttributeType = "object of Kubernetes, or a part of one"
	TypeText        AttributeType = "string that may hold secrets"
	TypeTexts       AttributeType = "map of strings that may hold secrets"
	TypeSettings    AttributeType = "map of config values that may hold secrets"
	TypeRole        AttributeType = "role"
	TypeRoles       AttributeType = "list of roles"
	TypeExposure    AttributeType = "exposure"
	TypeSecret      AttributeType = "secret"
	TypeReferences  AttributeType = "list of services and manifests"
	TypeConstraint  AttributeType = "type"
	TypeTolerations AttributeType = "list of tolerations"
	TypeForce       AttributeType = "bool or list of strings"
	TypeAddress     AttributeType = "address of a block or of an object"
	TypeLiteral     AttributeType = "string without references" // read before anything is evaluated
)

// Attribute returns the argument of that name, or nil.
func (t *BlockType) Attribute(name string) *Attribute {
	for i := range t.Attributes {
		if t.Attributes[i].Name == name {
			return &t.Attributes[i]
		}
	}
	return nil
}

// Block returns the type of the blocks of that name inside of a block of this type, or nil.
func (t *BlockType) Block(name string) *BlockType {
	for _, b := range t.Blocks {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// AttributeNames returns the names of the arguments.
func (t *BlockType) AttributeNames() []string {
	var names []string
	for _, a := range t.Attributes {
		names = append(names, a.Name)
	}
	return names
}

// BlockNames returns the names of the types of blocks that may stand in a block of this type.
func (t *BlockType) BlockNames() []string {
	var names []string
	for _, b := range t.Blocks {
		names = append(names, b.Name)
	}
	return names
}

// Header returns the first line of a block of the type.
func (t *BlockType) Header() string {
	if t.Label == "" {
		return t.Name + " {"
	}
	return t.Name + " \"NAME\" {"
}

// Described names a block of the type at the start of a sentence, such as "An output block".
func (t *BlockType) Described() string {
	article := "A"
	if strings.ContainsAny(t.Name[:1], "aeio") {
		article = "An"
	}
	return fmt.Sprintf("%s %s block", article, t.Name)
}
