package workloads

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// followed returns the annotation of pods that start once more when all workloads of other definitions run new
// images: the releases that these run. As long as some run old images, the annotation stays as it is. It is empty
// if there are no such workloads.
func followed(in Input, w configs.Workload, name string) string {
	releases := map[string]bool{}
	settled := true
	for i := range in.Services {
		s := object.Service{Cloud: in.Pods.Service.Cloud, Decl: &in.Services[i]}
		if !slices.Contains(w.Follows, s.Decl.Definition) {
			continue
		}
		for _, other := range s.Decl.Workloads {
			image := s.Cloud.Image(other.Pod.Image)
			tag := providers.SplitImage(image)
			release, _ := configs.ParseTag(tag.Tag)
			releases[cmp.Or(release, tag.Tag, tag.Digest)] = true
			settled = settled && runsOnly(in.live(other.Kind, s.Workload(other)), image)
		}
	}
	if settled {
		return strings.Join(slices.Sorted(maps.Keys(releases)), " ")
	}
	live := in.live(w.Kind, name)
	if live == nil {
		return ""
	}
	annotations, _, _ := unstructured.NestedStringMap(live.Object, "spec", "template", "metadata", "annotations")
	return annotations[providers.AnnotationFollows]
}

// live returns a workload in the cluster, or nil if it does not exist or the cluster is not known.
func (in Input) live(kind, name string) *unstructured.Unstructured {
	if in.Live == nil {
		return nil
	}
	return in.Live(providers.Ref{GVK: appsv1.SchemeGroupVersion.WithKind(kind), Namespace: in.Pods.Service.Cloud.Decl.Namespace, Name: name})
}

// runsOnly reports whether all pods of a workload are of its present template, and the main container has the
// image. A workload that does not exist will begin with it.
func runsOnly(live *unstructured.Unstructured, image string) bool {
	if live == nil {
		return true
	}
	containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	if len(containers) == 0 {
		return false
	}
	if main, _ := containers[0].(map[string]any); main["image"] != image {
		return false
	}
	number := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(live.Object, "status", field)
		return n
	}
	if number("observedGeneration") != live.GetGeneration() {
		return false
	}
	if live.GetKind() == "DaemonSet" {
		return number("updatedNumberScheduled") == number("desiredNumberScheduled")
	}
	return number("updatedReplicas") == number("replicas")
}
