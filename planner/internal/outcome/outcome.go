// Package outcome has the decision about each declared object, and the reports that need
// nothing else.
package outcome

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Outcome is the decision about one declared object.
type Outcome struct {
	Object *providers.Object
	// Manager is the field manager that applies the object.
	Manager string
	Record  *inventory.Record          // nil: the state does not know the object
	Live    *unstructured.Unstructured // nil: the object does not exist
	Ours    bool                       // kolla made the live object, or owned fields of it before
	// Unowned: the live object has the label of another cloud, or it is not kolla's and the
	// operator did not name it. It blocks the plan.
	Unowned bool

	// Withheld: problems, or an unowned object, prevent the action. It has no verb then.
	Withheld bool
	Action   plans.Action
	// Volumes are the actions by which the claims of a StatefulSet grow.
	Volumes []plans.Action
	// After is the object after the action, as the server answered if it could be asked;
	// nil: nothing changes.
	After *unstructured.Unstructured
	// Pending has the keys of a Secret whose values only the apply makes.
	Pending  []string
	Problems []plans.Problem

	// Reported has the additions of others that the policy leaves in place.
	Reported []fields.Difference
	// Unreported is the object without these additions.
	Unreported *unstructured.Unstructured
	// Stuck has the additions of others that no update can remove.
	Stuck []fields.Difference
}

// Adopts reports whether the action takes over an object of somebody else.
func (o *Outcome) Adopts() bool { return o.Live != nil && !o.Ours && !o.Object.Partial }

// Owned reports whether kolla made the whole object, so that additions of others are drift.
// Jobs have rules of their own.
func (o *Outcome) Owned() bool {
	return o.Live != nil && !o.Object.Partial && !o.Object.IsJob() && len(o.Object.Deferred) == 0
}

// Finished reports whether the object is a Job that an apply has seen complete.
func (o *Outcome) Finished() bool { return o.Object.IsJob() && o.Record != nil && o.Record.State.Ready }

// OtherInputs reports whether a live Job was made from other inputs. It is false for a Job without
// the annotation.
func (o *Outcome) OtherInputs() bool {
	want := o.Object.Manifest.GetAnnotations()[providers.AnnotationInputs]
	return want != "" && o.Live.GetAnnotations()[providers.AnnotationInputs] != want
}

// Versioned reports whether the name of the object contains a hash of its content.
func (o *Outcome) Versioned() bool { return o.Object.Family != (addrs.Object{}) }

// Lasting returns the address that the object keeps when its version changes.
func (o *Outcome) Lasting() addrs.Object {
	if o.Versioned() {
		return o.Object.Family
	}
	return o.Object.Address
}

// Deferred reports whether the object depends on values that are known only after the apply.
func (o *Outcome) Deferred() bool { return len(o.Object.Deferred) > 0 }

// Prevention says where prevent_destroy forbids to destroy an object. source may be empty.
func Prevention(block, source string) string {
	if source == "" {
		return fmt.Sprintf("prevent_destroy in the lifecycle of %s forbids to destroy it", block)
	}
	return fmt.Sprintf("prevent_destroy in the lifecycle of %s (%s) forbids to destroy it", block, source)
}

// MaxSeparateProblems is the largest number of objects of one sort that are reported one by one.
// More of them share one message.
const MaxSeparateProblems = 3

// RebuildAdvice says how to go on if the state is wrong.
const RebuildAdvice = "If kolla made %s and the state was lost or is an old copy, run kolla state rebuild. It shows who made which object and when, and asks."

// RebuildCommand says the same, with the command on a separate line.
const RebuildCommand = "If kolla made %s and the state was lost or is an old copy, rebuild the state:\n\n  kolla state rebuild\n\nIt shows who made which object and when, and asks."

// madeByApply are the annotations that depend on generated values.
var madeByApply = []string{
	fields.Annotation(providers.AnnotationChecksum),
	fields.Annotation(providers.AnnotationNotAfter),
	fields.Annotation(providers.AnnotationRotated),
}

// WithUnknown marks the values of a Secret that only the apply makes, and the annotations
// that depend on them.
func (o *Outcome) WithUnknown(differences []fields.Difference) []fields.Difference {
	if len(o.Pending) == 0 {
		return differences
	}
	for i := range differences {
		d := &differences[i]
		isValue := len(d.At) == 2 && slices.Contains(o.Pending, *d.At[1].FieldName) && d.Sensitive
		if isValue || slices.Contains(madeByApply, d.Path) {
			d.After = plans.Unknown
		}
	}
	return differences
}
