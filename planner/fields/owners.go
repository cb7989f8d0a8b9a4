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

// builtinControllers are the names that Kubernetes' own controllers write under:
// those of the program that they are part of, which some distributions, and the
// local cluster that comes with kolla, have for all of Kubernetes.
var builtinControllers = []string{"kube-controller-manager", "k3s", "kubelite", "kolla-devcluster"}

// scaleSubresource is where replicas are set without the rest of the object.
const scaleSubresource = "scale"

// Scales reports whether the owner's hold of a field is that of the autoscaler that
// Kubernetes has. It leaves its name on the object when it goes.
func (o Owner) Scales(path fieldpath.Path) bool {
	return slices.Contains(builtinControllers, o.Manager) && o.Subresource == scaleSubresource && Text(path) == "spec.replicas"
}

// Found is the owner and the field that a conflict names. Of one that cannot be
// found among the object's managedFields only the name is known.
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

// WrittenThrough reports whether an object has an entry among its managedFields of
// somebody else than kolla whose subresource is meant. It reads no more than that.
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

// Declared keeps the differences in what kolla owns before or after: a new object
// differs from a live one also in what the cluster gave to the latter.
func Declared(differences []Difference, before, after Owners) []Difference {
	return slices.DeleteFunc(differences, func(d Difference) bool {
		return !Touches(before.Own, d.At) && !Touches(after.Own, d.At)
	})
}

// PartsOf are the parts of an undeclared field that are left to those who wrote them: all
// of it, if nobody else wrote in it.
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

// Owners is who owns which fields of an object, as its managedFields say.
type Owners struct {
	// Own is what kolla's server-side applies own; never nil.
	Own    *fieldpath.Set
	Others []Owner
}

// Owner is one entry of another manager.
type Owner struct {
	Manager     string
	Subresource string    // that the fields were written through
	Time        time.Time // when the entry last changed
	Fields      *fieldpath.Set
}

// OwnersOf reads the managedFields of an object; manager is the one that counts
// as kolla. Entries that cannot be read own nothing.
func OwnersOf(u *unstructured.Unstructured, manager string) Owners {
	o := Owners{Own: fieldpath.NewSet()}
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

// Other finds who but kolla owns the path or something below it: of several, the
// one whose entry changed last.
func (o Owners) Other(path fieldpath.Path) (found Owner, ok bool) {
	for _, other := range o.Others {
		if Touches(other.Fields, path) && (!ok || other.Time.After(found.Time)) {
			found, ok = other, true
		}
	}
	return found, ok
}

// Within is the ownership of the others, of no more than the fields.
func (o Owners) Within(fields *fieldpath.Set) Owners {
	in := Owners{Own: fieldpath.NewSet()}
	for _, other := range o.Others {
		other.Fields = other.Fields.Intersection(fields)
		in.Others = append(in.Others, other)
	}
	return in
}

// path finds the structure of a path that the server gave as text, such as
// `.spec.template.spec.containers[name="api"].image`, among the manager's fields.
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

// Contested lists the declared fields that it may matter who owns: those that
// others own too and, if all is set, every other one.
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
