package charts

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// resources maps the kinds that a pod can wait for to the names of their resources.
var resources = map[string]string{"Job": "jobs", "Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}

// waits returns the expressions of the objects that a pod waits for: the objects that an apply of kolla would
// wait for. The pods of a workload wait only for Jobs: when a node restarts, Jobs are complete, and no pod
// waits for the pods of others.
func (t *template) waits(o *providers.Object, pod map[string]any) []string {
	if _, other := pod["serviceAccountName"]; other {
		return nil // the rights of that account are unknown
	}
	var names []string
	for _, address := range o.DependsOn {
		resource, ok := resources[address.Kind]
		if !ok || o.Address.Kind != "Job" && address.Kind != "Job" || address.Namespace != "" {
			continue
		}
		names = append(names, fmt.Sprintf("(print %q (%s))", resource+"/", t.waited(address)))
	}
	return names
}

// wait adds the init container that waits to a pod.
func (t *template) wait(pod map[string]any, names []string) {
	first := pod["containers"].([]any)[0].(map[string]any)
	user := map[string]any{}
	if context, ok := first["securityContext"].(map[string]any); ok {
		for _, key := range []string{"runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile"} {
			if value, ok := context[key]; ok {
				user[key] = value
			}
		}
	}
	image := t.expand(first["image"].(string))
	image = strings.TrimSuffix(strings.TrimPrefix(image, "{{ "), " }}")
	container := fmt.Sprintf("include \"kolla.wait\" (list . (%s) `%s` (list %s))", image, marshal(user), strings.Join(names, " "))
	t.add(pod, "initContainers", container)
	t.add(pod, "volumes", "include \"kolla.wait.volume\" .")
	pod["serviceAccountName"] = t.line("{{- if .Values.global.wait.enabled }}", "KEY kolla-wait", "{{- end }}")
}

// add adds an item to a list of a pod, unless pods do not wait.
func (t *template) add(pod map[string]any, list, item string) {
	present, _ := pod[list].([]any)
	if len(present) == 0 {
		pod[list] = t.line("{{- with "+item+" }}", "KEY", "  {{- . | nindent INDENT }}", "{{- end }}")
		return
	}
	pod[list] = slices.Insert(present, 0, any(t.line("{{- with "+item+" }}", "  {{- . | nindent DEEPER }}", "{{- end }}")))
}

// waited returns the expression of the name of an object. The names of the Jobs of other charts are not
// known here: "*" stands for the hash.
func (t *template) waited(address addrs.Object) string {
	if version, ok := t.versions[address.Kind+"/"+address.Name]; ok {
		return version
	}
	for i := range t.cloud.Objects {
		if o := &t.cloud.Objects[i]; o.Address == address && o.Family.Name != "" {
			return fmt.Sprintf("%q", o.Family.Name+"-*")
		}
	}
	return fmt.Sprintf("%q", address.Name)
}
