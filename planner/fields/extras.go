package fields

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/proof"
)

// Extras lists the fields of an object that the manager does not own. A map or list in
// which the manager owns nothing is one field. No schema is needed: the sets in
// managedFields show which lists have keys. manifest is the declaration that the manager
// applied: others may have added to maps that it declares as empty.
//
// Fields in left count as owned by the manager. rules are patterns for single fields: a map
// that contains a match is not taken as one field. A map that contains fields of the system
// is taken as one field only with whole.
func Extras(u, manifest *unstructured.Unstructured, manager string, left *fieldpath.Set, rules []addrs.FieldPath, whole bool) []fieldpath.Path {
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

// extraFinder walks an object together with two sets: the fields that the manager owns, and
// the fields that anybody owns. Either may be nil.
type extraFinder struct {
	u     *unstructured.Unstructured
	rules []addrs.FieldPath
	whole bool
	found []fieldpath.Path
}

func (e *extraFinder) add(path fieldpath.Path, last fieldpath.PathElement) {
	e.found = append(e.found, append(path.Copy(), last))
}

// below returns the set below an element; nil if there is nothing.
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

// fields searches the fields of a map.
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

// parts returns the fields of a map in which kolla owns nothing. With whole, the map is one
// field, including the fields of the system in it, which are useless without the rest.
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

// divided reports whether different rules apply to fields below a field.
func (e *extraFinder) divided(path fieldpath.Path) bool {
	names := Names(path)
	return proof.KeptBelow(e.u, names) || e.ruled(names)
}

// ruled reports whether a rule matches a field below a field.
func (e *extraFinder) ruled(names []string) bool { return CoveredBelow(e.rules, names) }

func (e *extraFinder) value(path fieldpath.Path, content, wanted any, own, all *fieldpath.Set) {
	switch content := content.(type) {
	case map[string]any:
		e.fields(path, content, wanted, own, all)
	case []any:
		e.elements(path, content, wanted, own, all)
	}
}

// filled searches a map or list that is declared as empty.
func (e *extraFinder) filled(path fieldpath.Path, content any, all *fieldpath.Set) {
	switch content := content.(type) {
	case map[string]any:
		e.fields(path, content, nil, nil, all)
	case []any:
		e.elements(path, content, nil, nil, all)
	}
}

// elements searches the elements of a list that has keys or is a set.
func (e *extraFinder) elements(path fieldpath.Path, list []any, wanted any, own, all *fieldpath.Set) {
	declared, _ := wanted.([]any)
	for _, item := range list {
		element, ok := elementOf(item, own, all)
		if !ok && own == nil {
			e.found = append(e.found, path.Copy()) // no set shows how its elements are identified
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

// elementOf identifies an element of a list by its key or value, as the sets do. ok is
// false if no set shows how.
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
