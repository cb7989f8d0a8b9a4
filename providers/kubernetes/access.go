package kubernetes

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
)

// access reaches the objects of a cluster. It has the connection to the server, and the
// mapper that knows where the server keeps the objects of each kind.
type access struct {
	connection *connection
	mapper     *mapper
}

func newAccess(c *connection) *access {
	return &access{c, newMapper(func(ctx context.Context) (catalogue, error) { return discover(ctx, c) })}
}

// at gives access to the objects of one resource in one namespace.
func (a *access) at(where resource, namespace string) dynamic.ResourceInterface {
	if !where.namespaced {
		return a.connection.objects.Resource(where.gvr)
	}
	return a.connection.objects.Resource(where.gvr).Namespace(namespace)
}

// locate finds the resource of one object.
func (a *access) locate(ctx context.Context, ref providers.Ref, fresh time.Duration) (resource, error) {
	where, err := a.mapper.find(ctx, ref.GVK, fresh)
	if err == nil && where.namespaced && ref.Namespace == "" {
		err = fmt.Errorf("%s has no namespace, and objects of its kind live in one", ref)
	}
	return where, err
}

// target gives access to the resource of one object.
func (a *access) target(ctx context.Context, ref providers.Ref) (dynamic.ResourceInterface, error) {
	where, err := a.locate(ctx, ref, missAge)
	if err != nil {
		return nil, err
	}
	return a.at(where, ref.Namespace), nil
}

// get reads one object, and retries as call does.
func (a *access) get(ctx context.Context, target dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	return get(ctx, a.connection, target, name)
}

// place is what one watch sees: the objects of a resource in one namespace; or the
// one of that name, where there are no namespaces.
type place struct {
	resource        resource
	namespace, name string
}

// path is where the objects are listed.
func (p place) path() string {
	elements := []string{"/apis", p.resource.gvr.Group, p.resource.gvr.Version}
	if p.resource.gvr.Group == "" {
		elements = []string{"/api", p.resource.gvr.Version}
	}
	if p.resource.namespaced && p.namespace != "" {
		elements = append(elements, "namespaces", p.namespace)
	}
	return path.Join(append(elements, p.resource.gvr.Resource)...)
}

// selector picks the object of that name, if only that one is looked at.
func (p place) selector() string {
	if p.name == "" {
		return ""
	}
	return fields.OneTermEqualSelector(metav1.ObjectNameField, p.name).String()
}
