package addrs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"
)

// Block is the address of a block, taken apart. Its text form is `service.keystone`, or
// `module.edge["west"].service.redis["cache"]`.
type Block struct {
	Module string // `module.edge["west"]`; empty: the root
	Type   string // "service"
	Name   string // label
	Key    any    // string or int; nil: the block is not repeated
}

// All returns the address of the block with all of its instances.
func (b Block) All() string {
	if b.Module == "" {
		return b.Type + "." + b.Name
	}
	return b.Module + "." + b.Type + "." + b.Name
}

// SplitBlock takes the address of a block apart. The result for any other text is zero.
func SplitBlock(block string) Block {
	steps := Steps(block)
	if len(steps) == 0 {
		return Block{}
	}
	last := steps[len(steps)-1]
	return Block{Module: Join(steps[:len(steps)-1]), Type: last.Type, Name: last.Name, Key: last.Key}
}

// TypeOf returns the type of the block that an address names, such as "service".
func TypeOf(block string) string { return SplitBlock(block).Type }

// Modules returns the addresses of a module and of the modules around it, outermost first:
// "module.a", "module.a.module.b".
func Modules(module string) []string {
	var out []string
	for module != "" {
		out = append(out, module)
		module = SplitBlock(module).Module
	}
	slices.Reverse(out)
	return out
}

// parseBlock reads the address of a block or module, and returns it in the form that
// addresses of objects use: `module.edge["west"].service.redis`.
func parseBlock(text string) (string, error) {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if !diags.HasErrors() {
		if block, ok := BlockOf(t); ok {
			return block, nil
		}
	}
	if bare, key, ok := bareKey(text); ok {
		return "", fmt.Errorf("%q is not the address of a block: the key has no quotes, which a shell takes away. Write '%s[%s]', within single quotes", text, bare, strconv.Quote(key))
	}
	return "", fmt.Errorf("%q is not the address of a block: expected TYPE.NAME, such as service.keystone, or in a module module.edge.service.redis[\"cache\"]", text)
}

// bareKey finds a key without quotes at the end of a text.
func bareKey(text string) (before, key string, ok bool) {
	before, rest, found := strings.Cut(text, "[")
	key, closed := strings.CutSuffix(rest, "]")
	return before, key, found && closed && !strings.ContainsAny(key, `"[]`)
}

// BlockOf returns the address of the block that a reference names. Only modules can contain
// blocks.
func BlockOf(t hcl.Traversal) (block string, ok bool) {
	steps := stepsOf(t)
	for i, s := range steps {
		if i < len(steps)-1 && s.Type != "module" {
			return "", false
		}
	}
	return Join(steps), len(steps) > 0
}

// Covers reports whether the first address names the second block, a block of which the
// second is an instance, or a module around it.
func Covers(outer, block string) bool {
	rest, ok := strings.CutPrefix(block, outer)
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '.')
}

// Step is a part of the address of a block: TYPE.NAME["KEY"].
type Step struct {
	Type, Name string
	Key        any    // string or int; nil: none
	Suffix     string // the key in brackets: `["cache"]`, `[0]`; empty: none
}

// ID returns the step without its key.
func (s Step) ID() string { return s.Type + "." + s.Name }

// Join returns the address that consists of the steps.
func Join(steps []Step) string {
	var parts []string
	for _, s := range steps {
		parts = append(parts, s.ID()+s.Suffix)
	}
	return strings.Join(parts, ".")
}

// WithoutKeys returns the address of a block without its key and the keys of modules.
func WithoutKeys(block string) string {
	var parts []string
	for _, s := range Steps(block) {
		parts = append(parts, s.ID())
	}
	return strings.Join(parts, ".")
}

// Steps returns the parts of the address of a block; nil for any other text.
func Steps(block string) []Step {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(block), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	return stepsOf(t)
}

func stepsOf(t hcl.Traversal) []Step {
	var out []Step
	for i := 0; i < len(t); {
		var s Step
		switch first := t[i].(type) {
		case hcl.TraverseRoot:
			s.Type = first.Name
		case hcl.TraverseAttr:
			s.Type = first.Name
		}
		if i++; i < len(t) {
			if attr, ok := t[i].(hcl.TraverseAttr); ok {
				s.Name = attr.Name
				i++
			}
		}
		if i < len(t) {
			if index, ok := t[i].(hcl.TraverseIndex); ok {
				s.Key, s.Suffix = plainKey(index.Key), KeySuffix(index.Key)
				i++
			}
		}
		if s.Type == "" || s.Name == "" {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// KeySuffix returns the key of an instance, a string or a number, in the form that addresses have:
// `["cache"]`, `[0]`.
func KeySuffix(key cty.Value) string {
	if key.Type() == cty.String {
		return "[" + strconv.Quote(key.AsString()) + "]"
	}
	return "[" + key.AsBigFloat().Text('f', 0) + "]"
}

// plainKey returns a key as a Go value. A number that no int can hold becomes its text form.
func plainKey(key cty.Value) any {
	if key.Type() == cty.String {
		return key.AsString()
	}
	var n int
	if err := gocty.FromCtyValue(key, &n); err != nil {
		return KeySuffix(key)
	}
	return n
}
