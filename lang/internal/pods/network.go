package pods

import (
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Allow evaluates a block that permits connections to the ports of the service.
func Allow(s *Service, e *eval.Env, b *source.Block) configs.Allow {
	a := configs.Allow{
		Name:      b.Label,
		Namespace: eval.String(e, b, "namespace"),
		Pods:      eval.Strings(e, b, "pods"),
		CIDRs:     eval.List(e, b, "cidrs"),
		Range:     blocks.RangeOf(b),
	}
	if !eval.IsSet(e, b, "namespace") && !eval.IsSet(e, b, "pods") && !eval.IsSet(e, b, "cidrs") {
		e.Report.Error(b.Header, "Nobody is allowed", "Say who may connect: namespace, pods or cidrs. For everybody, write cidrs = [\"0.0.0.0/0\", \"::/0\"].")
	}
	if eval.IsSet(e, b, "pods") && eval.AllKnown(e, b, "pods") && len(a.Pods) == 0 {
		e.Report.Error(b.AttributeRange("pods"), "Unsuitable value for \"pods\"", "It needs at least one label. For all pods of a namespace, leave it out and name the namespace.")
	}
	names := eval.List(e, b, "ports")
	if !eval.IsSet(e, b, "ports") {
		names = s.Definition.Labels("port")
	}
	for _, name := range names {
		number, udp := strings.CutSuffix(name, "/udp")
		if n, err := strconv.Atoi(number); err == nil {
			addPort(&a, n, udp)
			continue
		}
		at := slices.IndexFunc(s.Ports, func(p configs.Port) bool { return p.Name == name })
		switch {
		case at >= 0 && s.Ports[at].Number != 0:
			addPort(&a, s.Ports[at].Number, s.Ports[at].UDP)
		case at < 0 && s.Definition.Complete() && s.Whole.One("port", name) == nil:
			e.Blame("port", name).Undeclared(b.AttributeRange("ports"), "port", name, s.Definition.Labels("port"))
		}
	}
	return a
}

// addPort adds a permitted port.
func addPort(a *configs.Allow, number int, udp bool) {
	if udp {
		a.UDP = append(a.UDP, number)
	} else {
		a.Ports = append(a.Ports, number)
	}
}
