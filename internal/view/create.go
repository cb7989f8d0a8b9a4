package view

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// essence is what an operator wants to know of an object that will be created:
// not every field, but the few that tell it from others of its kind. Each takes
// about width columns at most; an image is never shortened.
func essence(object *providers.Object, width int) []string {
	if object == nil || object.Manifest == nil {
		return nil
	}
	content := object.Manifest.Object
	switch kind := object.Manifest.GetKind(); kind {
	case "ConfigMap":
		return files(content, width)
	case "Secret":
		return secretKeys(object.Data)
	case "Deployment", "StatefulSet", "DaemonSet":
		return workload(kind, content)
	case "Job":
		return job(field(content, "spec", "template", "spec"), width)
	case "Service":
		return servicePorts(content)
	case "PersistentVolumeClaim":
		return []string{claim(content)}
	case "PodDisruptionBudget":
		return scalars(content, "minAvailable", "maxUnavailable")
	default:
		return nil
	}
}

// files lists the entries of a ConfigMap with their sizes.
func files(content map[string]any, width int) []string {
	var out []string
	data := field(content, "data")
	for _, key := range sortedKeys(data) {
		body, _ := data[key].(string)
		switch n := strings.Count(body, "\n"); {
		case n > 0:
			out = append(out, key+", "+count(n, "line"))
		case body == planner.Unknown:
			out = append(out, key+" = "+body)
		default:
			out = append(out, key+" = "+cut(body, width-columns(key)-3))
		}
	}
	return out
}

// secretKeys says where the values of a Secret come from, keys of one origin
// together.
func secretKeys(data map[string]providers.SecretData) []string {
	byOrigin := map[string][]string{}
	for _, key := range sortedKeys(data) {
		origin := secretOrigin(data[key])
		byOrigin[origin] = append(byOrigin[origin], key)
	}
	var out []string
	for _, origin := range sortedKeys(byOrigin) {
		out = append(out, strings.Join(byOrigin[origin], ", ")+" "+origin)
	}
	return out
}

func secretOrigin(data providers.SecretData) string {
	switch g := data.Generate; {
	case data.Carried:
		return "(taken along from Secret " + data.Parts[0].From.Name + ")"
	case data.Origin != "":
		return "(from " + data.Origin + ")"
	case g == nil:
		return planner.Masked
	case g.Kind == "ssh":
		return fmt.Sprintf("(generated key pair, %s)", g.Algorithm)
	case g.Cert != nil && g.Cert.Issuer == nil:
		return "(generated certificate authority)"
	case g.Cert != nil:
		return fmt.Sprintf("(generated certificate for %s)", strings.Join(certified(g.Cert), ", "))
	case g.Kind == "password" && g.Length > 0:
		return fmt.Sprintf("(generated password, %d characters)", g.Length)
	case g.Kind == "hex" && g.Length > 0:
		return fmt.Sprintf("(generated hex, %d bytes)", g.Length)
	default:
		return "(generated " + g.Kind + ")"
	}
}

// certified is who a certificate is for.
func certified(c *providers.Certificate) []string {
	if names := slices.Concat(c.DNSNames, c.IPAddresses); len(names) > 0 {
		return names
	}
	return []string{c.CommonName}
}

// workload tells how many pods of what run where.
func workload(kind string, content map[string]any) []string {
	spec := field(content, "spec")
	pod := field(spec, "template", "spec")
	lead := "1 replica of "
	if n, ok := number(spec["replicas"]); ok {
		lead = count(n, "replica") + " of "
	}
	if kind == "DaemonSet" {
		lead = "1 pod per node of "
	}
	var out []string
	for i, container := range elements(pod["containers"]) {
		image, _ := container["image"].(string)
		if i > 0 {
			name, _ := container["name"].(string)
			lead = "with " + name + ": "
		}
		out = append(out, lead+image)
	}
	if selector := field(pod, "nodeSelector"); len(selector) > 0 {
		out = append(out, "on nodes with "+pairs(selector))
	}
	for _, template := range elements(spec["volumeClaimTemplates"]) {
		name, _ := field(template, "metadata")["name"].(string)
		out = append(out, "volume "+name+" for each: "+claim(template))
	}
	return append(out, powers(pod)...)
}

// job tells what runs once, and in which image.
func job(pod map[string]any, width int) []string {
	var out []string
	for _, container := range elements(pod["containers"]) {
		image, _ := container["image"].(string)
		command := words(container)
		if command == "" {
			out = append(out, "runs once: "+image)
			continue
		}
		out = append(out, "runs once: "+shorten(command, utf8.RuneCountInString(command), width-len("runs once: ")), "in "+image)
	}
	return append(out, powers(pod)...)
}

// words is the command line of a container.
func words(container map[string]any) string {
	var all []string
	for _, key := range []string{"command", "args"} {
		list, _ := container[key].([]any)
		for _, word := range list {
			s, _ := word.(string)
			if s == "" || strings.ContainsAny(s, " \t\n\"'") {
				s = strconv.Quote(s)
			}
			all = append(all, s)
		}
	}
	return strings.Join(all, " ")
}

// powers names what a pod may do to its node.
func powers(pod map[string]any) []string {
	var out []string
	for _, key := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if on, _ := pod[key].(bool); on {
			out = append(out, key)
		}
	}
	containers := slices.Concat(elements(pod["initContainers"]), elements(pod["containers"]))
	if slices.ContainsFunc(containers, func(c map[string]any) bool {
		on, _ := field(c, "securityContext")["privileged"].(bool)
		return on
	}) {
		out = append(out, "privileged")
	}
	if len(out) == 0 {
		return nil
	}
	return []string{"may reach its node: " + strings.Join(out, ", ")}
}

// servicePorts lists where a Service listens.
func servicePorts(content map[string]any) []string {
	spec := field(content, "spec")
	kind, _ := spec["type"].(string)
	var out []string
	for _, port := range elements(spec["ports"]) {
		n, _ := number(port["port"])
		entry := fmt.Sprintf("port %d", n)
		if name, _ := port["name"].(string); name != "" {
			entry = fmt.Sprintf("port %s %d", name, n)
		}
		if nodePort, ok := number(port["nodePort"]); ok {
			entry += fmt.Sprintf(", on every node %d", nodePort)
		} else if kind == "NodePort" {
			entry += ", on every node " + planner.Unknown
		}
		out = append(out, entry)
	}
	if kind == "LoadBalancer" {
		out = append(out, "load balancer "+planner.Unknown)
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

// scalars shows the named fields of spec that are there.
func scalars(content map[string]any, names ...string) []string {
	spec := field(content, "spec")
	var out []string
	for _, name := range names {
		if v, ok := spec[name]; ok {
			out = append(out, name+" "+formatValue(v))
		}
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
	for _, key := range sortedKeys(m) {
		out = append(out, fmt.Sprintf("%s=%v", key, m[key]))
	}
	return strings.Join(out, ",")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
