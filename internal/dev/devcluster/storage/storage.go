// Package storage makes a volume for each claim of its storage class, so that pods with claims
// are scheduled. On a real node the volume is a folder. Simulated pods write nothing, so their
// volumes have no folder.
package storage

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// Provisioner is named by the storage classes that this package serves.
	Provisioner = "devcluster.kolla/simulated"
	// ClassName is the default storage class.
	ClassName = "standard"

	defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"
)

// EnsureClass makes the default storage class unless there is one of its name. Volumes are
// made only after their pods are scheduled, because a volume on a real node must be on the
// pod's node.
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
		ReclaimPolicy:        new(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    &binding,
		AllowVolumeExpansion: new(true),
	}
	classes := client.StorageV1().StorageClasses()
	old, err := classes.Get(ctx, ClassName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("look for storage class %s: %w", ClassName, err)
	}
	if err == nil && realNodes && old.Provisioner == Provisioner && !waitsForPod(old) {
		// It is from a version without real nodes, and cannot be changed.
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
