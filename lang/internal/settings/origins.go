package settings

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// overridden returns the values of weaker layers at the place of an entry, the strongest first. If
// the entry is a secret, it shows none of them, because they are probably secrets too.
func (s *Merged) overridden(x *Entry) []configs.Override {
	if len(s.hidden)+len(x.overrides) == 0 {
		return nil
	}
	out := slices.Clone(x.overrides)
	for _, weaker := range s.hidden {
		if weaker.key == x.key {
			text, known := constantText(weaker.Expr)
			out = append(out, configs.Override{Origin: weaker.origin(s.depth), Text: text, Known: known})
		}
	}
	strength := func(o configs.Override) int {
		return slices.IndexFunc(s.layers, func(l *Layer) bool { return l.Name == o.Layer })
	}
	slices.SortStableFunc(out, func(a, b configs.Override) int { return strength(b) - strength(a) })
	if x.Value.ContainsMarked() {
		for i := range out {
			out[i].Text, out[i].Known = "", false
		}
	}
	return out
}

// origin returns the source of a value in settings of the given depth.
func (x Leaf) origin(depth int) configs.Origin {
	out := configs.Origin{Layer: x.Layer.Name, Range: x.Expr.Range()}
	if len(x.names) == depth {
		out.Key = x.names[depth-1]
	}
	if depth == 2 && len(x.names) > 0 {
		out.Section = x.names[0]
	}
	return out
}

// over returns the overrides of an entry that replaces this entry.
func (x *Entry) over() []configs.Override {
	if x == nil {
		return nil
	}
	text, known := shownValue(x.Value)
	return append([]configs.Override{{Origin: x.origin, Text: text, Known: known}}, x.overrides...)
}

// constantText returns the text of an expression that needs no evaluation.
func constantText(expr hcl.Expression) (text string, known bool) {
	v, diags := syntax.Constant(expr)
	if diags.HasErrors() {
		return "", false
	}
	return shownValue(v)
}

// shownValue returns the text of a config value without secrets in its file.
func shownValue(v cty.Value) (text string, known bool) {
	if v.ContainsMarked() || !v.IsWhollyKnown() || v.IsNull() {
		return "", false
	}
	items := []cty.Value{v}
	if values.IsList(v) {
		items = mark.Elements(v)
	}
	var texts []configs.Text
	for _, item := range items {
		text, err := values.TextOf(item)
		if err != nil {
			return "", false
		}
		texts = append(texts, text)
	}
	return configs.Join(texts, ",").Masked(), true
}
