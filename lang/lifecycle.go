package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// layered is a block, and who evaluates it.
type layered struct {
	block *source.Block // nil: there is none
	eval  *evaluator
}

// lifecycle merges lifecycle blocks, the most special last: each argument is the
// last one that is given.
func lifecycle(layers ...layered) configs.Lifecycle {
	var out configs.Lifecycle
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
func (e *evaluator) force(b *source.Block, name string) (all bool, from []configs.FieldRule) {
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
		e.unsuitable(b, name, "It must be true, or a list of paths and of names of field managers; this is %s.", values.KindOf(v))
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
func rules(b *source.Block, name string, texts []string) []configs.FieldRule {
	items, diags := hcl.ExprList(b.Attributes[name].Expr)
	var out []configs.FieldRule
	for i, text := range texts {
		rule := configs.FieldRule{Text: text, Range: b.AttributeRange(name)}
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
