package planner

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// Diff lists the differences between two versions of an object, in path order.
// Either may be nil: then every field of the other is a change of its own.
// Otherwise what is there on one side only is one change, at the highest level
// that the other side lacks; but data, labels and annotations are always compared
// key by key. Lists with a merge key are compared by it; where only their order
// differs, the change holds the elements' names in both orders.
//
// What the server keeps for itself (status, managedFields, uid, ...) is not
// compared, and neither is what identifies the object.
//
// Values of Secrets never appear: their changes are Sensitive, and Before and
// After are Masked where there is a value, nil where there is none.
func Diff(before, after *unstructured.Unstructured) ([]plans.Change, error) {
	differences, err := compare(before, after)
	if err != nil {
		return nil, err
	}
	return changesOf(differences), nil
}

// difference is a change that still knows its path's structure.
type difference struct {
	plans.Change
	path     fieldpath.Path
	reorders bool // only the order of a list's elements differs
}

func changesOf(differences []difference) []plans.Change {
	var changes []plans.Change
	for _, d := range differences {
		changes = append(changes, d.Change)
	}
	return changes
}

// compare is Diff before the paths' structure is given up.
func compare(before, after *unstructured.Unstructured) ([]difference, error) {
	c := &comparer{models: []*unstructured.Unstructured{before, after}, before: stripped(before), after: stripped(after)}
	var (
		paths []fieldpath.Path
		err   error
	)
	switch {
	case before == nil && after == nil, reflect.DeepEqual(c.before, c.after):
		return nil, nil
	case before == nil || after == nil:
		paths, err = leavesOf(c.models, either(c.before, c.after))
	default:
		paths, err = c.paths()
	}
	if err != nil {
		return nil, err
	}
	secret := either(after, before).GroupVersionKind().GroupKind() == providers.SecretKind
	differences := slices.Concat(c.reordered, c.describe(paths, secret))
	slices.SortFunc(differences, func(a, b difference) int { return strings.Compare(a.Path, b.Path) })
	return differences, nil
}

func either(a, b *unstructured.Unstructured) *unstructured.Unstructured {
	if a != nil {
		return a
	}
	return b
}

type comparer struct {
	models        []*unstructured.Unstructured // with their managedFields
	before, after *unstructured.Unstructured
	reordered     []difference
}

// paths finds where two objects differ.
func (c *comparer) paths() ([]fieldpath.Path, error) {
	types, err := typedAlike(c.models, c.before, c.after)
	if err != nil {
		return nil, err
	}
	before, after := types[0], types[1]
	comparison, err := before.Compare(after)
	if err != nil {
		return nil, fmt.Errorf("compare two versions of a %s: %w", c.after.GetKind(), err)
	}
	var paths []fieldpath.Path
	comparison.Modified.Iterate(func(p fieldpath.Path) { paths = append(paths, p.Copy()) })
	for _, oneSided := range []*fieldpath.Set{comparison.Added, comparison.Removed} {
		paths = append(paths, highest(oneSided)...)
	}
	fields, err := after.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("list the fields of a %s: %w", c.after.GetKind(), err)
	}
	c.order(fields, nil, c.before.Object, c.after.Object)
	return paths, nil
}

// highest keeps the paths of the set that have no ancestor in it, except that
// maps that people think of by key are kept by key.
func highest(set *fieldpath.Set) []fieldpath.Path {
	var paths []fieldpath.Path
	set.Iterate(func(p fieldpath.Path) {
		parent := p[:len(p)-1]
		if !keyed(p) && (keyed(parent) || !set.Has(parent)) {
			paths = append(paths, p.Copy())
		}
	})
	return paths
}

// keyed reports whether the path is of a map that is always shown key by key.
func keyed(path fieldpath.Path) bool {
	switch pathText(path) {
	case "data", "binaryData", "stringData", "metadata", "metadata.annotations", "metadata.labels":
		return true
	}
	return false
}

// leavesOf lists the paths of all fields, without those that only repeat the
// merge key of the element that they are in.
func leavesOf(models []*unstructured.Unstructured, object *unstructured.Unstructured) ([]fieldpath.Path, error) {
	types, err := typedAlike(models, object)
	if err != nil {
		return nil, err
	}
	fields, err := types[0].ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("list the fields of a %s: %w", object.GetKind(), err)
	}
	keys := fieldpath.NewSet()
	fields.Iterate(func(p fieldpath.Path) {
		if repeatsKey(p) {
			keys.Insert(p.Copy())
		}
	})
	var paths []fieldpath.Path
	fields.Difference(keys).Leaves().Iterate(func(p fieldpath.Path) {
		paths = append(paths, p.Copy())
	})
	return paths, nil
}

func repeatsKey(path fieldpath.Path) bool {
	if len(path) < 2 {
		return false
	}
	field, key := path[len(path)-1].FieldName, path[len(path)-2].Key
	if field == nil || key == nil {
		return false
	}
	for _, k := range *key {
		if k.Name == *field {
			return true
		}
	}
	return false
}

// order finds lists with merge keys whose common elements come in another order.
// Of init containers and environment variables the order has a meaning, and of
// all of them it makes another pod template.
func (c *comparer) order(fields *fieldpath.Set, path fieldpath.Path, before, after any) {
	list, isList := before.([]any)
	other, otherIsList := after.([]any)
	if isList && otherIsList {
		c.orderOf(fields, path, list, other)
	}
	for element := range fields.Children.All() {
		step := fieldpath.Path{element}
		b, inBefore := lookup(before, step)
		a, inAfter := lookup(after, step)
		if inBefore && inAfter {
			c.order(fields.WithPrefix(element), append(path.Copy(), element), b, a)
		}
	}
}

// elementsOf are the elements of a list. Those whose fields are one whole, such as
// references to Secrets, have no fields of their own in the set.
func elementsOf(fields *fieldpath.Set) iter.Seq[fieldpath.PathElement] {
	return func(yield func(fieldpath.PathElement) bool) {
		for element := range fields.Members.All() {
			if _, both := fields.Children.Get(element); !both && !yield(element) {
				return
			}
		}
		// The library goes on with its children whatever it is told.
		wanted := true
		for element := range fields.Children.All() {
			wanted = wanted && yield(element)
		}
	}
}

func (c *comparer) orderOf(fields *fieldpath.Set, path fieldpath.Path, before, after []any) {
	type member struct {
		name          string
		before, after int
	}
	var common []member
	for element := range elementsOf(fields) {
		if element.Key == nil && element.Value == nil {
			return
		}
		b, inBefore := position(before, element)
		a, inAfter := position(after, element)
		if inBefore && inAfter {
			common = append(common, member{selector(element), b, a})
		}
	}
	names := func(at func(member) int) []any {
		slices.SortFunc(common, func(x, y member) int { return at(x) - at(y) })
		var out []any
		for _, m := range common {
			out = append(out, strings.Trim(m.name, `"`))
		}
		return out
	}
	was, is := names(func(m member) int { return m.before }), names(func(m member) int { return m.after })
	if !reflect.DeepEqual(was, is) {
		c.reordered = append(c.reordered, difference{path: path, reorders: true, Change: plans.Change{Path: pathText(path), Before: was, After: is}})
	}
}

// describe makes the changes at the paths, without what must not be seen.
func (c *comparer) describe(paths []fieldpath.Path, secret bool) []difference {
	var differences []difference
	for i, path := range paths {
		if path[len(path)-1].Key != nil && slices.ContainsFunc(paths[:i], path.Equals) {
			continue // elements with one key differ, and their number does
		}
		d := difference{path: path, Change: plans.Change{Path: pathText(path)}}
		if d.Path == "apiVersion" || d.Path == "kind" {
			continue
		}
		if c.before != nil {
			d.Before, _ = lookup(c.before.Object, path)
		}
		if c.after != nil {
			d.After, _ = lookup(c.after.Object, path)
		}
		if d.Before != nil && d.After != nil && path[len(path)-1].Key != nil {
			d.Before, d.After = unpaired(c.before.Object, c.after.Object, path, d.Before, d.After)
		}
		switch {
		case sensitive(path, secret):
			d.mask()
		default:
			d.Text = multiline(d.Before) || multiline(d.After) || !secret && isFile(path, d.Change)
		}
		differences = append(differences, d)
	}
	return differences
}

// unpaired are the elements of one key that are not the same on both sides, where a list has
// several of them: server-side apply knows them by their key, and others may write more.
func unpaired(before, after map[string]any, path fieldpath.Path, first, other any) (was, is any) {
	parent, last := path[:len(path)-1], path[len(path)-1]
	those := func(object map[string]any) []any {
		list, _ := lookup(object, parent)
		items, _ := list.([]any)
		return slices.DeleteFunc(slices.Clone(items), func(item any) bool { return !hasKey(item, *last.Key, false) })
	}
	left, right := those(before), those(after)
	if len(left) < 2 && len(right) < 2 {
		return first, other
	}
	all, others := slices.Clone(left), slices.Clone(right)
	left = slices.DeleteFunc(left, func(item any) bool {
		i := slices.IndexFunc(right, func(twin any) bool { return reflect.DeepEqual(item, twin) })
		if i >= 0 {
			right = slices.Delete(right, i, i+1)
		}
		return i >= 0
	})
	if len(left) == 0 && len(right) == 0 {
		return all, others // in another order
	}
	shown := func(items []any) any {
		switch len(items) {
		case 0:
			return nil
		case 1:
			return items[0]
		}
		return items
	}
	return shown(left), shown(right)
}

// hollow reports whether the difference is only an empty map or list. The server does not
// keep these everywhere.
func (d *difference) hollow() bool {
	return (d.Before == nil || empty(d.Before)) && (d.After == nil || empty(d.After))
}

// mask takes the values away, and leaves whether there are any.
func (d *difference) mask() {
	d.Sensitive = true
	d.Before, d.After = masked(d.Before), masked(d.After)
}

// sensitive reports whether the values at a path must never be kept.
func sensitive(path fieldpath.Path, secret bool) bool { return proof.Withheld(secret, namesOn(path)) }

// namesOn are the names of the fields of a path, with an empty one for an element of a
// list.
func namesOn(path fieldpath.Path) []string {
	names := make([]string, len(path))
	for i, step := range path {
		if step.FieldName != nil {
			names[i] = *step.FieldName
		}
	}
	return names
}

func annotationPath(name string) string {
	return pathText(fieldpath.MakePathOrDie("metadata", "annotations", name))
}

// isFile reports whether the change is of a key of a ConfigMap's data.
func isFile(path fieldpath.Path, change plans.Change) bool {
	if len(path) != 2 || path[0].FieldName == nil || *path[0].FieldName != "data" {
		return false
	}
	_, before := change.Before.(string)
	_, after := change.After.(string)
	return before || after
}

func multiline(v any) bool {
	text, ok := v.(string)
	return ok && strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

// bookkeeping is what the server writes into the metadata of every object, and
// what names it.
var bookkeeping = []string{
	"name", "namespace", "generateName", "selfLink", "uid", "resourceVersion", "generation",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
}

// stripped is a copy of the object without what is never compared. The values
// that are left are shared with the original.
func stripped(u *unstructured.Unstructured) *unstructured.Unstructured {
	if u == nil {
		return nil
	}
	object := maps.Clone(u.Object)
	delete(object, "status")
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, field := range bookkeeping {
			delete(metadata, field)
		}
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			annotations = maps.Clone(annotations)
			// It holds the whole object, values of Secrets included.
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			// It is of the object's creation, and every apply leaves it as it is.
			delete(annotations, providers.AnnotationIntent)
			put(metadata, "annotations", annotations)
		}
		put(object, "metadata", metadata)
	}
	if u.GroupVersionKind().GroupKind() == providers.StatefulSetKind {
		stripClaims(object)
	}
	return &unstructured.Unstructured{Object: object}
}

// stripClaims takes the status out of the templates of claims: the server writes one into
// each.
func stripClaims(set map[string]any) {
	spec, _ := set["spec"].(map[string]any)
	templates, _ := spec["volumeClaimTemplates"].([]any)
	if len(templates) == 0 {
		return
	}
	bare := make([]any, len(templates))
	for i, template := range templates {
		bare[i] = template
		if claim, isMap := template.(map[string]any); isMap && claim["status"] != nil {
			claim = maps.Clone(claim)
			delete(claim, "status")
			bare[i] = claim
		}
	}
	spec = maps.Clone(spec)
	spec["volumeClaimTemplates"] = bare
	set["spec"] = spec
}

// put sets a field to a map, or removes it if the map is empty.
func put(object map[string]any, field string, value map[string]any) {
	if len(value) == 0 {
		delete(object, field)
	} else {
		object[field] = value
	}
}

// typedAlike gives objects of one kind their type: the built-in one if all of them
// follow it; else one deduced from what the server says of the fields of those that
// are models; else one deduced from the objects themselves, in which all lists are
// atomic.
func typedAlike(models []*unstructured.Unstructured, objects ...*unstructured.Unstructured) ([]*typed.TypedValue, error) {
	if types, err := convert(providers.BuiltinTypes().ObjectToTyped, objects); err == nil {
		return types, nil
	}
	shaped := shapeOf(models...)
	if types, err := convert(func(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
		return shaped.FromUnstructured(object.(*unstructured.Unstructured).Object, options...)
	}, objects); err == nil {
		return types, nil
	}
	return convert(managedfields.NewDeducedTypeConverter().ObjectToTyped, objects)
}

func convert(typedOf func(runtime.Object, ...typed.ValidationOptions) (*typed.TypedValue, error), objects []*unstructured.Unstructured) ([]*typed.TypedValue, error) {
	var types []*typed.TypedValue
	for _, object := range objects {
		value, err := typedOf(object, typed.AllowDuplicates)
		if err != nil {
			return nil, fmt.Errorf("read the fields of a %s: %w", object.GetKind(), err)
		}
		types = append(types, value)
	}
	return types, nil
}
