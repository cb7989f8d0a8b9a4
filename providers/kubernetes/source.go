package kubernetes

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
)

// source lists the objects around an object that is not ready. server asks the API server
// each time. The waits of an apply use the shared watches instead.
type source interface {
	// everyPodOf lists all pods of a workload.
	everyPodOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error)
	nodes(ctx context.Context) ([]*corev1.Node, error)
	// eventsAbout lists the events about the object with that UID.
	eventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error)
	claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error)
	// revisions lists the ControllerRevisions of a namespace.
	revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error)
}

// server is a source that asks the API server.
type server struct{ access *access }

var _ source = (*server)(nil)

func newServer(a *access) *server { return &server{a} }

// everyPodOf lists all pods of a workload.
func (s *server) everyPodOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	raw, _, _ := unstructured.NestedMap(workload.Object, "spec", "selector")
	var wanted metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &wanted); err != nil {
		return nil, fmt.Errorf("read the selector of %s: %w", providers.RefOf(workload), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&wanted)
	if err != nil {
		return nil, fmt.Errorf("read the selector of %s: %w", providers.RefOf(workload), err)
	}
	list, err := call(ctx, s.access.connection, verbList, func(ctx context.Context) (*corev1.PodList, error) {
		return s.access.connection.core.Pods(workload.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	})
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", providers.RefOf(workload), err)
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; owns(workload, pod) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

func (s *server) nodes(ctx context.Context) ([]*corev1.Node, error) {
	list, err := call(ctx, s.access.connection, verbList, func(ctx context.Context) (*corev1.NodeList, error) {
		return s.access.connection.core.Nodes().List(ctx, metav1.ListOptions{})
	})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return pointers(list.Items), nil
}

func (s *server) eventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error) {
	selector := fields.OneTermEqualSelector("involvedObject.uid", string(uid)).String()
	list, err := s.access.connection.core.Events(namespace).List(withVerb(ctx, verbList), metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return pointers(list.Items), nil
}

func (s *server) claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	claim, err := s.access.connection.core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get claim %s/%s: %w", namespace, name, err)
	}
	return claim, nil
}

func (s *server) revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	return listAll(ctx, s.access, appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), namespace)
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
