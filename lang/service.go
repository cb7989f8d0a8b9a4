package lang

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// instance is one service: a use of a definition, on its way to a Service.
type instance struct {
	*graph
	node       *node
	frame      *frame
	block      *source.Block // the user's service block
	written    *source.Block // the definition as it is written
	whole      *source.Block // with what the service says over it
	definition *source.Block // the same, without what does not count
	strays     []stray       // what the service says over nothing
	home       *module       // where the definition stands; nil: the catalogue
	user       *evaluator    // of what stands in the service block
	inner      *evaluator    // of what stands in the definition
	cloud      *evaluator    // of the cloud's defaults
	configs    map[string]*settings
	absent     map[string]bool // optional config files without content
	images     map[string]string
	forAll     *int            // replicas of all workloads, if the service says so
	capped     []string        // workloads that have fewer than the service says, and how many
	replicas   map[string]int  // by workload
	used       map[string]bool // names of images
	untolds    []untoldUse     // what takes secrets that the external service was not told
	// with holds the replacements of services, by the name in the definition. A nil value:
	// the replacement is not known yet.
	with map[string]*instance
	out  configs.Service
}

// addServices finds the definition of every service, and what each refers to.
func (g *graph) addServices(m *module) {
	for _, b := range m.written.Document.All("service") {
		n := &node{id: m.written.Path() + b.ID(), module: m, root: "service", name: b.Label, block: b, at: b.Header}
		// Of a service without a definition nothing more is known, and nobody complains
		// about it again.
		n.evaluate = func(*frame) cty.Value { return cty.DynamicVal }
		if definition, home := g.definitionOf(m, b); definition != nil {
			in := g.newInstance(n, definition, home)
			n.definition = definition.Label
			in.checkInputs()
			in.mergeSettings()
			n.needs = in.edges()
			n.evaluate = func(f *frame) cty.Value {
				return g.repeated(f, b, func(it item) cty.Value { return in.at(f, it).evaluate(it) })
			}
		}
		g.add(n)
	}
}

// newInstance makes an instance, for which it is not known yet what names mean.
func (g *graph) newInstance(n *node, definition *source.Block, home *module) *instance {
	in := &instance{
		graph: g, node: n, block: n.block, written: definition, home: home,
		configs: map[string]*settings{}, absent: map[string]bool{}, used: map[string]bool{},
	}
	in.whole, in.strays = overlaid(in.defaulted(definition), n.block)
	in.definition = in.whole
	within := func(r reach) *evaluator {
		return &evaluator{report: g.report, decisions: g.decisions, functions: g.functions, memo: g.memo, owner: n.block, scope: newScope(nil), reach: r}
	}
	in.user = within(g.reach(n.module))
	in.cloud = within(g.reach(g.loader.root))
	in.inner = within(reach{values: home, things: n.module, around: true, graph: g})
	in.inner.inDefinition, in.inner.ofService, in.inner.ofCloud = true, in.user, in.cloud
	for _, kind := range []string{"port", "secret", "database", "queue", "user", "endpoint", "input"} {
		names := group{}
		for _, e := range []*evaluator{in.user, in.cloud, in.inner} {
			e.scope.groups[kind] = names
		}
	}
	in.out = configs.Service{Definition: definition.Label, DefinedAt: definition.Header, Range: n.block.Header}
	return in
}

// at is the service in one use of its module: one instance of a block that may be
// repeated. The first is the one that was made to find the references.
func (in *instance) at(f *frame, it item) *instance {
	out := in
	if in.frame != nil || in.block.HasDynamic || in.written.HasDynamic || in.defaultsGrow() {
		out = in.newInstance(in.node, in.written, in.home)
	}
	out.frame = f
	out.user.scope.parent = it.scope
	out.cloud.scope.parent = in.graph.loader.root.frames[0].scope
	out.inner.scope.parent = in.definitionScope(f)
	out.putInPlace()
	if out != in {
		out.block = out.user.expanded(in.block)
		out.whole, out.strays = overlaid(out.defaulted(out.inner.expanded(in.written)), out.block)
		out.definition = out.whole
		for _, e := range []*evaluator{out.user, out.cloud, out.inner} {
			e.scope.open = out.definition.Incomplete
		}
		out.mergeSettings()
	}
	return out
}

// defaults are the overrides that the cloud has for all services.
func (g *graph) defaults() []*source.Block {
	if d := g.defaultsBlock(); d != nil {
		return d.All("config")
	}
	return nil
}

func (g *graph) defaultsBlock() *source.Block {
	if g.expandedDefaults != nil {
		return g.expandedDefaults
	}
	for _, b := range g.document.All("cloud") {
		return b.One("defaults", "")
	}
	return nil
}

// defaultsGrow reports whether the cloud's defaults hold dynamic blocks, which only
// the evaluation of the cloud shows.
func (g *graph) defaultsGrow() bool {
	d := g.defaultsBlock()
	return d != nil && (d.HasDynamic || d == g.expandedDefaults)
}

// edges are all references of the service and of its definition, but for those
// in values that are overridden.
func (in *instance) edges() []edge {
	out := []edge{{to: "cloud", at: in.block.Header}}
	if mayBeExternal(in.block) { // what its definition refers to counts if it is read
		out = append(out, in.user.edgesWithoutSettings(in.block)...)
		return append(out, in.dependsOn(in.node.module, in.block)...)
	}
	out = append(out, in.ownEdges()...)
	out = append(out, in.withoutReplaced(in.innerEdges())...)
	out = append(out, in.dependsOn(in.node.module, in.block)...)
	out = append(out, in.triggerEdges(in.node.module, in.block)...)
	self := in.block.ID()
	return slices.DeleteFunc(out, func(e edge) bool { return e.to == self || in.meansOwn(e) })
}

// innerEdges are the references of the definition, with what comes over it.
func (in *instance) innerEdges() []edge {
	out := in.inner.edgesWithoutSettings(in.definition)
	if in.home != nil && in.home.written.Call != nil {
		out = append(out, edge{to: in.home.written.Path() + "*", at: in.block.Header})
	}
	out = append(out, in.defaultEdges()...)
	for _, b := range in.defaultPatches() {
		out = append(out, in.cloud.edgesWithoutSettings(b)...)
	}
	for _, b := range in.definition.All("config") {
		if gateOf(b) == open {
			out = append(out, in.configs[b.Label].edges()...)
		}
	}
	for _, b := range in.definition.All("database") {
		if gateOf(b) != open {
			continue
		}
		if id := in.inner.reach.find("service", serverOf(b), nil); id != nil {
			out = append(out, edge{to: id[0], at: b.Header})
		}
	}
	out = append(out, in.serverEdges()...)
	return append(out, in.mountEdges()...)
}

// ownEdges are the references in the service's block, but for those in blocks that
// override some of its definition's.
func (in *instance) ownEdges() []edge {
	out := in.user.reach.attributeEdges(in.block)
	for _, child := range in.block.Blocks {
		switch {
		case child.Type == schema.DynamicType:
			out = append(out, in.user.reach.blockEdges(child)...)
		case !overrides(child):
			out = append(out, in.user.edgesWithoutSettings(child)...)
		default: // how its objects are treated is not put together with the definition's
			if l := child.One("lifecycle", ""); l != nil {
				out = append(out, in.user.edgesWithoutSettings(l)...)
			}
		}
	}
	return out
}

// edgesWithoutSettings are the references in a block, but for those in config values,
// which are merged with others. Where a dynamic block makes the values they count.
func (e *evaluator) edgesWithoutSettings(b *source.Block) []edge {
	var out []edge
	for _, attr := range b.Ordered() {
		typ := b.Type.Attribute(attr.Name)
		switch {
		case typ != nil && (typ.Type == schema.TypeReferences || typ.Type == schema.TypeSettings):
		case typ != nil && typ.Type == schema.TypeTexts && isStacked(attr.Expr):
			out = append(out, e.variables(b, attr.Name).edges()...)
		default:
			out = append(out, e.reach.edges(attr.Expr)...)
		}
	}
	for _, child := range b.Blocks {
		switch gate := gateOf(child); {
		case child.Type == schema.DynamicType:
			out = append(out, e.reach.blockEdges(child)...)
		case child.Type == schema.OwnLocalsType: // what they refer to counts if they are read
		case gate == open:
			out = append(out, e.edgesWithoutSettings(child)...)
		case gate == undecided: // what it refers to counts if it is read
			out = append(out, e.reach.edges(child.Attributes[schema.EnabledAttribute.Name].Expr)...)
		}
	}
	return out
}

// evaluate makes the Service, and returns what others read as service.NAME.
func (in *instance) evaluate(it item) cty.Value {
	s := &in.out
	s.Block = in.node.address(in.frame, it)
	if s.Name = it.nameOf(in.user, in.block); s.Name == "" || !in.claim("service", s.Name, s.Block, in.block.Header) {
		return cty.DynamicVal
	}
	if in.directory != nil && s.Name != in.block.Label {
		in.mergeSettings() // the config directory may have files for the name
	}
	s.Lifecycle = lifecycle(layered{in.block, in.user})
	var object cty.Value
	if in.isExternal() {
		object = in.external()
	} else {
		object = in.deployed()
	}
	if !in.definition.Complete() {
		object = cty.DynamicVal.WithMarks(values.Deferrals(in.definition.Incomplete))
	}
	in.checkOverrides()
	if l := in.block.One("lifecycle", ""); l != nil {
		in.user.preconditions(l)
	}
	s.Reasons = in.reasonsOf(in.node, in.frame)
	s.Needs = needsOf(s.Reasons)
	s.Undecided = in.decisions.open[in.node.id]
	in.configs = nil // they are large, and were all read
	in.services = append(in.services, in)
	in.byAddress[s.Block] = in
	return object
}

// deployed makes what is deployed of the service.
func (in *instance) deployed() cty.Value {
	s := &in.out
	if deploysNothing(in.definition) {
		in.report.Error(in.block.Header, fmt.Sprintf("Nothing to deploy for service %q", in.block.Label),
			"Definition %q has no workload: it describes what is there already. Say where:\n\n  external = { host = \"...\" }", s.Definition)
		in.setSelf(cty.DynamicVal)
		return cty.DynamicVal
	}
	in.role()
	s.Lifecycle.ReplaceTriggeredBy = in.triggers(in.frame, in.user, in.block)
	in.images = in.user.strings(in.block, "images")
	in.takeInputs()
	in.ownLocals()
	in.narrowPorts()
	in.ports()
	in.expose()
	in.narrow()
	in.replicas = in.allReplicas()
	in.setSelf(in.object())
	in.secrets()
	in.databases()
	in.provided()
	object := in.outputs()
	in.setSelf(object)
	in.files()
	for _, b := range in.definition.All("job") {
		s.Jobs = append(s.Jobs, in.job(b, in.inner))
	}
	for _, b := range in.definition.All("workload") {
		s.Workloads = append(s.Workloads, in.workload(b))
	}
	in.checkAfter()
	in.network()
	in.marks()
	in.patches()
	return object
}

func (in *instance) setSelf(self cty.Value) {
	for _, e := range []*evaluator{in.user, in.cloud, in.inner} {
		e.scope.singles["self"] = self
	}
	in.ownLocals()
}

// rangeOf is the place of a block for the Config: nothing where only the catalogue has
// it.
func rangeOf(b *source.Block) hcl.Range {
	if configs.InCatalogue(b.Header) {
		return hcl.Range{}
	}
	return b.Header
}

func (in *instance) ports() {
	type taken struct {
		number int
		udp    bool
	}
	numbers := map[taken]string{}
	for _, b := range in.definition.All("port") {
		p := configs.Port{
			Name:     b.Label,
			Number:   in.inner.number(b, "number"),
			Exposed:  in.inner.bool(b, "expose"),
			NodePort: in.inner.number(b, "node_port"),
			UDP:      in.inner.string(b, "protocol") == "udp",
			Public:   in.inner.number(b, "public"),
			Range:    rangeOf(b),
		}
		at := taken{p.Number, p.UDP}
		if other, twice := numbers[at]; twice && p.Number != 0 {
			in.report.Error(b.AttributeRange("number"), "Two ports with one number", "Port %q has the number %d already.", other, p.Number)
		}
		numbers[at] = p.Name
		in.checkPublic(b, p)
		in.out.Ports = append(in.out.Ports, p)
		in.inner.scope.groups["port"][p.Name] = in.inner.read(b, known(p.Number), "number")
	}
}

// known is a number, unless it is 0: then it could not be evaluated.
func known(n int) cty.Value {
	if n == 0 {
		return cty.UnknownVal(cty.Number)
	}
	return cty.NumberIntVal(int64(n))
}

// object is what the service is to others, but for its outputs.
func (in *instance) object() cty.Value {
	values := in.identity()
	for _, b := range in.definition.All("workload")[:min(1, len(in.definition.All("workload")))] {
		values["replicas"] = in.replicasValue(b)
	}
	in.addPorts(values)
	return cty.ObjectVal(values)
}

// identity is what is known of a service before anything of its definition is evaluated.
func (in *instance) identity() map[string]cty.Value {
	out := in.called()
	out["role"] = in.readPlace(cty.StringVal(in.out.Role), "role")
	out["replicas"] = cty.NumberIntVal(0)
	return out
}

// called is what is known of a service that is deployed before its role is.
func (in *instance) called() map[string]cty.Value {
	return map[string]cty.Value{
		"name":      cty.StringVal(in.out.Name),
		"namespace": in.inNamespace(in.config.Cloud.Namespace),
		"host":      in.inNamespace(in.out.Name + "." + in.config.Cloud.Namespace),
		"external":  cty.False,
	}
}

// addPorts adds what others read of the ports.
func (in *instance) addPorts(out map[string]cty.Value) {
	s := in.out
	host := s.Name + "." + in.config.Cloud.Namespace
	if len(s.Ports) > 0 {
		port := s.Ports[0].Number
		address := net.JoinHostPort(host, strconv.Itoa(port))
		out["port"] = in.inner.scope.groups["port"][s.Ports[0].Name]
		first := in.definition.All("port")[0]
		out["address"] = in.inner.read(first, in.inNamespace(address), "number")
		out["url"] = in.inner.read(first, in.inNamespace(s.Ports[0].Scheme()+address), "number")
		out["public_url"] = in.publicURL(address)
	}
	out["ports"], out["members"] = in.portObjects(), in.members()
	if !in.definition.Complete() {
		for _, name := range []string{"port", "address", "url", "public_url", "ports", "members"} {
			out[name] = cty.DynamicVal.WithMarks(values.Deferrals(in.definition.Incomplete))
		}
	}
}

// inNamespace is a text that is made of the cloud's namespace.
func (in *instance) inNamespace(text string) cty.Value {
	v := cty.StringVal(text)
	for _, b := range in.document.All("cloud") {
		v = in.cloud.read(b, v, "namespace")
	}
	return v
}

// publicURL is the URL for clients outside; others use the given address.
func (in *instance) publicURL(internal string) cty.Value {
	v := in.readPlace(in.inNamespace("http://"+in.publicAddress(internal)), "expose")
	for _, b := range in.definition.All("port") {
		v = in.inner.read(b, v, "number", "expose", "public")
	}
	return v
}

// publicAddress is how clients outside reach the first exposed port; others use
// the given address.
func (in *instance) publicAddress(internal string) string {
	for _, p := range in.out.Ports {
		if !p.Exposed {
			continue
		}
		if x := in.exposure(); x != nil {
			return net.JoinHostPort(x.Host(), strconv.Itoa(p.AtExposure()))
		}
	}
	return internal
}

// exposure is how clients outside reach the service; nil: they do not.
func (in *instance) exposure() *configs.Exposure {
	for i, x := range in.config.Exposures {
		if x.Name == in.out.Exposure {
			return &in.config.Exposures[i]
		}
	}
	return nil
}

// outputs evaluates the outputs, and returns the service's object with them.
func (in *instance) outputs() cty.Value {
	base := in.inner.scope.singles["self"].AsValueMap()
	names := keysOf(base)
	in.out.Outputs = map[string]cty.Value{}
	for _, b := range in.definition.All("output") {
		if slices.Contains(names, b.Label) {
			in.report.Error(b.LabelRange, "Unsuitable name", "Every service has an attribute %q already.", b.Label)
			continue
		}
		v := cty.DynamicVal
		if attr := b.Attributes["value"]; attr != nil {
			v = in.inner.value(attr.Expr)
		}
		in.out.Outputs[b.Label], base[b.Label] = v, v
	}
	return cty.ObjectVal(base)
}

// files makes the config files.
func (in *instance) files() {
	for _, b := range in.definition.All("config") {
		f := configs.ConfigFile{
			Name:       b.Label,
			Format:     in.formatOf(b),
			Path:       in.inner.string(in.inherited(b, "path"), "path"),
			SecretPath: in.inner.string(in.inherited(b, "secret_path"), "secret_path"),
			Mode:       in.mode(b),
			Range:      in.rangeOfFile(b),
		}
		if in.inner.bool(b, "optional") && !in.hasContent(b, f.Format) {
			in.absent[b.Label] = true
			continue
		}
		unused := "content"
		switch f.Format {
		case "raw":
			unused = "values"
			f.Content, f.Origin = in.content(b)
			if attr := b.Attributes["from"]; attr != nil {
				in.report.Error(attr.NameRange, "Argument does not fit the format", "%q is raw: only files with values can be made from others.", b.Label)
			}
		case "yaml", "json":
			f.Content, f.Origin = in.tree(b, f.Format)
			f.Partial = in.configs[b.Label].partial
		default:
			f.Options = in.configs[b.Label].options()
			f.Partial = in.configs[b.Label].partial
			in.checkOnly(b, f)
		}
		for _, part := range []*source.Block{b.Base, b} {
			if part != nil && part.Attributes[unused] != nil && f.Format != "" {
				in.report.Error(part.Attributes[unused].NameRange, "Argument does not fit the format",
					"%q is %s: a raw file has content, and other files have values.", b.Label, f.Format)
			}
		}
		if f.Format == "yaml" || f.Format == "json" {
			f.Format = "raw" // as which it is written and shown
		}
		if in.inner.bool(in.inherited(b, "sensitive"), "sensitive") {
			f.Hide()
		}
		in.out.Configs = append(in.out.Configs, f)
	}
}

// content is that of a raw file: what the service says, or else the config directory,
// or else the definition.
func (in *instance) content(b *source.Block) (configs.Text, configs.Origin) {
	content, replaced := in.replacement(b)
	of := configs.Origin{Layer: configs.LayerDefinition, Range: b.AttributeRange("content")}
	if in.inner.sayer(b, "content") == in.user && in.inner.given(b, "content") {
		of.Layer = configs.LayerService
	} else if replaced {
		return content, configs.Origin{Layer: configs.LayerDirectory, Range: in.rangeInDirectory(b)}
	}
	text, given := in.inner.text(b, "content")
	if !given {
		in.report.Error(b.Header, "Missing argument", "config %q is raw: it needs the argument \"content\", a text, such as yamlencode({ ... }) or file(\"...\").", b.Label)
	}
	return text, of
}
