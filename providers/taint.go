package providers

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers/kinds"
)

// For server-side apply, the taints of a Node are one list with one owner. A manager that
// applied taints would therefore own the taints of other programs too. So the manifest of a
// Node has an annotation with the taints that the cloud wants: "KEY=VALUE:EFFECT", separated by
// commas. The writer of the Node compares it with the live annotation, and updates the list
// accordingly.

// annotationTaints is the prefix of the annotation. The name of the cloud follows.
const annotationTaints = "taints.kolla.openstack.org/"

// AnnotationTaints returns the annotation of a Node with the taints that a cloud wants.
func AnnotationTaints(cloud string) string { return annotationTaints + cloud }

// taintsBy returns the annotation that belongs to the manager of a cloud's partial objects. It
// is empty for other managers.
func taintsBy(manager string) string {
	if cloud, ok := strings.CutPrefix(manager, FieldManager+":"); ok {
		return AnnotationTaints(cloud)
	}
	return ""
}

// Tainting has the taints that a cloud wanted before and the taints that it wants now.
type Tainting struct{ former, wanted []string }

// TaintingOf compares a live Node with the manifest of a manager.
func TaintingOf(live, manifest *unstructured.Unstructured, manager string) Tainting {
	return Tainting{taintsIn(live, manager), taintsIn(manifest, manager)}
}

func taintsIn(u *unstructured.Unstructured, manager string) []string {
	if text := u.GetAnnotations()[taintsBy(manager)]; u.GroupVersionKind().GroupKind() == kinds.Node && text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

// Remove returns the taints of a Node without the taints that are no longer wanted.
func (t Tainting) Remove(node *unstructured.Unstructured) (taints []any, changed bool) {
	all := taintsOf(node)
	taints = slices.DeleteFunc(slices.Clone(all), func(taint any) bool {
		text := taintText(taint)
		return slices.Contains(t.former, text) && !slices.Contains(t.wanted, text)
	})
	return taints, len(taints) < len(all)
}

// Add returns the taints of a Node with the wanted taints. A Node has at most one taint for a
// key and an effect.
func (t Tainting) Add(node *unstructured.Unstructured) (taints []any, changed bool) {
	taints = taintsOf(node)
	for _, text := range t.wanted {
		if slices.ContainsFunc(taints, func(taint any) bool { return taintText(taint) == text }) {
			continue
		}
		taints = slices.DeleteFunc(slices.Clone(taints), func(taint any) bool { return taintID(taintText(taint)) == taintID(text) })
		key, effect := splitTaint(text)
		key, value, _ := strings.Cut(key, "=")
		taint := map[string]any{"key": key, "effect": effect}
		if value != "" {
			taint["value"] = value
		}
		taints, changed = append(taints, taint), true
	}
	return taints, changed
}

// KeepTaints adds the taints that the cloud has put on the live Node to the manifest.
func KeepTaints(manifest, live *unstructured.Unstructured, cloud string) {
	manager := ManagerOf(cloud, true)
	wanted := taintsIn(manifest, manager)
	for _, text := range taintsIn(live, manager) {
		if !slices.ContainsFunc(wanted, func(other string) bool { return taintID(other) == taintID(text) }) {
			wanted = append(wanted, text)
		}
	}
	if len(wanted) == 0 {
		return
	}
	slices.Sort(wanted)
	annotations := manifest.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationTaints(cloud)] = strings.Join(wanted, ",")
	manifest.SetAnnotations(annotations)
}

// Untainted reports whether a Node has no taints and the manifest wants none.
func Untainted(manifest, node *unstructured.Unstructured, manager string) bool {
	return len(taintsIn(manifest, manager)) == 0 && len(taintsOf(node)) == 0
}

// Tainted reports whether a Node has the taints that its annotation lists.
func Tainted(node *unstructured.Unstructured, manager string) bool {
	_, changed := TaintingOf(node, node, manager).Add(node)
	return !changed
}

func taintsOf(node *unstructured.Unstructured) []any {
	taints, _, _ := unstructured.NestedSlice(node.Object, "spec", "taints")
	return taints
}

func splitTaint(text string) (keyAndValue, effect string) {
	i := strings.LastIndex(text, ":")
	return text[:max(i, 0)], text[i+1:]
}

// taintID returns the key and effect of a taint. A Node has at most one taint for them.
func taintID(text string) string {
	key, effect := splitTaint(text)
	key, _, _ = strings.Cut(key, "=")
	return key + ":" + effect
}

func taintText(taint any) string {
	fields, _ := taint.(map[string]any)
	key, _ := fields["key"].(string)
	value, _ := fields["value"].(string)
	effect, _ := fields["effect"].(string)
	if value != "" {
		key += "=" + value
	}
	return key + ":" + effect
}

// TaintsOfCloud returns the taints that a cloud has put on a Node, as "KEY=VALUE:EFFECT". manager
// is the field manager of the cloud's partial objects.
func TaintsOfCloud(node *unstructured.Unstructured, manager string) []string {
	return taintsIn(node, manager)
}

// OutOfService returns the command that tells Kubernetes that a node is off: Kubernetes then deletes
// the pods of the node, and detaches their volumes.
func OutOfService(node string) string {
	return "kubectl taint node " + node + " " + corev1.TaintNodeOutOfService + "=nodeshutdown:NoExecute"
}
