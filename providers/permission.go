package providers

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
)

// PermissionError reports a request that the server does not allow the user.
type PermissionError struct {
	User      string
	Verb      string // "list"
	Resource  string // "deployments", with a subresource "pods/log"
	Group     string // API group; empty: the core group
	Namespace string // empty: at the scope of the cluster
	Err       error  // error of the server
	// Others are further requests of the same step that the server does not allow.
	Others []*PermissionError
}

func (e *PermissionError) Error() string {
	where := "in the whole cluster"
	if e.Namespace != "" {
		where = "in namespace " + e.Namespace
	}
	return fmt.Sprintf("user %q is not allowed to %s %s %s", e.User, e.Verb, Access{Group: e.Group, Resource: e.Resource}.Object(), where)
}

// Explain implements failure.Explained.
func (e *PermissionError) Explain() (summary, detail string) {
	summary, detail = e.Error(), e.Advice()
	if len(e.Others) > 0 {
		rules := []string{e.rule()}
		for _, other := range e.Others {
			rules = append(rules, other.rule())
		}
		summary += fmt.Sprintf(", nor to do %s", words.Count(len(e.Others), "other thing"))
		detail = "Give the user all of these rights:\n\n  " + strings.Join(rules, "\n  ")
	}
	return summary, detail + "\n\nThis prints and grants all rights that kolla needs for this cloud, as an administrator of the cluster:\n\n  kolla rbac " + e.subject() + " | kubectl apply -f -"
}

// rule returns the rule that allows the request, and where it has to be.
func (e *PermissionError) rule() string {
	role := "ClusterRole"
	if e.Namespace != "" {
		role = "Role in " + e.Namespace
	}
	return fmt.Sprintf("%s: apiGroups: [%q], resources: [%q], verbs: [%q]", role, e.Group, e.Resource, e.Verb)
}

// subject returns the option of `kolla rbac` for the user.
func (e *PermissionError) subject() string {
	if account, ok := strings.CutPrefix(e.User, "system:serviceaccount:"); ok {
		return words.Option("-serviceaccount", account)
	}
	return words.Option("-user", e.User)
}

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

func (e *PermissionError) Unwrap() error { return e.Err }
