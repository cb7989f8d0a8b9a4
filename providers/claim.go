package providers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// provisioner is the annotation of a claim with the driver that makes its volume.
const provisioner = "volume.kubernetes.io/storage-provisioner"

// VolumeGrows reports whether the volume of a claim will grow to the size in the claim. A volume
// that a driver made will grow. Any other volume may stay smaller for ever, unless its growth has
// begun.
func VolumeGrows(claim *unstructured.Unstructured) bool {
	var c corev1.PersistentVolumeClaim
	if runtime.DefaultUnstructuredConverter.FromUnstructured(claim.Object, &c) != nil {
		return false
	}
	_, made := c.Annotations[provisioner]
	_, begun := c.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
	allocated, has := c.Status.AllocatedResources[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
	return made || begun || allocated.Cmp(has) > 0 ||
		slices.ContainsFunc(c.Status.Conditions, func(condition corev1.PersistentVolumeClaimCondition) bool {
			return condition.Type == corev1.PersistentVolumeClaimResizing || condition.Type == corev1.PersistentVolumeClaimFileSystemResizePending
		})
}

// ClaimPlace is the key of Object.Places for the size of a claim of a StatefulSet.
func ClaimPlace(name string) string { return "claim " + name }
