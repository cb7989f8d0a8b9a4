package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// isPatched reports whether a patch may be for an object of a kind.
func (s *service) isPatched(kind string) bool {
	return slices.ContainsFunc(s.decl.Patches, func(p configs.Patch) bool { return p.Kind == kind })
}

// unversioned is the name of an object without its hash.
func unversioned(o providers.Object) string { return cmp.Or(o.Family.Name, o.Address.Name) }

// patchesOf are the patches of an object as text: a Job with another patch is another run.
func (s *service) patchesOf(kind, name string) []string {
	var out []string
	for _, p := range s.decl.Patches {
		if !p.Matches(kind, name) {
			continue
		}
		text, err := json.Marshal(p.Object)
		if err != nil {
			panic(err) // it is made of what JSON has
		}
		out = append(out, string(text))
	}
	return out
}

// took is the mark of a patch that an object took: one of the cloud's is for all services.
func (s *service) took(p configs.Patch) string {
	if p.Layer == "cloud" {
		return p.Label.String()
	}
	return s.decl.Name + " " + p.Label.String()
}

// patch merges the service's patches over an object.
func (s *service) patch(o *providers.Object) {
	own := o.Manifest.Object
	for _, p := range s.decl.Patches {
		if !p.Matches(o.Address.Kind, unversioned(*o)) {
			continue
		}
		s.patched[s.took(p)] = true
		typed, err := providers.BuiltinTypes().ObjectToTyped(o.Manifest)
		if err != nil {
			panic(err) // kolla makes objects of Kubernetes' own kinds
		}
		m := merging{service: s, patch: p, target: o.Address.Kind + "/" + unversioned(*o), types: typed.Schema()}
		content, _ := m.merge(typed.TypeRef(), layers{own, o.Manifest.Object, p.Object}, "").(map[string]any)
		patched, level := &unstructured.Unstructured{Object: content}, s.levelFor(o.Address.Kind, unversioned(*o))
		if refusal(o.Manifest, level) == "" {
			s.warnRefused(p.Label, m.target, patched, level)
		}
		o.Manifest = patched
	}
}

// merging puts one patch over one object, as a server-side apply would: by the types of
// Kubernetes. Fields are paths such as ".spec.ports[0].name", in the patch.
type merging struct {
	*service
	patch  configs.Patch
	target string // KIND/NAME
	types  *schema.Schema
}

// layers are the values of one field: what kolla sets, the same with weaker patches over
// it, and what the patch says.
type layers struct{ own, below, above any }

// member is a field of maps.
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

// merge is a value with the patch's over it; what does not fit stays as it was. nil: there
// is none any more.
func (m merging) merge(ref schema.TypeRef, l layers, field string) any {
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

func (m merging) mergeMap(typ *schema.Map, l layers, field string) any {
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
			m.error(m.patch.Place(at), "There is no such field", fmt.Sprintf("%s has no field %s.%s", m.target, at[1:], words.DidYouMean(key, known)))
			continue
		}
		if inner.above == nil && inner.below == nil {
			if !m.decl.Undecided {
				m.warn(m.patch.Place(at), "Nothing to remove", fmt.Sprintf("null takes a field away, but %s has no field %s.%s", m.target, at[1:], words.DidYouMean(key, slices.Collect(maps.Keys(below)))))
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

func (m merging) mergeList(typ *schema.List, l layers, field string) any {
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
			m.error(m.patch.Place(at), "Element of a list without its key", fmt.Sprintf("Elements of %s of %s are told apart by: %s. This one lacks that.", field[1:], m.target, strings.Join(typ.Keys, ", ")))
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

// key tells the elements of a list apart; empty: the element lacks it.
func (m merging) key(typ *schema.List, element any) string {
	if len(typ.Keys) == 0 {
		return encoded(element)
	}
	fields, _ := element.(map[string]any)
	atom, _ := m.types.Resolve(typ.ElementType)
	var out []string
	for _, name := range typ.Keys {
		value := fields[name]
		if value == nil && atom.Map != nil {
			if f, found := atom.Map.FindField(name); found && f.Default != "" { // no name is empty
				value = f.Default
			}
		}
		if value == nil {
			return ""
		}
		out = append(out, encoded(value))
	}
	return strings.Join(out, ",")
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it is made of what JSON has
	}
	return string(text)
}

// fits reports whether a value is of the type of a field.
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

// unsuitable reports a value of another type than the field has.
func (m merging) unsuitable(atom schema.Atom, l layers, field string) any {
	want := "a text"
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
	m.error(m.patch.Place(field), "A patch of another type", fmt.Sprintf("%s of %s is %s, and this is %s.", field[1:], m.target, want, shown(l.above)))
	return l.below
}

func shown(value any) string {
	switch value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return encoded(value)
}

// changed warns of a field that kolla sets, and that the patch changes.
func (m merging) changed(l layers, field string) {
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
	m.warn(at, "Patch of a field that kolla sets", fmt.Sprintf("kolla sets %s of %s to %s, and the patch %s. If a block has an argument for it, use that: everything else that kolla makes goes by the blocks.", field[1:], m.target, shown(l.own), becomes))
}

// checkPatches reports patches of the definition and of the service that no object takes.
func (s *service) checkPatches() {
	if s.decl.Undecided {
		return
	}
	for _, p := range s.decl.Patches {
		if !s.patched[s.took(p)] && p.Layer != "cloud" {
			s.patched[s.took(p)] = true
			wanted := p.Kind + "/" + p.Name
			s.error(p.Label, fmt.Sprintf("There is no object %q", wanted), strings.TrimSpace(fmt.Sprintf("%s Service %q has: %s.", words.DidYouMean(wanted, s.names), s.decl.Name, listed(s.names))))
		}
	}
}

// checkDefaultPatches warns of patches for all services that no object takes.
func (r *renderer) checkDefaultPatches() {
	var names []string
	for _, s := range r.services {
		if s.decl.Undecided {
			return
		}
		names = append(names, s.names...)
	}
	slices.Sort(names)
	for _, s := range r.config.Services {
		for _, p := range s.Patches {
			if wanted := p.Kind + "/" + p.Name; p.Layer == "cloud" && !r.patched[p.Label.String()] {
				r.patched[p.Label.String()] = true
				r.warn(p.Label, "Default without effect", strings.TrimSpace(fmt.Sprintf("No service of this cloud has an object %q.%s", wanted, words.DidYouMean(wanted, names))))
			}
		}
	}
}

// listed gives all names, in order.
func listed(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}
