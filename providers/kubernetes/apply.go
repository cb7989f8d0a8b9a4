package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
)

// Writer is the one gate through which the cluster is changed. Its methods may be
// used by several goroutines at once.
type Writer struct {
	client   *Client
	lookouts lookouts

	mu       sync.Mutex
	versions map[providers.Ref]string
	late     map[string]bool // storage classes: whether they bind when a pod uses the claim
}

var _ providers.Writer = (*Writer)(nil)

// Writer opens the gate.
func (c *Client) Writer() *Writer {
	return &Writer{client: c, lookouts: lookouts{client: c, open: map[place]*lookout{}, failed: map[place]*failure{}}, versions: map[providers.Ref]string{}, late: map[string]bool{}}
}

// Apply makes a server-side apply, and returns the object as it then is. Fields
// that others own, without Force, are a *providers.ConflictError; an object that
// is not what the precondition says, or is there although it is to be new, is a
// *providers.PreconditionError. A kind whose definition is seconds old is waited for,
// and so is a definition that this client has changed.
func (w *Writer) Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(object)
	ctx = about(ctx, ref)
	write := w.write
	if ref.GVK.GroupKind() == providers.NodeKind {
		write = w.writeTainted
	}
	applied, err := write(ctx, ref, object, options)
	if err == nil && options.Precondition.UID != "" && dropped(object.Object, applied.Object) {
		if where, err := w.client.locate(ctx, ref, missAge); err == nil {
			applied = w.complete(ctx, where, object, applied, options)
		}
	}
	if err == nil {
		if definesKinds(ref) {
			w.client.kinds.defined()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.versions[ref] = applied.GetResourceVersion()
		return applied, nil
	}
	conflict := conflictOf(ref, err)
	var refused *providers.PreconditionError
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case conflict != nil && options.New:
		return nil, &providers.PreconditionError{Ref: ref, Exists: true}
	case conflict != nil:
		return nil, conflict
	}
	return nil, fmt.Errorf("apply %s: %w", ref, err)
}

// written is the version in which this Writer left the object, or empty.
func (w *Writer) written(ref providers.Ref) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.versions[ref]
}

// noRevision is a resourceVersion that no object ever has, the last of the 63 bits that
// they are counted in. An apply that carries it makes a new object, or is a conflict.
const noRevision = "9223372036854775807"

func (w *Writer) write(ctx context.Context, ref providers.Ref, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	bound := options.Precondition != (providers.Precondition{})
	switch {
	case options.New && bound:
		return nil, errors.New("what is new has no version or UID that a write could be bound to")
	case options.Precondition.UID == "" && bound:
		// The server would make the object anew if it was gone.
		return nil, errors.New("a resourceVersion binds a write only together with a UID")
	}
	where, err := w.settled(ctx, ref)
	if err != nil {
		return nil, err
	}
	target := w.client.at(where, ref.Namespace)
	// The server takes a UID and a resourceVersion in the payload as conditions,
	// and gives nobody ownership of them.
	payload := object.DeepCopy()
	payload.SetUID(options.Precondition.UID)
	payload.SetResourceVersion(options.Precondition.ResourceVersion)
	if options.New {
		payload.SetResourceVersion(noRevision)
	}
	var applied *unstructured.Unstructured
	start := time.Now()
	err = backoff().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		var err error
		applied, err = w.client.apply(ctx, target, payload, metav1.ApplyOptions{FieldManager: options.Manager, Force: options.Force})
		if misshapen(err) && w.client.kinds.unsettled(ref.GVK) {
			return false, nil // by a definition that this client has just replaced
		}
		if !raced(ref, err) {
			return true, err
		}
		if bound || options.New {
			var checked error
			applied, checked = w.recheck(ctx, target, payload, options)
			if applied != nil || checked != nil {
				return true, checked
			}
		}
		if time.Since(start) > shortPatience {
			return false, err
		}
		return false, nil
	})
	return applied, err
}

// raced reports whether somebody else wrote the object at the same moment, or it
// is not what the precondition says.
func raced(ref providers.Ref, err error) bool {
	return (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)) && conflictOf(ref, err) == nil
}

// misshapen reports whether the object does not fit the definition of its kind.
func misshapen(err error) bool {
	return apierrors.IsInvalid(err) || err != nil && strings.Contains(err.Error(), "failed to create typed patch object")
}

// recheck finds out why a write that is bound to one object, or to none, was
// refused. It returns a *providers.PreconditionError, or the live object where a new one
// turns out to be in place already (the answer to an earlier attempt was lost), or neither
// when the write may be tried again. What a stranger made differs at least in who owns its
// fields.
func (w *Writer) recheck(ctx context.Context, target dynamic.ResourceInterface, payload *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(payload)
	live, err := w.client.get(ctx, target, payload.GetName())
	want := options.Precondition
	switch {
	case apierrors.IsNotFound(err) && options.New:
		return nil, nil
	case apierrors.IsNotFound(err):
		return nil, &providers.PreconditionError{Ref: ref, Gone: true}
	case err != nil:
		return nil, err
	case options.New:
	case want.UID != "" && live.GetUID() != want.UID:
		return nil, &providers.PreconditionError{Ref: ref, Gone: true}
	case want.ResourceVersion == "" || live.GetResourceVersion() == want.ResourceVersion:
		return nil, nil
	default:
		return nil, &providers.PreconditionError{Ref: ref, Live: live}
	}
	again := payload.DeepCopy()
	again.SetResourceVersion("")
	would, err := w.client.apply(ctx, target, again, metav1.ApplyOptions{FieldManager: options.Manager, Force: options.Force, DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil && live.GetResourceVersion() != would.GetResourceVersion():
		return nil, nil // it was written to in between, such as its status
	case err == nil && equality.Semantic.DeepEqual(live.Object, would.Object):
		return live, nil
	case err == nil || apierrors.IsConflict(err) || apierrors.IsInvalid(err):
		return nil, &providers.PreconditionError{Ref: ref, Exists: true}
	}
	return nil, err // nobody can say whose it is
}

// settled finds the object's resource, and gives a kind that was defined moments
// ago the time to be served.
func (w *Writer) settled(ctx context.Context, ref providers.Ref) (resource, error) {
	var where resource
	start := time.Now()
	err := backoff().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		var err error
		where, err = w.client.locate(ctx, ref, 0)
		if meta.IsNoMatchError(err) && time.Since(start) < shortPatience {
			return false, nil
		}
		return true, err
	})
	return where, err
}

// apply sends one server-side apply, as often as patience has it.
func (c *Client) apply(ctx context.Context, target dynamic.ResourceInterface, object *unstructured.Unstructured, options metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	verb := verbPatch
	if len(options.DryRun) > 0 {
		verb = verbDryRun
	}
	options.FieldManager = cmp.Or(options.FieldManager, providers.FieldManager)
	return call(ctx, c, verb, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Apply(ctx, object.GetName(), object, options)
	})
}

func (c *Client) get(ctx context.Context, target dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	return call(ctx, c, verbGet, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Get(ctx, name, metav1.GetOptions{})
	})
}

// definesKinds reports whether the server has other kinds once the object is in
// place.
func definesKinds(ref providers.Ref) bool { return definitions[ref.GVK.GroupKind()] }
