package eval

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// maxCount is larger than any sensible count.
const maxCount = 10000

// Instance is one instance of a block that may be repeated.
type Instance struct {
	Key   cty.Value // string or number; cty.NilVal: the block is not repeated
	Scope *Scope    // with each or count
}

// Suffix returns the key in the form of an address: `["cache"]`, `[0]`.
func (it Instance) Suffix() string {
	if it.Key == cty.NilVal {
		return ""
	}
	return addrs.KeySuffix(it.Key)
}

// Address returns the address of the instance within its module.
func (it Instance) Address(b *source.Block) string { return b.ID() + it.Suffix() }

// Repeats reports whether a block has instances with keys.
func Repeats(b *source.Block) bool {
	return b.Attributes["for_each"] != nil || b.Attributes["count"] != nil
}

// eachOf returns the instances of a block with for_each.
func eachOf(e *Env, b *source.Block) (list []Instance, ok bool) {
	v := e.Value(b.Attributes["for_each"].Expr)
	bare, marks := v.Unmark()
	set := bare.Type().IsSetType()
	if !bare.IsKnown() || set && !bare.IsWhollyKnown() {
		return nil, decidable(e, b, "for_each")
	}
	if !PublicMarks(e, marks, b.AttributeRange("for_each"), "for_each") {
		return nil, false
	}
	switch t := bare.Type(); {
	case bare.IsNull():
		Unsuitable(e, b, "for_each", "It is null. For no instance at all, write {}.")
	case set && (t.ElementType() == cty.String || bare.LengthInt() == 0):
		for _, key := range mark.Elements(bare) {
			if key.IsNull() {
				Unsuitable(e, b, "for_each", "An element of the set is null.")
				return nil, false
			}
			list = append(list, instanceOf(e, "each", map[string]cty.Value{"key": key, "value": key}, key))
		}
		return list, checkKeys(e, b, list)
	case values.IsMap(bare):
		for _, m := range mark.Members(bare) {
			list = append(list, instanceOf(e, "each", map[string]cty.Value{"key": cty.StringVal(m.Key), "value": m.Value}, cty.StringVal(m.Key)))
		}
		return list, checkKeys(e, b, list)
	case values.IsList(bare) && !set:
		Unsuitable(e, b, "for_each", "It must be a map or a set of strings, whose elements have no order. For a list of strings, write toset(...).")
	default:
		Unsuitable(e, b, "for_each", "It must be a map or a set of strings, and this is %s.", values.KindOf(bare))
	}
	return nil, false
}

// checkKeys reports keys that cannot stand between the quotes of an address.
func checkKeys(e *Env, b *source.Block, list []Instance) bool {
	for _, it := range list {
		key := it.Key.AsString()
		if strings.Contains(key, "${") || strings.Contains(key, "%{") || strings.ContainsFunc(key, unicode.IsControl) {
			Unsuitable(e, b, "for_each", "The key %q cannot be a part of an address: it may not hold the start of a template, or control characters.", key)
			return false
		}
	}
	return true
}

// counted returns the instances of a block with count.
func counted(e *Env, b *source.Block) (list []Instance, ok bool) {
	v := e.Value(b.Attributes["count"].Expr)
	if !v.IsKnown() {
		return nil, decidable(e, b, "count")
	}
	if !CheckNotSecret(e, v, b.AttributeRange("count"), "count") {
		return nil, false
	}
	if v.IsNull() {
		Unsuitable(e, b, "count", "It is null. For no instance at all, write 0.")
		return nil, false
	}
	var n int
	number, err := convert.Convert(v, cty.Number)
	if err == nil {
		err = gocty.FromCtyValue(number, &n)
	}
	if err != nil || n < 0 || n > maxCount {
		Unsuitable(e, b, "count", "It must be a whole number from 0 to %d.", maxCount)
		return nil, false
	}
	for i := range n {
		index := cty.NumberIntVal(int64(i))
		list = append(list, instanceOf(e, "count", map[string]cty.Value{"index": index}, index))
	}
	return list, true
}

func instanceOf(e *Env, root string, value map[string]cty.Value, key cty.Value) Instance {
	s := NewScope(e.Scope)
	s.Singles[root] = cty.ObjectVal(value)
	return Instance{Key: key, Scope: s}
}

// Pair is an instance with its value.
type Pair struct{ Key, Value cty.Value }

// ValueOfInstances returns the value that expressions read as TYPE.NAME: that of the block, or
// those of all instances by key.
func ValueOfInstances(b *source.Block, values []Pair) cty.Value {
	switch {
	case b.Attributes["for_each"] != nil:
		all := map[string]cty.Value{}
		for _, p := range values {
			all[p.Key.AsString()] = p.Value
		}
		return cty.ObjectVal(all)
	case b.Attributes["count"] != nil:
		var all []cty.Value
		for _, p := range values {
			all = append(all, p.Value)
		}
		return cty.TupleVal(all)
	case len(values) == 0:
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return values[0].Value
}

// Name returns the name of an instance in the cluster.
func (it Instance) Name(e *Env, b *source.Block) string {
	if b.Attributes["name"] != nil {
		return String(e, b, "name")
	}
	if it.Key == cty.NilVal {
		return b.Label
	}
	name := b.Label + "-" + strings.Trim(it.Suffix(), `[]"`)
	if !b.Type.LabelForm.Valid(name) {
		e.Report.Error(b.Header, fmt.Sprintf("Unsuitable name of a %s", b.Type.Label), "%q, the label with the key %s, is not %s. Give each instance a name that is: name = ....", name, it.Suffix(), b.Type.LabelForm.Expected)
		return ""
	}
	return name
}

// Instances returns the instances of a block in the scope of an environment, in the order of
// their keys. ok is false if they cannot be determined, which is reported.
func Instances(e *Env, b *source.Block) (list []Instance, ok bool) {
	if b.Attributes["enabled"] != nil && IsSet(e, b, "enabled") {
		v, ok := PublicAttribute(e, b, "enabled", cty.Bool)
		if !ok || v.False() {
			return nil, ok
		}
	}
	forEach, count := b.Attributes["for_each"], b.Attributes["count"]
	switch {
	case forEach != nil && count != nil:
		e.Report.Error(count.NameRange, "Both for_each and count", "Use either for_each or count, not both.")
		return nil, false
	case forEach != nil:
		return eachOf(e, b)
	case count != nil:
		return counted(e, b)
	}
	return []Instance{{Scope: e.Scope}}, true
}

// UnknownInstances stands for a block with an unknown number of instances. If the number is
// unknown because there is no cluster, nothing is reported about it.
func UnknownInstances(e *Env, b *source.Block) cty.Value {
	value := cty.DynamicVal
	for _, a := range schema.Repetition {
		if attr := b.Attributes[a.Name]; attr != nil {
			for _, d := range mark.Deferrals(e.Value(attr.Expr)) {
				value = value.Mark(d)
			}
		}
	}
	return value
}
