package pods

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// probeWays are the arguments that say how to probe.
var probeWays = []string{"http", "tcp", "exec"}

// probes evaluates the probes of a container that listens on the given ports. A probe is nil if
// the container does not have it.
func probes(s *Service, workload *source.Block, ports []string) (ready, live, startup *configs.Probe) {
	ready, live = probe(s, workload, "ready", ports, nil), probe(s, workload, "live", ports, nil)
	return ready, live, probe(s, workload, "startup", ports, ready)
}

// probe evaluates one probe. Where it does not say how to probe, it does what like does.
func probe(s *Service, workload *source.Block, name string, ports []string, like *configs.Probe) *configs.Probe {
	b := workload.One(name, "")
	if b == nil {
		return nil
	}
	e := s.Env
	p := &configs.Probe{
		HTTP:    eval.String(e, b, "http"),
		Port:    eval.String(e, b, "port"),
		TLS:     eval.String(e, b, "scheme") == "https",
		Headers: headers(s, b),
		Exec:    eval.List(e, b, "exec"),
		Period:  eval.Number(e, b, "period"),
		Timeout: eval.Number(e, b, "timeout"),
		Retries: eval.Number(e, b, "retries"),
		Delay:   eval.Number(e, b, "delay"),
	}
	ways := 0
	for _, way := range probeWays {
		if eval.IsSet(e, b, way) {
			ways++
		}
	}
	switch {
	case ways == 0 && like != nil:
		p.HTTP, p.Port, p.TLS, p.Headers, p.TCP, p.Exec = like.HTTP, like.Port, like.TLS, like.Headers, like.TCP, like.Exec
		if !eval.IsSet(e, b, "timeout") {
			p.Timeout = like.Timeout
		}
	case ways != 1 && !eval.AllKnown(e, b, probeWays...): // it is not known yet which of them there are
	case ways != 1:
		s.Env.Report.Error(b.Header, "Unsuitable probe", "Exactly one of http, tcp and exec says how to probe; here are %d.", ways)
	case eval.IsSet(e, b, "tcp"):
		p.TCP, p.Port = true, eval.String(e, b, "tcp")
		checkProbePort(s, workload, b, "tcp", ports)
	case eval.IsSet(e, b, "http") && !eval.IsSet(e, b, "port") && len(ports) == 1 && !isUDP(s, ports[0]):
		p.Port = ports[0]
	case eval.IsSet(e, b, "http"):
		checkProbePort(s, workload, b, "port", ports)
	}
	if eval.IsSet(e, b, "port") && !eval.IsSet(e, b, "http") {
		s.Env.Report.Error(b.Attributes["port"].NameRange, "Unsuitable probe", "The argument port belongs to http. For a connection, write tcp = \"PORT\".")
	}
	for _, name := range []string{"scheme", "headers"} {
		if eval.IsSet(e, b, name) && !eval.IsSet(e, b, "http") {
			s.Env.Report.Error(b.Attributes[name].NameRange, "Unsuitable probe", "The argument %s belongs to http.", name)
		}
	}
	return p
}

// CheckPort reports a port that is not among the known ports.
func CheckPort(e *eval.Env, definition, b *source.Block, attribute, name string) {
	known := definition.Labels("port")
	switch {
	case name == "" && !eval.IsSet(e, b, attribute):
		e.Report.Error(b.Header, "Missing argument", "%s needs the argument %q: %s", b.Described(), attribute, b.Type.Attribute(attribute).Doc)
	case name != "" && !slices.Contains(known, name) && definition.Complete():
		e.Blame("port", name).Undeclared(b.AttributeRange(attribute), "port", name, known)
	}
}

// checkProbePort reports a probe of a port on which the container does not listen.
func checkProbePort(s *Service, workload, b *source.Block, attribute string, ports []string) {
	name, known := eval.String(s.Env, b, attribute), s.Definition.Labels("port")
	CheckPort(s.Env, s.Definition, b, attribute, name)
	if isUDP(s, name) {
		s.Env.Report.Error(b.AttributeRange(attribute), "Unsuitable probe", "Port %q is a UDP port: nothing can connect to it. Probe with exec.", name)
	}
	if slices.Contains(known, name) && !slices.Contains(ports, name) && eval.AllKnown(s.Env, workload, "ports") {
		s.Env.Report.Error(b.AttributeRange(attribute), "Unsuitable probe", "The %s does not listen on port %q: add it to its argument `ports`.", workload.Type.Name, name)
	}
}

// isUDP reports whether the service has a UDP port of that name.
func isUDP(s *Service, port string) bool {
	return slices.ContainsFunc(s.Ports, func(p configs.Port) bool { return p.Name == port && p.UDP })
}

// headers evaluates the HTTP headers that a probe sends.
func headers(s *Service, b *source.Block) map[string]string {
	out := eval.Strings(s.Env, b, "headers")
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if problems := validation.IsHTTPHeaderName(name); len(problems) > 0 {
			eval.Unsuitable(s.Env, b, "headers", "%q is no name of a header: it has letters, digits and dashes.", name)
		}
		if strings.ContainsAny(out[name], "\r\n") {
			eval.Unsuitable(s.Env, b, "headers", "The value of %q must be one line.", name)
		}
	}
	return out
}
