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

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// Traces are what the server knows of where an object comes from.
type Traces struct {
	Created time.Time // by the server's clock, UTC
	// Writers are the field managers, oldest entry first. The names are whatever the
	// writers called themselves; an entry's time is of its last change.
	Writers []Writer
}

// Writer is one field manager.
type Writer struct {
	Manager string
	Time    time.Time
}

// TracesOf reads the traces of an object. What was written through a subresource, such as
// the status, does not count.
func TracesOf(live *unstructured.Unstructured) Traces {
	traces := Traces{Created: live.GetCreationTimestamp().UTC()}
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

// Claim is what an object says of itself: that it is kolla's, of a cloud and at an
// address.
type Claim struct {
	Traces
	Address lang.Address // as written on it; zero: none, or none that can be read
	// Doubts are what does not look like kolla's, as the ends of sentences about the
	// object. Where there is none, it may still be a forgery.
	Doubts []string
	// Remarks are what others have done to it since.
	Remarks []string
}

// Examine holds what an object says of itself against what kolla would have written.
// declared is what is to be there now; nil: nothing declares it any more. values reads
// what the cluster has, believed or not.
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

// readAddress reads the address, which has to be one of the object's own kind and name.
func (c *Claim) readAddress(live *unstructured.Unstructured, declared *providers.Object) {
	text := live.GetAnnotations()[providers.AnnotationAddress]
	address, err := lang.ParseAddress(text)
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

// holdAgainst looks whether kolla's applies own what they would: something in each part
// that is declared, and each value of a Secret.
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

// hasBelow reports whether the set has the element, or something in it.
func hasBelow(set *fieldpath.Set, element fieldpath.PathElement) bool {
	if set.Members.Has(element) {
		return true
	}
	child, ok := set.Children.Get(element)
	return ok && !child.Empty()
}

// remark names who else has written the object.
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
	if live.GetKind() == providers.SecretKind.Kind && providers.Replaced(live, values) {
		c.Remarks = append(c.Remarks, "its values are not those that the annotation on it was made for")
	}
}
