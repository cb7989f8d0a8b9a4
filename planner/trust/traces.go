package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/secrets"
)

// Traces are the server's records of the origin of an object.
type Traces struct {
	Created time.Time // by the server's clock, UTC
	// Writers are the field managers, oldest entry first. Clients choose the names. The
	// time of an entry is that of its last change.
	Writers []Writer
}

// Writer is one field manager.
type Writer struct {
	Manager string
	Time    time.Time
}

// TracesOf reads the traces of an object. Writes through a subresource, such as the status,
// do not count.
func TracesOf(live metav1.Object) Traces {
	created := live.GetCreationTimestamp()
	traces := Traces{Created: created.UTC()}
	for _, entry := range live.GetManagedFields() {
		if entry.Subresource != "" {
			continue
		}
		w := Writer{Manager: entry.Manager}
		if entry.Time != nil {
			w.Time = entry.Time.UTC()
		}
		traces.Writers = append(traces.Writers, w)
	}
	slices.SortStableFunc(traces.Writers, func(a, b Writer) int { return a.Time.Compare(b.Time) })
	return traces
}

// Claim is an object's claim to be kolla's, with the reasons to doubt it.
type Claim struct {
	Traces
	Address addrs.Object // from its annotation; zero: it has none, or an unreadable one
	// Doubts are the differences from an object that kolla would have written, as
	// clauses about the object: "it has no label ...". An object without doubts may
	// still be a forgery.
	Doubts []string
	// Remarks are changes by others since its creation, as clauses.
	Remarks []string
}

// Examine compares an object with an object that kolla would have written. declared is the
// present declaration; nil: the object is no longer declared. values reads the Secrets of
// the cluster, whoever made them.
func Examine(live *unstructured.Unstructured, cloud string, declared *providers.Object, values providers.Values) Claim {
	c := Claim{Traces: TracesOf(live)}
	owned := Applied(live, providers.FieldManager)
	if label := live.GetLabels()[providers.LabelCloud]; label != cloud {
		c.doubt("it has no label %s=%s", providers.LabelCloud, cloud)
	}
	c.readAddress(live, declared)
	if owned.Empty() {
		c.doubt("no server-side apply of the field manager %q wrote it", providers.FieldManager)
		return c
	}
	for name, path := range map[string]fieldpath.Path{
		"label":   fieldpath.MakePathOrDie("metadata", "labels", providers.LabelCloud),
		"address": fieldpath.MakePathOrDie("metadata", "annotations", providers.AnnotationAddress),
	} {
		if !owned.Has(path) {
			c.doubt("its %s was not written by the field manager %q", name, providers.FieldManager)
		}
	}
	slices.Sort(c.Doubts)
	if declared != nil {
		c.holdAgainst(declared, owned)
	}
	c.remark(live, values)
	return c
}

func (c *Claim) doubt(format string, args ...any) {
	c.Doubts = append(c.Doubts, fmt.Sprintf(format, args...))
}

// readAddress reads the address, which must have the kind and name of the object.
func (c *Claim) readAddress(live *unstructured.Unstructured, declared *providers.Object) {
	text := live.GetAnnotations()[providers.AnnotationAddress]
	address, err := addrs.ParseObject(text)
	switch {
	case text == "":
		c.doubt("it has no annotation %s", providers.AnnotationAddress)
	case err != nil, address.Kind != live.GetKind(), address.Name != live.GetName():
		c.doubt("its annotation %s names another object, %q", providers.AnnotationAddress, text)
	default:
		c.Address = address
		if declared != nil && declared.Address != address {
			c.Remarks = append(c.Remarks, fmt.Sprintf("was %s", address))
		}
	}
}

// holdAgainst checks the fields that kolla's applies own: at least one in each declared
// part, and each value of a Secret.
func (c *Claim) holdAgainst(declared *providers.Object, owned *fieldpath.Set) {
	for _, field := range slices.Sorted(maps.Keys(declared.Manifest.Object)) {
		switch field {
		case "apiVersion", "kind", "metadata", "status":
			continue
		}
		if name := field; !hasBelow(owned, fieldpath.PathElement{FieldName: &name}) {
			c.doubt("its %s was not written by the field manager %q", field, providers.FieldManager)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(declared.Data)) {
		if !owned.Has(fieldpath.MakePathOrDie("data", key)) {
			c.doubt("its value %q was not written by the field manager %q", key, providers.FieldManager)
		}
	}
}

// hasBelow reports whether the set has the element or a field below it.
func hasBelow(set *fieldpath.Set, element fieldpath.PathElement) bool {
	if set.Members.Has(element) {
		return true
	}
	child, ok := set.Children.Get(element)
	return ok && !child.Empty()
}

// remark records the other writers of the object.
func (c *Claim) remark(live *unstructured.Unstructured, values providers.Values) {
	var others []string
	for _, entry := range live.GetManagedFields() {
		ours := entry.Manager == providers.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
		if !ours && entry.Subresource == "" {
			others = append(others, fmt.Sprintf("%q", entry.Manager))
		}
	}
	if slices.Sort(others); len(others) > 0 {
		c.Remarks = append(c.Remarks, "also written by "+strings.Join(slices.Compact(others), ", "))
	}
	if live.GetKind() == kinds.Secret.Kind && secrets.Replaced(live, values) {
		c.Remarks = append(c.Remarks, "its values are not those that the annotation on it was made for")
	}
}
