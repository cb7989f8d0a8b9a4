package schema

import (
	"fmt"
	"strings"
)

// BlockType describes one type of block: what may stand in it, and what it means.
// Configurations are checked against these descriptions, and the reference of the
// language is made from them.
type BlockType struct {
	Name string
	// Label says what the label names, "service"; empty: the block has none.
	Label string
	// LabelForm is what the label has to look like.
	LabelForm Form
	// Single: at most one in its parent.
	Single bool
	Doc    string
	// Example shows all of its arguments, or the block that it stands in does. It is
	// valid where the services of the catalogue are declared, with roles control and
	// compute, and an exposure public.
	Example string
	// ReadAs is what expressions read, "service.NAME", and Reads what there is of it;
	// empty: nothing can be read, or it is a value of the user's.
	ReadAs string
	Reads  []Reading
	// AnyAttribute: the names of the arguments are the user's.
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
	Unless   string   // the argument that makes up for a required one
	Default  any      // string, int or bool; nil: there is none
	OneOf    []string // the only values there are
	Min, Max int      // bounds of a number; Max 0: none above
	Form     Form     // of the string, or of each value in a list or map
	Names    string   // type of the blocks that a list names
	Value    string   // what is written, where Type does not say it to a reader
	Doc      string
}

// Reading is something that expressions read of a block.
type Reading struct {
	Name string
	Doc  string
}

// AttributeType says what kind of value an attribute takes.
type AttributeType string

// The types of attributes.
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

func (t *BlockType) Attribute(name string) *Attribute {
	for i := range t.Attributes {
		if t.Attributes[i].Name == name {
			return &t.Attributes[i]
		}
	}
	return nil
}

func (t *BlockType) Block(name string) *BlockType {
	for _, b := range t.Blocks {
		if b.Name == name {
			return b
		}
	}
	return nil
}

func (t *BlockType) AttributeNames() []string {
	var names []string
	for _, a := range t.Attributes {
		names = append(names, a.Name)
	}
	return names
}

func (t *BlockType) BlockNames() []string {
	var names []string
	for _, b := range t.Blocks {
		names = append(names, b.Name)
	}
	return names
}

// header is how a block of the type begins.
func (t *BlockType) Header() string {
	if t.Label == "" {
		return t.Name + " {"
	}
	return t.Name + " \"NAME\" {"
}

// described names a block of the type at the start of a sentence.
func (t *BlockType) Described() string {
	article := "A"
	if strings.ContainsAny(t.Name[:1], "aeio") {
		article = "An"
	}
	return fmt.Sprintf("%s %s block", article, t.Name)
}
