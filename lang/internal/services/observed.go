package services

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/graph"
)

// observed returns the metrics and the URLs of the services that are evaluated.
func (c *Set) observed() graph.Observation {
	out := graph.Observation{Targets: map[string]configs.Metrics{}, URLs: map[string]cty.Value{}}
	for _, s := range c.inOrder() {
		addTargets(c, s, out.Targets)
		addURLs(c, s, out.URLs)
	}
	return out
}

// addTargets adds the headless Services with the metrics of a service and its exposure. A workload that is disabled,
// or has no replicas, has none.
func addTargets(c *Set, s *service, targets map[string]configs.Metrics) {
	if c.Config.Cloud.Metrics == nil {
		return
	}
	if s.out.Undecided { // it may have more
		for _, workload := range s.use.decl.node.Measured {
			targets[configs.MetricsService(s.out.Name, workload)] = configs.Metrics{}
		}
	}
	for _, w := range s.out.Workloads {
		if w.Metrics != nil && (w.Replicas > 0 || w.Kind == "DaemonSet") {
			targets[configs.MetricsService(s.out.Name, w.Name)] = *w.Metrics
		}
	}
	x := c.Config.Exposure(s.out.Exposure)
	if x != nil && x.Mode == configs.ModeManaged && slices.ContainsFunc(s.out.Ports, isExposed) {
		targets[configs.MetricsService("exposure-"+x.Name, configs.ExposureMetrics)] = configs.Metrics{}
	}
}

// addURLs adds the URLs at which clients outside reach the ports of a service that speak HTTP, with the path of
// their readiness. The first exposed port has the name of the service, and others SERVICE-PORT.
func addURLs(c *Set, s *service, urls map[string]cty.Value) {
	x := c.Config.Exposure(s.out.Exposure)
	first := slices.IndexFunc(s.out.Ports, isExposed)
	if x == nil || first < 0 {
		return
	}
	ports := s.pods.Env.Scope.Singles["self"].GetAttr("ports")
	for i, p := range s.out.Ports {
		ready := s.out.HTTPReadiness(p.Name)
		if !p.Exposed || p.UDP || ready == nil {
			continue
		}
		name := s.out.Name
		if i != first {
			name += "-" + p.Name
		}
		urls[name] = cty.ObjectVal(map[string]cty.Value{
			"url":        withPath(ports.GetAttr(p.Name).GetAttr("public_url"), ready.HTTP),
			"private_ca": cty.BoolVal(x.Encrypts(p) && x.TLS.PrivateCA),
		})
	}
}

// withPath appends a path to a URL, which may not be known yet.
func withPath(url cty.Value, path string) cty.Value {
	known, marks := url.Unmark()
	if !known.IsKnown() {
		return cty.UnknownVal(cty.String).WithMarks(marks)
	}
	return cty.StringVal(known.AsString() + path).WithMarks(marks)
}
