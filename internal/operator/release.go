package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

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

// deletedAlong reports whether a deleted Cloud goes because its namespace or its kind is being deleted, and nobody
// deleted it by itself. after is when to ask again: servers that hear of a deletion late would give the wrong
// answer. Without a clear answer, nothing may be destroyed.
func (w *work) deletedAlong(ctx context.Context) (along bool, after time.Duration, err error) {
	const late = 5 * time.Second // 800 ms were seen between servers
	if along, err = w.terminating(ctx, w.cloud.Namespace); err == nil && !along {
		if after := time.Until(w.cloud.DeletionTimestamp.Add(late)); after > 0 {
			return false, after, nil
		}
		along, err = w.undefined(ctx, w.cloud.Namespace)
	}
	if err != nil {
		return false, 0, failed(v1alpha1.ReasonPlanFailed, "Nobody knows whether the namespace of the Cloud or the kind of Clouds is being deleted, so nothing is destroyed: %v. %s", err, keepObjects)
	}
	return along, 0, nil
}

// terminating reports whether a namespace is being deleted. Nobody can show or approve a plan there, and the
// source goes with it.
func (r *Reconciler) terminating(ctx context.Context, namespace string) (bool, error) {
	var found corev1.Namespace
	err := r.Reader.Get(ctx, client.ObjectKey{Name: namespace}, &found)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && !found.DeletionTimestamp.IsZero(), err
}

// undefined reports whether the kind of Clouds is being deleted, and all Clouds with it. The server then refuses
// new ones, before it looks at them. Versions of Kubernetes give different reasons, and the same text.
func (r *Reconciler) undefined(ctx context.Context, namespace string) (bool, error) {
	one := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{GenerateName: "kolla-", Namespace: namespace}}
	err := r.Client.Create(ctx, one, client.DryRunAll)
	switch {
	case err == nil || apierrors.IsInvalid(err):
		return false, nil
	case strings.Contains(err.Error(), "not allowed while custom resource definition is terminating"):
		return true, nil
	}
	return false, err
}

// letAllGo lets the Clouds of a namespace that is being deleted go, while the operator ends. The server ends
// pods first, so the operator would not see the deletion of the Clouds, and the namespace would wait for
// them for ever.
func (r *Reconciler) letAllGo(ctx context.Context) error {
	if r.Namespace == "" {
		return nil
	}
	ends, err := r.terminating(ctx, r.Namespace)
	if err != nil {
		r.Log.Warn("nobody knows whether the namespace is being deleted", "namespace", r.Namespace, "error", err)
	}
	if !ends {
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
