package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// scene is what the shared watches have seen around an object that is waited for. However
// many objects wait, each kind is listed and watched once in a namespace. A scene is for
// one goroutine, and has to be left.
type scene struct {
	lookouts *lookouts
	guests   map[place]*guest
}

func (l *lookouts) scene() *scene { return &scene{lookouts: l, guests: map[place]*guest{}} }

// leave ends all looking.
func (s *scene) leave() {
	for _, g := range s.guests {
		g.leave()
	}
}

// subject is a kind of objects that a scene shows: how they are found, and read.
type subject struct {
	kind schema.GroupVersionKind
	key  func(*unstructured.Unstructured) string
	read func(*unstructured.Unstructured) (any, error)
}

var (
	podsByWorkload = subject{corev1.SchemeGroupVersion.WithKind("Pod"), workloadOf, as[corev1.Pod]}
	allNodes       = subject{corev1.SchemeGroupVersion.WithKind("Node"), nothing, as[corev1.Node]}
	eventsByUID    = subject{corev1.SchemeGroupVersion.WithKind("Event"), involved, as[corev1.Event]}
	claimsByName   = subject{corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), (*unstructured.Unstructured).GetName, as[corev1.PersistentVolumeClaim]}
	allRevisions   = subject{appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), nothing, itself}
)

func nothing(*unstructured.Unstructured) string { return "" }

func involved(event *unstructured.Unstructured) string { return field(event, "involvedObject", "uid") }

// workloadOf is the key of the workload that made a pod; see workloadKey.
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

// workloadKey is the UID of a workload; of a Deployment, whose pods belong to its
// ReplicaSets, it is made of the name.
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

// seen gives the objects of a kind with a key. It waits until they were listed once.
func seen[T any](ctx context.Context, s *scene, what subject, namespace, key string) ([]T, error) {
	g, err := s.guest(ctx, what, namespace)
	if err != nil {
		return nil, err
	}
	for {
		found, ok, err := g.gallery(what, key)
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
		case <-g.news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// guest looks at all objects of a kind in a namespace.
func (s *scene) guest(ctx context.Context, what subject, namespace string) (*guest, error) {
	where, err := s.lookouts.client.kinds.find(ctx, what.kind, missAge)
	if err != nil {
		return nil, err
	}
	at := place{resource: where, namespace: namespace}
	if !where.namespaced {
		at.namespace = ""
	}
	if g := s.guests[at]; g != nil {
		if !g.over() {
			return g, nil
		}
		g.leave()
		delete(s.guests, at)
	}
	g, err := s.lookouts.survey(ctx, at)
	if err == nil {
		s.guests[at] = g
	}
	return g, err
}

func (s *scene) everyPodOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	all, err := seen[*corev1.Pod](ctx, s, podsByWorkload, workload.GetNamespace(), workloadKey(workload))
	var pods []*corev1.Pod
	for _, pod := range all {
		if owns(workload, pod) {
			pods = append(pods, pod)
		}
	}
	return pods, err
}

func (s *scene) nodes(ctx context.Context) ([]*corev1.Node, error) {
	return seen[*corev1.Node](ctx, s, allNodes, "", "")
}

func (s *scene) eventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error) {
	return seen[*corev1.Event](ctx, s, eventsByUID, namespace, string(uid))
}

func (s *scene) claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	found, err := seen[*corev1.PersistentVolumeClaim](ctx, s, claimsByName, namespace, name)
	if err == nil && len(found) == 0 {
		err = errors.New("there is no claim " + namespace + "/" + name)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func (s *scene) revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	return seen[*unstructured.Unstructured](ctx, s, allRevisions, namespace, "")
}

// indexPause is between two times that what a watch has seen is put in order.
const indexPause = time.Second

// gallery is what a watch has seen, in order: read, and by key.
type gallery struct {
	at      time.Time
	version string
	byKey   map[string][]any
	read    map[*unstructured.Unstructured]any
}

// gallery gives the objects with a key as they were seen up to indexPause ago; ok is false
// where they were not listed yet.
func (g *guest) gallery(what subject, key string) (found []any, ok bool, err error) {
	at := g.lookout
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.err != nil {
		return nil, false, at.err
	}
	if at.version == "" {
		return nil, false, nil
	}
	if at.gallery.byKey == nil || at.gallery.version != at.version && time.Since(at.gallery.at) >= indexPause {
		at.gallery = at.arranged(what)
	}
	return at.gallery.byKey[key], true, nil
}

// over reports whether nothing is seen any more.
func (g *guest) over() bool {
	g.lookout.mu.Lock()
	defer g.lookout.mu.Unlock()
	return g.lookout.err != nil
}

// arranged puts all objects in order. Those that did not change are not read again. What
// cannot be read is left out.
func (l *lookout) arranged(what subject) gallery {
	next := gallery{at: time.Now(), version: l.version, byKey: map[string][]any{}, read: make(map[*unstructured.Unstructured]any, len(l.objects))}
	for _, u := range l.objects {
		object, known := l.gallery.read[u]
		if !known {
			var err error
			if object, err = what.read(u); err != nil {
				continue
			}
		}
		next.read[u] = object
		key := what.key(u)
		next.byKey[key] = append(next.byKey[key], object)
	}
	return next
}
