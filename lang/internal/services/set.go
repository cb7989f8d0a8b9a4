// Package services evaluates the services of a configuration.
//
// A service is an instance of a service block together with its definition. Set.Add adds the
// nodes of the services to the graph, with the references of each (references.go). When the
// graph evaluates such a node, evaluate makes a service, and the value that expressions read as
// service.NAME, of each instance:
//
//	declaration    the service block and its definition, in one module
//	  │ prepare    use.go: merges both, in one frame (overlay)
//	use            one instance before the evaluation, with its environment
//	  │ deploy     evaluate.go: the stages below; adopt in external.go if the service exists already
//	service        the evaluated service, which other services and checks read
//
// A stage is a function. It takes the definition and the environment of the stage before, and
// returns values for the Config. If later expressions can read these values, it also returns an
// environment that knows them. Nothing changes what a stage has returned.
//
//   - inputs.go gives the inputs of the definition their values,
//   - scope.go finds the names and the enabled blocks of the definition,
//   - access.go evaluates the role, the exposure and the ports, and what others read of them,
//   - secrets.go, provided.go and registrations.go evaluate secrets, databases and other things
//     that the service has on other services,
//   - configs.go makes the config files,
//   - workloads.go makes replicas, jobs and workloads, labels and patches,
//   - observed.go lists where the services have metrics, and their URLs outside,
//   - logging.go makes the service of the block logging of the cloud, and what other services get of it.
package services

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/moves"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/variables"
)

// Set is all services of a configuration.
type Set struct {
	Graph       *graph.Graph
	Report      *diag.Reporter
	Config      *configs.Config // has the cloud, roles and exposures as far as they are evaluated
	Root        *source.Block   // all blocks of the root module
	Catalogue   *source.Block   // all blocks of the catalogue
	Directory   *settings.Directory
	Leaves      settings.LeafMemo
	Constant    *eval.Env // knows no names
	Claims      graph.Claims
	Moves       *moves.Reader
	WarnedHosts map[hcl.Range]bool // places of config values with a warning about their host

	catalogue *eval.Scope // of the definitions of the catalogue
	inputs    map[*source.Block]*variables.Variable
	services  []*service // evaluated ones, in the order of evaluation
	byAddress map[string]*service
	images    map[string]bool // image names of all pods
	missing   []missingUse    // uses of secrets that external services do not have
	// expanded are the cloud's defaults if they have dynamic blocks, after the evaluation of
	// the cloud.
	expanded *source.Block
}

// New completes a set without services.
func New(c *Set) *Set {
	c.WarnedHosts, c.images = map[hcl.Range]bool{}, map[string]bool{}
	c.inputs, c.byAddress = map[*source.Block]*variables.Variable{}, map[string]*service{}
	e := c.Graph.Env(eval.NewScope(c.Graph.Global))
	e.Scope.Singles["path"] = cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(configs.CatalogueDir)})
	c.catalogue = e.WithLocals(source.Locals(c.Report, c.Catalogue)).Scope
	return c
}

// service is an evaluated service.
type service struct {
	use  *use
	out  configs.Service
	pods *pods.Service // its definition, and the environment that knows everything of it
}

// Add adds the nodes of the services in a module.
func (c *Set) Add(m *graph.Module) {
	for _, b := range m.Written.Document.All("service") {
		n := &graph.Node{ID: m.Path() + b.ID(), Module: m, Root: "service", Name: b.Label, Block: b, At: b.Header}
		n.Evaluate = func(*graph.Frame) cty.Value { return cty.DynamicVal } // the definition is missing
		if definition, home := graph.DefinitionOf(c.Constant, c.Catalogue, m, b); definition != nil {
			over, values := overlaid(c, definition, b)
			d := &declaration{set: c, node: n, written: definition, home: home, overlay: over}
			n.Definition, n.Measured = definition.Label, measured(b, over.whole)
			check.Arguments(c.Report, b, definition)
			n.Needs = references(d, values)
			n.Evaluate = func(f *graph.Frame) cty.Value {
				return f.Repeated(b, func(it eval.Instance) cty.Value { return evaluate(d, values, f, it) })
			}
		}
		c.Graph.Add(n)
	}
}

// Last puts the service of the block logging at the end of the evaluation, because it reads all other services,
// and the readers of cloud.targets and cloud.urls after the services that do not need them.
func (c *Set) Last() {
	if loggingBlock(c.Root) != nil {
		c.Graph.Last("service." + loggingName)
	}
	c.Graph.Observe(c.observed)
}

// measured returns the workloads of a service that may serve metrics. One elsewhere has none.
func measured(service, definition *source.Block) (out []string) {
	for _, w := range definition.All("workload") {
		if !eval.MayBeExternal(service) && layers.GateOf(w) != layers.GateClosed && w.One("metrics", "") != nil {
			out = append(out, w.Label)
		}
	}
	return out
}

// ExpandDefaults expands the dynamic blocks in the cloud's defaults in the root frame.
func (c *Set) ExpandDefaults(f *graph.Frame) {
	if d := c.defaults(); d != nil && d.HasDynamic {
		c.expanded = eval.Expanded(f.Env(), d)
	}
}

// defaults returns the defaults block of the cloud, or nil.
func (c *Set) defaults() *source.Block {
	if c.expanded != nil {
		return c.expanded
	}
	for _, b := range c.Root.All("cloud") {
		return b.One("defaults", "")
	}
	return nil
}

// inDefaults returns the blocks of a type in the cloud's defaults.
func (c *Set) inDefaults(typ string) []*source.Block {
	if d := c.defaults(); d != nil {
		return d.All(typ)
	}
	return nil
}

// input returns the declaration of an input. It is read only once.
func (c *Set) input(b *source.Block) *variables.Variable {
	v := c.inputs[b]
	if v == nil {
		v = variables.Declare(c.Constant, c.Config.Files, b)
		c.inputs[b] = v
	}
	return v
}

// inOrder returns the evaluated services in the order of the source.
func (c *Set) inOrder() []*service {
	out := slices.Clone(c.services)
	slices.SortStableFunc(out, func(a, b *service) int { return diag.Compare(a.out.Range, b.out.Range) })
	return out
}

// Evaluated returns the services in the order of the source.
func (c *Set) Evaluated() []configs.Service {
	out := make([]configs.Service, 0, len(c.services))
	for _, s := range c.inOrder() {
		out = append(out, s.out)
	}
	return out
}

// Checked returns the configuration for the checks. Config.Services is Evaluated.
func (c *Set) Checked() *check.Whole {
	out := &check.Whole{
		Config: c.Config, Defaults: c.inDefaults("config"), Report: c.Report, Images: c.images,
		Incomplete: len(c.Constant.Decisions.Open) > 0, WarnedHosts: c.WarnedHosts,
	}
	for i, s := range c.inOrder() {
		out.Services = append(out.Services, *checked(s, &c.Config.Services[i]))
	}
	return out
}

// checked returns a service for the checks.
func checked(s *service, out *configs.Service) *check.Service {
	checked := &check.Service{
		Config: out, Block: s.use.block, Definition: s.pods.Definition, Written: s.use.decl.written,
		InRoot: s.use.decl.node.Module == s.use.set.Graph.Root, Folders: folders(s.use.set, s.pods.Definition, s.use.block, out.Name),
	}
	for _, e := range out.Endpoints {
		if b := s.pods.Definition.One("endpoint", e.Type); b != nil && ownEndpoint(s.use.decl, s.pods.Definition, b) {
			checked.OwnEndpoints = append(checked.OwnEndpoints, e.Type)
		}
	}
	for _, p := range out.Ports {
		if !p.Exposed || out.Exposure == "" || p.NodePort != 0 {
			continue
		}
		if b := s.pods.Definition.One("port", p.Name); b != nil && !eval.AllKnown(s.pods.Env, b, "node_port") {
			checked.OpenNodePorts = append(checked.OpenNodePorts, p.Name)
		}
	}
	return checked
}
