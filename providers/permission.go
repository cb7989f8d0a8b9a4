package providers

import (
	"fmt"
	"strings"
)

// PermissionError reports a request that the server does not allow the user.
type PermissionError struct {
	User      string
	Verb      string // "list"
	Resource  string // "deployments", with a subresource "pods/log"
	Group     string // API group; empty: the core group
	Namespace string // empty: at the scope of the cluster
	Err       error  // error of the server
}

func (e *PermissionError) Error() string {
	where := "in the whole cluster"
	if e.Namespace != "" {
		where = "in namespace " + e.Namespace
	}
	return fmt.Sprintf("user %q is not allowed to %s %s %s", e.User, e.Verb, e.resource(), where)
}

// Explain implements failure.Explained.
func (e *PermissionError) Explain() (summary, detail string) { return e.Error(), e.Advice() }

// Advice returns the rule to add, the kind of role to add it to, and a command to check it.
func (e *PermissionError) Advice() string {
	role, scope := "ClusterRole", ""
	if e.Namespace != "" {
		role, scope = "Role", " -n "+e.Namespace
	}
	kubectl, _, _ := strings.Cut(e.Resource, "/")
	if e.Group != "" {
		kubectl += "." + e.Group
	}
	return fmt.Sprintf("Give the user a %s with this rule: apiGroups: [%q], resources: [%q], verbs: [%q]. Check with: kubectl auth can-i %s %s%s --as=%s",
		role, e.Group, e.Resource, e.Verb, e.Verb, kubectl, scope, e.User)
}

// Same reports whether one rule would allow both requests.
func (e *PermissionError) Same(other *PermissionError) bool {
	return e.User == other.User && e.Verb == other.Verb && e.Resource == other.Resource && e.Group == other.Group && e.Namespace == other.Namespace
}

// resource returns the resource in kubectl's spelling: "deployments.apps".
func (e *PermissionError) resource() string {
	if e.Group == "" {
		return e.Resource
	}
	name, sub, ok := strings.Cut(e.Resource, "/")
	if ok {
		return name + "." + e.Group + "/" + sub
	}
	return name + "." + e.Group
}

func (e *PermissionError) Unwrap() error { return e.Err }
