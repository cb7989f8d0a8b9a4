package providers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers/kinds"
)

// The taints of a Node are one list to server-side apply: whoever applies it owns all of
// it, and those of others with it. So the manifest of a Node has an annotation with the
// taints that the cloud wants, "KEY=VALUE:EFFECT" with commas between them, and who writes
// the Node brings its list into line, by what the live annotation says of before.

// annotationTaints is how the annotation begins; the name of the cloud follows.
const annotationTaints = "taints.kolla.openstack.org/"

// AnnotationTaints is the annotation of a Node with the taints that a cloud puts on it.
func AnnotationTaints(cloud string) string { return annotationTaints + cloud }

// taintsBy is the annotation that the manager of a cloud's partial objects owns; empty: it
// is no such manager.
func taintsBy(manager string) string {
	if cloud, ok := strings.CutPrefix(manager, FieldManager+":"); ok {
		return AnnotationTaints(cloud)
	}
	return ""
}

// Tainting is what has to become of the taints of a Node.
type Tainting struct{ former, wanted []string }

// TaintingOf compares a Node with what a manager applies to it.
func TaintingOf(live, manifest *unstructured.Unstructured, manager string) Tainting {
	return Tainting{taintsIn(live, manager), taintsIn(manifest, manager)}
}

func taintsIn(u *unstructured.Unstructured, manager string) []string {
	if text := u.GetAnnotations()[taintsBy(manager)]; u.GroupVersionKind().GroupKind() == kinds.Node && text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

// Remove gives the taints of a Node without those that are no longer wanted.
func (t Tainting) Remove(node *unstructured.Unstructured) (taints []any, changed bool) {
	all := taintsOf(node)
	taints = slices.DeleteFunc(slices.Clone(all), func(taint any) bool {
		text := taintText(taint)
		return slices.Contains(t.former, text) && !slices.Contains(t.wanted, text)
	})
	return taints, len(taints) < len(all)
}

// Add gives the taints of a Node with those that are wanted. A Node has one taint of a key
// and an effect.
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

// KeepTaints has the manifest want the taints, too, that the cloud has put on the live
// Node.
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

// Untainted reports whether a Node has no taints, and the manifest wants none.
func Untainted(manifest, node *unstructured.Unstructured, manager string) bool {
	return len(taintsIn(manifest, manager)) == 0 && len(taintsOf(node)) == 0
}

// Tainted reports whether a Node has the taints that its annotation says.
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

// taintID is what a Node has one taint of: a key and an effect.
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
