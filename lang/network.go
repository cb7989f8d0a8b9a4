package lang

import (
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// network says who may reach the pods of the service.
func (in *instance) network() {
	s := &in.out
	s.NetworkPolicy = in.config.Cloud.NetworkPolicy
	if in.user.given(in.block, "network_policy") {
		s.NetworkPolicy = in.user.bool(in.block, "network_policy")
	}
	for _, b := range in.definition.All("allow") {
		s.Allows = append(s.Allows, in.allow(b, in.inner))
	}
}

func (in *instance) allow(b *source.Block, e *evaluator) configs.Allow {
	a := configs.Allow{
		Name:      b.Label,
		Namespace: e.string(b, "namespace"),
		Pods:      e.strings(b, "pods"),
		CIDRs:     e.list(b, "cidrs"),
		Range:     rangeOf(b),
	}
	if !e.given(b, "namespace") && !e.given(b, "pods") && !e.given(b, "cidrs") {
		in.report.Error(b.Header, "Nobody is allowed", "Say who may connect: namespace, pods or cidrs. For everybody, write cidrs = [\"0.0.0.0/0\", \"::/0\"].")
	}
	if e.given(b, "pods") && e.settled(b, "pods") && len(a.Pods) == 0 {
		in.report.Error(b.AttributeRange("pods"), "Unsuitable value for \"pods\"", "It needs at least one label. For all pods of a namespace, leave it out and name the namespace.")
	}
	names := e.list(b, "ports")
	if !e.given(b, "ports") {
		names = in.definition.Labels("port")
	}
	for _, name := range names {
		number, udp := strings.CutSuffix(name, "/udp")
		if n, err := strconv.Atoi(number); err == nil {
			addPort(&a, n, udp)
			continue
		}
		at := slices.IndexFunc(in.out.Ports, func(p configs.Port) bool { return p.Name == name })
		switch {
		case at >= 0 && in.out.Ports[at].Number != 0:
			addPort(&a, in.out.Ports[at].Number, in.out.Ports[at].UDP)
		case at < 0 && in.definition.Complete() && in.whole.One("port", name) == nil:
			in.report.Undeclared(b.AttributeRange("ports"), "port", name, in.definition.Labels("port"))
		}
	}
	return a
}

// addPort allows one more port.
func addPort(a *configs.Allow, number int, udp bool) {
	if udp {
		a.UDP = append(a.UDP, number)
	} else {
		a.Ports = append(a.Ports, number)
	}
}
