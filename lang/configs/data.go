package configs

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Data is a data block: objects that the configuration reads from the cluster.
type Data struct {
	Block string // address: `data.registry`
	DataQuery
	// Needs are the addresses of the services and manifests that have to be ready before the
	// objects are final.
	Needs []string
	// Deferred: the objects are known only after the apply.
	Deferred bool
	Range    hcl.Range
}

// DataQuery selects an object by its name, or objects by their labels.
type DataQuery struct {
	APIVersion string // empty: the server's version of the kind
	Kind       string
	Namespace  string // empty: Home, for namespaced kinds
	Home       string // the cloud's namespace
	Name       string // empty: all objects with the labels
	Labels     map[string]string
}

// String names the objects: "ConfigMap openstack/registry".
func (q DataQuery) String() string {
	namespace := q.Namespace
	if q.Kind == "" {
		return "what is not known yet"
	}
	if q.Name == "" {
		text := q.Kind + " objects"
		if namespace != "" {
			text += " in " + namespace
		}
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
			labels = append(labels, key+"="+q.Labels[key])
		}
		if len(labels) > 0 {
			text += " with " + strings.Join(labels, ",")
		}
		return text
	}
	if namespace == "" {
		return q.Kind + " " + q.Name
	}
	return q.Kind + " " + namespace + "/" + q.Name
}

// ReadError is the reason why objects cannot be read.
type ReadError struct {
	// NoKind: the server does not know the kind. The configuration may bring its CRD.
	NoKind bool
	Detail string // sentences: the mistake, and how to go on
}

func (e *ReadError) Error() string { return e.Detail }
