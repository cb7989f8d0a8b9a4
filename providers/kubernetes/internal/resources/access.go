package resources

import (
	"context"
	"fmt"
	"path"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
)

// Access reaches the objects of a cluster. It has the connection to the server, and the
// mapper that knows where the server keeps the objects of each kind.
type Access struct {
	Connection *connect.Connection
	Mapper     *Mapper
}

// NewAccess returns access to the cluster of a connection.
func NewAccess(c *connect.Connection) *Access {
	return &Access{c, newMapper(func(ctx context.Context) (catalogue, error) { return discover(ctx, c) })}
}

// At gives access to the objects of a resource in a namespace.
func (a *Access) At(where Resource, namespace string) dynamic.ResourceInterface {
	if !where.Namespaced {
		return a.Connection.Objects.Resource(where.GVR)
	}
	return a.Connection.Objects.Resource(where.GVR).Namespace(namespace)
}

// Locate finds the resource of an object.
func (a *Access) Locate(ctx context.Context, ref providers.Ref, fresh time.Duration) (Resource, error) {
	where, err := a.Mapper.Find(ctx, ref.GVK, fresh)
	if err == nil && where.Namespaced && ref.Namespace == "" {
		err = fmt.Errorf("%s has no namespace, and objects of its kind live in one", ref)
	}
	return where, err
}

// Target gives access to the resource of an object.
func (a *Access) Target(ctx context.Context, ref providers.Ref) (dynamic.ResourceInterface, error) {
	where, err := a.Locate(ctx, ref, MissAge)
	if err != nil {
		return nil, err
	}
	return a.At(where, ref.Namespace), nil
}

// Get reads one object, and retries as connect.Call does.
func (a *Access) Get(ctx context.Context, target dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	return connect.Get(ctx, a.Connection, target, name)
}

// Place is a set of objects that one request lists or watches: the objects of a resource in
// one namespace, or in all of them, or the one object with that name.
type Place struct {
	Resource        Resource
	Namespace, Name string
}

// Path returns the path of the URL that lists the objects.
func (p Place) Path() string {
	elements := []string{"/apis", p.Resource.GVR.Group, p.Resource.GVR.Version}
	if p.Resource.GVR.Group == "" {
		elements = []string{"/api", p.Resource.GVR.Version}
	}
	if p.Resource.Namespaced && p.Namespace != "" {
		elements = append(elements, "namespaces", p.Namespace)
	}
	return path.Join(append(elements, p.Resource.GVR.Resource)...)
}

// Selector selects the object with that name; empty: all objects.
func (p Place) Selector() string {
	if p.Name == "" {
		return ""
	}
	return fields.OneTermEqualSelector(metav1.ObjectNameField, p.Name).String()
}
