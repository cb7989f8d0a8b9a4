package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Inspector assesses the workloads of a snapshot. It lists each kind at most once in a namespace,
// and only the kinds that it needs. It is for one goroutine.
type Inspector struct {
	snapshot *providers.Snapshot
	secrets  *redaction.Values
	pods     map[string][]*corev1.Pod // by namespace
}

var _ Source = (*Inspector)(nil)

// NewInspector returns an inspector of a snapshot. secrets gets the values of the Secrets that the
// snapshot lists.
func NewInspector(snapshot *providers.Snapshot, secrets *redaction.Values) *Inspector {
	return &Inspector{snapshot: snapshot, secrets: secrets, pods: map[string][]*corev1.Pod{}}
}

// Health assesses a workload. The reason and the details have no secret values: before the
// inspector reads texts of others, it lists the Secrets of the namespace.
func (i *Inspector) Health(ctx context.Context, workload *unstructured.Unstructured) (providers.Health, error) {
	now, err := Assess(workload)
	if err != nil || now.Ready {
		return providers.Health{Ready: now.Ready}, err
	}
	if err := i.snapshot.Load(ctx, providers.Scope{GVK: kinds.Secret.WithVersion("v1"), Namespace: workload.GetNamespace()}); err != nil {
		return providers.Health{}, err
	}
	why, err := Inquiry{Source: i, Log: noLog}.Examine(ctx, workload)
	if err != nil || why.Ready {
		return providers.Health{Ready: why.Ready}, err
	}
	reason := why.Reason(now.Status)
	if now.Failed && why.Finding != nil {
		reason = now.Status + ": " + reason
	}
	about := providers.RefOf(workload).String()
	health := providers.Health{Reason: i.secrets.Text(reason, about)}
	if why.Finding != nil {
		for _, line := range why.Finding.Detail {
			health.Detail = append(health.Detail, i.secrets.Text(line, about))
		}
	}
	return health, nil
}

func noLog(context.Context, string, *Finding) []string { return nil }

// PodsOf implements Source.
func (i *Inspector) PodsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error) {
	all, err := i.AllPods(ctx, workload.GetNamespace())
	var pods []*corev1.Pod
	for _, pod := range all {
		if Owns(workload, pod) {
			pods = append(pods, pod)
		}
	}
	return pods, err
}

// AllPods implements Source.
func (i *Inspector) AllPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	if _, read := i.pods[namespace]; !read {
		all, err := listed[corev1.Pod](ctx, i, corev1.SchemeGroupVersion.WithKind("Pod"), namespace, nil)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(all, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		i.pods[namespace] = all
	}
	return i.pods[namespace], nil
}

// Nodes implements Source.
func (i *Inspector) Nodes(ctx context.Context) ([]*corev1.Node, error) {
	return listed[corev1.Node](ctx, i, corev1.SchemeGroupVersion.WithKind("Node"), "", nil)
}

// EventsAbout implements Source.
func (i *Inspector) EventsAbout(ctx context.Context, namespace string, uid types.UID) ([]*corev1.Event, error) {
	return listed[corev1.Event](ctx, i, corev1.SchemeGroupVersion.WithKind("Event"), namespace, func(event *unstructured.Unstructured) bool {
		return Field(event, "involvedObject", "uid") == string(uid)
	})
}

// Claim implements Source.
func (i *Inspector) Claim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	found, err := listed[corev1.PersistentVolumeClaim](ctx, i, kinds.PersistentVolumeClaim.WithVersion("v1"), namespace, func(claim *unstructured.Unstructured) bool {
		return claim.GetName() == name
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no claim %s/%s", namespace, name)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Revisions implements Source.
func (i *Inspector) Revisions(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	return i.all(ctx, appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), namespace)
}

// all returns the objects of a kind in a namespace.
func (i *Inspector) all(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	if err := i.snapshot.Load(ctx, providers.Scope{GVK: kind, Namespace: namespace}); err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, u := range i.snapshot.All(kind) {
		if u.GetNamespace() == namespace {
			out = append(out, u)
		}
	}
	return out, nil
}

// listed returns the objects of a kind in a namespace that are wanted; wanted may be nil.
func listed[T any](ctx context.Context, i *Inspector, kind schema.GroupVersionKind, namespace string, wanted func(*unstructured.Unstructured) bool) ([]*T, error) {
	all, err := i.all(ctx, kind, namespace)
	if err != nil {
		return nil, err
	}
	var out []*T
	for _, u := range all {
		if wanted != nil && !wanted(u) {
			continue
		}
		decoded := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, decoded); err != nil {
			return nil, fmt.Errorf("read %s: %w", providers.RefOf(u), err)
		}
		out = append(out, decoded)
	}
	return out, nil
}
