package check

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
)

// placed is a port of a workload that uses the network of its nodes.
type placed struct {
	service *Service
	w       configs.Workload
	role    *configs.Role // nil: any node
	port    int
	udp     bool
}

// HostPorts reports pods that would take the same port of one node, and pods that need more
// nodes than their role has. The scheduler would find no node for some of them.
func HostPorts(whole *Whole) {
	var all []placed
	for i := range whole.Services {
		service := &whole.Services[i]
		for _, w := range service.Config.Workloads {
			all = append(all, hostPorts(whole, service, w)...)
			checkSpread(whole, service, w)
		}
	}
	for i, b := range all {
		for _, a := range all[:i] {
			if a.port == b.port && a.udp == b.udp && (a.service != b.service || a.w.Name != b.w.Name) {
				checkHostPort(whole, a, b)
			}
		}
	}
}

// hostPorts returns the ports of its nodes that a workload takes.
func hostPorts(whole *Whole, service *Service, w configs.Workload) []placed {
	if service.Config.Undecided || !w.Pod.HostNetwork || w.Kind != "DaemonSet" && w.Replicas == 0 {
		return nil
	}
	role, ok := roleOf(whole, service, w)
	if !ok {
		return nil
	}
	var out []placed
	for _, p := range service.Config.Ports {
		if slices.Contains(w.Pod.Ports, p.Name) && p.Number != 0 {
			out = append(out, placed{service, w, role, p.Number, p.UDP})
		}
	}
	if nodes := nodesNamed(role); len(out) > 0 && w.Kind != "DaemonSet" && nodes > 0 && w.Replicas > nodes {
		whole.Report.Error(service.hostNetworkRange(w.Name), "More pods than nodes",
			"Each of the %d pods of workload %q of service %q takes port %d of its node, and role %q has %d. Take fewer replicas, or add nodes to the role.",
			w.Replicas, w.Name, service.Config.Name, out[0].port, role.Name, nodes)
	}
	return out
}

// roleOf returns the role of a workload; nil: any node. The result is not ok if the role does not
// exist, which was reported.
func roleOf(whole *Whole, service *Service, w configs.Workload) (role *configs.Role, ok bool) {
	name := cmp.Or(w.Role, service.Config.Role)
	i := slices.IndexFunc(whole.Config.Roles, func(r configs.Role) bool { return r.Name == name })
	if i < 0 {
		return nil, name == ""
	}
	return &whole.Config.Roles[i], true
}

// checkSpread reports workloads with more pods than nodes, if no two pods may share a node.
func checkSpread(whole *Whole, service *Service, w configs.Workload) {
	role, _ := roleOf(whole, service, w)
	if nodes := nodesNamed(role); !service.Config.Undecided && w.SpreadRequired && w.SpreadBy == "" && nodes > 0 && w.Replicas > nodes {
		whole.Report.Error(service.argumentRange(w.Name, "spread", "replicas"), "More pods than nodes",
			"Workload %q of service %q has %d pods, of which no two may run on one node (spread = \"required\"), and role %q has %d. Take fewer replicas, or add nodes to the role.",
			w.Name, service.Config.Name, w.Replicas, role.Name, nodes)
	}
}

// nodesNamed returns the number of nodes that a role names; 0: labels select some of its nodes.
func nodesNamed(role *configs.Role) int {
	if role == nil || role.Matches() {
		return 0
	}
	return len(role.Named())
}

func checkHostPort(whole *Whole, a, b placed) {
	at := b.service.hostNetworkRange(b.w.Name)
	const detail = "Workload %q of service %q and workload %q of service %q (%s) both take port %d of their nodes, %s"
	report := func(say func(hcl.Range, string, string, ...any), why string) {
		say(at, "Host port taken twice", detail, b.w.Name, b.service.Config.Name, a.w.Name, a.service.Config.Name, diag.Position(a.service.hostNetworkRange(a.w.Name)), b.port, why)
	}
	switch {
	case collide(a, b):
		report(whole.Report.Error, "and there are nodes on which both would have to run. Give them different nodes, or run one of them without host_network.")
	case a.w.Kind != "DaemonSet" && b.w.Kind != "DaemonSet" && sameRole(a.role, b.role):
		report(whole.Report.Warn, "so that no node can run both. As long as there are nodes enough the scheduler keeps them apart. Give them different roles, or run one of them without host_network.")
	}
}

// collide reports whether two workloads can certainly not run side by side.
func collide(a, b placed) bool {
	if b.w.Kind == "DaemonSet" {
		a, b = b, a
	}
	union := len(unionOf(a.role, b.role))
	switch {
	case a.w.Kind == "DaemonSet" && b.w.Kind == "DaemonSet":
		return overlap(a.role, b.role)
	case a.w.Kind == "DaemonSet":
		return within(b.role, a.role) || nodesNamed(a.role) > 0 && nodesNamed(b.role) > 0 && b.w.Replicas > union-nodesNamed(a.role)
	}
	return nodesNamed(a.role) > 0 && nodesNamed(b.role) > 0 && a.w.Replicas+b.w.Replicas > union
}

// unionOf returns the nodes that at least one of two roles names.
func unionOf(a, b *configs.Role) []string {
	var out []string
	for _, role := range []*configs.Role{a, b} {
		if role != nil {
			out = append(out, role.Named()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sameRole(a, b *configs.Role) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Name == b.Name
}

// within reports whether every node of the inner role is certainly a node of the outer role.
func within(inner, outer *configs.Role) bool {
	switch {
	case outer == nil || sameRole(inner, outer):
		return true
	case inner == nil:
		return false
	case len(inner.Roles) > 0:
		return !slices.ContainsFunc(inner.Roles, func(part configs.Role) bool { return !within(&part, outer) })
	case len(inner.Nodes) > 0:
		return len(unionOf(inner, outer)) == len(outer.Named())
	case len(outer.Roles) > 0:
		return slices.ContainsFunc(outer.Roles, func(part configs.Role) bool { return within(inner, &part) })
	}
	for key, value := range outer.Match {
		if got, ok := inner.Match[key]; !ok || got != value {
			return false
		}
	}
	return len(inner.Match) > 0 && len(outer.Match) > 0
}

// overlap reports whether two roles certainly have a node in common.
func overlap(a, b *configs.Role) bool {
	if within(a, b) || within(b, a) {
		return true
	}
	for _, part := range partsOf(a) {
		for _, other := range partsOf(b) {
			if within(&part, &other) || within(&other, &part) {
				return true
			}
		}
	}
	return a != nil && b != nil && len(unionOf(a, b)) < len(a.Named())+len(b.Named())
}

// partsOf returns the roles without parts that a role consists of.
func partsOf(role *configs.Role) []configs.Role {
	if role == nil {
		return nil
	}
	if len(role.Roles) == 0 {
		return []configs.Role{*role}
	}
	var out []configs.Role
	for i := range role.Roles {
		out = append(out, partsOf(&role.Roles[i])...)
	}
	return out
}
