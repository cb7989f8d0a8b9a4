package kubernetes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// List reads all objects of one kind, in one namespace or (namespace empty, or a
// kind that has none) in all of the cluster. It is a consistent read: it sees
// whatever was written before it began. A kind that the server does not have is
// an error that satisfies meta.IsNoMatchError.
func (c *Client) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	where, err := c.kinds.find(ctx, kind, missAge)
	if err != nil {
		return nil, err
	}
	target := c.at(where, namespace)
	all, err := c.pages(ctx, target, pageSize)
	if apierrors.IsNotFound(err) {
		// A LIST of a resource that there is finds everything there is, if nothing.
		c.kinds.doubt(kind)
		if _, unknown := c.kinds.find(ctx, kind, missAge); unknown != nil {
			return nil, unknown
		}
	}
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		// The list took longer than the server remembers the past for. Pages
		// would expire again; in one piece it cannot.
		all, err = c.pages(ctx, target, 0)
	}
	return all, err
}

// pages lists so many objects at a time; size 0 is all at once.
func (c *Client) pages(ctx context.Context, target dynamic.ResourceInterface, size int64) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	options := metav1.ListOptions{Limit: size}
	for {
		page, err := call(ctx, c, verbList, func(ctx context.Context) (*unstructured.UnstructuredList, error) {
			return target.List(ctx, options)
		})
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			all = append(all, &page.Items[i])
		}
		options.Continue = page.GetContinue()
		if options.Continue == "" {
			return all, nil
		}
	}
}
