package providers

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Writer is the only way to change the objects of a cloud.
type Writer interface {
	// Apply makes a server-side apply, and returns the resulting object.
	Apply(ctx context.Context, object *unstructured.Unstructured, options ApplyOptions) (*unstructured.Unstructured, error)
	// Claim makes the manager the only owner of the given fields (in the form of
	// managedFields). The next apply of the manager removes each of these fields that its
	// manifest lacks. Claim changes no value and returns the resulting object. If the object no
	// longer meets the precondition, the error is a *PreconditionError.
	Claim(ctx context.Context, ref Ref, precondition Precondition, manager, fields string) (*unstructured.Unstructured, error)
	// Delete deletes the object and returns when it is gone. An object that is gone, or has
	// another UID than the precondition, is no error.
	Delete(ctx context.Context, ref Ref, options DeleteOptions) error
	// Release removes kolla's labels and annotations from the object with this UID, and the
	// manager from the owners of its fields. The values of the fields stay. An object that is
	// gone, or has another UID, is no error.
	Release(ctx context.Context, ref Ref, uid types.UID, manager string) error
	// Wait returns when the object is ready (kstatus; a Job: complete), when it certainly
	// will not become ready (a *NotReadyError with the reason), or when the context ends.
	Wait(ctx context.Context, ref Ref, options WaitOptions) error
	// Message returns the lines that the command of a complete Job leaves for the person who applies,
	// in its termination message. It is empty if there are none, or if the pods of the Job are gone.
	Message(ctx context.Context, job Ref) ([]string, error)
}

// ApplyOptions are the options of an apply.
type ApplyOptions struct {
	Manager      string // field manager; empty: FieldManager
	Force        bool
	Precondition Precondition
	// New: the object must not exist yet. There is no Precondition then.
	New bool
}

// DeleteOptions are the options of a deletion.
type DeleteOptions struct {
	Precondition Precondition
	// Orphan keeps the dependents of the object, such as its pods. Without Orphan, they are deleted
	// in the background.
	Orphan bool
}

// WaitOptions are the options of a wait.
type WaitOptions struct {
	// Nodes are the names of nodes that have new labels. The controller of a DaemonSet is going to start pods
	// there. Wait ends when each of these nodes has a ready pod. The status of the DaemonSet is not enough: it
	// ignores the new nodes until the controller has read their labels. Wait ignores a node that is down,
	// deleted, or closed to the pods by its labels or taints.
	Nodes []string
	// Report is called with the cause of the wait whenever that changes; it may be nil. The last cause, at
	// the end of a wait without an error, is something that a ready object still lacks; it is empty if
	// there is nothing.
	Report func(status string)
}

// NotReadyError reports why an object does not become ready.
type NotReadyError struct {
	Ref    Ref
	Reason string   // one line: "image quay.io/... cannot be pulled: not found"
	Detail []string // events, last log lines
	Final  bool     // waiting longer is useless
	// Late: it is Final only because the deadline in the object has passed. It may become
	// ready after all.
	Late bool
}

func (e *NotReadyError) Error() string { return e.Ref.String() + " is not ready: " + e.Reason }

// PreconditionError reports a refused write: the object was deleted, created or changed since
// it was read.
type PreconditionError struct {
	Ref    Ref
	Gone   bool // the object with this UID was deleted
	Exists bool // the write wanted to create it, but it exists
	// Live is the current object, if it is known.
	Live *unstructured.Unstructured
}

func (e *PreconditionError) Error() string {
	switch {
	case e.Gone:
		return e.Ref.String() + " was deleted since it was read"
	case e.Exists:
		return e.Ref.String() + " exists by now, and was not made by this apply; make a new plan"
	}
	text := e.Ref.String() + " was changed since it was read"
	if manager, at := LastWriter(e.Live); manager != "" {
		text += WrittenBy("last ", manager, at)
	}
	return text + "; make a new plan"
}
