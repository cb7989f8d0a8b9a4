package providers

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Parallelism is how many requests a plan or an apply sends at the same time if nothing else is
// said. A server that runs near kolla is busy with fewer; a distant one needs more.
const Parallelism = 32

// Reader reads a cluster. A plan gets a Reader and no Writer, so it cannot change the cluster.
// Only commands in pods go through something else, a Shell.
type Reader interface {
	// Identity returns the identity of the cluster.
	Identity(ctx context.Context) (Identity, error)
	// List reads all objects of a kind, in one namespace or, if it is empty, in all of them.
	// The error satisfies meta.IsNoMatchError if the server does not have the kind. It is an
	// *UnreadableError if the server refuses to list this kind only.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error)
	// Get reads an object. If it does not exist, the error satisfies apierrors.IsNotFound.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// Contents lists all objects of all kinds in a namespace that is to be deleted. It sends a
	// request for each kind.
	Contents(ctx context.Context, namespace string) (Contents, error)
	// Namespaced reports whether the kind is namespaced.
	Namespaced(ctx context.Context, kind schema.GroupVersionKind) (bool, error)
	// DryRun asks the server for the result of an apply.
	DryRun(ctx context.Context, object *unstructured.Unstructured, options DryRunOptions) (*unstructured.Unstructured, error)
}

// DryRunOptions are the options of a dry run.
type DryRunOptions struct {
	Manager string // field manager; empty: FieldManager
	// Force takes fields from other managers. Without Force, such a field is a
	// *ConflictError.
	Force bool
	// Surrogate sends the object under an unused name, and maps the answer back: for objects
	// whose namespace does not exist yet, and for replacements.
	Surrogate bool
	// Namespace is the namespace of a surrogate; empty: SurrogateNamespace. Admission may
	// depend on it.
	Namespace string
	// Over is a version of the live object. The dry run replaces it instead of applying, so
	// fields that only this version has are removed. If Over has a resourceVersion and the live
	// object has another one, the error is a conflict. Force and Surrogate are ignored.
	Over *unstructured.Unstructured
	// Warn receives the warnings of the server, in place of the handler for other requests.
	Warn func(text string)
}

// SurrogateNamespace exists in every cluster and cannot be deleted.
const SurrogateNamespace = "default"
