package inventory

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Holds returns the data that would be lost with a live object, as the declaration calls it
// or by the kind of the object; empty: none.
func Holds(live *unstructured.Unstructured, declared string) string {
	if declared != "" {
		return declared
	}
	switch live.GroupVersionKind().GroupKind() {
	case kinds.Namespace:
		return "everything in it"
	case kinds.PersistentVolumeClaim:
		return "the data on its volume"
	case kinds.PersistentVolume:
		return "the data on it"
	case kinds.CustomResourceDefinition:
		return "all objects of the kind that it defines"
	case kinds.StatefulSet:
		if TakesVolumesAlong(live) {
			return "the data on the volumes of its replicas, which are deleted with it"
		}
	}
	return ""
}

// OwnVolumes describes the volumes of a StatefulSet with claim templates; empty: it has none.
// They stay when the StatefulSet is deleted, but a new one may not use them again.
func OwnVolumes(set *unstructured.Unstructured) string {
	if set.GroupVersionKind().GroupKind() != kinds.StatefulSet || len(ClaimTemplates(set)) == 0 {
		return ""
	}
	return "volumes of its own for each replica"
}

// TakesVolumesAlong reports whether the cluster deletes the claims of a StatefulSet with it.
func TakesVolumesAlong(set *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(set.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	return policy == "Delete" && len(ClaimTemplates(set)) > 0
}

// ClaimTemplates returns the claim templates of a StatefulSet.
func ClaimTemplates(set *unstructured.Unstructured) []any {
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	return templates
}

// ClaimNames returns the names of the claim templates of a StatefulSet. The name of a claim
// begins with that of its template.
func ClaimNames(set *unstructured.Unstructured) []string {
	var names []string
	for _, template := range ClaimTemplates(set) {
		fields, _ := template.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "metadata", "name")
		names = append(names, name)
	}
	return names
}

// MountedClaims returns the names of the claims that the pods of an object mount, without those that
// a StatefulSet makes.
func MountedClaims(object *unstructured.Unstructured) []string {
	path, ok := kinds.Pods(object.GroupVersionKind().GroupKind())
	if !ok {
		return nil
	}
	volumes, _, _ := unstructured.NestedSlice(object.Object, slices.Concat(path, []string{"spec", "volumes"})...)
	var names []string
	for _, item := range volumes {
		volume, _ := item.(map[string]any)
		if name, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// ClaimSizePath is the path of the size that a claim asks for.
const ClaimSizePath = "spec.resources.requests.storage"

// ClaimSize returns the size that a claim or a claim template asks for; not ok: it asks for none.
func ClaimSize(claim map[string]any) (size resource.Quantity, ok bool) {
	value, there, _ := unstructured.NestedFieldNoCopy(claim, "spec", "resources", "requests", "storage")
	size, err := resource.ParseQuantity(fmt.Sprint(value))
	return size, there && err == nil
}

// Phase returns the phase of an object; empty: it has none.
func Phase(object *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	return phase
}

// Condition reports whether a condition of an object is true.
func Condition(object *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(item any) bool {
		condition, _ := item.(map[string]any)
		return condition["type"] == kind && condition["status"] == "True"
	})
}

// Replicas returns the wanted number of pods of a workload. The number of a DaemonSet is
// known only after the cluster has counted the nodes. The workload may be nil.
func Replicas(workload *unstructured.Unstructured) (n int, known bool) {
	if workload == nil {
		return 0, false
	}
	if workload.GroupVersionKind().GroupKind() == kinds.DaemonSet {
		n, ok, _ := unstructured.NestedInt64(workload.Object, "status", "desiredNumberScheduled")
		return int(n), ok
	}
	if n, ok, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas"); ok {
		return int(n), true
	}
	return 1, true // the default of the API
}

// NodeSelector returns the labels that a node needs for the pods of a DaemonSet.
func NodeSelector(daemonSet *unstructured.Unstructured) map[string]string {
	selector, _, _ := unstructured.NestedStringMap(daemonSet.Object, "spec", "template", "spec", "nodeSelector")
	return selector
}

// FileVolumes has the ConfigMaps and Secrets that a pod template mounts as files.
type FileVolumes struct {
	Names []string // of the volumes, in order
	Refs  map[string]providers.Ref
}

// FilesOf returns the file volumes of a workload.
func FilesOf(workload *unstructured.Unstructured) FileVolumes {
	v := FileVolumes{Refs: map[string]providers.Ref{}}
	list, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "volumes")
	for _, item := range list {
		volume, _ := item.(map[string]any)
		name, _, _ := unstructured.NestedString(volume, "name")
		ref := providers.Ref{Namespace: workload.GetNamespace()}
		if configMap, ok, _ := unstructured.NestedString(volume, "configMap", "name"); ok {
			ref.GVK, ref.Name = kinds.ConfigMap.WithVersion("v1"), configMap
		} else if secret, ok, _ := unstructured.NestedString(volume, "secret", "secretName"); ok {
			ref.GVK, ref.Name = kinds.Secret.WithVersion("v1"), secret
		} else {
			continue
		}
		v.Names = append(v.Names, name)
		v.Refs[name] = ref
	}
	return v
}
