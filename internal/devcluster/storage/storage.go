// Package storage gives every claim of its storage class a volume, so that
// pods with claims are scheduled. The volumes hold nothing.
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
func EnsureClass(ctx context.Context, client kubernetes.Interface) error {
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        ClassName,
			Annotations: map[string]string{defaultClassAnnotation: "true"},
		},
		Provisioner:          Provisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingImmediate),
		AllowVolumeExpansion: ptr.To(true),
	}
	_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create storage class %s: %w", ClassName, err)
	}
	return nil
}
