// Package storage gives every claim of its storage class a volume, so that
// pods with claims are scheduled: a folder of the node for a pod on a real one,
// and nothing that could be written to for simulated pods.
package storage

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

const (
	// Provisioner is named by the storage classes that this package serves.
	Provisioner = "devcluster.kolla/simulated"
	// ClassName is the default storage class.
	ClassName = "standard"

	defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"
)

// EnsureClass makes the default storage class unless there is one of its name.
// Volumes on real nodes are where their pods are, so they are made only when it
// is known where that will be.
func EnsureClass(ctx context.Context, client kubernetes.Interface, realNodes bool) error {
	binding := storagev1.VolumeBindingImmediate
	if realNodes {
		binding = storagev1.VolumeBindingWaitForFirstConsumer
	}
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        ClassName,
			Annotations: map[string]string{defaultClassAnnotation: "true"},
		},
		Provisioner:          Provisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    &binding,
		AllowVolumeExpansion: ptr.To(true),
	}
	classes := client.StorageV1().StorageClasses()
	old, err := classes.Get(ctx, ClassName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("look for storage class %s: %w", ClassName, err)
	}
	if err == nil && realNodes && old.Provisioner == Provisioner && !waitsForPod(old) {
		// It is of a time without real nodes, and cannot be changed.
		if err := classes.Delete(ctx, ClassName, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("replace storage class %s: %w", ClassName, err)
		}
	}
	_, err = classes.Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create storage class %s: %w", ClassName, err)
	}
	return nil
}
