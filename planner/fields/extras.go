package fields

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/proof"
)

// Extras lists the fields of an object that are not among those that a manager owns, each
// as a whole where nothing in it is owned. No schema is needed: the sets in managedFields
// show which lists have keys. manifest is what the manager applied: what it declares as
// empty may have been filled by others.
//
// left are fields that count as the manager's. rules are patterns of fields that have rules
// of their own: what they are in is not taken as a whole. Neither is what the system keeps
// fields in, unless whole says so.
func Extras(u, manifest *unstructured.Unstructured, manager string, left *fieldpath.Set, rules []lang.FieldPath, whole bool) []fieldpath.Path {
	owners := OwnersOf(u, manager)
	own := owners.Own.Union(left)
	all := own
	for _, other := range owners.Others {
		all = all.Union(other.Fields)
	}
	e := &extraFinder{u: u, rules: rules, whole: whole}
	e.fields(nil, Stripped(u).Object, manifest.Object, own, all)
	return e.found
}

// extraFinder walks an object together with the set of what is owned in it, and that of
// what anybody owns. Either may be nil.
type extraFinder struct {
	u     *unstructured.Unstructured
	rules []lang.FieldPath
	whole bool
	found []fieldpath.Path
}

func (e *extraFinder) add(path fieldpath.Path, last fieldpath.PathElement) {
	e.found = append(e.found, append(path.Copy(), last))
}

// below is the set of what is below an element; nil: nothing.
func below(set *fieldpath.Set, element fieldpath.PathElement) *fieldpath.Set {
	if set == nil {
		return nil
	}
	inner, ok := set.Children.Get(element)
	if !ok || inner.Empty() {
		return nil
	}
	return inner
}

// fields looks at the fields of a map.
func (e *extraFinder) fields(path fieldpath.Path, content map[string]any, wanted any, own, all *fieldpath.Set) {
	declared, _ := wanted.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		element := fieldpath.PathElement{FieldName: &name}
		inner := below(own, element)
		mine, isDeclared := declared[name]
		switch {
		case inner != nil:
			e.value(append(path.Copy(), element), content[name], mine, inner, below(all, element))
		case isDeclared || own != nil && own.Members.Has(element):
			if Empty(mine) {
				e.filled(append(path.Copy(), element), content[name], below(all, element))
			}
		default:
			inner, isMap := content[name].(map[string]any)
			full := append(path.Copy(), element)
			if isMap && e.divided(full) {
				e.found = append(e.found, e.parts(full, inner, below(all, element))...)
				continue
			}
			e.add(path, element)
		}
	}
}

// parts are the fields of a map in which kolla owns nothing. With whole, the map is one part,
// including fields that the system keeps: they are of no use without the rest.
func (e *extraFinder) parts(path fieldpath.Path, content map[string]any, all *fieldpath.Set) []fieldpath.Path {
	inside := &extraFinder{u: e.u, rules: e.rules, whole: e.whole}
	inside.fields(path, content, nil, nil, all)
	left := func(p fieldpath.Path) bool {
		names := Names(p)
		return proof.KeeperOf(e.u, names) == proof.Others && slices.Contains(names, "annotations")
	}
	if names := Names(path); e.whole && names[0] != "metadata" && !e.ruled(names) && !slices.ContainsFunc(inside.found, left) {
		return []fieldpath.Path{path}
	}
	return inside.found
}

// divided reports whether there are several rules for what is below a field.
func (e *extraFinder) divided(path fieldpath.Path) bool {
	names := Names(path)
	return proof.KeptBelow(e.u, names) || e.ruled(names)
}

// ruled reports whether there are rules of their own for what is below a field.
func (e *extraFinder) ruled(names []string) bool {
	return slices.ContainsFunc(e.rules, func(rule lang.FieldPath) bool {
		return len(rule) > len(names) && rule[:len(names)].Covers(names)
	})
}

func (e *extraFinder) value(path fieldpath.Path, content, wanted any, own, all *fieldpath.Set) {
	switch content := content.(type) {
	case map[string]any:
		e.fields(path, content, wanted, own, all)
	case []any:
		e.elements(path, content, wanted, own, all)
	}
}

// filled looks at what is declared as empty.
func (e *extraFinder) filled(path fieldpath.Path, content any, all *fieldpath.Set) {
	switch content := content.(type) {
	case map[string]any:
		e.fields(path, content, nil, nil, all)
	case []any:
		e.elements(path, content, nil, nil, all)
	}
}

// elements looks at the elements of a list that has keys, or is a set.
func (e *extraFinder) elements(path fieldpath.Path, list []any, wanted any, own, all *fieldpath.Set) {
	declared, _ := wanted.([]any)
	for _, item := range list {
		element, ok := elementOf(item, own, all)
		if !ok && own == nil {
			e.found = append(e.found, path.Copy()) // nobody says how to name its elements
			return
		}
		if !ok {
			return // by position: it is owned as a whole
		}
		inner := below(own, element)
		switch {
		case inner != nil:
			var mine any
			if i, found := Position(declared, element); found {
				mine = declared[i]
			}
			e.value(append(path.Copy(), element), item, mine, inner, below(all, element))
		case own != nil && own.Members.Has(element):
		default:
			e.add(path, element)
		}
	}
}

// elementOf names an element of a list as the sets name those that they have.
func elementOf(item any, sets ...*fieldpath.Set) (element fieldpath.PathElement, ok bool) {
	var keys []string
	for _, set := range sets {
		if set == nil {
			continue
		}
		for known := range ElementsOf(set) {
			switch {
			case known.Key != nil:
				keys = keyNames(known, keys)
			case known.Value != nil:
				v := value.NewValueInterface(item)
				return fieldpath.PathElement{Value: &v}, true
			}
		}
	}
	fields, isMap := item.(map[string]any)
	if keys == nil || !isMap {
		return fieldpath.PathElement{}, false
	}
	var key value.FieldList
	for _, name := range keys {
		if v, there := fields[name]; there {
			key = append(key, value.Field{Name: name, Value: value.NewValueInterface(v)})
		}
	}
	key.Sort()
	return fieldpath.PathElement{Key: &key}, true
}
