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
	a := blocks.Who(e, b)
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

// metrics evaluates the block metrics of a workload. It returns nil if the workload does not have the
// block.
func metrics(s *Service, workload *source.Block, w *configs.Workload) *configs.Metrics {
	b := workload.One("metrics", "")
	if b == nil {
		return nil
	}
	out := &configs.Metrics{Port: eval.String(s.Env, b, "port"), Path: eval.String(s.Env, b, "path"), Pace: pace(s, b)}
	CheckPort(s.Env, s.Definition, b, "port", out.Port)
	switch known := s.Definition.Labels("port"); {
	case isUDP(s, out.Port):
		eval.Unsuitable(s.Env, b, "port", "Port %q is a UDP port, and a Prometheus reads metrics in HTTP.", out.Port)
	case slices.Contains(known, out.Port) && !slices.Contains(w.Pod.Ports, out.Port) && eval.AllKnown(s.Env, workload, "ports"):
		eval.Unsuitable(s.Env, b, "port", "The workload does not listen on port %q: add it to its argument `ports`.", out.Port)
	}
	return out
}

// pace evaluates the interval and the timeout of a block metrics.
func pace(s *Service, b *source.Block) configs.Pace {
	p := configs.Pace{Interval: eval.Number(s.Env, b, "interval"), Timeout: eval.Number(s.Env, b, "timeout")}
	switch {
	case p.Timeout == 0, p.Timeout <= p.Interval:
	case p.Interval == 0:
		eval.Unsuitable(s.Env, b, "timeout", "It needs an `interval` that is not shorter: the Prometheus may ask more often than every %d seconds.", p.Timeout)
	default:
		eval.Unsuitable(s.Env, b, "timeout", "A Prometheus accepts no timeout longer than the interval, which is %d seconds.", p.Interval)
	}
	return p
}
