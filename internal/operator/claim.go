package operator

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// claim records the name and the namespace that a configuration declares, unless another Cloud has one of
// them. A Cloud has what its status says, so a Cloud that applied keeps its cloud whatever others declare.
//
// first: see looking. What was applied last may have another name than the source, and then claims nothing.
func (w *work) claim(ctx context.Context, l *look, first bool) error {
	name, namespace := l.config.Cloud.Name, l.config.Cloud.Namespace
	if err := w.unclaimed(ctx, w.Client, l, name, namespace); err != nil {
		return err
	}
	if first || w.cloud.Status.Cloud == name && w.cloud.Status.Namespace == namespace {
		return nil
	}
	// Two Clouds may claim at the same time, so each of them looks again after its claim is written.
	status := &w.cloud.Status
	oldName, oldNamespace := status.Cloud, status.Namespace
	status.Cloud, status.Namespace = name, namespace
	if err := w.save(ctx); err != nil {
		return err
	}
	err := w.unclaimed(ctx, w.Reader, l, name, namespace)
	if err != nil {
		status.Cloud, status.Namespace = oldName, oldNamespace
	}
	return err
}

// unclaimed returns an error if another Cloud has the name or the namespace.
func (w *work) unclaimed(ctx context.Context, from client.Reader, l *look, name, namespace string) error {
	var all v1alpha1.CloudList
	if err := from.List(ctx, &all, client.InNamespace(w.Namespace)); err != nil {
		return fmt.Errorf("list Clouds: %w", err)
	}
	for i := range all.Items {
		other := &all.Items[i]
		if keyOf(other) == keyOf(w.cloud) || other.Status.Cloud != name && other.Status.Namespace != namespace {
			continue
		}
		if !prevails(w.cloud, other, name, namespace, l.state.Operator() == keyOf(w.cloud)) {
			return stalled(v1alpha1.ReasonConflict, "Cloud %s has the cloud %q in namespace %s already, and this one declares %q in namespace %s: names and namespaces belong to one Cloud", keyOf(other), other.Status.Cloud, other.Status.Namespace, name, namespace)
		}
	}
	return nil
}

// prevails reports whether a Cloud may have a name and a namespace although another one has claimed one of
// them. recorded: the state names this Cloud.
//
// Who writes a Cloud chooses its state, so a record counts only against a Cloud that never applied.
func prevails(cloud, other *v1alpha1.Cloud, name, namespace string, recorded bool) bool {
	claimed := cloud.Status.Cloud == name && cloud.Status.Namespace == namespace
	managed := recorded || claimed && cloud.Status.Managed
	switch {
	case other.Status.Managed:
		return claimed && cloud.Status.Managed && older(cloud, other)
	case managed:
		return true
	}
	return claimed && older(cloud, other)
}

func older(a, b *v1alpha1.Cloud) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return keyOf(a) < keyOf(b)
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}
