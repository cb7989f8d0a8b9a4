// Package write changes a cluster. Its Writer applies, deletes, releases and claims the objects
// of a cloud, each write bound to the object that was planned against. Its Records write the
// Secrets, Leases and namespace of a state. Only commands in pods (kubernetes.Shell) can change
// a cluster in another way.
package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/dryrun"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/watch"
)

// Writer is the only type that changes the objects of a cloud. Its methods may be used by several
// goroutines at once.
type Writer struct {
	access  *resources.Access
	watches *watch.Watches

	mu       sync.Mutex
	versions map[providers.Ref]string
}

var _ providers.Writer = (*Writer)(nil)

// New returns a Writer for a cluster.
func New(a *resources.Access) *Writer {
	return &Writer{access: a, watches: watch.New(a), versions: map[providers.Ref]string{}}
}

// Apply makes a server-side apply, and returns the resulting object. If other managers own fields,
// the error is a *providers.ConflictError, unless Force is set. If the object does not meet the
// precondition, or exists although it must be new, the error is a *providers.PreconditionError.
// Apply waits for a kind whose definition is seconds old, and for a definition that this client has
// changed.
func (w *Writer) Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(object)
	ctx = connect.About(ctx, ref)
	send := write
	if ref.GVK.GroupKind() == kinds.Node {
		send = writeTainted
	}
	applied, err := send(ctx, w.access, ref, object, options)
	if err != nil {
		return nil, applyError(ref, err, options)
	}
	if options.Precondition.UID != "" && dropped(object.Object, applied.Object) {
		if where, err := w.access.Locate(ctx, ref, resources.MissAge); err == nil {
			applied = complete(ctx, w.access, where, object, applied, options)
		}
	}
	if kinds.Defines(ref.GVK.GroupKind()) {
		w.access.Mapper.Defined()
	}
	w.note(ref, applied.GetResourceVersion())
	return applied, nil
}

// applyError returns the error of Apply for a write that was refused or failed.
func applyError(ref providers.Ref, err error, options providers.ApplyOptions) error {
	conflict := connect.ConflictOf(ref, err)
	var refused *providers.PreconditionError
	switch {
	case errors.As(err, &refused):
		return refused
	case conflict != nil && options.New:
		return &providers.PreconditionError{Ref: ref, Exists: true}
	case conflict != nil:
		return conflict
	}
	return fmt.Errorf("apply %s: %w", ref, err)
}

// Wait returns when the object is ready (kstatus; a Job: complete; a claim: bound, or bound
// as soon as a pod uses it). It fails when the object certainly will not become ready, with
// the reason in a *providers.NotReadyError. A deadline of the context is a
// *providers.NotReadyError with the known cause; a cancellation is the context's error. A cause
// is reported within seconds after the cluster knows it.
func (w *Writer) Wait(ctx context.Context, ref providers.Ref, options providers.WaitOptions) error {
	where, err := servedResource(ctx, w.access, ref)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", ref, err)
	}
	return w.watches.Wait(ctx, where, ref, w.written(ref), options)
}

// Message returns the lines of the termination message of a complete Job, without secret values.
func (w *Writer) Message(ctx context.Context, job providers.Ref) ([]string, error) {
	lines, err := readiness.ReadMessage(ctx, w.access, job)
	for i := range lines {
		lines[i] = w.access.Connection.Secrets.Text(lines[i], job.String())
	}
	return lines, err
}

// Replace deletes exactly that pod of a StatefulSet or DaemonSet, if it is outdated. Then it
// waits until the pod in its place is ready: on its node, or with its name. It calls report
// with the cause whenever that changes. Errors are those of Wait.
func (w *Writer) Replace(ctx context.Context, workload *unstructured.Unstructured, pod providers.Pod, report func(status string)) error {
	if pod.Outdated {
		ref := providers.Ref{GVK: corev1.SchemeGroupVersion.WithKind("Pod"), Namespace: workload.GetNamespace(), Name: pod.Name}
		if err := w.Delete(ctx, ref, providers.DeleteOptions{Precondition: providers.Precondition{UID: pod.UID}}); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return &providers.NotReadyError{Ref: ref, Reason: "it has not ended yet", Detail: []string{err.Error()}}
			}
			return err
		}
	}
	return watch.WaitForSuccessor(ctx, w.access, workload, pod, report)
}

// note keeps the version in which this Writer left the object.
func (w *Writer) note(ref providers.Ref, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[ref] = version
}

// written returns the version in which this Writer left the object; empty: it did not write
// it.
func (w *Writer) written(ref providers.Ref) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.versions[ref]
}

// noRevision is a resourceVersion that no object ever has: the last one of 63 bits. An apply
// with it creates an object, or is a conflict.
const noRevision = "9223372036854775807"

// write sends one apply, and decides whether a refused one may be sent again.
func write(ctx context.Context, a *resources.Access, ref providers.Ref, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	bound := options.Precondition != (providers.Precondition{})
	switch {
	case options.New && bound:
		return nil, errors.New("a new object has no version or UID that a write could be bound to")
	case options.Precondition.UID == "" && bound:
		// The server would create the object if it was gone.
		return nil, errors.New("a resourceVersion binds a write only together with a UID")
	}
	where, err := servedResource(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	target := a.At(where, ref.Namespace)
	// The server takes a UID and a resourceVersion in the payload as conditions. Nobody
	// becomes their owner.
	payload := object.DeepCopy()
	payload.SetUID(options.Precondition.UID)
	payload.SetResourceVersion(options.Precondition.ResourceVersion)
	if options.New {
		payload.SetResourceVersion(noRevision)
	}
	var applied *unstructured.Unstructured
	err = connect.Retry(ctx, func(ctx context.Context) (again bool, err error) {
		applied, err = sendApply(ctx, a.Connection, target, payload, options)
		if misshapen(err) && a.Mapper.Unsettled(ref.GVK) {
			return true, err // the server used a definition that this client has just replaced
		}
		if !raced(ref, err) {
			return false, err
		}
		if bound || options.New {
			var checked error
			applied, checked = recheck(ctx, a, target, payload, options)
			if applied != nil || checked != nil {
				return false, checked
			}
		}
		return true, err
	})
	return applied, err
}

// raced reports whether another program wrote the object at the same moment, or the object does not
// meet the precondition.
func raced(ref providers.Ref, err error) bool {
	return (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)) && connect.ConflictOf(ref, err) == nil
}

// misshapen reports whether the object does not match the definition of its kind.
func misshapen(err error) bool {
	return apierrors.IsInvalid(err) || err != nil && strings.Contains(err.Error(), "failed to create typed patch object")
}

// recheck finds out why a write with a precondition was refused. It returns a
// *providers.PreconditionError; or the live object, if an earlier attempt created it and the answer
// was lost; or neither, if the write may be tried again. An object that another program created
// differs at least in the owners of its fields.
func recheck(ctx context.Context, a *resources.Access, target dynamic.ResourceInterface, payload *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(payload)
	live, err := a.Get(ctx, target, payload.GetName())
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
	would, err := dryrun.Send(ctx, a.Connection, target, again, options.Manager, options.Force)
	switch {
	case err == nil && live.GetResourceVersion() != would.GetResourceVersion():
		return nil, nil // another program wrote it in between, for example its status
	case err == nil && equality.Semantic.DeepEqual(live.Object, would.Object):
		return live, nil
	case err == nil || apierrors.IsConflict(err) || apierrors.IsInvalid(err):
		return nil, &providers.PreconditionError{Ref: ref, Exists: true}
	}
	return nil, err // it is unknown who created it
}

// servedResource finds the resource of an object. It waits for a kind that was defined moments ago.
func servedResource(ctx context.Context, a *resources.Access, ref providers.Ref) (resources.Resource, error) {
	var where resources.Resource
	err := connect.Retry(ctx, func(ctx context.Context) (again bool, err error) {
		where, err = a.Locate(ctx, ref, 0)
		return meta.IsNoMatchError(err), err
	})
	return where, err
}

// sendApply sends one server-side apply, with the retries of connect.Call.
func sendApply(ctx context.Context, c *connect.Connection, target dynamic.ResourceInterface, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	c.Secrets.AddObject(object.Object)
	return connect.Call(ctx, c, connect.VerbPatch, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: cmp.Or(options.Manager, providers.FieldManager), Force: options.Force})
	})
}
