package operator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// namespaceGoes is a line of the log. A namespace that goes takes no Event.
const namespaceGoes = "the namespace of a Cloud is being deleted, so the Cloud goes without a destroy: the objects of its cloud stay. Make the Cloud again, or go on with kolla apply -take-over"

// keepObjects says how a deleted Cloud goes without a plan.
const keepObjects = "To let this Cloud go and keep its objects, set spec.deletionPolicy: Orphan"

// release lets a Cloud go.
func (w *work) release(ctx context.Context) error { return letGo(ctx, w.Client, w.cloud) }

func letGo(ctx context.Context, c client.Client, cloud *v1alpha1.Cloud) error {
	before := cloud.DeepCopy()
	if !controllerutil.RemoveFinalizer(cloud, v1alpha1.Finalizer) {
		return nil
	}
	if err := c.Patch(ctx, cloud, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("let Cloud %s go: %w", keyOf(cloud), err)
	}
	return nil
}

// terminating reports whether a namespace is being deleted. Nobody can show or approve a plan there, and the
// source goes with it.
func (r *Reconciler) terminating(ctx context.Context, namespace string) bool {
	var found corev1.Namespace
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: namespace}, &found); apierrors.IsNotFound(err) {
		return true
	} else if err != nil {
		r.Log.Warn("nobody knows whether the namespace is being deleted", "namespace", namespace, "error", err)
		return false
	}
	return !found.DeletionTimestamp.IsZero()
}

// letAllGo lets the Clouds of a namespace that is being deleted go, while the operator ends. The server ends
// pods first, so the operator would not see the deletion of the Clouds, and the namespace would wait for
// them for ever.
func (r *Reconciler) letAllGo(ctx context.Context) error {
	if r.Namespace == "" || !r.terminating(ctx, r.Namespace) {
		return nil
	}
	var all v1alpha1.CloudList
	if err := r.Reader.List(ctx, &all, client.InNamespace(r.Namespace)); err != nil {
		return fmt.Errorf("list Clouds: %w", err)
	}
	for i := range all.Items {
		r.Log.Warn(namespaceGoes, "cloud", keyOf(&all.Items[i]))
		if err := letGo(ctx, r.Client, &all.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// definitionsGo explains the error of a deleted Cloud if the kinds of its plan and its services are being
// deleted, too. Then no plan can be shown or approved.
func definitionsGo(err error) error {
	if err == nil || !apierrors.IsMethodNotSupported(err) && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return err
	}
	return failed(v1alpha1.ReasonPlanFailed, "the CustomResourceDefinitions are being deleted, so no plan of the destroy can be made (%v). %s", err, keepObjects)
}
