package providers

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Access is a request for which a user needs a right.
type Access struct {
	Verb      string // "list"
	Group     string // API group; empty: the core group
	Resource  string // "deployments", with a subresource "pods/log"
	Namespace string // empty: the whole cluster
	Name      string // empty: objects of all names
	// URL is the path of a request that is not about an object; only Verb is set besides.
	URL string
}

// Object names the objects as kubectl does: "deployments.apps", "pods/log", "nodes ctl-1".
func (a Access) Object() string {
	name, sub, ok := strings.Cut(a.Resource, "/")
	text := a.URL + schema.GroupResource{Group: a.Group, Resource: name}.String()
	if ok {
		text += "/" + sub
	}
	if a.Name != "" {
		text += " " + a.Name
	}
	return text
}
