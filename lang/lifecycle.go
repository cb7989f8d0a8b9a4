package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// Lifecycle says how kolla treats objects, beyond making them what is declared.
type Lifecycle struct {
	PreventDestroy bool        // a plan that would delete or replace one is refused
	IgnoreFields   []FieldRule // not sent for objects that exist
	YieldTo        []string    // field managers that may have any field; `*` at the end stands for any rest
	ForceConflicts bool        // take every field from whoever owns it
	ForceFrom      []FieldRule // take these fields, or those of these managers
	// ReplaceTriggeredBy is what a change of replaces the workloads and jobs of a service,
	// or the objects of a manifest.
	ReplaceTriggeredBy []addrs.Target
	// Range is where prevent_destroy is said; else where the block begins.
	Range hcl.Range
}

// FieldRule is one entry of a list of fields. Of ForceFrom one that is the name of
// a field manager, and no path, has no Path.
type FieldRule struct {
	Text  string
	Path  addrs.FieldPath
	Range hcl.Range // of the entry, or of the list that it is in
}

// Empty reports whether nothing is said.
func (l Lifecycle) Empty() bool {
	return !l.PreventDestroy && len(l.IgnoreFields) == 0 && len(l.YieldTo) == 0 && !l.ForceConflicts && len(l.ForceFrom) == 0 && len(l.ReplaceTriggeredBy) == 0
}

// layered is a block, and who evaluates it.
type layered struct {
	block *source.Block // nil: there is none
	eval  *evaluator
}

// lifecycle merges lifecycle blocks, the most special last: each argument is the
// last one that is given.
func lifecycle(layers ...layered) Lifecycle {
	var out Lifecycle
	for _, l := range layers {
		if l.block == nil {
			continue
		}
		b, e := l.block.One("lifecycle", ""), l.eval
		if b == nil {
			continue
		}
		if out.Range == (hcl.Range{}) {
			out.Range = b.Header
		}
		if e.given(b, "prevent_destroy") {
			out.PreventDestroy, out.Range = e.bool(b, "prevent_destroy"), b.Attributes["prevent_destroy"].SrcRange
		}
		if e.given(b, "ignore_fields") {
			out.IgnoreFields = rules(b, "ignore_fields", e.list(b, "ignore_fields"))
		}
		if e.given(b, "yield_to") {
			out.YieldTo = e.list(b, "yield_to")
		}
		if e.given(b, "force_conflicts") {
			out.ForceConflicts, out.ForceFrom = e.force(b, "force_conflicts")
		}
	}
	return out
}

// force evaluates an attribute of TypeForce.
func (e *evaluator) force(b *source.Block, name string) (all bool, from []FieldRule) {
	v := e.value(b.Attributes[name].Expr)
	e.undecided(v, b.AttributeRange(name), fmt.Sprintf("%q", name))
	if !v.IsWhollyKnown() || !e.public(v, b.AttributeRange(name), `"`+name+`"`) {
		return false, nil
	}
	if flag, err := convert.Convert(v, cty.Bool); err == nil {
		return flag.True(), nil
	}
	list, err := convert.Convert(v, cty.List(cty.String))
	if err != nil {
		e.unsuitable(b, name, "It must be true, or a list of paths and of names of field managers; this is %s.", kindOf(v))
		return false, nil
	}
	var texts []string
	for _, item := range mark.Elements(list) {
		if item.IsNull() || item.AsString() == "" {
			e.unsuitable(b, name, "Each entry must be a path or the name of a field manager.")
			continue
		}
		texts = append(texts, item.AsString())
	}
	return false, rules(b, name, texts)
}

// rules gives each entry of a list its place in the source. A text that could be
// both is the path of a field only if it has several elements: managers have names
// of one word.
func rules(b *source.Block, name string, texts []string) []FieldRule {
	items, diags := hcl.ExprList(b.Attributes[name].Expr)
	var out []FieldRule
	for i, text := range texts {
		rule := FieldRule{Text: text, Range: b.AttributeRange(name)}
		if !diags.HasErrors() && len(items) == len(texts) {
			rule.Range = items[i].Range()
		}
		if path, err := addrs.ParseFieldPath(text); err == nil && (name == "ignore_fields" || len(path) > 1) {
			rule.Path = path
		}
		out = append(out, rule)
	}
	return out
}
