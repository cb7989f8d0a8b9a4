package write

import (
	"context"
	"encoding/json"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// Records reads and writes the objects in which kolla keeps its state: Secrets and a Lease in
// one namespace. These are no objects of a cloud, and no plan has them. Errors are those of
// the server; a repeated write may find what an earlier attempt wrote.
type Records struct {
	c         *connect.Connection
	namespace string
}

// NewRecords returns the records in a namespace.
func NewRecords(a *resources.Access, namespace string) *Records {
	return &Records{a.Connection, namespace}
}

// manager is the field manager of the records.
var manager = providers.FieldManager + "-state"

// Secret reads a Secret.
func (r *Records) Secret(ctx context.Context, name string) (*corev1.Secret, error) {
	return connect.Call(ctx, r.c, connect.VerbGet, func(ctx context.Context) (*corev1.Secret, error) {
		return r.c.Core.Secrets(r.namespace).Get(ctx, name, metav1.GetOptions{})
	})
}

// Secrets lists Secrets with their data.
func (r *Records) Secrets(ctx context.Context, selector string) ([]corev1.Secret, error) {
	list, err := connect.Call(ctx, r.c, connect.VerbList, func(ctx context.Context) (*corev1.SecretList, error) {
		return r.c.Core.Secrets(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// SecretNames lists all Secrets without their data.
func (r *Records) SecretNames(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	raw, err := connect.Call(ctx, r.c, connect.VerbList, func(ctx context.Context) ([]byte, error) {
		return r.c.Core.RESTClient().Get().Namespace(r.namespace).Resource("secrets").
			SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json").Do(ctx).Raw()
	})
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the list of Secrets: %w", err)
	}
	return list.Items, nil
}

// PutSecret updates a Secret. It creates the Secret if s has no resourceVersion.
func (r *Records) PutSecret(ctx context.Context, s *corev1.Secret) (*corev1.Secret, error) {
	if s.ResourceVersion == "" {
		return connect.Call(ctx, r.c, connect.VerbCreate, func(ctx context.Context) (*corev1.Secret, error) {
			return r.c.Core.Secrets(r.namespace).Create(ctx, s, metav1.CreateOptions{FieldManager: manager})
		})
	}
	return connect.Call(ctx, r.c, connect.VerbUpdate, func(ctx context.Context) (*corev1.Secret, error) {
		return r.c.Core.Secrets(r.namespace).Update(ctx, s, metav1.UpdateOptions{FieldManager: manager})
	})
}

// DeleteSecret deletes a Secret with a UID. An empty UID stands for any.
func (r *Records) DeleteSecret(ctx context.Context, name string, uid types.UID) error {
	var options metav1.DeleteOptions
	if uid != "" {
		options = *metav1.NewPreconditionDeleteOptions(string(uid))
	}
	_, err := connect.Call(ctx, r.c, connect.VerbDelete, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, r.c.Core.Secrets(r.namespace).Delete(ctx, name, options)
	})
	return err
}

// Lease reads a Lease.
func (r *Records) Lease(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	return connect.Call(ctx, r.c, connect.VerbGet, func(ctx context.Context) (*coordinationv1.Lease, error) {
		return r.c.Leases.Leases(r.namespace).Get(ctx, name, metav1.GetOptions{})
	})
}

// PutLease updates a Lease. It creates the Lease if l has no resourceVersion.
func (r *Records) PutLease(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	if l.ResourceVersion == "" {
		return connect.Call(ctx, r.c, connect.VerbCreate, func(ctx context.Context) (*coordinationv1.Lease, error) {
			return r.c.Leases.Leases(r.namespace).Create(ctx, l, metav1.CreateOptions{FieldManager: manager})
		})
	}
	return connect.Call(ctx, r.c, connect.VerbUpdate, func(ctx context.Context) (*coordinationv1.Lease, error) {
		return r.c.Leases.Leases(r.namespace).Update(ctx, l, metav1.UpdateOptions{FieldManager: manager})
	})
}

// MakeNamespace creates the namespace.
func (r *Records) MakeNamespace(ctx context.Context) error {
	_, err := connect.Call(ctx, r.c, connect.VerbCreate, func(ctx context.Context) (*corev1.Namespace, error) {
		return r.c.Core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}, metav1.CreateOptions{FieldManager: manager})
	})
	return err
}
