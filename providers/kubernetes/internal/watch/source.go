package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// watchedSource is a readiness source that reads the shared watches. However many objects
// wait, each kind in a namespace is listed and watched once. It is for one goroutine; the
// caller must call close.
type watchedSource struct {
	watches     *Watches
	subscribers map[resources.Place]*Subscriber
}

var _ readiness.Source = (*watchedSource)(nil)

func newWatchedSource(w *Watches) *watchedSource {
	return &watchedSource{watches: w, subscribers: map[resources.Place]*Subscriber{}}
}

// close ends all subscriptions.
func (s *watchedSource) close() {
	for _, subscriber := range s.subscribers {
		subscriber.Unsubscribe()
	}
}

// lookup is a kind of objects with the key under which they are found, and their Go type.
type lookup struct {
	kind   schema.GroupVersionKind
	key    func(*unstructured.Unstructured) string
	decode func(*unstructured.Unstructured) (any, error)
}

var (
	podsByWorkload = lookup{corev1.SchemeGroupVersion.WithKind("Pod"), workloadOf, as[corev1.Pod]}
	allNodes       = lookup{corev1.SchemeGroupVersion.WithKind("Node"), nothing, as[corev1.Node]}
	eventsByUID    = lookup{corev1.SchemeGroupVersion.WithKind("Event"), involved, as[corev1.Event]}
	claimsByName   = lookup{corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), (*unstructured.Unstructured).GetName, as[corev1.PersistentVolumeClaim]}
	allRevisions   = lookup{appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), nothing, itself}
)

func nothing(*unstructured.Unstructured) string { return "" }

func involved(event *unstructured.Unstructured) string {
	return readiness.Field(event, "involvedObject", "uid")
}

// workloadOf returns the key of the workload that made a pod; see workloadKey.
func workloadOf(pod *unstructured.Unstructured) string {
	owner := metav1.GetControllerOf(pod)
	switch {
	case owner == nil:
		return ""
	case owner.Kind == "ReplicaSet":
		return deploymentPrefix + strings.TrimSuffix(owner.Name, "-"+pod.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey])
	}
	return string(owner.UID)
}

// workloadKey returns the key of a workload: its UID, or for a Deployment, whose pods belong
// to ReplicaSets, its name.
func workloadKey(workload *unstructured.Unstructured) string {
	if workload.GetKind() == "Deployment" {
		return deploymentPrefix + workload.GetName()
	}
	return string(workload.GetUID())
}

const deploymentPrefix = "Deployment/"

func as[T any](u *unstructured.Unstructured) (any, error) {
	out := new(T)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out)
	return out, err
}

func itself(u *unstructured.Unstructured) (any, error) { return u, nil }

// everything stands for all keys.
const everything = "*"

// watched returns the objects of a kind with a key. It waits for the first list.
func watched[T any](ctx context.Context, s *watchedSource, what lookup, namespace, key string) ([]T, error) {
	subscriber, err := s.subscriber(ctx, what, namespace)
	if err != nil {
		return nil, err
	}
	for {
		found, ok, err := subscriber.find(what, key)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", what.kind.Kind, err)
		}
		if ok {
			out := make([]T, len(found))
			for i := range found {
				out[i] = found[i].(T)
			}
			return out, nil
		}
		select {
		case <-subscriber.Changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// subscriber returns the subscription to all objects of a kind in a namespace.
func (s *watchedSource) subscriber(ctx context.Context, what lookup, namespace string) (*Subscriber, error) {
	where, err := s.watches.access.Mapper.Find(ctx, what.kind, resources.MissAge)
	if err != nil {
		return nil, err
	}
	at := resources.Place{Resource: where, Namespace: namespace}
	if !where.Namespaced {
		at.Namespace = ""
	}
	if known := s.subscribers[at]; known != nil {
		if !known.ended() {
			return known, nil
		}
		known.Unsubscribe()
		delete(s.subscribers, at)
	}
	added, err := s.watches.subscribeAll(ctx, at)
	if err == nil {
		s.subscribers[at] = added
	}
	return added, err
}

func (s *watchedSource) PodsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	all, err := watched[*corev1.Pod](ctx, s, podsByWorkload, workload.GetNamespace(), workloadKey(workload))
	var pods []*corev1.Pod
	for _, pod := range all {
		if readiness.Owns(workload, pod) {
			pods = append(pods, pod)
		}
	}
	return pods, err
}

func (s *watchedSource) AllPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	return watched[*corev1.Pod](ctx, s, podsByWorkload, namespace, everything)
}

func (s *watchedSource) Nodes(ctx context.Context) ([]*corev1.Node, error) {
	return watched[*corev1.Node](ctx, s, allNodes, "", "")
}

func (s *watchedSource) EventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error) {
	return watched[*corev1.Event](ctx, s, eventsByUID, namespace, string(uid))
}

func (s *watchedSource) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	found, err := watched[*corev1.PersistentVolumeClaim](ctx, s, claimsByName, namespace, name)
	if err == nil && len(found) == 0 {
		err = errors.New("there is no claim " + namespace + "/" + name)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func (s *watchedSource) Revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	return watched[*unstructured.Unstructured](ctx, s, allRevisions, namespace, "")
}

// indexPause is the pause between two updates of an index.
const indexPause = time.Second

// index contains the objects that a watch has seen, decoded and by key.
type index struct {
	at      time.Time
	version string
	byKey   map[string][]any
	decoded map[*unstructured.Unstructured]any
}

// find returns the objects with a key, at most indexPause old, or everything. ok is false before
// the first list.
func (s *Subscriber) find(what lookup, key string) (found []any, ok bool, err error) {
	shared := s.watch
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.err != nil {
		return nil, false, shared.err
	}
	if shared.version == "" {
		return nil, false, nil
	}
	if shared.index.byKey == nil || shared.index.version != shared.version && time.Since(shared.index.at) >= indexPause {
		shared.index = shared.indexed(what)
	}
	if key == everything {
		return slices.Concat(slices.Collect(maps.Values(shared.index.byKey))...), true, nil
	}
	return shared.index.byKey[key], true, nil
}

// ended reports whether the watch has failed.
func (s *Subscriber) ended() bool {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.watch.err != nil
}

// indexed returns a new index of all objects. It decodes only changed objects, and leaves out
// objects that cannot be decoded.
func (w *sharedWatch) indexed(what lookup) index {
	next := index{at: time.Now(), version: w.version, byKey: map[string][]any{}, decoded: make(map[*unstructured.Unstructured]any, len(w.objects))}
	for _, u := range w.objects {
		object, known := w.index.decoded[u]
		if !known {
			var err error
			if object, err = what.decode(u); err != nil {
				continue
			}
		}
		next.decoded[u] = object
		key := what.key(u)
		next.byKey[key] = append(next.byKey[key], object)
	}
	return next
}
