package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// Target is a block with all of its objects, or one object. A block may be repeated,
// or a module: then it is all that is in it, with every key.
type Target struct {
	Block  string  // `service.keystone`, `module.edge["west"]`; of an object: its block
	Object Address // zero: the whole block
	Range  hcl.Range
}

// ParseTarget reads the address of an object, or of a block or module, and gives it
// the form that addresses of objects have.
func ParseTarget(text string) (Target, error) {
	block, _, isObject := cutBlock(text)
	if !isObject {
		block, err := ParseBlock(text)
		return Target{Block: block}, err
	}
	object, err := ParseAddress(text)
	if err != nil {
		return Target{}, err
	}
	if object.Block, err = ParseBlock(block); err != nil {
		return Target{}, err
	}
	return Target{Block: object.Block, Object: object}, nil
}

// Whole reports whether the target is a whole block.
func (t Target) Whole() bool { return t.Object == Address{} }

// Has reports whether an address is the target, or one of its objects.
func (t Target) Has(a Address) bool {
	if t.Whole() {
		return t.covers(a.Block)
	}
	return a == t.Object
}

// covers reports whether a block is the target, an instance of it, or in it.
func (t Target) covers(block string) bool {
	rest, ok := strings.CutPrefix(block, t.Block)
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '.')
}

// keyed reports whether the target is one instance of a repeated block.
func (t Target) keyed() bool { return strings.HasSuffix(t.Block, "]") }

// String gives the text form.
func (t Target) String() string {
	if t.Whole() {
		return t.Block
	}
	return t.Object.String()
}

// in is the target as it is called from outside of a module.
func (t Target) in(f *frame) Target {
	t.Block = f.address + t.Block
	if !t.Whole() {
		t.Object.Block = t.Block
	}
	return t
}

// BlockParts is the address of a block, taken apart.
type BlockParts struct {
	Module string // `module.edge["west"]`; empty: the root
	Type   string // "service"
	Name   string // label
	Key    any    // string or int; nil: the block is not repeated
}

// All is the address of the block with all of its instances.
func (p BlockParts) All() string {
	if p.Module == "" {
		return p.Type + "." + p.Name
	}
	return p.Module + "." + p.Type + "." + p.Name
}

// SplitBlock takes the address of a block apart. What is none has no type.
func SplitBlock(block string) BlockParts {
	steps := stepsOf(block)
	if len(steps) == 0 {
		return BlockParts{}
	}
	last := steps[len(steps)-1]
	return BlockParts{Module: joinSteps(steps[:len(steps)-1]), Type: last.typ, Name: last.name, Key: last.plainKey()}
}

// Modules are the addresses of the modules that a module is in, outermost first, and
// its own: "module.a", "module.a.module.b".
func Modules(module string) []string {
	var out []string
	for module != "" {
		out = append(out, module)
		module = SplitBlock(module).Module
	}
	slices.Reverse(out)
	return out
}

// Recounted is where a block is declared that is not declared under its address, if the
// only difference is that it or a module that it is in got a count or lost it: NAME is
// NAME[0] then. Else it is the address itself.
func Recounted(block string, declared func(block string) bool) string {
	var now []step
	for _, s := range stepsOf(block) {
		other := s
		switch {
		case s.key == cty.NilVal:
			other.key = cty.Zero
		case s.suffix() == "[0]":
			other.key = cty.NilVal
		}
		if !declared(joinSteps(append(now, s))) && declared(joinSteps(append(now, other))) {
			s = other
		}
		now = append(now, s)
	}
	if found := joinSteps(now); declared(found) {
		return found
	}
	return block
}

// kindOfBlock is the type of the block that an address names.
func kindOfBlock(block string) string { return SplitBlock(block).Type }

// step is one part of the address of a block: TYPE.NAME["KEY"].
type step struct {
	typ, name string
	key       cty.Value // cty.NilVal: there is none
}

func (s step) suffix() string { return item{key: s.key}.suffix() }

// id is the step without its key.
func (s step) id() string { return s.typ + "." + s.name }

func (s step) plainKey() any {
	if s.key == cty.NilVal {
		return nil
	}
	if s.key.Type() == cty.String {
		return s.key.AsString()
	}
	var n int
	if err := gocty.FromCtyValue(s.key, &n); err != nil {
		return s.suffix()
	}
	return n
}

// joinSteps is the address that steps make.
func joinSteps(steps []step) string {
	var parts []string
	for _, s := range steps {
		parts = append(parts, s.id()+s.suffix())
	}
	return strings.Join(parts, ".")
}

// withoutKeys is the address of a block with the keys taken out, those of modules too.
func withoutKeys(block string) string {
	var parts []string
	for _, s := range stepsOf(block) {
		parts = append(parts, s.id())
	}
	return strings.Join(parts, ".")
}

// stepsOf takes the address of a block apart; nil if it is none.
func stepsOf(block string) []step {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(block), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	return blockSteps(t)
}

// blockSteps is stepsOf for an address that is a reference.
func blockSteps(t hcl.Traversal) []step {
	var out []step
	for i := 0; i < len(t); {
		var s step
		switch first := t[i].(type) {
		case hcl.TraverseRoot:
			s.typ = first.Name
		case hcl.TraverseAttr:
			s.typ = first.Name
		}
		if i++; i < len(t) {
			if attr, ok := t[i].(hcl.TraverseAttr); ok {
				s.name = attr.Name
				i++
			}
		}
		if i < len(t) {
			if index, ok := t[i].(hcl.TraverseIndex); ok {
				s.key = index.Key
				i++
			}
		}
		if s.typ == "" || s.name == "" {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// ParseBlock reads the address of a block, or of a module, and gives it the form that
// addresses of objects have: `module.edge["west"].service.redis`.
func ParseBlock(text string) (string, error) {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if !diags.HasErrors() {
		if block, ok := blockOf(t); ok {
			return block, nil
		}
	}
	if bare, key, ok := bareKey(text); ok {
		return "", fmt.Errorf("%q is not the address of a block: the key has no quotes, which a shell takes away. Write '%s[%s]', within single quotes", text, bare, strconv.Quote(key))
	}
	return "", fmt.Errorf("%q is not the address of a block: expected TYPE.NAME, such as service.keystone, or in a module module.edge.service.redis[\"cache\"]", text)
}

// bareKey finds a key at the end of a text that has no quotes.
func bareKey(text string) (before, key string, ok bool) {
	before, rest, found := strings.Cut(text, "[")
	key, closed := strings.CutSuffix(rest, "]")
	return before, key, found && closed && !strings.ContainsAny(key, `"[]`)
}

func blockOf(t hcl.Traversal) (string, bool) {
	steps := blockSteps(t)
	for i, s := range steps {
		if i < len(steps)-1 && s.typ != "module" {
			return "", false
		}
	}
	return joinSteps(steps), len(steps) > 0
}

// target reads an address in an argument: a reference such as service.keystone, or a
// text. What it names need not exist.
func (g *graph) target(f *frame, b *source.Block, name string) (Target, bool) {
	attr := b.Attributes[name]
	if attr == nil {
		return Target{}, false
	}
	t, ok := g.readTarget(attr.Expr, g.evaluator(f))
	return t.in(f), ok
}

// readTarget reads an address that is relative to the module that it stands in.
func (g *graph) readTarget(expr hcl.Expression, e *evaluator) (Target, bool) {
	at := expr.Range()
	if t, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return g.targetOf(t, at)
	}
	var out Target
	if v := e.value(expr); v.Type() == cty.String && !v.IsNull() && v.IsKnown() && e.public(v, at, "an address") {
		var err error
		if out, err = ParseTarget(v.AsString()); err != nil {
			g.report.Error(at, "Not an address", "%s.", words.Sentence(err))
			return Target{}, false
		}
	} else if !v.IsKnown() {
		if mark.IsDeferred(v) {
			g.report.Error(at, "Not an address", "It depends on something that is known only after the apply, and addresses have to be known before.")
		}
		return Target{}, false
	}
	return g.movable(out, at)
}

// targetOf reads an address that is written as a reference.
func (g *graph) targetOf(t hcl.Traversal, at hcl.Range) (Target, bool) {
	block, _ := blockOf(t)
	return g.movable(Target{Block: block}, at)
}

// movable reports an address of something that has no objects.
func (g *graph) movable(out Target, at hcl.Range) (Target, bool) {
	out.Range = at
	if kind := kindOfBlock(out.Block); !slices.Contains(movable, kind) {
		g.report.Error(at, "Not an address", "%s", words.WithHint(words.DidYouMean(kind, movable),
			`Write a block as service.NAME, manifest.NAME, role.NAME, secret.NAME or module.NAME, with ["KEY"] where it is repeated; an object in quotes, as "BLOCK/KIND/NAME".`))
		return Target{}, false
	}
	return out, true
}
