package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/providers"
)

// List reads all objects of one kind, in one namespace or (namespace empty, or a
// kind that has none) in all of the cluster. It is a consistent read: it sees
// whatever was written before it began. A kind that the server does not have is
// an error that satisfies meta.IsNoMatchError; where the server answers, but with
// anything but the list, it is a *providers.UnreadableError.
func (c *Client) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	all, err := c.list(ctx, kind, namespace)
	if ctx.Err() == nil && hides(err) {
		return nil, &providers.UnreadableError{Kind: kind, Namespace: namespace, Err: err}
	}
	return all, err
}

// Get is part of providers.Reader.
func (c *Client) Get(ctx context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	target, err := c.target(about(ctx, ref), ref)
	if err != nil {
		return nil, err
	}
	return target.Get(about(ctx, ref), ref.Name, metav1.GetOptions{})
}

// hides reports whether the error is about the kind that was asked for, and not about
// the server as a whole or who is asking.
func hides(err error) bool {
	var (
		answer     apierrors.APIStatus
		permission *providers.PermissionError
		down       *groupDownError
	)
	return errors.As(err, &permission) || errors.As(err, &down) ||
		errors.As(err, &answer) && answer.Status().Code != http.StatusUnauthorized
}

func (c *Client) list(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	where, err := c.kinds.find(ctx, kind, missAge)
	if err != nil {
		return nil, err
	}
	all, err := c.listAt(ctx, place{resource: where, namespace: namespace})
	if apierrors.IsNotFound(err) {
		// A LIST of a resource that there is finds everything there is, if nothing.
		c.kinds.doubt(kind)
		if _, unknown := c.kinds.find(ctx, kind, missAge); unknown != nil {
			return nil, unknown
		}
	}
	if err != nil {
		return nil, err
	}
	return all.items, nil
}

// listAt reads all objects that there are at a place.
func (c *Client) listAt(ctx context.Context, at place) (*list, error) {
	all, err := c.pages(ctx, at, pageSize)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		// The list took longer than the server remembers the past for. Pages
		// would expire again; in one piece it cannot.
		return c.pages(ctx, at, 0)
	}
	return all, err
}

// pages lists so many objects at a time; size 0 is all at once. While it reads one
// page it waits for the next one already.
func (c *Client) pages(ctx context.Context, at place, size int64) (*list, error) {
	var lists []*list
	group, ctx := errgroup.WithContext(ctx)
	// One page is read while one is on its way, so that memory holds two at most.
	group.SetLimit(1)
	for next := ""; len(lists) == 0 || next != ""; {
		raw, err := c.page(ctx, at, metav1.ListOptions{Limit: size, Continue: next, FieldSelector: at.selector()})
		if err != nil {
			return nil, errors.Join(group.Wait(), err)
		}
		announced := make(chan string, 1)
		read := &list{}
		lists = append(lists, read)
		group.Go(crash.Catching(func() error {
			defer close(announced)
			return read.parse(raw, func(next string) { announced <- next })
		}))
		next = <-announced
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the answer of the server: %w", err)
	}
	all := lists[0]
	for _, l := range lists[1:] {
		all.items = append(all.items, l.items...)
	}
	return all, nil
}

// page asks for one page, as JSON.
func (c *Client) page(ctx context.Context, at place, options metav1.ListOptions) ([]byte, error) {
	return call(ctx, c, verbList, func(ctx context.Context) ([]byte, error) {
		result := c.core.RESTClient().Get().AbsPath(at.path()).
			SpecificallyVersionedParams(&options, metav1.ParameterCodec, metav1.Unversioned).
			SetHeader("Accept", runtime.ContentTypeJSON).
			Do(ctx)
		if err := result.Error(); err != nil {
			return nil, err
		}
		return result.Raw()
	})
}

// path is where the objects are listed.
func (p place) path() string {
	elements := []string{"/apis", p.Group, p.Version}
	if p.Group == "" {
		elements = []string{"/api", p.Version}
	}
	if p.namespaced && p.namespace != "" {
		elements = append(elements, "namespaces", p.namespace)
	}
	return path.Join(append(elements, p.Resource)...)
}
