package configs

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Data is something that the configuration reads from the cluster.
type Data struct {
	Block string // address: `data.registry`
	DataQuery
	// Needs are the services and manifests, by their addresses, that have to be ready
	// before it can be read for good.
	Needs []string
	// Deferred: it is known only after the apply.
	Deferred bool
	Range    hcl.Range
}

// DataQuery says what is to be read: one object by its name, or those with some
// labels.
type DataQuery struct {
	APIVersion string // empty: the one that the server has the kind in
	Kind       string
	Namespace  string // empty: Home, of kinds that live in namespaces
	Home       string // the cloud's namespace
	Name       string // empty: all objects with the labels
	Labels     map[string]string
}

// String names what is read: "ConfigMap openstack/registry".
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

// ReadError says why something cannot be read.
type ReadError struct {
	// NoKind: the server does not have the kind; its definition may be a part of the
	// configuration.
	NoKind bool
	Detail string // sentences: what is wrong, and how to go on
}

func (e *ReadError) Error() string { return e.Detail }
