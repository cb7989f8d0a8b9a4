package graph

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// observedID is the node behind cloud.targets and cloud.urls.
const observedID = "cloud.targets"

// Observation is the metrics and the URLs of the evaluated services.
type Observation struct {
	Targets map[string]configs.Metrics // by the names of headless Services
	URLs    map[string]cty.Value       // objects of the type Probed, by the name of the probe
}

// Probed is the type of the elements of cloud.urls.
var Probed = cty.Object(map[string]cty.Type{"url": cty.String, "private_ca": cty.Bool})

// Observe says what cloud.targets and cloud.urls are, by the services that are evaluated. All services have been
// added. A reader is evaluated after the services, and needs none of them. Services that need a reader cannot be
// evaluated before it: their targets are those of their declarations, and they have no URLs.
func (g *Graph) Observe(evaluated func() Observation) {
	n := g.Add(&Node{ID: observedID, Module: g.Root, Root: observedID, Evaluate: func(*Frame) cty.Value { return cty.DynamicVal }})
	readers := needing(g, observedID)
	for _, other := range g.order {
		if other.Root == "service" && !readers[other.ID] {
			n.Needs = append(n.Needs, Edge{To: other.ID, At: other.At, Order: true})
		}
	}
	g.env.Observed.Evaluate = func() cty.Value {
		for _, running := range g.running { // it turned out to need the reader
			readers[running.ID] = true
		}
		defer g.apart()()
		for _, need := range n.Needs {
			if !readers[need.To] {
				demand(g, g.nodes[need.To], nil, need.At)
			}
		}
		found := evaluated()
		unknown := eachInUse(g, func(n *Node, name string) {
			for _, workload := range n.Measured {
				if readers[n.ID] {
					found.Targets[configs.MetricsService(name, workload)] = configs.Metrics{}
				}
			}
		})
		return cty.ObjectVal(map[string]cty.Value{"targets": mapOf(targets(found.Targets), targetType, unknown), "urls": mapOf(found.URLs, Probed, unknown)})
	}
}

// needing returns the IDs of the nodes that need a node, directly or through others.
func needing(g *Graph, id string) map[string]bool {
	out := map[string]bool{id: true}
	for again := true; again; {
		again = false
		for _, n := range g.order {
			if !out[n.ID] && slices.ContainsFunc(n.Needs, func(e Edge) bool { return out[e.To] }) {
				out[n.ID], again = true, true
			}
		}
	}
	return out
}

// apart begins an evaluation whose references are no needs of the running nodes. It returns the end of that.
func (g *Graph) apart() func() {
	before := g.running
	g.running = []*Node{{ID: "cloud.services"}}
	return func() { g.running = before }
}

// servicesInUse returns the names of the definitions that services use (cloud.services). A reader does not
// need the services.
func servicesInUse(g *Graph) cty.Value {
	defer g.apart()()
	definitions := map[string]bool{}
	unknown := eachInUse(g, func(n *Node, _ string) { definitions[n.Definition] = true })
	return cty.ObjectVal(map[string]cty.Value{"services": setOf(definitions, unknown)})
}

// eachInUse calls visit for the instances of services, with their names. It returns an unknown value if there
// may be more instances, or else NilVal.
func eachInUse(g *Graph, visit func(n *Node, name string)) (unknown cty.Value) {
	unknown = cty.NilVal
	for _, n := range g.order {
		if n.Root != "service" || n.Definition == "" {
			continue
		}
		reachModule(g, n.Module, n.At)
		for _, f := range n.Module.Frames {
			e := f.Env()
			items, ok := eval.Instances(e, n.Block)
			if !ok {
				unknown = eval.UnknownInstances(e, n.Block)
			}
			for _, it := range items {
				visit(n, it.Name(g.Env(it.Scope), n.Block))
			}
		}
	}
	return unknown
}

// setOf returns names as a set. It is unknown if the names depend on an unknown value.
func setOf(names map[string]bool, unknown cty.Value) cty.Value {
	if unknown != cty.NilVal {
		return cty.UnknownVal(cty.Set(cty.String)).WithMarks(values.Deferrals(unknown))
	}
	if len(names) == 0 {
		return cty.SetValEmpty(cty.String)
	}
	var out []cty.Value
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, cty.StringVal(name))
	}
	return cty.SetVal(out)
}

// mapOf returns a map of elements of a type. It is unknown if their names depend on an unknown value.
func mapOf(elements map[string]cty.Value, of cty.Type, unknown cty.Value) cty.Value {
	switch {
	case unknown != cty.NilVal:
		return cty.UnknownVal(cty.Map(of)).WithMarks(values.Deferrals(unknown))
	case len(elements) == 0:
		return cty.MapValEmpty(of)
	}
	return cty.MapVal(elements)
}

// targetType is the type of the elements of cloud.targets.
var targetType = cty.Object(map[string]cty.Type{"path": cty.String, "interval": cty.Number, "timeout": cty.Number})

// targets returns the elements of cloud.targets, with null for what the Prometheus decides.
func targets(found map[string]configs.Metrics) map[string]cty.Value {
	seconds := func(n int) cty.Value {
		if n == 0 {
			return cty.NullVal(cty.Number)
		}
		return cty.NumberIntVal(int64(n))
	}
	out := map[string]cty.Value{}
	for name, m := range found {
		path := cty.NullVal(cty.String)
		if m.Path != "" {
			path = cty.StringVal(m.Path)
		}
		out[name] = cty.ObjectVal(map[string]cty.Value{"path": path, "interval": seconds(m.Interval), "timeout": seconds(m.Timeout)})
	}
	return out
}
