package providers

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// ReplacesOnRequest reports whether a StatefulSet or DaemonSet keeps outdated pods until they are deleted.
func ReplacesOnRequest(workload *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(workload.Object, "spec", "updateStrategy", "type")
	return strategy == "OnDelete"
}

// OutdatedPods returns the number of pods that a StatefulSet or DaemonSet with the update strategy OnDelete has left
// as they were before its template changed. It is zero for other workloads, and while the controller has not seen
// the template.
func OutdatedPods(live *unstructured.Unstructured) int {
	if !ReplacesOnRequest(live) {
		return 0
	}
	count := func(field string) int {
		n, _, _ := unstructured.NestedInt64(live.Object, "status", field)
		return int(n)
	}
	switch {
	case int64(count("observedGeneration")) < live.GetGeneration():
		return 0
	case live.GetKind() == "DaemonSet":
		return count("currentNumberScheduled") - count("updatedNumberScheduled")
	}
	return count("replicas") - count("updatedReplicas")
}
