package providers

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// WrittenBy names the author of a change, as the end of a sentence. kind is "last " if others may
// have written the field.
func WrittenBy(kind, manager string, at time.Time) string {
	if at.IsZero() {
		return fmt.Sprintf(", %swritten by %q", kind, manager)
	}
	return fmt.Sprintf(", %swritten by %q at %s", kind, manager, at.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// LastWriter returns the field manager that wrote to an object last, and when. Kolla's applies and
// writes to the status do not count. The manager is empty if the object is nil or there is none; the
// time is zero if the server did not record it.
func LastWriter(live *unstructured.Unstructured) (manager string, at time.Time) {
	if live == nil {
		return "", time.Time{}
	}
	var last metav1.ManagedFieldsEntry
	for _, entry := range live.GetManagedFields() {
		ours := entry.Operation == metav1.ManagedFieldsOperationApply &&
			(entry.Manager == FieldManager || strings.HasPrefix(entry.Manager, FieldManager+":"))
		if !ours && entry.Subresource != "status" && (last.Manager == "" || last.Time.Before(entry.Time)) {
			last = entry
		}
	}
	if last.Time != nil {
		at = last.Time.Time
	}
	return last.Manager, at
}
