package providers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// UnreadableError says that objects of one kind cannot be listed, for a reason that
// need not concern other kinds: the user may not, or the server that the kind comes
// from is down.
type UnreadableError struct {
	Kind      schema.GroupVersionKind
	Namespace string // empty: the whole cluster
	Err       error  // the server's own, or a *PermissionError
}

func (e *UnreadableError) Error() string {
	where := ""
	if e.Namespace != "" {
		where = " in namespace " + e.Namespace
	}
	return fmt.Sprintf("objects of kind %s in %s cannot be read%s: %v", e.Kind.Kind, e.Kind.GroupVersion(), where, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }
