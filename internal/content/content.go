// Package content says what an object that will be created is made of: not every field
// of the kinds that everybody knows, but what tells the object from others of its kind,
// and everything that weakens security. Of all other kinds it gives the whole content.
package content

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Line is one fact about an object.
type Line struct {
	Text string
	// Weak: with it the object can do more than its work seems to need. A reviewer has to
	// see it.
	Weak bool
}

// powers matches the fields that decide what an object may do.
var powers = regexp.MustCompile(`\b(privileged|host(Network|PID|IPC|Path|Port)|hostUsers|capabilities|runAs\w+|allowPrivilegeEscalation|` +
	`seccompProfile|appArmorProfile|seLinuxOptions|procMount|sysctls|serviceAccount\w*|automountServiceAccountToken|` +
	`externalIPs|externalName|rules|aggregationRule|subjects|roleRef)\b|pod-security\.kubernetes\.io`)

// Powers reports whether a field decides what an object may do.
func Powers(path string) bool { return powers.MatchString(path) }

// describers are for the kinds that have words of their own. Kinds of the same name in another
// group are other kinds.
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

// Of describes an object that will be created. A line takes about width columns where
// its text allows that; nothing is left out for want of room.
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

// facts are lines about nothing that weakens security.
func facts(texts ...string) []Line {
	var out []Line
	for _, t := range texts {
		out = append(out, Line{Text: t})
	}
	return out
}

// weak are lines about what weakens security.
func weak(texts ...string) []Line {
	var out []Line
	for _, t := range texts {
		out = append(out, Line{Text: t, Weak: true})
	}
	return out
}

// ours reports whether a label or annotation is kolla's bookkeeping, or only repeats
// what the object is called.
func ours(key string) bool {
	return strings.HasPrefix(key, "kolla.openstack.org/") || strings.HasPrefix(key, "app.kubernetes.io/") ||
		key == "kubernetes.io/metadata.name"
}

// foreignKeys are the entries of a map that are not kolla's bookkeeping.
func foreignKeys(entries map[string]any) map[string]any {
	entries = maps.Clone(entries)
	maps.DeleteFunc(entries, func(key string, _ any) bool { return ours(key) })
	return entries
}

// annotations are those that somebody declared: controllers act on them.
func annotations(object *providers.Object, width int) []Line {
	given := foreignKeys(field(object.Manifest.Object, "metadata", "annotations"))
	if len(given) == 0 {
		return nil
	}
	return facts(outline(map[string]any{"annotations": given}, width)...)
}

// everything is the whole content of an object of a kind without words of its own.
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

// namespace has nothing but labels, and those of Pod Security decide what runs in it.
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

// budget is how many pods may be missing.
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

// claimed tells how much storage a claim asks for, and which volume it takes.
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

// claim tells how much storage of what class is asked for.
func claim(content map[string]any) string {
	spec := field(content, "spec")
	size, _ := field(spec, "resources", "requests")["storage"].(string)
	if class, _ := spec["storageClassName"].(string); class != "" {
		return size + " of storage class " + class
	}
	return size + " of the default storage class"
}

// definition names the kind that a definition makes. Its schema is long, and -full shows
// it.
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
			out = append(out, facts(key+", "+count(n, "line"))...)
		case body == plans.Unknown:
			out = append(out, facts(key+" = "+body)...)
		case len([]rune(body)) > mostOpaque:
			out = append(out, facts(key+", "+count(len([]rune(body)), "character"))...)
		default:
			out = append(out, facts(key+" = "+quoted(body))...)
		}
	}
	for key, value := range sorted(field(object.Manifest.Object, "binaryData")) {
		body, _ := value.(string)
		out = append(out, facts(key+", "+count(len(body)*3/4, "byte"))...)
	}
	return out
}

// field walks down nested maps; nil where there is nothing.
func field(content map[string]any, path ...string) map[string]any {
	for _, key := range path {
		content, _ = content[key].(map[string]any)
	}
	return content
}

// elements are the maps in a list.
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

// texts are the strings in a list.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprint(e))
	}
	return out
}

// number reads what JSON and Go make of whole numbers.
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

// pairs shows labels as kubectl takes them: "a=b,c=d".
func pairs(m map[string]any) string {
	var out []string
	for key, value := range sorted(m) {
		out = append(out, fmt.Sprintf("%s=%v", key, value))
	}
	return strings.Join(out, ",")
}

// sorted goes through a map in the order of its keys.
func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// count gives "1 line", "2 lines".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
