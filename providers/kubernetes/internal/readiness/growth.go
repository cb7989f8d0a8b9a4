package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// assessSize assesses whether the volume of a claim is as large as the claim asks for. A claim is
// ready, and growing, if only its file system is still to grow: that may wait for the next start of a
// pod. A claim that somebody bound to a smaller volume by hand is ready, too.
func assessSize(claim *unstructured.Unstructured) Assessment {
	wanted, has := quantity(claim, "spec", "resources", "requests", "storage"), quantity(claim, "status", "capacity", "storage")
	if has.IsZero() || has.Cmp(wanted) >= 0 || !providers.VolumeGrows(claim) {
		return Assessment{Ready: true}
	}
	if strings.HasSuffix(Field(claim, "status", "allocatedResourceStatuses", "storage"), "ResizeInfeasible") {
		return Assessment{Failed: true, Status: infeasible(claim, has, wanted)}
	}
	if conditionOf(claim, string(corev1.PersistentVolumeClaimFileSystemResizePending)) != nil {
		return Assessment{Ready: true, Growing: true, Status: fmt.Sprintf("its volume has %s, and its file system still has %s", &wanted, &has)}
	}
	return Assessment{Status: fmt.Sprintf("its volume has %s and grows to %s", &has, &wanted)}
}

// infeasible says why the volume of a claim cannot grow.
func infeasible(claim *unstructured.Unstructured, has, wanted resource.Quantity) string {
	for _, kind := range []corev1.PersistentVolumeClaimConditionType{corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError} {
		if condition := conditionOf(claim, string(kind)); condition != nil {
			return "its volume cannot grow: " + oneLine(fmt.Sprint(condition["message"]))
		}
	}
	return fmt.Sprintf("its volume has %s and cannot grow to %s", &has, &wanted)
}

// quantity returns a quantity of an object; zero: there is none.
func quantity(object *unstructured.Unstructured, path ...string) resource.Quantity {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	size, _ := resource.ParseQuantity(fmt.Sprint(value))
	return size
}

// diagnoseGrowth finds out why the volume of a claim does not grow.
func (q Inquiry) diagnoseGrowth(ctx context.Context, claim *unstructured.Unstructured) (*Finding, error) {
	return q.lastWarning(ctx, claim, "VolumeResizeFailed", "its volume does not grow")
}

// growthPatience is how long the node of a running pod may take to grow the file system of a volume.
// A kubelet looks for such volumes about once a minute.
const growthPatience = 3 * time.Minute

// fileSystemGrowth assesses a claim of which only the file system is still to grow. The node of a
// running pod grows it. If no pod runs, or if the node has not done it in time, the claim is ready,
// and the finding says what is left to do.
func (q Inquiry) fileSystemGrowth(ctx context.Context, claim *unstructured.Unstructured) Examination {
	pods, err := q.Source.AllPods(ctx, claim.GetNamespace())
	if err != nil { // the user may lack the permission to list pods
		return Examination{Ready: true, Finding: &Finding{Reason: "its file system grows while a pod uses it, or when the next pod starts with it"}}
	}
	at := slices.IndexFunc(pods, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && mounts(pod, claim.GetName())
	})
	if at < 0 {
		return Examination{Ready: true, Finding: &Finding{Reason: "its file system grows when the next pod starts with it"}}
	}
	name := pods[at].Name
	since, _ := time.Parse(time.RFC3339, fmt.Sprint(conditionOf(claim, string(corev1.PersistentVolumeClaimFileSystemResizePending))["lastTransitionTime"]))
	if time.Since(since) < growthPatience {
		return Examination{Finding: &Finding{Cause: causeStarting, Pod: name, Reason: fmt.Sprintf("the node of pod %s grows the file system of its volume", name)}}
	}
	return Examination{Ready: true, Finding: &Finding{Pod: name, Reason: fmt.Sprintf(
		"its file system does not grow while pod %s runs; restart the pod: kubectl delete pod -n %s %s", name, claim.GetNamespace(), name)}}
}

// mounts reports whether a pod has a claim among its volumes.
func mounts(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim
	})
}
