package patch

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// merging merges one patch into one object, by the types of Kubernetes, as a server-side apply
// would. Fields are paths in the patch, such as ".spec.ports[0].name".
type merging struct {
	patch     configs.Patch
	target    string // KIND/NAME
	types     *schema.Schema
	undecided bool            // parts of the service are not known yet
	warned    map[string]bool // fields whose patches have a warning
	diags     hcl.Diagnostics
}

// error reports a field of the patch that does not fit.
func (m *merging) error(field, summary, detail string) {
	m.diags = append(m.diags, object.Error(m.patch.Place(field), summary, detail))
}

// warn warns about a field of the patch.
func (m *merging) warn(field, summary, detail string) {
	m.diags = append(m.diags, object.Warning(m.patch.Place(field), summary, detail))
}

// layers are the values of one field: own is kolla's value, below adds the weaker patches, and
// above is the value in this patch.
type layers struct{ own, below, above any }

// member returns the layers of a field, for layers that are maps.
func (l layers) member(key string) layers {
	var out layers
	for _, p := range []struct {
		from any
		into *any
	}{{l.own, &out.own}, {l.below, &out.below}, {l.above, &out.above}} {
		if fields, ok := p.from.(map[string]any); ok {
			*p.into = fields[key]
		}
	}
	return out
}

// merge returns the value of a field with the patch applied. A patch that does not fit changes
// nothing. Nil means that the field is removed.
func (m *merging) merge(ref schema.TypeRef, l layers, field string) any {
	atom, _ := m.types.Resolve(ref)
	switch l.above.(type) {
	case nil:
		m.changed(l, field)
		return nil
	case map[string]any:
		if atom.Map == nil {
			return m.unsuitable(atom, l, field)
		}
		if atom.Map.ElementRelationship == schema.Atomic {
			m.changed(l, field)
			l.own, l.below = nil, nil
		}
		return m.mergeMap(atom.Map, l, field)
	case []any:
		if atom.List == nil {
			return m.unsuitable(atom, l, field)
		}
		if atom.List.ElementRelationship != schema.Associative {
			m.changed(l, field)
			l.own, l.below = nil, nil
		}
		return m.mergeList(atom.List, l, field)
	}
	if !fits(atom.Scalar, l.above) {
		return m.unsuitable(atom, l, field)
	}
	m.changed(l, field)
	return l.above
}

// mergeMap returns the fields of a map with the patch applied.
func (m *merging) mergeMap(typ *schema.Map, l layers, field string) any {
	out := map[string]any{}
	below, _ := l.below.(map[string]any)
	maps.Copy(out, below)
	for _, key := range slices.Sorted(maps.Keys(l.above.(map[string]any))) {
		at, inner := field+"."+key, l.member(key)
		ref := typ.ElementType
		if f, ok := typ.FindField(key); ok {
			ref = f.Type
		} else if reflect.ValueOf(ref).IsZero() {
			var known []string
			for _, f := range typ.Fields {
				known = append(known, f.Name)
			}
			m.error(at, "There is no such field", fmt.Sprintf("%s has no field %s.%s", m.target, at[1:], words.DidYouMean(key, known)))
			continue
		}
		if inner.above == nil && inner.below == nil {
			if !m.undecided {
				m.warn(at, "Nothing to remove", fmt.Sprintf("null takes a field away, but %s has no field %s.%s", m.target, at[1:], words.DidYouMean(key, slices.Collect(maps.Keys(below)))))
			}
			continue
		}
		if value := m.merge(ref, inner, at); value != nil {
			out[key] = value
		} else {
			delete(out, key)
		}
	}
	if len(out) == 0 && len(below) > 0 {
		return nil
	}
	return out
}

// mergeList returns the elements of a list with the patch applied.
func (m *merging) mergeList(typ *schema.List, l layers, field string) any {
	below, _ := l.below.([]any)
	own, _ := l.own.([]any)
	out := slices.Clone(below)
	for i, element := range l.above.([]any) {
		at := fmt.Sprintf("%s[%d]", field, i)
		inner := layers{above: element}
		if typ.ElementRelationship != schema.Associative {
			out = append(out, m.merge(typ.ElementType, inner, at))
			continue
		}
		key := m.key(typ, element)
		if key == "" {
			m.error(at, "Element of a list without its key", fmt.Sprintf("Elements of %s of %s are told apart by: %s. This one lacks that.", field[1:], m.target, strings.Join(typ.Keys, ", ")))
			continue
		}
		same := func(other any) bool { return m.key(typ, other) == key }
		if n := slices.IndexFunc(own, same); n >= 0 {
			inner.own = own[n]
		}
		if n := slices.IndexFunc(out, same); n >= 0 {
			inner.below = out[n]
			out[n] = m.merge(typ.ElementType, inner, at)
		} else {
			out = append(out, m.merge(typ.ElementType, inner, at))
		}
	}
	return out
}

// key returns the identity of a list element. It is empty if the element lacks a key field.
func (m *merging) key(typ *schema.List, element any) string {
	if len(typ.Keys) == 0 {
		return object.JSON(element)
	}
	fields, _ := element.(map[string]any)
	atom, _ := m.types.Resolve(typ.ElementType)
	var out []string
	for _, name := range typ.Keys {
		value := fields[name]
		if value == nil && atom.Map != nil {
			if f, found := atom.Map.FindField(name); found && f.Default != "" { // names must not be empty
				value = f.Default
			}
		}
		if value == nil {
			return ""
		}
		out = append(out, object.JSON(value))
	}
	return strings.Join(out, ",")
}

// fits reports whether a scalar value has the type of a field.
func fits(typ *schema.Scalar, value any) bool {
	if typ == nil {
		return false
	}
	switch value.(type) {
	case string:
		return *typ == schema.String || *typ == schema.Untyped
	case bool:
		return *typ == schema.Boolean || *typ == schema.Untyped
	}
	return *typ == schema.Numeric || *typ == schema.Untyped
}

// unsuitable reports a value whose type is not the type of the field, and keeps the old value.
func (m *merging) unsuitable(atom schema.Atom, l layers, field string) any {
	want := "a string"
	switch {
	case atom.Map != nil:
		want = "a map"
	case atom.List != nil:
		want = "a list"
	case atom.Scalar != nil && *atom.Scalar == schema.Numeric:
		want = "a number"
	case atom.Scalar != nil && *atom.Scalar == schema.Boolean:
		want = "true or false"
	}
	m.error(field, "A patch of another type", fmt.Sprintf("%s of %s is %s, and this is %s.", field[1:], m.target, want, shown(l.above)))
	return l.below
}

// shown describes a value in a message.
func shown(value any) string {
	switch value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return object.JSON(value)
}

// changed warns about a patch that changes or removes a field that kolla sets.
func (m *merging) changed(l layers, field string) {
	at := m.patch.Place(field)
	id := at.String() + field
	if l.own == nil || reflect.DeepEqual(l.own, l.above) || m.warned[id] {
		return
	}
	m.warned[id] = true
	becomes := "takes it away"
	if l.above != nil {
		becomes = "makes it " + shown(l.above)
	}
	m.warn(field, "Patch of a field that kolla sets", fmt.Sprintf("kolla sets %s of %s to %s, and the patch %s. If a block has an argument for it, use that: everything else that kolla makes goes by the blocks.", field[1:], m.target, shown(l.own), becomes))
}
