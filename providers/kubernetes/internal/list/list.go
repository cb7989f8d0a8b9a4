// Package list lists objects: all of one kind (All), or everything in a namespace (Contents).
// It reads large lists in pages.
package list

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/decode"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// pageSize is the number of objects in one page of a list.
const pageSize = 500

// Readable is All, but its error is a *providers.UnreadableError if only this kind cannot be
// listed.
func Readable(ctx context.Context, a *resources.Access, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	all, err := All(ctx, a, kind, namespace)
	if ctx.Err() == nil && hides(err) {
		return nil, &providers.UnreadableError{Kind: kind, Namespace: namespace, Err: err}
	}
	return all, err
}

// hides reports whether an error concerns the kind only. Other errors concern the whole
// server or the credentials.
func hides(err error) bool {
	var (
		answer     apierrors.APIStatus
		permission *providers.PermissionError
		down       *resources.GroupDownError
	)
	return errors.As(err, &permission) || errors.As(err, &down) ||
		errors.As(err, &answer) && answer.Status().Code != http.StatusUnauthorized
}

// All reads all objects of a kind, in one namespace or (empty, or a kind without
// namespaces) in the whole cluster. It is a consistent read: it sees everything that was
// written before it began. A kind that the server does not have is an error that satisfies
// meta.IsNoMatchError.
func All(ctx context.Context, a *resources.Access, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	where, err := a.Mapper.Find(ctx, kind, resources.MissAge)
	if err != nil {
		return nil, err
	}
	all, err := At(ctx, a.Connection, resources.Place{Resource: where, Namespace: namespace})
	if apierrors.IsNotFound(err) {
		// A list of an existing resource is never "not found", even if it is empty.
		a.Mapper.Doubt(kind)
		if _, unknown := a.Mapper.Find(ctx, kind, resources.MissAge); unknown != nil {
			return nil, unknown
		}
	}
	if err != nil {
		return nil, err
	}
	return all.Items, nil
}

// At reads all objects at a place.
func At(ctx context.Context, c *connect.Connection, at resources.Place) (*decode.List, error) {
	all, err := pages(ctx, c, at, pageSize)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		// The list took longer than the server keeps old versions. Pages would expire again;
		// a single answer cannot.
		return pages(ctx, c, at, 0)
	}
	return all, err
}

// pages lists objects in pages of a size; 0: all at once. While it decodes one page, it
// requests the next one.
func pages(ctx context.Context, c *connect.Connection, at resources.Place, size int64) (*decode.List, error) {
	var lists []*decode.List
	group, ctx := errgroup.WithContext(ctx)
	// It decodes one page at a time, so memory contains two pages at most.
	group.SetLimit(1)
	for next := ""; len(lists) == 0 || next != ""; {
		raw, err := page(ctx, c, at, metav1.ListOptions{Limit: size, Continue: next, FieldSelector: at.Selector()})
		if err != nil {
			return nil, errors.Join(group.Wait(), err)
		}
		announced := make(chan string, 1)
		read := &decode.List{}
		lists = append(lists, read)
		group.Go(crash.Catching(func() error {
			defer close(announced)
			return read.Parse(raw, func(next string) { announced <- next })
		}))
		next = <-announced
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the answer of the server: %w", err)
	}
	all := lists[0]
	for _, l := range lists[1:] {
		all.Items = append(all.Items, l.Items...)
	}
	for _, u := range all.Items {
		c.Secrets.AddObject(u.Object)
	}
	return all, nil
}

// page requests one page, as JSON.
func page(ctx context.Context, c *connect.Connection, at resources.Place, options metav1.ListOptions) ([]byte, error) {
	return connect.Call(ctx, c, connect.VerbList, func(ctx context.Context) ([]byte, error) {
		result := c.Core.RESTClient().Get().AbsPath(at.Path()).
			SpecificallyVersionedParams(&options, metav1.ParameterCodec, metav1.Unversioned).
			SetHeader("Accept", runtime.ContentTypeJSON).
			Do(ctx)
		if err := result.Error(); err != nil {
			return nil, err
		}
		return result.Raw()
	})
}
