package write

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// Delete deletes the object and returns when it is gone. An object that is gone already, or has
// another UID, is no error. If the context ends first, the error says what holds the object.
func (w *Writer) Delete(ctx context.Context, ref providers.Ref, options providers.DeleteOptions) error {
	where, err := w.access.Locate(ctx, ref, resources.MissAge)
	if meta.IsNoMatchError(err) {
		return nil // the definition of the kind was deleted, and all objects with it
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", ref, err)
	}
	uid, err := remove(ctx, w.access, w.access.At(where, ref.Namespace), ref, options)
	if err == nil && uid != "" {
		err = w.gone(ctx, where, ref, uid)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", ref, err)
	}
	if kinds.Defines(ref.GVK.GroupKind()) {
		w.access.Mapper.Defined()
	}
	return nil
}

// remove requests the deletion. It returns the UID of the object that is being deleted;
// empty: the object is gone.
func remove(ctx context.Context, a *resources.Access, target dynamic.ResourceInterface, ref providers.Ref, options providers.DeleteOptions) (types.UID, error) {
	var leaving types.UID
	err := connect.Retry(ctx, func(ctx context.Context) (again bool, err error) {
		condition := options.Precondition
		if condition.UID == "" {
			live, err := a.Get(ctx, target, ref.Name)
			if err != nil {
				return false, err
			}
			condition.UID = live.GetUID()
		}
		leaving = condition.UID
		err = requestDeletion(ctx, a.Connection, target, ref.Name, condition, options.Orphan)
		if !apierrors.IsConflict(err) {
			return false, err
		}
		live, lookErr := a.Get(ctx, target, ref.Name)
		switch {
		case lookErr != nil:
			return false, lookErr
		case live.GetUID() != condition.UID:
			leaving = ""
			return false, nil
		case live.GetDeletionTimestamp() != nil:
			return false, nil
		case options.Precondition.ResourceVersion != "" && live.GetResourceVersion() != options.Precondition.ResourceVersion:
			return false, &providers.PreconditionError{Ref: ref, Live: live}
		}
		return true, err
	})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return leaving, err
}

// requestDeletion sends the DELETE.
func requestDeletion(ctx context.Context, c *connect.Connection, target dynamic.ResourceInterface, name string, condition providers.Precondition, orphan bool) error {
	dependents := metav1.DeletePropagationBackground
	if orphan {
		dependents = metav1.DeletePropagationOrphan
	}
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &condition.UID}, PropagationPolicy: &dependents}
	if condition.ResourceVersion != "" {
		options.Preconditions.ResourceVersion = &condition.ResourceVersion
	}
	_, err := connect.Call(ctx, c, connect.VerbDelete, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, target.Delete(ctx, name, options)
	})
	return err
}

// heldError reports that an object is still being deleted, what it waits for, and how to go on.
type heldError struct {
	ref     providers.Ref
	holding string
	err     error
}

func (e *heldError) Error() string {
	return fmt.Sprintf("%s is still being deleted. %s", e.ref, e.holding)
}

func (e *heldError) Unwrap() error { return e.err }

// gone waits until the object with that UID is gone.
func (w *Writer) gone(ctx context.Context, where resources.Resource, ref providers.Ref, uid types.UID) error {
	subscriber := w.watches.Subscribe(ctx, where, ref.Namespace, ref.Name, w.written(ref))
	defer subscriber.Unsubscribe()
	var last *unstructured.Unstructured
	for {
		select {
		case <-subscriber.Changed:
		case <-ctx.Done():
			if why := w.access.Connection.Secrets.Text(holding(ctx, w.access, last), ref.String()); why != "" {
				return &heldError{ref, why, ctx.Err()}
			}
			return ctx.Err()
		}
		seen, ok := subscriber.Observe()
		switch {
		case !ok:
		case seen.Err != nil:
			return seen.Err
		case seen.Object == nil || seen.Object.GetUID() != uid:
			return nil
		default:
			last = seen.Object
		}
	}
}
