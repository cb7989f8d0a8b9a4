package blocks

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// Layered is a block with its evaluator.
type Layered struct {
	Block *source.Block // may be nil
	Eval  *eval.Env
}

// Lifecycle merges lifecycle blocks, the most special last. The last block with an argument
// sets it.
func Lifecycle(layers ...Layered) configs.Lifecycle {
	var out configs.Lifecycle
	for _, l := range layers {
		if l.Block == nil {
			continue
		}
		b, e := l.Block.One("lifecycle", ""), l.Eval
		if b == nil {
			continue
		}
		if out.Range == (hcl.Range{}) {
			out.Range = b.Header
		}
		if eval.IsSet(e, b, "prevent_destroy") {
			out.PreventDestroy, out.Range = eval.Bool(e, b, "prevent_destroy"), b.Attributes["prevent_destroy"].SrcRange
		}
		if eval.IsSet(e, b, "ignore_fields") {
			out.IgnoreFields = rules(b, "ignore_fields", eval.List(e, b, "ignore_fields"))
		}
		if eval.IsSet(e, b, "yield_to") {
			out.YieldTo = eval.List(e, b, "yield_to")
		}
		if eval.IsSet(e, b, "force_conflicts") {
			out.ForceConflicts, out.ForceFrom = force(e, b, "force_conflicts")
		}
		if eval.IsSet(e, b, "allow_unverified") {
			out.AllowUnverified = eval.Bool(e, b, "allow_unverified")
		}
	}
	return out
}

// force evaluates an attribute of TypeForce.
func force(e *eval.Env, b *source.Block, name string) (all bool, from []configs.FieldRule) {
	v := e.Value(b.Attributes[name].Expr)
	eval.ReportDeferred(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name))
	if !v.IsWhollyKnown() || !eval.CheckNotSecret(e, v, b.AttributeRange(name), `"`+name+`"`) {
		return false, nil
	}
	if flag, err := convert.Convert(v, cty.Bool); err == nil {
		return flag.True(), nil
	}
	list, err := budget.Convert(v, cty.List(cty.String))
	if err != nil {
		eval.Unsuitable(e, b, name, "It must be true, or a list of paths and of names of field managers; this is %s.", values.KindOf(v))
		return false, nil
	}
	var texts []string
	for _, item := range mark.Elements(list) {
		if item.IsNull() || item.AsString() == "" {
			eval.Unsuitable(e, b, name, "Each entry must be a path or the name of a field manager.")
			continue
		}
		texts = append(texts, item.AsString())
	}
	return false, rules(b, name, texts)
}

// rules returns the entries of a list with their places in the source. An ambiguous text is
// the path of a field only if it has several elements, because the names of managers are
// single words.
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
