package readiness

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/list"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// Source lists the objects around an object that is not ready. Server asks the API server
// each time; the source in package watch reads the shared watches.
type Source interface {
	// PodsOf lists all pods of a workload.
	PodsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error)
	// AllPods lists all pods of a namespace.
	AllPods(ctx context.Context, namespace string) ([]*corev1.Pod, error)
	Nodes(ctx context.Context) ([]*corev1.Node, error)
	// EventsAbout lists the events about the object with that UID.
	EventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error)
	Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error)
	// Revisions lists the ControllerRevisions of a namespace.
	Revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error)
}

// Server is the Source that asks the API server.
type Server struct{ access *resources.Access }

var _ Source = (*Server)(nil)

// NewServer returns the source of a cluster.
func NewServer(a *resources.Access) *Server { return &Server{a} }

// PodsOf implements Source.
func (s *Server) PodsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	raw, _, _ := unstructured.NestedMap(workload.Object, "spec", "selector")
	var wanted metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &wanted); err != nil {
		return nil, fmt.Errorf("read the selector of %s: %w", providers.RefOf(workload), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&wanted)
	if err != nil {
		return nil, fmt.Errorf("read the selector of %s: %w", providers.RefOf(workload), err)
	}
	selected, err := s.pods(ctx, workload.GetNamespace(), metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", providers.RefOf(workload), err)
	}
	return slices.DeleteFunc(selected, func(pod *corev1.Pod) bool { return !Owns(workload, pod) }), nil
}

// AllPods implements Source.
func (s *Server) AllPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	pods, err := s.pods(ctx, namespace, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the pods of namespace %s: %w", namespace, err)
	}
	return pods, nil
}

func (s *Server) pods(ctx context.Context, namespace string, options metav1.ListOptions) ([]*corev1.Pod, error) {
	list, err := connect.Call(ctx, s.access.Connection, connect.VerbList, func(ctx context.Context) (*corev1.PodList, error) {
		return s.access.Connection.Core.Pods(namespace).List(ctx, options)
	})
	if err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

// Nodes implements Source.
func (s *Server) Nodes(ctx context.Context) ([]*corev1.Node, error) {
	list, err := connect.Call(ctx, s.access.Connection, connect.VerbList, func(ctx context.Context) (*corev1.NodeList, error) {
		return s.access.Connection.Core.Nodes().List(ctx, metav1.ListOptions{})
	})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return pointers(list.Items), nil
}

// EventsAbout implements Source.
func (s *Server) EventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error) {
	selector := fields.OneTermEqualSelector("involvedObject.uid", string(uid)).String()
	list, err := s.access.Connection.Core.Events(namespace).List(connect.WithVerb(ctx, connect.VerbList), metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return pointers(list.Items), nil
}

// Claim implements Source.
func (s *Server) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	claim, err := s.access.Connection.Core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get claim %s/%s: %w", namespace, name, err)
	}
	return claim, nil
}

// Revisions implements Source.
func (s *Server) Revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	return list.All(ctx, s.access, appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), namespace)
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
