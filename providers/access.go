package providers

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
