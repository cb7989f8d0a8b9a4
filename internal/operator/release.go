package operator

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// goesAlong is a line of the log about a Cloud that nobody deleted by itself. A namespace that is being deleted
// takes no Event.
const goesAlong = "the namespace of a Cloud, or the definition of its kind, is being deleted, so the Cloud goes without a destroy: the objects of its cloud stay. Make the Cloud again, or go on with kolla apply -take-over"

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

// undefined reports whether the kind of Clouds is being deleted, and all Clouds with it. The server then refuses
// new ones, before it looks at them. Versions of Kubernetes give different reasons, and the same text.
func (r *Reconciler) undefined(ctx context.Context, namespace string) bool {
	one := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{GenerateName: "kolla-", Namespace: namespace}}
	err := r.Client.Create(ctx, one, client.DryRunAll)
	return err != nil && strings.Contains(err.Error(), "not allowed while custom resource definition is terminating")
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
		r.Log.Warn(goesAlong, "cloud", keyOf(&all.Items[i]))
		if err := letGo(ctx, r.Client, &all.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
