// Package content describes an object that will be created. For well-known kinds it does not
// list every field: it lists the fields that distinguish the object from others of its kind,
// and everything that weakens security. For other kinds it lists the whole content.
package content

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Line is one fact about an object.
type Line struct {
	Text string
	// Weak: it allows the object more than its work seems to need. A reviewer has to see it.
	Weak bool
}

// powers matches the fields that decide about the powers of an object.
var powers = regexp.MustCompile(`\b(privileged|host(Network|PID|IPC|Path|Port)|hostUsers|capabilities|runAs\w+|allowPrivilegeEscalation|` +
	`seccompProfile|appArmorProfile|seLinuxOptions|procMount|sysctls|serviceAccount\w*|automountServiceAccountToken|` +
	`externalIPs|externalName|rules|aggregationRule|subjects|roleRef)\b|pod-security\.kubernetes\.io`)

// Powers reports whether a field decides about the powers of an object.
func Powers(path string) bool { return powers.MatchString(path) }

// describers are the descriptions of well-known kinds. Kinds of the same name in another group
// are different kinds.
var describers = map[schema.GroupKind]func(*providers.Object, int) []Line{
	kinds.ConfigMap:             files,
	kinds.Secret:                secret,
	kinds.Service:               service,
	kinds.Namespace:             namespace,
	kinds.PersistentVolumeClaim: claimed,
	kinds.Pod:                   workload,
	kinds.ReplicationController: workload,

	kinds.Deployment:  workload,
	kinds.StatefulSet: workload,
	kinds.DaemonSet:   workload,
	kinds.ReplicaSet:  workload,
	kinds.Job:         job,
	kinds.CronJob:     cronJob,

	kinds.PodDisruptionBudget: budget,

	kinds.Role:               role,
	kinds.ClusterRole:        role,
	kinds.RoleBinding:        binding,
	kinds.ClusterRoleBinding: binding,

	kinds.CustomResourceDefinition: definition,
}

// Of describes an object that will be created. Lines have about width columns if their text
// allows it. Nothing is omitted to save space.
func Of(object *providers.Object, width int) []Line {
	if object == nil || object.Manifest == nil {
		return nil
	}
	describe, known := describers[object.Manifest.GroupVersionKind().GroupKind()]
	if !known {
		describe = everything
	}
	lines := describe(object, width)
	if known {
		lines = append(lines, annotations(object, width)...)
	}
	if len(lines) == 0 {
		return facts("nothing but its name")
	}
	return lines
}

// facts returns lines that do not weaken security.
func facts(texts ...string) []Line {
	var out []Line
	for _, t := range texts {
		out = append(out, Line{Text: t})
	}
	return out
}

// weak returns lines that weaken security.
func weak(texts ...string) []Line {
	var out []Line
	for _, t := range texts {
		out = append(out, Line{Text: t, Weak: true})
	}
	return out
}

// ours reports whether a label or annotation belongs to kolla's bookkeeping, or only repeats
// the name of the object.
func ours(key string) bool {
	return strings.HasPrefix(key, "kolla.openstack.org/") || strings.HasPrefix(key, "app.kubernetes.io/") ||
		key == "kubernetes.io/metadata.name"
}

// foreignKeys returns the entries of a map that are not kolla's bookkeeping.
func foreignKeys(entries map[string]any) map[string]any {
	entries = maps.Clone(entries)
	maps.DeleteFunc(entries, func(key string, _ any) bool { return ours(key) })
	return entries
}

// annotations lists the declared annotations, because controllers act on them.
func annotations(object *providers.Object, width int) []Line {
	given := foreignKeys(field(object.Manifest.Object, "metadata", "annotations"))
	if len(given) == 0 {
		return nil
	}
	return facts(outline(map[string]any{"annotations": given}, width)...)
}

// everything returns the whole content of an object whose kind has no description.
func everything(object *providers.Object, width int) []Line {
	content := maps.Clone(object.Manifest.Object)
	delete(content, "apiVersion")
	delete(content, "kind")
	metadata := maps.Clone(field(content, "metadata"))
	delete(metadata, "name")
	delete(metadata, "namespace")
	for _, key := range []string{"labels", "annotations"} {
		if given := foreignKeys(field(metadata, key)); len(given) > 0 {
			metadata[key] = given
		} else {
			delete(metadata, key)
		}
	}
	delete(content, "metadata")
	if len(metadata) > 0 {
		content["metadata"] = metadata
	}
	if spec, ok := content["spec"].(map[string]any); ok && len(content) == 1 {
		content = spec
	}
	return facts(outline(content, width)...)
}

// namespace lists the labels of a namespace. The labels of Pod Security decide which pods may
// run in it.
func namespace(object *providers.Object, width int) []Line {
	var out []Line
	for key, value := range sorted(foreignKeys(field(object.Manifest.Object, "metadata", "labels"))) {
		open := strings.HasPrefix(key, "pod-security.kubernetes.io/") && value == "privileged"
		line := Line{Text: "label " + member(key, value, width), Weak: open}
		if cause := object.Causes[fmt.Sprintf("metadata.labels[%q]", key)]; cause != "" {
			line.Text += ", because of " + cause
		}
		out = append(out, line)
	}
	return out
}

// budget describes how many pods may be missing.
func budget(object *providers.Object, _ int) []Line {
	spec := field(object.Manifest.Object, "spec")
	var out []Line
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		if v, ok := spec[name]; ok {
			out = append(out, facts(name+" "+scalar(v))...)
		}
	}
	return out
}

// claimed describes the size and the storage class of a claim, and the volume that it asks for.
func claimed(object *providers.Object, width int) []Line {
	out := facts(claim(object.Manifest.Object))
	spec := field(object.Manifest.Object, "spec")
	for _, key := range []string{"volumeName", "dataSource", "dataSourceRef", "selector"} {
		if v, ok := spec[key]; ok {
			out = append(out, facts(outline(map[string]any{key: v}, width)...)...)
		}
	}
	return out
}

// claim describes the size and the storage class of a claim.
func claim(content map[string]any) string {
	spec := field(content, "spec")
	size, _ := field(spec, "resources", "requests")["storage"].(string)
	if class, _ := spec["storageClassName"].(string); class != "" {
		return size + " of storage class " + class
	}
	return size + " of the default storage class"
}

// definition describes the kind that a definition creates. It leaves out the schema, which is
// long; -full shows it.
func definition(object *providers.Object, width int) []Line {
	spec := field(object.Manifest.Object, "spec")
	names := field(spec, "names")
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	plural, _ := names["plural"].(string)
	scope, _ := spec["scope"].(string)
	out := facts(fmt.Sprintf("kind %s (%s.%s), %s", kind, plural, group, strings.ToLower(scope)))
	for _, version := range elements(spec["versions"]) {
		name, _ := version["name"].(string)
		text := "version " + name
		if served, _ := version["served"].(bool); !served {
			text += ", not served"
		}
		if stored, _ := version["storage"].(bool); stored {
			text += ", stored"
		}
		out = append(out, facts(text+" (-full shows its schema)")...)
	}
	for _, key := range []string{"shortNames", "categories"} {
		if v, ok := names[key]; ok {
			out = append(out, facts(outline(map[string]any{key: v}, width)...)...)
		}
	}
	if conversion := field(spec, "conversion"); conversion["strategy"] == "Webhook" {
		out = append(out, facts(outline(map[string]any{"conversion": conversion}, width)...)...)
	}
	return out
}

// files lists the entries of a ConfigMap with their sizes.
func files(object *providers.Object, _ int) []Line {
	var out []Line
	for key, value := range sorted(field(object.Manifest.Object, "data")) {
		body, _ := value.(string)
		switch n := strings.Count(body, "\n"); {
		case n > 0:
			out = append(out, facts(key+", "+words.Count(n, "line"))...)
		case body == plans.Unknown:
			out = append(out, facts(key+" = "+body)...)
		case len([]rune(body)) > maxOpaque:
			out = append(out, facts(key+", "+words.Count(len([]rune(body)), "character"))...)
		default:
			out = append(out, facts(key+" = "+Quoted(body))...)
		}
	}
	for key, value := range sorted(field(object.Manifest.Object, "binaryData")) {
		body, _ := value.(string)
		out = append(out, facts(key+", "+words.Count(len(body)*3/4, "byte"))...)
	}
	return out
}

// field returns the map at a path of nested maps, or nil.
func field(content map[string]any, path ...string) map[string]any {
	for _, key := range path {
		content, _ = content[key].(map[string]any)
	}
	return content
}

// elements returns the maps in a list.
func elements(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// texts returns the strings in a list.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprint(e))
	}
	return out
}

// number converts the types that whole numbers have in JSON and in Go.
func number(v any) (int, bool) {
	switch n := v.(type) {
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), true
	default:
		return 0, false
	}
}

// pairs formats labels for kubectl: "a=b,c=d".
func pairs(m map[string]any) string {
	var out []string
	for key, value := range sorted(m) {
		out = append(out, fmt.Sprintf("%s=%v", key, value))
	}
	return strings.Join(out, ",")
}

// sorted iterates over a map in the order of its keys.
func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
