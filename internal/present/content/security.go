package content

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/providers/podsecurity"
)

// weaknesses lists the powers of a pod that the level restricted forbids.
func weaknesses(template map[string]any, width int) []Line {
	p := podOf(field(template, "spec"))
	var out []Line
	for _, part := range []struct {
		lead string
		what []string
	}{
		{"may reach its node: ", p.node()},
		{"mounts from its node: ", p.hostPaths()},
		{"takes ports of its node: ", p.hostPorts()},
		{"has added capabilities: ", p.capabilities()},
		{"", p.unconfined()},
		{"breaks the Pod Security level baseline: ", baseline(template)},
	} {
		if len(part.what) > 0 {
			out = append(out, weak(part.lead+strings.Join(part.what, ", "))...)
		}
	}
	return append(out, tokens(p.spec, width)...)
}

// pod is the spec of a pod, with its containers of all types.
type pod struct {
	spec       map[string]any
	containers []map[string]any
}

func podOf(spec map[string]any) pod {
	return pod{spec: spec, containers: slices.Concat(
		elements(spec["initContainers"]), elements(spec["containers"]), elements(spec["ephemeralContainers"]))}
}

// of returns the names of the containers that meet a condition, or an empty text if all of them
// do. some reports whether any container meets it.
func (p pod) of(is func(map[string]any) bool) (names string, some bool) {
	var all []string
	for _, c := range p.containers {
		if is(c) {
			all = append(all, fmt.Sprint(c["name"]))
		}
	}
	if len(all) == 0 || len(all) == len(p.containers) {
		return "", len(all) > 0
	}
	return " (" + strings.Join(all, ", ") + ")", true
}

// node lists the ways in which the pod can access its node.
func (p pod) node() []string {
	var out []string
	for _, key := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if on, _ := p.spec[key].(bool); on {
			out = append(out, key)
		}
	}
	if names, some := p.of(privileged); some {
		out = append(out, "privileged"+names)
	}
	return out
}

func privileged(container map[string]any) bool {
	on, _ := field(container, "securityContext")["privileged"].(bool)
	return on
}

// hostPaths lists the paths of the node that the pod mounts.
func (p pod) hostPaths() []string {
	var out []string
	for _, volume := range elements(p.spec["volumes"]) {
		host := field(volume, "hostPath")
		if host == nil {
			continue
		}
		path := fmt.Sprint(host["path"])
		if p.readsOnly(volume["name"]) {
			path += " (read only)"
		}
		out = append(out, path)
	}
	return out
}

// readsOnly reports whether all containers mount a volume read-only.
func (p pod) readsOnly(volume any) bool {
	mounted := false
	for _, c := range p.containers {
		for _, mount := range elements(c["volumeMounts"]) {
			if mount["name"] != volume {
				continue
			}
			if only, _ := mount["readOnly"].(bool); !only {
				return false
			}
			mounted = true
		}
	}
	return mounted
}

// hostPorts lists the ports of the node that the pod uses.
func (p pod) hostPorts() []string {
	var out []string
	for _, c := range p.containers {
		for _, port := range elements(c["ports"]) {
			n, ok := number(port["hostPort"])
			if !ok || n == 0 {
				continue
			}
			text := fmt.Sprint(n)
			if protocol, _ := port["protocol"].(string); protocol != "" && protocol != "TCP" {
				text += "/" + protocol
			}
			out = append(out, text)
		}
	}
	return out
}

// capabilities lists the capabilities that containers add to the defaults of the container
// runtime.
func (p pod) capabilities() []string {
	var names []string
	added := func(c map[string]any) []string {
		return texts(field(c, "securityContext", "capabilities")["add"])
	}
	for _, c := range p.containers {
		names = append(names, added(c)...)
	}
	slices.Sort(names)
	var out []string
	for _, name := range slices.Compact(names) {
		who, _ := p.of(func(c map[string]any) bool { return slices.Contains(added(c), name) })
		out = append(out, name+who)
	}
	return out
}

// unconfined lists risks that no security context excludes.
func (p pod) unconfined() []string {
	var out []string
	for _, rule := range []struct {
		text string
		is   func(map[string]any) bool
	}{
		{"runs as root", func(c map[string]any) bool { user, known := p.user(c); return known && user == 0 }},
		{"may run as root: its image decides", func(c map[string]any) bool { _, known := p.user(c); return !known && !p.never(c) }},
		{"may gain privileges: allowPrivilegeEscalation is not false", func(c map[string]any) bool {
			allowed, given := field(c, "securityContext")["allowPrivilegeEscalation"].(bool)
			return !privileged(c) && (allowed || !given)
		}},
	} {
		if names, some := p.of(rule.is); some {
			out = append(out, rule.text+names)
		}
	}
	return out
}

// user returns the declared user ID of a container.
func (p pod) user(container map[string]any) (int, bool) {
	if user, ok := number(field(container, "securityContext")["runAsUser"]); ok {
		return user, true
	}
	return number(field(p.spec, "securityContext")["runAsUser"])
}

// never reports whether the kubelet refuses to run a container as root.
func (p pod) never(container map[string]any) bool {
	if never, ok := field(container, "securityContext")["runAsNonRoot"].(bool); ok {
		return never
	}
	never, _ := field(p.spec, "securityContext")["runAsNonRoot"].(bool)
	return never
}

// tokens lists the tokens of its service account that the pod has.
func tokens(spec map[string]any, width int) []Line {
	var out []Line
	account, _ := spec["serviceAccountName"].(string)
	if mounted, given := spec["automountServiceAccountToken"].(bool); mounted || !given && spec != nil {
		if account == "" {
			account = "default"
		}
		out = append(out, weak("has a token of service account "+account)...)
	}
	for _, volume := range elements(spec["volumes"]) {
		for _, source := range elements(field(volume, "projected")["sources"]) {
			if token := field(source, "serviceAccountToken"); token != nil {
				out = append(out, weak(member("has a token of its service account", token, width))...)
			}
		}
	}
	return out
}

// told are the checks of the Pod Security Standards that other lines describe in detail.
var told = []string{"host namespaces", "privileged", "hostPath volumes", "hostPort", "non-default capabilities"}

// baseline lists the other reasons of the Pod Security Standards to refuse a pod. It is empty
// if a part of the pod is not known yet.
func baseline(template map[string]any) []string {
	var out []string
	for _, result := range podsecurity.Evaluate(template, podsecurity.Latest(podsecurity.Baseline)) {
		if !result.Allowed && !slices.Contains(told, result.ForbiddenReason) {
			out = append(out, fmt.Sprintf("%s (%s)", result.ForbiddenReason, result.ForbiddenDetail))
		}
	}
	return out
}
