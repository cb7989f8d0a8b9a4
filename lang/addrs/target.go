package addrs

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Target is a block with all of its objects, or one object. A repeated block stands for all
// of its instances, and a module for everything in it.
type Target struct {
	Block  string // `service.keystone`, `module.edge["west"]`; of an object: its block
	Object Object // zero: the whole block
	Range  hcl.Range
}

// ParseTarget reads the address of an object, a block or a module. The result has the form
// that addresses of objects use.
func ParseTarget(text string) (Target, error) {
	block, _, isObject := cutBlock(text)
	if !isObject {
		block, err := parseBlock(text)
		return Target{Block: block}, err
	}
	object, err := ParseObject(text)
	if err != nil {
		return Target{}, err
	}
	if object.Block, err = parseBlock(block); err != nil {
		return Target{}, err
	}
	return Target{Block: object.Block, Object: object}, nil
}

// Whole reports whether the target is a whole block.
func (t Target) Whole() bool { return t.Object == Object{} }

// Has reports whether an object is the target, or belongs to it.
func (t Target) Has(o Object) bool {
	if t.Whole() {
		return Covers(t.Block, o.Block)
	}
	return o == t.Object
}

// Keyed reports whether the target is one instance of a repeated block.
func (t Target) Keyed() bool { return strings.HasSuffix(t.Block, "]") }

// In returns the target with the address of the module around it, which is empty or ends with a
// dot.
func (t Target) In(module string) Target {
	t.Block = module + t.Block
	if !t.Whole() {
		t.Object.Block = t.Block
	}
	return t
}

// String returns the text form. ParseTarget reads it.
func (t Target) String() string {
	if t.Whole() {
		return t.Block
	}
	return t.Object.String()
}
