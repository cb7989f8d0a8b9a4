package write

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/list"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

const (
	// heldTimeout bounds the search for what holds an object.
	heldTimeout = 5 * time.Second
	// maxHolders is the number of objects that are named.
	maxHolders = 5
)

// waitsFor maps Kubernetes' own finalizers to descriptions of the events that they wait for. Users
// must not remove them: the objects, volumes or load balancers that they protect would be left
// behind unnoticed.
var waitsFor = map[string]string{
	"customresourcecleanup.apiextensions.k8s.io":              "all objects of its kind to be deleted",
	"kubernetes.io/pvc-protection":                            "all pods that use the claim to end",
	"kubernetes.io/pv-protection":                             "the claim of the volume to be deleted",
	metav1.FinalizerDeleteDependents:                          "the objects that depend on it to be deleted",
	metav1.FinalizerOrphanDependents:                          "the garbage collector to let its dependents go",
	"service.kubernetes.io/load-balancer-cleanup":             "the controller of the cloud provider to delete the load balancer",
	"batch.kubernetes.io/job-tracking":                        "the Job controller to count the pod",
	string(corev1.FinalizerKubernetes):                        "everything in the namespace to be deleted",
	"resource.kubernetes.io/delete-protection":                "all pods that use the resource claim to end",
	"snapshot.storage.kubernetes.io/pvc-as-source-protection": "the snapshot of the volume to be complete",
}

// ofKubernetes matches other finalizers of Kubernetes and of its drivers.
var ofKubernetes = regexp.MustCompile(`^([a-z0-9-]+\.)*(k8s\.io|kubernetes\.io)(/|$)|^external-(provisioner|attacher)[./]`)

// isSystem reports whether a finalizer is Kubernetes' own.
func isSystem(finalizer string) bool {
	return waitsFor[finalizer] != "" || ofKubernetes.MatchString(finalizer)
}

// holder is an object that prevents the deletion of another one, or the object itself.
type holder struct {
	name       string // "Thing a/b"
	command    string // command that edits the object
	finalizers []string
}

func holderOf(gvk schema.GroupVersionKind, meta metav1.Object) holder {
	h := holder{name: providers.Ref{GVK: gvk, Namespace: meta.GetNamespace(), Name: meta.GetName()}.String(), finalizers: meta.GetFinalizers()}
	kind := strings.ToLower(gvk.Kind)
	if strings.Contains(gvk.Group, ".") {
		kind += "." + gvk.Group
	}
	h.command = "kubectl "
	if meta.GetNamespace() != "" {
		h.command += "-n " + meta.GetNamespace() + " "
	}
	h.command += "edit " + kind + " " + meta.GetName()
	return h
}

// foreign returns the finalizers that are not Kubernetes' own.
func (h holder) foreign() []string {
	return slices.DeleteFunc(slices.Clone(h.finalizers), isSystem)
}

// String names the object, and says for each of its finalizers what it waits for.
func (h holder) String() string {
	var parts []string
	for _, finalizer := range h.finalizers {
		if what := waitsFor[finalizer]; what != "" {
			finalizer += ", which waits for " + what
		}
		parts = append(parts, finalizer)
	}
	if len(parts) == 0 {
		return h.name
	}
	return fmt.Sprintf("%s (%s %s)", h.name, words.Plural(len(parts), "finalizer", "finalizers"), strings.Join(parts, "; "))
}

// holding describes what holds an object that is being deleted, and how to go on; empty: unknown.
func holding(ctx context.Context, a *resources.Access, object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), heldTimeout)
	defer cancel()
	self := holderOf(object.GroupVersionKind(), object)
	if object.GroupVersionKind().GroupKind() == kinds.Namespace {
		more, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "finalizers")
		self.finalizers = append(slices.Clip(self.finalizers), more...)
	}
	var lines []string
	left := leftOf(ctx, a, object, self.finalizers)
	for _, finalizer := range self.finalizers {
		switch what := waitsFor[finalizer]; {
		case what != "":
			lines = append(lines, fmt.Sprintf("It waits for %s (finalizer %s).", what, finalizer))
		case isSystem(finalizer):
			lines = append(lines, fmt.Sprintf("It waits for the part of Kubernetes, or the driver, that set the finalizer %s.", finalizer))
		default:
			lines = append(lines, fmt.Sprintf("It is held by the finalizer %s.", finalizer))
		}
	}
	lines = append(lines, conditionsOf(object)...)
	if len(left) == 0 && object.GroupVersionKind().GroupKind() == kinds.CustomResourceDefinition {
		lines = append(lines, fmt.Sprintf("To see them: kubectl get %s --all-namespaces.", object.GetName()))
	}
	if len(left) > 0 {
		var names []string
		for _, h := range left {
			names = append(names, h.String())
		}
		lines = append(lines, "Left are: "+words.Few(names, maxHolders)+".")
	}
	return strings.Join(append(lines, advice(append([]holder{self}, left...))...), " ")
}

// advice says who removes the finalizers that are not Kubernetes' own.
func advice(all []holder) []string {
	for _, h := range all {
		if foreign := h.foreign(); len(foreign) > 0 {
			return []string{fmt.Sprintf("Find the controller that should remove %s from %s. If that no longer runs, remove this finalizer, and no other one, yourself: %s",
				strings.Join(foreign, ", "), h.name, h.command)}
		}
	}
	return nil
}

// conditionsOf returns the conditions of a namespace that say what is left in it, or cannot be
// deleted.
func conditionsOf(object *unstructured.Unstructured) []string {
	var out []string
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		kind, _ := condition["type"].(string)
		if message, _ := condition["message"].(string); condition["status"] == "True" && strings.HasPrefix(kind, "Namespace") && message != "" {
			out = append(out, strings.TrimSuffix(message, ".")+".")
		}
	}
	return out
}

// leftOf returns the objects that an object waits for. It leaves out objects that it cannot read.
func leftOf(ctx context.Context, a *resources.Access, object *unstructured.Unstructured, finalizers []string) []holder {
	var left []holder
	add := func(gvk schema.GroupVersionKind, all ...*unstructured.Unstructured) {
		for _, u := range all {
			left = append(left, holderOf(gvk, u))
		}
	}
	switch object.GroupVersionKind().GroupKind() {
	case kinds.CustomResourceDefinition:
		gvk := definedBy(object)
		all, _ := list.All(ctx, a, gvk, "")
		add(gvk, all...)
	case kinds.Namespace:
		contents, _ := list.Contents(ctx, a, object.GetName())
		for i := range contents.Objects {
			left = append(left, holderOf(contents.Objects[i].GroupVersionKind(), &contents.Objects[i]))
		}
	case kinds.PersistentVolumeClaim:
		pods, _ := list.All(ctx, a, corev1.SchemeGroupVersion.WithKind("Pod"), object.GetNamespace())
		add(corev1.SchemeGroupVersion.WithKind("Pod"), slices.DeleteFunc(pods, func(pod *unstructured.Unstructured) bool { return !mounts(pod, object.GetName()) })...)
	case kinds.PersistentVolume:
		claim := &unstructured.Unstructured{Object: map[string]any{}}
		claim.SetNamespace(readiness.Field(object, "spec", "claimRef", "namespace"))
		if claim.SetName(readiness.Field(object, "spec", "claimRef", "name")); claim.GetName() != "" && slices.Contains(finalizers, "kubernetes.io/pv-protection") {
			add(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
		}
	}
	// Objects with finalizers come first, because they hold the others.
	slices.SortStableFunc(left, func(a, b holder) int { return len(b.foreign()) - len(a.foreign()) })
	return left
}

// definedBy returns the kind that a CustomResourceDefinition defines, in its stored version.
func definedBy(crd *unstructured.Unstructured) schema.GroupVersionKind {
	gvk := schema.GroupVersionKind{Group: readiness.Field(crd, "spec", "group"), Kind: readiness.Field(crd, "spec", "names", "kind")}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		version, _ := item.(map[string]any)
		if name, _ := version["name"].(string); gvk.Version == "" || version["storage"] == true && version["served"] == true {
			gvk.Version = name
		}
	}
	return gvk
}

// mounts reports whether a pod that has not ended mounts a claim.
func mounts(pod *unstructured.Unstructured, claim string) bool {
	phase := readiness.Field(pod, "status", "phase")
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	return phase != string(corev1.PodSucceeded) && phase != string(corev1.PodFailed) && slices.ContainsFunc(volumes, func(item any) bool {
		volume, _ := item.(map[string]any)
		name, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName")
		return name == claim
	})
}
