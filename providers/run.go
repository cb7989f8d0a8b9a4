package providers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// These fields of a Job, its pods and their containers determine the work of a run. All other
// fields determine how, where and how often the run is tried, or what happens after it.
var (
	jobWork       = []string{"completions", "completionMode"}
	podWork       = []string{"volumes", "hostAliases", "serviceAccountName"}
	containerWork = []string{"image", "command", "args", "workingDir", "env", "envFrom", "volumeMounts", "volumeDevices", "lifecycle"}
)

// contents are prefixes of pod annotations that identify the content of other objects, such as
// "checksum/config" in Helm charts.
var contents = []string{"checksum/", AnnotationSecret}

// defaults are values that the server gives to fields of Jobs, volumes and variables.
var defaults = map[string]string{"completions": "1", "completionMode": "NonIndexed", "defaultMode": "420", "apiVersion": "v1"}

// RunDigest returns 64 hexadecimal digits that identify what the pods of a Job do: their images,
// commands, variables and volumes. A finished Job runs again only if it changes. It is empty for
// other kinds. Like Digest, it covers no secret value.
func (o *Object) RunDigest() string {
	if !o.IsJob() {
		return ""
	}
	job, _ := o.Manifest.Object["spec"].(map[string]any)
	template, _ := job["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	work := []any{picked(job, jobWork), picked(pod, podWork), contentsOf(template)}
	for _, field := range []string{"initContainers", "containers"} {
		list, _ := pod[field].([]any)
		var containers []any
		for _, item := range list {
			container, _ := item.(map[string]any)
			containers = append(containers, picked(container, containerWork))
		}
		work = append(work, containers)
	}
	raw, err := json.Marshal(work)
	if err != nil {
		panic(fmt.Sprintf("the manifest of %s is not JSON: %v", o.Address, err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// picked returns the named fields, without empty fields and without fields at their default.
func picked(from map[string]any, names []string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if value := undefaulted(name, from[name]); value != nil {
			out[name] = value
		}
	}
	return out
}

// undefaulted removes empty values and defaults from the value of a field. It returns nil if
// nothing is left. An emptyDir never counts, because it starts empty in every run.
func undefaulted(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range value {
			if inner = undefaulted(key, inner); inner != nil {
				out[key] = inner
			}
		}
		if len(out) == 0 || name == "emptyDir" {
			return nil
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = undefaulted("", value[i])
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case bool:
		if !value {
			return nil
		}
	case string:
		if value == "" {
			return nil
		}
	}
	if value == nil || fmt.Sprint(value) == defaults[name] {
		return nil
	}
	return value
}

// contentsOf returns the annotations of a pod template that identify the content of other objects.
func contentsOf(template map[string]any) map[string]string {
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return !slices.ContainsFunc(contents, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
	if len(annotations) == 0 {
		return nil
	}
	return annotations
}
