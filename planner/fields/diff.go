// Package fields compares two versions of an object, and names, finds and removes single fields.
// It sends no requests.
//
// Start with [Diff]. It compares a live object with the answer of a dry run:
//
//	changes, err := fields.Diff(live, answer)
//	if err != nil {
//		return err
//	}
//	for _, c := range changes {
//		fmt.Println(c.Path, c.Before, c.After)
//	}
//
// The other functions work with the path of a field:
//
//   - [Compare] is Diff with paths. [Declared] keeps the differences in kolla's own fields.
//   - [Text] writes a path as plans show it, and [Lookup] finds the value at a path.
//   - [OwnersOf] reads from managedFields who owns which field. [Extras] lists the fields that
//     a manager does not own.
//   - [Trim], [Bare] and [Without] remove fields.
//   - [Typed] deduces the schema that a comparison needs, also for custom resources.
//
// Mistakes to avoid:
//
//   - Comparing a manifest with a live object. The live object has defaults and fields of others,
//     and each would be a change. Ask for a dry run, and compare its answer.
//   - Removing managedFields before Diff. In custom resources, only managedFields shows which
//     lists have merge keys.
//   - Parsing the result of Text. It does not show which fields form the key of an element. Keep
//     the path, which a [Difference] has.
//   - Printing the result of Lookup. Diff and Compare mask the values of Secrets, Lookup does not.
//   - Changing the result of Trim. Without yields it is the given manifest itself.
package fields

import (
	"cmp"
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
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Diff returns the differences between two versions of an object, sorted by path. If one
// version is nil, every field of the other one is a change. Otherwise a part that only one
// version has is one change; but data, labels and annotations are always compared key by
// key. Lists with a merge key are compared by the key. If only the order of their elements
// differs, the change has the names of the elements in both orders.
//
// Fields that the server maintains (status, managedFields, uid, ...) and fields that
// identify the object are not compared.
//
// Values of Secrets do not appear: their changes are Sensitive, and Before and After are
// plans.Masked instead of a value.
func Diff(before, after *unstructured.Unstructured) ([]plans.Change, error) {
	differences, err := Compare(before, after)
	if err != nil {
		return nil, err
	}
	return Changes(differences), nil
}

// Difference is a change together with its path.
type Difference struct {
	plans.Change
	At       fieldpath.Path
	Reorders bool // only the order of a list's elements differs
}

// Changes returns the changes of the differences.
func Changes(differences []Difference) []plans.Change {
	var changes []plans.Change
	for _, d := range differences {
		changes = append(changes, d.Change)
	}
	return changes
}

// Compare is Diff, with paths. The token of a live object is compared if an apply sends it: a
// new object gets another one.
func Compare(before, after *unstructured.Unstructured) ([]Difference, error) {
	c := &comparer{models: []*unstructured.Unstructured{before, after}, before: Stripped(before), after: Stripped(after)}
	if before != nil && after != nil && after.GetAnnotations()[providers.AnnotationIntent] != "" {
		c.before, c.after = WithToken(before), WithToken(after)
	}
	var (
		paths []fieldpath.Path
		err   error
	)
	switch {
	case before == nil && after == nil, reflect.DeepEqual(c.before, c.after):
		return nil, nil
	case before == nil || after == nil:
		paths, err = leavesOf(c.models, cmp.Or(c.before, c.after))
	default:
		paths, err = c.paths()
	}
	if err != nil {
		return nil, err
	}
	secret := cmp.Or(after, before).GroupVersionKind().GroupKind() == kinds.Secret
	differences := slices.Concat(c.reordered, c.describe(paths, secret))
	slices.SortFunc(differences, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return differences, nil
}

type comparer struct {
	models        []*unstructured.Unstructured // with their managedFields
	before, after *unstructured.Unstructured
	reordered     []Difference
}

// paths returns the paths at which the two versions differ.
func (c *comparer) paths() ([]fieldpath.Path, error) {
	types, err := Typed(c.models, c.before, c.after)
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

// highest keeps the paths whose parents are not in the set. Paths below data, labels and
// annotations are kept key by key.
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

// keyed reports whether the path is that of a map which is always shown key by key.
func keyed(path fieldpath.Path) bool {
	switch Text(path) {
	case "data", "binaryData", "stringData", "metadata", "metadata.annotations", "metadata.labels":
		return true
	}
	return false
}

// leavesOf lists the paths of all fields, except the fields of merge keys.
func leavesOf(models []*unstructured.Unstructured, object *unstructured.Unstructured) ([]fieldpath.Path, error) {
	types, err := Typed(models, object)
	if err != nil {
		return nil, err
	}
	fields, err := types[0].ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("list the fields of a %s: %w", object.GetKind(), err)
	}
	keys := fieldpath.NewSet()
	fields.Iterate(func(p fieldpath.Path) {
		if RepeatsKey(p) {
			keys.Insert(p.Copy())
		}
	})
	var paths []fieldpath.Path
	fields.Difference(keys).Leaves().Iterate(func(p fieldpath.Path) {
		paths = append(paths, p.Copy())
	})
	return paths, nil
}

// RepeatsKey reports whether the path ends with a field of the merge key of its element.
func RepeatsKey(path fieldpath.Path) bool {
	if len(path) < 2 {
		return false
	}
	field, key := path[len(path)-1].FieldName, path[len(path)-2].Key
	if field == nil || key == nil {
		return false
	}
	return slices.ContainsFunc(*key, func(k value.Field) bool { return k.Name == *field })
}

// order finds lists with merge keys whose common elements are in another order. The order
// of init containers and environment variables has a meaning, and the order in any list of
// a pod template changes the template.
func (c *comparer) order(fields *fieldpath.Set, path fieldpath.Path, before, after any) {
	list, isList := before.([]any)
	other, otherIsList := after.([]any)
	if isList && otherIsList {
		c.orderOf(fields, path, list, other)
	}
	for element := range fields.Children.All() {
		step := fieldpath.Path{element}
		b, inBefore := Lookup(before, step)
		a, inAfter := Lookup(after, step)
		if inBefore && inAfter {
			c.order(fields.WithPrefix(element), append(path.Copy(), element), b, a)
		}
	}
}

// ElementsOf returns the elements of a list. An element without fields of its own in the
// set, such as a reference to a Secret, is included.
func ElementsOf(fields *fieldpath.Set) iter.Seq[fieldpath.PathElement] {
	return func(yield func(fieldpath.PathElement) bool) {
		for element := range fields.Members.All() {
			if _, both := fields.Children.Get(element); !both && !yield(element) {
				return
			}
		}
		// The library does not stop when the loop body does.
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
	for element := range ElementsOf(fields) {
		if element.Key == nil && element.Value == nil {
			return
		}
		b, inBefore := Position(before, element)
		a, inAfter := Position(after, element)
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
		c.reordered = append(c.reordered, Difference{At: path, Reorders: true, Change: plans.Change{Path: Text(path), Before: was, After: is}})
	}
}

// describe returns the differences at the paths. Values that must not be seen are masked.
func (c *comparer) describe(paths []fieldpath.Path, secret bool) []Difference {
	var differences []Difference
	for i, path := range paths {
		if path[len(path)-1].Key != nil && slices.ContainsFunc(paths[:i], path.Equals) {
			continue // several elements have this key, and their number differs
		}
		d := Difference{At: path, Change: plans.Change{Path: Text(path)}}
		if d.Path == "apiVersion" || d.Path == "kind" {
			continue
		}
		if c.before != nil {
			d.Before, _ = Lookup(c.before.Object, path)
		}
		if c.after != nil {
			d.After, _ = Lookup(c.after.Object, path)
		}
		if d.Before != nil && d.After != nil && path[len(path)-1].Key != nil {
			d.Before, d.After = unpaired(c.before.Object, c.after.Object, path, d.Before, d.After)
		}
		switch {
		case Sensitive(path, secret):
			d.Mask()
		default:
			d.Text = multiline(d.Before) || multiline(d.After) || !secret && isFile(path, d.Change)
		}
		differences = append(differences, d)
	}
	return differences
}

// unpaired returns the elements with one key that are only in one of the versions. Server-
// side apply allows one element for each key; other writers may write several.
func unpaired(before, after map[string]any, path fieldpath.Path, first, other any) (was, is any) {
	parent, last := path[:len(path)-1], path[len(path)-1]
	those := func(object map[string]any) []any {
		list, _ := Lookup(object, parent)
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

// Hollow reports whether the difference is only an empty map or list. The server does not
// keep these everywhere.
func (d *Difference) Hollow() bool {
	return (d.Before == nil || Empty(d.Before)) && (d.After == nil || Empty(d.After))
}

// Mask hides the values. It keeps whether there are any.
func (d *Difference) Mask() {
	d.Sensitive = true
	d.Before, d.After = Mask(d.Before), Mask(d.After)
}

// Sensitive reports whether the value at a path must never be stored or shown.
func Sensitive(path fieldpath.Path, secret bool) bool { return proof.Withheld(secret, NamesOn(path)) }

// NamesOn returns the names of the fields of a path, with an empty name for an element of a
// list.
func NamesOn(path fieldpath.Path) []string {
	names := make([]string, len(path))
	for i, step := range path {
		if step.FieldName != nil {
			names[i] = *step.FieldName
		}
	}
	return names
}

// Annotation returns the path of an annotation, in the form of Text.
func Annotation(name string) string {
	return Text(fieldpath.MakePathOrDie("metadata", "annotations", name))
}

// isFile reports whether the change is about a text in data.
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

// bookkeeping are the metadata fields that the server maintains, and those that identify
// the object.
var bookkeeping = []string{
	"name", "namespace", "generateName", "selfLink", "uid", "resourceVersion", "generation",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
}

// Stripped returns the object without the fields that are never compared and without its token
// (trust.Token). It shares the remaining values with the original.
func Stripped(u *unstructured.Unstructured) *unstructured.Unstructured {
	return stripped(u, corev1.LastAppliedConfigAnnotation, providers.AnnotationIntent)
}

// WithToken is Stripped with the token.
func WithToken(u *unstructured.Unstructured) *unstructured.Unstructured {
	return stripped(u, corev1.LastAppliedConfigAnnotation)
}

// stripped returns the object without the fields that are never compared and without some
// annotations. That of kubectl contains the whole object, with the values of Secrets.
func stripped(u *unstructured.Unstructured, without ...string) *unstructured.Unstructured {
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
			for _, name := range without {
				delete(annotations, name)
			}
			put(metadata, "annotations", annotations)
		}
		put(object, "metadata", metadata)
	}
	if u.GroupVersionKind().GroupKind() == kinds.StatefulSet {
		stripClaims(object)
	}
	return &unstructured.Unstructured{Object: object}
}

// stripClaims removes the status that the server writes into each claim template of a
// StatefulSet.
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

// put sets a field to a map, or removes the field if the map is empty.
func put(object map[string]any, field string, value map[string]any) {
	if len(value) == 0 {
		delete(object, field)
	} else {
		object[field] = value
	}
}

// Typed gives objects of one kind a schema. It takes the built-in schema if all objects
// follow it, or else deduces a schema from the managedFields of the models. If that fails too,
// it deduces a schema from the objects alone, in which all lists are atomic.
func Typed(models []*unstructured.Unstructured, objects ...*unstructured.Unstructured) ([]*typed.TypedValue, error) {
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

// Mask returns plans.Masked in place of a value, and nil for nil.
func Mask(v any) any {
	if v == nil {
		return nil
	}
	return plans.Masked
}
