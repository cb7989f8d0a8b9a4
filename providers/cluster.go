package providers

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Reader is all of a cluster that a plan may reach. Nothing behind it changes
// anything in the cluster.
type Reader interface {
	// Identity asks which cluster this is.
	Identity(ctx context.Context) (Identity, error)
	// List reads all objects of one kind, in one namespace or (namespace empty)
	// in all of the cluster. A kind that the server does not have is an error
	// that satisfies meta.IsNoMatchError; one that it does not show, while it may
	// well show others, is an *UnreadableError.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error)
	// Get reads one object. One that is not there is an error that satisfies
	// apierrors.IsNotFound.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// Contents lists what is in a namespace, of all kinds that there are. It is for
	// namespaces that are to be deleted, and costs a request for each kind.
	Contents(ctx context.Context, namespace string) (Contents, error)
	// Namespaced reports whether objects of the kind live in namespaces.
	Namespaced(ctx context.Context, kind schema.GroupVersionKind) (bool, error)
	// DryRun asks the server what an apply would make of the object.
	DryRun(ctx context.Context, object *unstructured.Unstructured, options DryRunOptions) (*unstructured.Unstructured, error)
}

// DryRunOptions change how a dry run is made.
type DryRunOptions struct {
	Manager string // field manager; empty: FieldManager
	// Force takes fields from other managers; without it such a field is a
	// *ConflictError.
	Force bool
	// Surrogate sends the object under a name that nothing has, and maps the answer
	// back: for objects whose namespace does not exist yet, and for what a replacement
	// would look like.
	Surrogate bool
	// Namespace is where a surrogate is sent to; empty: SurrogateNamespace. What
	// admission makes of it may be up to the namespace.
	Namespace string
	// Over, if set, has the object put in the place of the live one, as it is and with
	// nothing merged: what is in this version of it, and not in the object, is taken
	// out. A conflict says that the live one is of another resourceVersion, if
	// Over has one. It is not an apply then, and Force
	// and Surrogate do not count.
	Over *unstructured.Unstructured
	// Warn, if set, takes what the server warns of, in place of whoever takes the warnings
	// of other requests.
	Warn func(text string)
}

// SurrogateNamespace is a namespace that every cluster has, and nobody can delete.
const SurrogateNamespace = "default"

// Writer is the one gate through which the cluster is changed.
type Writer interface {
	// Apply makes a server-side apply, and returns the object as it then is.
	Apply(ctx context.Context, object *unstructured.Unstructured, options ApplyOptions) (*unstructured.Unstructured, error)
	// Claim makes the manager the only owner of fields of the object, a set in the form
	// of managedFields, so that its next apply takes those out that it leaves out. It
	// changes no value. The object that is no longer what the precondition says is a
	// *PreconditionError. It returns the resourceVersion that the object has then.
	Claim(ctx context.Context, ref Ref, precondition Precondition, manager, fields string) (resourceVersion string, err error)
	// Delete deletes the object with exactly that UID, its dependents in the
	// background, and returns when it is gone. An object that is gone already, or
	// has another UID, is no error.
	Delete(ctx context.Context, ref Ref, precondition Precondition) error
	// Release takes kolla's labels and annotations off the object with exactly that
	// UID, and the manager from the owners of its fields, which stay as they are. An
	// object that is gone already, or has another UID, is no error.
	Release(ctx context.Context, ref Ref, uid types.UID, manager string) error
	// Wait returns when the object is ready (kstatus; a Job: complete), or when it
	// is certain that it will not be, with the reason in the error (a
	// *NotReadyError), or when the context ends. It calls report with what it is
	// waiting for whenever that changes; report may be nil.
	Wait(ctx context.Context, ref Ref, report func(status string)) error
}

// ApplyOptions change how an apply is made.
type ApplyOptions struct {
	Manager      string // field manager; empty: FieldManager
	Force        bool
	Precondition Precondition
	// New: there must be no such object yet. It goes without a Precondition.
	New bool
}

// NotReadyError says why an object does not become ready.
type NotReadyError struct {
	Ref    Ref
	Reason string   // one line: "image quay.io/... cannot be pulled: not found"
	Detail []string // what there is to know: events, last log lines
	Final  bool     // waiting longer is of no use
	// Late: it is Final only because Kubernetes has waited for as long as the object says.
	// It may become ready after all.
	Late bool
}

func (e *NotReadyError) Error() string { return e.Ref.String() + " is not ready: " + e.Reason }

// PreconditionError says that a write was refused because the object is no longer
// the one that the write was bound to: it was deleted, it is there where there was
// none, or else it was changed.
type PreconditionError struct {
	Ref    Ref
	Gone   bool // the object of that UID was deleted
	Exists bool // it was to be made, and there is one that the write did not make
	// Live is the object as it is by now, where an apply found it changed.
	Live *unstructured.Unstructured
}

func (e *PreconditionError) Error() string {
	switch {
	case e.Gone:
		return e.Ref.String() + " was deleted since it was read"
	case e.Exists:
		return e.Ref.String() + " exists by now, and was not made by this apply; make a new plan"
	}
	return e.Ref.String() + " was changed since it was read"
}
