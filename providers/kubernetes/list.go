package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	all, err := c.pages(ctx, where.path(namespace), pageSize)
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
		all, err = c.pages(ctx, where.path(namespace), 0)
	}
	return all, err
}

// pages lists so many objects at a time; size 0 is all at once. While it reads one
// page it waits for the next one already.
func (c *Client) pages(ctx context.Context, path string, size int64) ([]*unstructured.Unstructured, error) {
	var lists []*list
	group, ctx := errgroup.WithContext(ctx)
	// One page is read while one is on its way, so that memory holds two at most.
	group.SetLimit(1)
	for next := ""; len(lists) == 0 || next != ""; {
		raw, err := c.page(ctx, path, metav1.ListOptions{Limit: size, Continue: next})
		if err != nil {
			return nil, errors.Join(group.Wait(), err)
		}
		announced := make(chan string, 1)
		index := len(lists)
		lists = append(lists, nil)
		group.Go(func() (err error) {
			defer close(announced)
			lists[index], err = parseList(raw, func(next string) { announced <- next })
			return err
		})
		next = <-announced
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the answer of the server: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, l := range lists {
		all = append(all, l.items...)
	}
	return all, nil
}

// page asks for one page, as JSON.
func (c *Client) page(ctx context.Context, path string, options metav1.ListOptions) ([]byte, error) {
	return call(ctx, c, verbList, func(ctx context.Context) ([]byte, error) {
		result := c.core.RESTClient().Get().AbsPath(path).
			SpecificallyVersionedParams(&options, metav1.ParameterCodec, metav1.Unversioned).
			SetHeader("Accept", runtime.ContentTypeJSON).
			Do(ctx)
		if err := result.Error(); err != nil {
			return nil, err
		}
		return result.Raw()
	})
}

// path is where the objects of a resource are listed.
func (r resource) path(namespace string) string {
	elements := []string{"/apis", r.Group, r.Version}
	if r.Group == "" {
		elements = []string{"/api", r.Version}
	}
	if r.namespaced && namespace != "" {
		elements = append(elements, "namespaces", namespace)
	}
	return path.Join(append(elements, r.Resource)...)
}
