package lang

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// maxCount is more than anyone means.
const maxCount = 10000

// item is one instance of a block that may be repeated.
type item struct {
	key   cty.Value // string or number; cty.NilVal: the block is not repeated
	scope *scope    // with each or count
}

// suffix is the key as an address has it: `["cache"]`, `[0]`.
func (it item) suffix() string {
	if it.key == cty.NilVal {
		return ""
	}
	return addrs.KeySuffix(it.key)
}

// address is the instance's address within its module.
func (it item) address(b *source.Block) string { return b.ID() + it.suffix() }

// repeats reports whether a block has instances with keys.
func repeats(b *source.Block) bool {
	return b.Attributes["for_each"] != nil || b.Attributes["count"] != nil
}

// items are the instances of a block in a frame, in the order of their keys. It is not
// ok if that cannot be told, or if there are too many, which was reported.
func (g *graph) items(f *frame, b *source.Block) (list []item, ok bool) {
	list, ok = g.itemsOf(f, b)
	if ok && !g.report.Spend(diag.Instances, len(list), b.Header, "Too many instances", "A configuration may have at most %d services, roles, uses of modules and so on, each instance counted, and with this block there are more. Correct for_each or count, here or in a module block around, or divide the cloud.") {
		return nil, false
	}
	return list, ok
}

func (g *graph) itemsOf(f *frame, b *source.Block) (list []item, ok bool) {
	e := g.evaluator(f)
	if b.Attributes["enabled"] != nil && e.given(b, "enabled") {
		v, ok := e.publicAttribute(b, "enabled", cty.Bool)
		if !ok || v.False() {
			return nil, ok
		}
	}
	forEach, count := b.Attributes["for_each"], b.Attributes["count"]
	switch {
	case forEach != nil && count != nil:
		g.report.Error(count.NameRange, "Both for_each and count", "A block is repeated for each element, or so many times: take one of the two away.")
		return nil, false
	case forEach != nil:
		return e.each(b)
	case count != nil:
		return e.counted(b)
	}
	return []item{{scope: f.scope}}, true
}

// each are the instances of a block with for_each.
func (e *evaluator) each(b *source.Block) (list []item, ok bool) {
	v := e.value(b.Attributes["for_each"].Expr)
	bare, marks := v.Unmark()
	set := bare.Type().IsSetType()
	if !bare.IsKnown() || set && !bare.IsWhollyKnown() {
		return nil, e.decidable(b, "for_each")
	}
	if !e.publicMarks(marks, b.AttributeRange("for_each"), "for_each") {
		return nil, false
	}
	switch t := bare.Type(); {
	case bare.IsNull():
		e.unsuitable(b, "for_each", "It is null. For no instance at all, write {}.")
	case set && (t.ElementType() == cty.String || bare.LengthInt() == 0):
		for _, key := range mark.Elements(bare) {
			if key.IsNull() {
				e.unsuitable(b, "for_each", "An element of the set is null.")
				return nil, false
			}
			list = append(list, e.instance("each", map[string]cty.Value{"key": key, "value": key}, key))
		}
		return list, e.checkKeys(b, list)
	case values.IsMap(bare):
		for _, m := range mark.Members(bare) {
			list = append(list, e.instance("each", map[string]cty.Value{"key": cty.StringVal(m.Key), "value": m.Value}, cty.StringVal(m.Key)))
		}
		return list, e.checkKeys(b, list)
	case values.IsList(bare) && !set:
		e.unsuitable(b, "for_each", "It must be a map or a set of strings, whose elements have no order. For a list of strings, write toset(...).")
	default:
		e.unsuitable(b, "for_each", "It must be a map or a set of strings, and this is %s.", values.KindOf(bare))
	}
	return nil, false
}

// checkKeys reports keys that no address can have: in it they stand in quotes.
func (e *evaluator) checkKeys(b *source.Block, list []item) bool {
	for _, it := range list {
		key := it.key.AsString()
		if strings.Contains(key, "${") || strings.Contains(key, "%{") || strings.ContainsFunc(key, unicode.IsControl) {
			e.unsuitable(b, "for_each", "The key %q cannot be a part of an address: it may not hold the start of a template, or control characters.", key)
			return false
		}
	}
	return true
}

// counted are the instances of a block with count.
func (e *evaluator) counted(b *source.Block) (list []item, ok bool) {
	v := e.value(b.Attributes["count"].Expr)
	if !v.IsKnown() {
		return nil, e.decidable(b, "count")
	}
	if !e.public(v, b.AttributeRange("count"), "count") {
		return nil, false
	}
	if v.IsNull() {
		e.unsuitable(b, "count", "It is null. For no instance at all, write 0.")
		return nil, false
	}
	var n int
	number, err := convert.Convert(v, cty.Number)
	if err == nil {
		err = gocty.FromCtyValue(number, &n)
	}
	if err != nil || n < 0 || n > maxCount {
		e.unsuitable(b, "count", "It must be a whole number from 0 to %d.", maxCount)
		return nil, false
	}
	for i := range n {
		index := cty.NumberIntVal(int64(i))
		list = append(list, e.instance("count", map[string]cty.Value{"index": index}, index))
	}
	return list, true
}

func (e *evaluator) instance(root string, value map[string]cty.Value, key cty.Value) item {
	s := newScope(e.scope)
	s.singles[root] = cty.ObjectVal(value)
	return item{key: key, scope: s}
}

// pair is the value of one instance.
type pair struct{ key, value cty.Value }

// together is what an expression reads as TYPE.NAME: the value itself, or those of all
// instances by key.
func together(b *source.Block, values []pair) cty.Value {
	switch {
	case b.Attributes["for_each"] != nil:
		all := map[string]cty.Value{}
		for _, p := range values {
			all[p.key.AsString()] = p.value
		}
		return cty.ObjectVal(all)
	case b.Attributes["count"] != nil:
		var all []cty.Value
		for _, p := range values {
			all = append(all, p.value)
		}
		return cty.TupleVal(all)
	case len(values) == 0:
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return values[0].value
}

// repeated evaluates a block once for each of its instances.
func (g *graph) repeated(f *frame, b *source.Block, evaluate func(it item) cty.Value) cty.Value {
	var values []pair
	items, ok := g.items(f, b)
	if !ok {
		return g.unknownInstances(f, b)
	}
	for _, it := range items {
		values = append(values, pair{it.key, evaluate(it)})
	}
	return together(b, values)
}

// nameOf is the name that an instance has in the cluster.
func (it item) nameOf(e *evaluator, b *source.Block) string {
	if b.Attributes["name"] != nil {
		return e.string(b, "name")
	}
	if it.key == cty.NilVal {
		return b.Label
	}
	name := b.Label + "-" + strings.Trim(it.suffix(), `[]"`)
	if !b.Type.LabelForm.Valid(name) {
		e.report.Error(b.Header, fmt.Sprintf("Unsuitable name of a %s", b.Type.Label), "%q, the label with the key %s, is not %s. Give each instance a name that is: name = ....", name, it.suffix(), b.Type.LabelForm.Expected)
		return ""
	}
	return name
}

// claim reports a name that is taken.
func (g *graph) claim(typ, name, address string, at hcl.Range) bool {
	key := typ + "." + name
	first, taken := g.claimed[key]
	if taken {
		g.report.Error(at, fmt.Sprintf("Second %s named %q", typ, name), "%s would have the name that %s has (%s). Give one of them another with its argument name.", address, first.address, diag.Position(first.at))
		return false
	}
	g.claimed[key] = claimed{address, at}
	return true
}

// claimed is who has a name.
type claimed struct {
	address string
	at      hcl.Range
}

// unknownInstances stands for a block of which nobody knows how often it counts. Where
// that is so for want of a cluster, nobody has to complain about it again.
func (g *graph) unknownInstances(f *frame, b *source.Block) cty.Value {
	value := cty.DynamicVal
	for _, a := range schema.Repetition {
		if attr := b.Attributes[a.Name]; attr != nil {
			for _, d := range mark.Deferrals(g.evaluator(f).value(attr.Expr)) {
				value = value.Mark(d)
			}
		}
	}
	return value
}
