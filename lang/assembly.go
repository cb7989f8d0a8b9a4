package lang

import (
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/moves"
	"kolla.openstack.org/kolla/lang/internal/services"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/variables"
	"kolla.openstack.org/kolla/lang/schema"
)

// assembly is the evaluation of one configuration. It puts the evaluated blocks into the Config.
type assembly struct {
	report   *diag.Reporter
	config   *configs.Config
	options  Options
	dir      string
	reader   *functions.Files
	constant *eval.Env // knows no names
	outside  *variables.Outside
	record   func(variable string, value cty.Value) // notes a value of the root module
	graph    *graph.Graph
	claims   graph.Claims
	moves    *moves.Reader
	services *services.Set
	vars     map[*graph.Module][]*variables.Variable
}

// addCloud adds the node of the cloud. Until it is evaluated, nothing is known of the cloud.
func addCloud(a *assembly, clouds []*source.Block) {
	a.graph.Global.Singles["cloud"] = cty.DynamicVal
	if len(clouds) == 0 {
		return
	}
	b, root := clouds[0], a.graph.Root
	needs := a.graph.Reach(root).AttributeEdges(b)
	for _, m := range b.All("metrics") {
		needs = append(needs, a.graph.Reach(root).BlockEdges(m)...)
	}
	a.graph.Add(&graph.Node{ID: "cloud", Module: root, Root: "cloud", At: b.Header, Needs: needs, Evaluate: func(f *graph.Frame) cty.Value {
		var value cty.Value
		a.config.Cloud, value = blocks.Cloud(f.Env(), b)
		a.graph.Global.Singles["cloud"] = value
		a.services.ExpandDefaults(f)
		return cty.NilVal
	}})
}

// addModule adds the nodes of a module and of the modules that it uses.
func addModule(a *assembly, m *graph.Module) {
	all := m.Written.Document
	repeated := func(b *source.Block, evaluate func(a *assembly, u *graph.Use) cty.Value) *graph.Node {
		return a.graph.AddRepeated(m, b, func(u *graph.Use) cty.Value { return evaluate(a, u) })
	}
	addVariables(a, m)
	addLocals(a, m)
	for _, b := range all.All("role") {
		repeated(b, role)
	}
	for _, b := range all.All("exposure") {
		repeated(b, exposure)
	}
	for _, b := range all.All("secret") {
		addSecret(a, m, b)
	}
	for _, b := range all.All("data") {
		n := repeated(b, data)
		n.Needs = append(n.Needs, graph.Edge{To: "cloud", At: b.Header}) // for its namespace
		n.Needs = append(n.Needs, graph.DependsOn(a.report, m, b)...)
	}
	a.services.Add(m)
	for _, b := range all.All("manifest") {
		n := repeated(b, manifest)
		n.Needs = append(n.Needs, graph.DependsOn(a.report, m, b)...)
		n.Needs = append(n.Needs, a.moves.TriggerEdges(m, b)...)
	}
	addOutputs(a, m)
	addChecks(a, m)
	for _, child := range m.Calls {
		a.graph.AddCall(child)
		addModule(a, child)
	}
}

// addLocals adds the nodes of the local values of a module.
func addLocals(a *assembly, m *graph.Module) {
	for _, attr := range source.Locals(a.report, m.Written.Document) {
		a.graph.Add(&graph.Node{
			ID: m.Path() + "local." + attr.Name, Module: m, Root: "local", Name: attr.Name, At: attr.NameRange,
			Needs:    a.graph.Reach(m).Edges(attr.Expr),
			Evaluate: func(f *graph.Frame) cty.Value { return f.Env().Value(attr.Expr) },
		})
	}
}

// role evaluates an instance of a role block.
func role(a *assembly, u *graph.Use) cty.Value {
	b, e := u.Block, u.Env
	address := u.Address()
	r, value, ok := blocks.Role(e, b, u.Instance, a.config.Roles)
	if !ok {
		return cty.DynamicVal // which was reported
	}
	r.Block = address
	if a.claims.Take(a.report, "role", r.Name, r.Block, b.Header) {
		a.config.Roles = append(a.config.Roles, r)
	}
	return value
}

// exposure evaluates an instance of an exposure block.
func exposure(a *assembly, u *graph.Use) cty.Value {
	b, e := u.Block, u.Env
	address := u.Address()
	x, secrets, value := blocks.Exposure(e, b, u.Instance)
	x.Block = address
	if x.Name == "" || !a.claims.Take(a.report, "exposure", x.Name, x.Block, b.Header) {
		return value
	}
	a.config.Exposures = append(a.config.Exposures, x)
	if x.TLS != nil && x.TLS.Source == configs.TLSIssued { // a Secret with the name would be cert-manager's too
		a.claims.Take(a.report, "secret", x.TLS.Secret, address, x.TLS.Range)
	}
	for _, s := range secrets {
		if s.Block = address; a.claims.Take(a.report, "secret", s.Name, s.Block, s.Range) {
			a.config.Secrets = append(a.config.Secrets, s)
		}
	}
	return value
}

// manifest evaluates an instance of a manifest block.
func manifest(a *assembly, u *graph.Use) cty.Value {
	b, e := u.Block, u.Env
	m := configs.Manifest{Block: u.Address(), Name: b.Label, Reason: eval.String(e, b, schema.ReasonAttribute.Name), Range: b.Header}
	m.Lifecycle = blocks.Lifecycle(blocks.Layered{Block: b, Eval: e})
	m.Lifecycle.ReplaceTriggeredBy = a.moves.Triggers(u.Frame, e, b)
	m.Objects = blocks.ManifestObjects(e, b, blocks.ManifestFiles{Reader: a.reader, Dir: a.dir, Sources: a.config.Files})
	eval.Preconditions(e, b)
	m.Reasons = u.Node.Reasons(u.Frame)
	m.Needs = graph.NeedsOf(m.Reasons)
	a.config.Manifests = append(a.config.Manifests, m)
	return cty.NilVal
}
