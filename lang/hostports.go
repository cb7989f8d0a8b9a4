package lang

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
)

// placed is a workload in the network of its nodes, with one of its ports.
type placed struct {
	in   *instance
	w    configs.Workload
	role *configs.Role // nil: any node
	port int
	udp  bool
}

// checkHostPorts reports pods that would take the same port of one node: the scheduler
// would find no place for one of them.
func (g *graph) checkHostPorts() {
	var all []placed
	for _, in := range g.inOrder() {
		for _, w := range in.out.Workloads {
			all = append(all, g.hostPorts(in, w)...)
			g.checkSpread(in, w)
		}
	}
	for i, b := range all {
		for _, a := range all[:i] {
			if a.port == b.port && a.udp == b.udp && (a.in != b.in || a.w.Name != b.w.Name) {
				g.checkHostPort(a, b)
			}
		}
	}
}

// hostPorts are the ports that a workload takes on its nodes.
func (g *graph) hostPorts(in *instance, w configs.Workload) []placed {
	if in.out.Undecided || !w.Pod.HostNetwork || w.Kind != "DaemonSet" && w.Replicas == 0 {
		return nil
	}
	role, ok := g.roleOf(in, w)
	if !ok {
		return nil
	}
	var out []placed
	for _, p := range in.out.Ports {
		if slices.Contains(w.Pod.Ports, p.Name) && p.Number != 0 {
			out = append(out, placed{in, w, role, p.Number, p.UDP})
		}
	}
	if nodes := nodesNamed(role); len(out) > 0 && w.Kind != "DaemonSet" && nodes > 0 && w.Replicas > nodes {
		g.report.Error(in.hostNetworkRange(w.Name), "More pods than nodes",
			"Each of the %d pods of workload %q of service %q takes port %d of its node, and role %q has %d. Take fewer replicas, or add nodes to the role.",
			w.Replicas, w.Name, in.out.Name, out[0].port, role.Name, nodes)
	}
	return out
}

// roleOf is the role that a workload runs on; nil: any node. It is not ok if there is no
// such role, which was reported.
func (g *graph) roleOf(in *instance, w configs.Workload) (role *configs.Role, ok bool) {
	name := cmp.Or(w.Role, in.out.Role)
	i := slices.IndexFunc(g.config.Roles, func(r configs.Role) bool { return r.Name == name })
	if i < 0 {
		return nil, name == ""
	}
	return &g.config.Roles[i], true
}

// checkSpread reports pods that find no node without another one of them.
func (g *graph) checkSpread(in *instance, w configs.Workload) {
	role, _ := g.roleOf(in, w)
	if nodes := nodesNamed(role); !in.out.Undecided && w.SpreadRequired && w.SpreadBy == "" && nodes > 0 && w.Replicas > nodes {
		g.report.Error(in.argumentRange(w.Name, "spread", "replicas"), "More pods than nodes",
			"Workload %q of service %q has %d pods, of which no two may run on one node (spread = \"required\"), and role %q has %d. Take fewer replicas, or add nodes to the role.",
			w.Name, in.out.Name, w.Replicas, role.Name, nodes)
	}
}

// argumentRange is where a service says one of some arguments of a workload, or else the
// service, whose definition says it.
func (in *instance) argumentRange(workload string, names ...string) hcl.Range {
	if b := in.block.One("workload", workload); b != nil {
		for _, name := range names {
			if b.Attributes[name] != nil {
				return b.AttributeRange(name)
			}
		}
	}
	return in.block.Header
}

// hostNetworkRange is where a service says that a workload uses the network of its
// nodes, or else the service, whose definition says it.
func (in *instance) hostNetworkRange(workload string) hcl.Range {
	return in.argumentRange(workload, "host_network")
}

// nodesNamed is how many nodes a role names; 0: it does not name them, or not all.
func nodesNamed(role *configs.Role) int {
	if role == nil || role.Matches() {
		return 0
	}
	return len(role.Named())
}

func (g *graph) checkHostPort(a, b placed) {
	at := b.in.hostNetworkRange(b.w.Name)
	const detail = "Workload %q of service %q and workload %q of service %q (%s) both take port %d of their nodes, %s"
	report := func(say func(hcl.Range, string, string, ...any), why string) {
		say(at, "Host port taken twice", detail, b.w.Name, b.in.out.Name, a.w.Name, a.in.out.Name, diag.Position(a.in.hostNetworkRange(a.w.Name)), b.port, why)
	}
	switch {
	case collide(a, b):
		report(g.report.Error, "and there are nodes on which both would have to run. Give them different nodes, or run one of them without host_network.")
	case a.w.Kind != "DaemonSet" && b.w.Kind != "DaemonSet" && sameRole(a.role, b.role):
		report(g.report.Warn, "so that no node can run both. As long as there are nodes enough the scheduler keeps them apart. Give them different roles, or run one of them without host_network.")
	}
}

// collide reports whether two workloads certainly cannot both run as declared.
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

// unionOf are the nodes that either role names.
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

// within reports whether all nodes of one role are certainly nodes of the other.
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

// overlap reports whether there is certainly a node of both roles.
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

// partsOf are the roles that a role is made of in the end.
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
