// Package services evaluates the services of a configuration.
//
// A service is an instance of a service block together with its definition. Set.Add adds the
// nodes of the services to the graph, with the references of each (references.go). When the
// graph evaluates such a node, evaluate.go runs the stages for each instance:
//
//   - inputs.go gives the inputs of the definition their values,
//   - scope.go finds the names and the enabled blocks of the definition,
//   - access.go evaluates the role, the exposure and the ports,
//   - secrets.go, databases.go and registrations.go evaluate things of other services that the
//     service uses,
//   - configs.go makes the config files,
//   - workloads.go makes jobs and workloads, labels and patches.
//
// A service with the argument external exists already, and external.go replaces these stages.
// readings.go makes the value that other blocks read as service.NAME.
package services

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/moves"
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
	services  []*instance // evaluated ones, in the order of evaluation
	byAddress map[string]*instance
	// expanded are the cloud's defaults if they have dynamic blocks, after the evaluation of
	// the cloud.
	expanded *source.Block
}

// New completes a set without services.
func New(c *Set) *Set {
	c.WarnedHosts, c.inputs, c.byAddress = map[hcl.Range]bool{}, map[*source.Block]*variables.Variable{}, map[string]*instance{}
	c.catalogue = eval.NewScope(c.Graph.Global)
	c.catalogue.Singles["path"] = cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(configs.CatalogueDir)})
	c.catalogue.DeclareLazily(source.Locals(c.Report, c.Catalogue), c.Graph.Env(c.catalogue))
	return c
}

// instance is one instance of a service block during its evaluation.
type instance struct {
	set    *Set
	report *diag.Reporter

	// newInstance fills these in.
	node       *graph.Node
	home       *graph.Module // of the definition; nil: the catalogue
	block      *source.Block // the user's service block
	written    *source.Block // the definition as it is written
	whole      *source.Block // the definition with the overrides of the service
	strays     []eval.Stray  // blocks of the service that override nothing
	user       *eval.Env     // of the service block
	inner      *eval.Env     // of the definition
	cloud      *eval.Env     // of the cloud's defaults
	innerReach graph.Reach   // of references in the definition

	// inFrame fills these in, and the scopes of user, inner and cloud.
	frame  *graph.Frame
	merged map[string]*settings.Merged // values of config files, by label
	// with are replacements of services, by the name in the definition. Nil: the replacement
	// is not known yet.
	with map[string]*instance

	// The stages in evaluate.go fill these in.
	definition *source.Block     // whole without disabled blocks
	images     map[string]string // image names that the service replaces
	used       map[string]bool   // image names of the definition
	absent     map[string]bool   // optional config files without content
	forAll     *int              // replicas of all workloads, if the service says so
	capped     []string          // workloads with fewer replicas than the service says
	replicas   map[string]int    // by workload
	missing    []missingUse      // uses of secrets that an external service does not have
	out        configs.Service
}

// Add adds the nodes of the services in a module.
func (c *Set) Add(m *graph.Module) {
	for _, b := range m.Written.Document.All("service") {
		n := &graph.Node{ID: m.Path() + b.ID(), Module: m, Root: "service", Name: b.Label, Block: b, At: b.Header}
		n.Evaluate = func(*graph.Frame) cty.Value { return cty.DynamicVal } // the definition is missing
		if definition, home := graph.DefinitionOf(c.Constant, c.Catalogue, m, b); definition != nil {
			in := newInstance(c, n, definition, home)
			n.Definition = definition.Label
			check.Arguments(c.Report, b, definition)
			in.merged = layers(in).Merge()
			n.Needs = references(in)
			n.Evaluate = func(f *graph.Frame) cty.Value {
				return f.Repeated(b, func(it eval.Instance) cty.Value { return evaluate(inFrame(in, f, it), it) })
			}
		}
		c.Graph.Add(n)
	}
}

// newInstance makes an instance whose scopes have no values yet.
func newInstance(c *Set, n *graph.Node, definition *source.Block, home *graph.Module) *instance {
	in := &instance{
		set: c, report: c.Report, node: n, block: n.Block, written: definition, home: home,
		absent: map[string]bool{}, used: map[string]bool{},
	}
	in.whole, in.strays = whole(c.Report, definition, c.defaults(), n.Block)
	in.definition = in.whole
	in.user, in.cloud, in.inner = c.Graph.Env(eval.NewScope(nil)), c.Graph.Env(eval.NewScope(nil)), c.Graph.Env(eval.NewScope(nil))
	for _, e := range []*eval.Env{in.user, in.cloud, in.inner} {
		e.Owner = n.Block
	}
	in.innerReach = c.Graph.DefinitionReach(home, n.Module)
	in.inner.InDefinition, in.inner.OfService, in.inner.OfCloud = true, in.user, in.cloud
	for _, kind := range []string{"port", "secret", "database", "queue", "user", "endpoint", "input"} {
		names := eval.Group{}
		for _, e := range []*eval.Env{in.user, in.cloud, in.inner} {
			e.Scope.Groups[kind] = names
		}
	}
	in.out = configs.Service{Definition: definition.Label, DefinedAt: definition.Header, Range: n.Block.Header}
	return in
}

// inFrame returns the instance of a service in one frame. The first instance is the one whose
// references were read.
func inFrame(in *instance, f *graph.Frame, it eval.Instance) *instance {
	c, out := in.set, in
	if in.frame != nil || in.block.HasDynamic || in.written.HasDynamic || dynamicDefaults(c) {
		out = newInstance(c, in.node, in.written, in.home)
	}
	out.frame = f
	out.user.Scope.Parent = it.Scope
	out.cloud.Scope.Parent = c.Graph.Root.Frames[0].Scope
	out.inner.Scope.Parent = definitionScope(c, in.home, f)
	out.inner.Around = func(home *source.Module) *eval.Scope { return aroundBase(out, f, home) }
	replaceServices(out)
	if in.block.HasDynamic || in.written.HasDynamic {
		giveInputs(out, in.written) // dynamic blocks can read them
	}
	if out != in {
		out.block = eval.Expanded(out.user, in.block)
		out.whole, out.strays = whole(c.Report, eval.Expanded(out.inner, in.written), c.defaults(), out.block)
		out.definition = out.whole
		for _, e := range []*eval.Env{out.user, out.cloud, out.inner} {
			e.Scope.Open = out.definition.Incomplete
		}
		out.merged = layers(out).Merge()
	}
	return out
}

// whole returns a definition under the cloud's defaults and the service. The defaults may be nil.
func whole(report *diag.Reporter, definition, defaults, service *source.Block) (*source.Block, []eval.Stray) {
	definition, _ = eval.Merge(definition, blocks.Defaults(definition, defaults), configs.LayerCloud)
	out, strays := eval.Merge(definition, service, configs.LayerService)
	return eval.StartBlocks(report, out, configs.LayerService), strays
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

// dynamicDefaults reports whether the cloud's defaults have dynamic blocks.
func dynamicDefaults(c *Set) bool {
	d := c.defaults()
	return d != nil && (d.HasDynamic || d == c.expanded)
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
func (c *Set) inOrder() []*instance {
	out := slices.Clone(c.services)
	slices.SortStableFunc(out, func(a, b *instance) int { return diag.Compare(a.out.Range, b.out.Range) })
	return out
}

// Evaluated returns the services in the order of the source.
func (c *Set) Evaluated() []configs.Service {
	out := make([]configs.Service, 0, len(c.services))
	for _, in := range c.inOrder() {
		out = append(out, in.out)
	}
	return out
}

// Checked returns the configuration for the checks. Config.Services is Evaluated.
func (c *Set) Checked() *check.Whole {
	out := &check.Whole{
		Config: c.Config, Defaults: c.inDefaults("config"), Report: c.Report,
		Incomplete: len(c.Constant.Decisions.Open) > 0, WarnedHosts: c.WarnedHosts,
	}
	for i, in := range c.inOrder() {
		s := checked(in)
		s.Config = &c.Config.Services[i]
		out.Services = append(out.Services, *s)
	}
	return out
}

// checked returns a service for the checks.
func checked(in *instance) *check.Service {
	s := &check.Service{
		Config: &in.out, Block: in.block, Definition: in.definition, Written: in.written,
		InRoot: in.node.Module == in.set.Graph.Root, Folders: folders(in), Images: in.used,
	}
	for _, e := range in.out.Endpoints {
		if b := in.definition.One("endpoint", e.Type); b != nil && ownEndpoint(in, b) {
			s.OwnEndpoints = append(s.OwnEndpoints, e.Type)
		}
	}
	for _, p := range in.out.Ports {
		if !p.Exposed || in.out.Exposure == "" || p.NodePort != 0 {
			continue
		}
		if b := in.definition.One("port", p.Name); b != nil && !eval.AllKnown(in.inner, b, "node_port") {
			s.OpenNodePorts = append(s.OpenNodePorts, p.Name)
		}
	}
	return s
}
