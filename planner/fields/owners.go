package fields

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/providers"
)

// Owners says who owns the fields of an object. It is read from managedFields.
type Owners struct {
	// Own are the fields that kolla's server-side applies own; never nil.
	Own *fieldpath.Set
	// Name is the name that kolla writes under, and Time the time of the last apply with it.
	// Any client can use the name.
	Name   string
	Time   time.Time
	Others []Owner
}

// Owner is an entry of managedFields of another manager.
type Owner struct {
	Manager     string
	Subresource string    // through which the fields were written
	Time        time.Time // when the entry last changed
	Fields      *fieldpath.Set
}

// OwnersOf reads the managedFields of an object. manager is the name that kolla writes
// under. Entries that cannot be parsed are ignored.
func OwnersOf(u *unstructured.Unstructured, manager string) Owners {
	o := Owners{Own: fieldpath.NewSet(), Name: manager}
	if u == nil {
		return o
	}
	for _, entry := range u.GetManagedFields() {
		fields := fieldpath.NewSet()
		if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			o.Own = o.Own.Union(fields)
			if entry.Time != nil {
				o.Time = entry.Time.UTC()
			}
			continue
		}
		other := Owner{
			Manager:     entry.Manager,
			Subresource: entry.Subresource,
			Fields:      fields,
		}
		if entry.Time != nil {
			other.Time = entry.Time.UTC()
		}
		o.Others = append(o.Others, other)
	}
	return o
}

// Other returns the owner, other than kolla, of a field at the path or below it. If there
// are several, it returns the one whose entry changed last.
func (o Owners) Other(path fieldpath.Path) (found Owner, ok bool) {
	for _, other := range o.Others {
		if Touches(other.Fields, path) && (!ok || other.Time.After(found.Time)) {
			found, ok = other, true
		}
	}
	return found, ok
}

// Within returns the other owners with only those of their fields that are in the set.
func (o Owners) Within(fields *fieldpath.Set) Owners {
	in := Owners{Own: fieldpath.NewSet()}
	for _, other := range o.Others {
		other.Fields = other.Fields.Intersection(fields)
		in.Others = append(in.Others, other)
	}
	return in
}

// path returns the path that the server wrote as text, such as
// `.spec.template.spec.containers[name="api"].image`. It looks among the fields of the
// manager.
func (o Owners) path(manager, text string) (found fieldpath.Path, ok bool) {
	for _, other := range o.Others {
		if other.Manager != manager {
			continue
		}
		other.Fields.Iterate(func(p fieldpath.Path) {
			if !ok && p.String() == text {
				found, ok = p.Copy(), true
			}
		})
	}
	return found, ok
}

// builtinControllers are the field managers of Kubernetes' own controllers. Some
// distributions, and the local cluster that comes with kolla, run all of Kubernetes in one
// program, which gives the name.
var builtinControllers = []string{"kube-controller-manager", "k3s", "kubelite", "kolla-devcluster"}

// scaleSubresource is the subresource that sets replicas without the rest of the object.
const scaleSubresource = "scale"

// Scales reports whether the owner of the field is Kubernetes' own autoscaler. The entry
// stays on the object when the autoscaler is deleted.
func (o Owner) Scales(path fieldpath.Path) bool {
	return slices.Contains(builtinControllers, o.Manager) && o.Subresource == scaleSubresource && Text(path) == "spec.replicas"
}

// Found returns the owner and the path of a conflict that the server named. If
// managedFields has no such entry, only the name of the manager is known.
func (o Owners) Found(conflict providers.Conflict) (Owner, fieldpath.Path) {
	path, ok := o.path(conflict.Manager, conflict.Path)
	if !ok {
		name := strings.TrimPrefix(conflict.Path, ".")
		return Owner{Manager: conflict.Manager}, fieldpath.Path{{FieldName: &name}}
	}
	for _, other := range o.Others {
		if other.Manager == conflict.Manager && Touches(other.Fields, path) {
			return other, path
		}
	}
	return Owner{Manager: conflict.Manager}, path
}

// WrittenThrough reports whether managedFields has an entry of another manager than kolla
// whose subresource is meant. It parses no sets of fields, so it is cheap.
func WrittenThrough(live *unstructured.Unstructured, meant func(subresource string) bool) bool {
	if live == nil {
		return false
	}
	entries, _, _ := unstructured.NestedFieldNoCopy(live.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		entry, _ := item.(map[string]any)
		manager, _ := entry["manager"].(string)
		subresource, _ := entry["subresource"].(string)
		applies := entry["operation"] == "Apply" && subresource == ""
		ours := applies && (manager == providers.FieldManager || strings.HasPrefix(manager, providers.FieldManager+":"))
		return !ours && meant(subresource)
	})
}

// Declared keeps the differences in fields that kolla owns before or after. A new object
// lacks the fields that the cluster set in the live object; they are left out.
func Declared(differences []Difference, before, after Owners) []Difference {
	return slices.DeleteFunc(differences, func(d Difference) bool {
		return !Touches(before.Own, d.At) && !Touches(after.Own, d.At)
	})
}

// PartsOf returns the parts of an undeclared field that are in the set left: the whole
// field, if nobody else wrote in it.
func PartsOf(path fieldpath.Path, left *fieldpath.Set, owners Owners) []fieldpath.Path {
	if !Touches(left, path) {
		return nil
	}
	if !slices.ContainsFunc(owners.Others, func(o Owner) bool { return Touches(o.Fields.Difference(left), path) }) {
		return []fieldpath.Path{path}
	}
	var parts []fieldpath.Path
	left.Leaves().Iterate(func(leaf fieldpath.Path) {
		if len(leaf) >= len(path) && Overlap(leaf, path) && !RepeatsKey(leaf) {
			parts = append(parts, leaf.Copy())
		}
	})
	return parts
}

// Contested lists the declared fields whose owner may matter: the fields that others own
// too and, with all, every declared field.
func Contested(manifest *unstructured.Unstructured, owners Owners, all bool) ([]fieldpath.Path, error) {
	fields := fieldpath.NewSet()
	for _, other := range owners.Others {
		other.Fields.Leaves().Iterate(func(path fieldpath.Path) {
			if _, declared := Lookup(manifest.Object, path); declared {
				fields.Insert(path.Copy())
			}
		})
	}
	if all {
		types, err := Typed(nil, Stripped(manifest))
		if err != nil {
			return nil, err
		}
		own, err := types[0].ToFieldSet()
		if err != nil {
			return nil, fmt.Errorf("list the declared fields: %w", err)
		}
		fields = fields.Union(own.Leaves())
	}
	var paths []fieldpath.Path
	fields.Iterate(func(path fieldpath.Path) { paths = append(paths, path.Copy()) })
	return paths, nil
}
