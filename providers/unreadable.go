package providers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// UnreadableError reports that objects of one kind cannot be listed, for a reason that may not
// concern other kinds: the user lacks the right, or the server for the kind is down.
type UnreadableError struct {
	Kind      schema.GroupVersionKind
	Namespace string // empty: the whole cluster
	Err       error  // error of the server, or a *PermissionError
}

func (e *UnreadableError) Error() string {
	where := ""
	if e.Namespace != "" {
		where = " in namespace " + e.Namespace
	}
	return fmt.Sprintf("objects of kind %s in %s cannot be read%s: %v", e.Kind.Kind, e.Kind.GroupVersion(), where, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }
