package lang

import (
	"net"
	"path"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// instance is one service: a use of a definition, on its way to a Service.
type instance struct {
	*graph
	node       *node
	frame      *frame
	block      *block // the user's service block
	definition *block
	home       *module    // where the definition stands; nil: the catalogue
	user       *evaluator // of what stands in the service block
	inner      *evaluator // of what stands in the definition
	cloud      *evaluator // of the cloud's defaults
	configs    map[string]*settings
	envs       map[string]*settings // of workloads
	images     map[string]string
	forAll     *int            // replicas of all workloads, if the service says so
	replicas   map[string]int  // by workload
	used       map[string]bool // names of images
	out        Service
}

// addServices finds the definition of every service, and what each refers to.
func (g *graph) addServices(m *module) {
	for _, b := range m.document.all("service") {
		n := &node{id: m.path() + b.id(), module: m, root: "service", name: b.label, block: b, at: b.header}
		// Of a service without a definition nothing more is known, and nobody complains
		// about it again.
		n.evaluate = func(*frame) cty.Value { return cty.DynamicVal }
		if definition, home := g.definitionOf(m, b); definition != nil {
			in := g.newInstance(n, definition, home)
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
func (g *graph) newInstance(n *node, definition *block, home *module) *instance {
	in := &instance{
		graph: g, node: n, block: n.block, definition: definition, home: home,
		configs: map[string]*settings{}, envs: map[string]*settings{}, used: map[string]bool{},
	}
	within := func(r reach) *evaluator {
		return &evaluator{reporter: g.reporter, functions: g.functions, memo: g.memo, owner: n.block, scope: newScope(nil), reach: r}
	}
	in.user = within(g.reach(n.module))
	in.cloud = within(g.reach(g.loader.root))
	in.inner = within(reach{values: home, things: n.module, around: true, graph: g})
	in.inner.inDefinition = true
	for _, kind := range []string{"port", "secret", "database"} {
		names := group{}
		for _, e := range []*evaluator{in.user, in.cloud, in.inner} {
			e.scope.groups[kind] = names
		}
	}
	in.out = Service{Definition: definition.label, Range: n.block.header}
	return in
}

// at is the service in one use of its module: one instance of a block that may be
// repeated. The first is the one that was made to find the references.
func (in *instance) at(f *frame, it item) *instance {
	out := in
	if in.frame != nil || in.block.grows || in.definition.grows || in.defaultsGrow() {
		out = in.newInstance(in.node, in.definition, in.home)
	}
	out.frame = f
	out.user.scope.parent = it.scope
	out.cloud.scope.parent = in.graph.loader.root.frames[0].scope
	out.inner.scope.parent = in.definitionScope(f)
	if out != in {
		out.block = out.user.expanded(in.block)
		out.definition = out.inner.expanded(in.definition)
		for _, e := range []*evaluator{out.user, out.cloud, out.inner} {
			e.scope.open = out.definition.open
		}
		out.mergeSettings()
	}
	return out
}

// mergeSettings puts the layers of config values and of environments together.
func (in *instance) mergeSettings() {
	for _, config := range in.definition.all("config") {
		var layers []*layer
		add := func(name string, b *block, eval *evaluator, attribute string) {
			if b != nil && b.attributes[attribute] != nil {
				layers = append(layers, &layer{name: name, expr: b.attributes[attribute].Expr, eval: eval})
			}
		}
		add(layerDefinition, config, in.inner, "values")
		for _, d := range in.defaults() {
			if matched, _ := path.Match(d.label, config.label); matched {
				add(layerCloud, d, in.cloud, "values")
			}
		}
		depth := 2
		if in.literal(config, "format") == "properties" {
			depth = 1
		}
		layers = append(layers, in.directoryLayers(config, depth)...)
		add(layerService, in.block.one("config", config.label), in.user, "values")
		in.configs[config.label] = merge(depth, layers)
	}
	for _, workload := range in.definition.all("workload") {
		var layers []*layer
		if attr := workload.attributes["env"]; attr != nil {
			layers = append(layers, &layer{name: layerDefinition, expr: attr.Expr, eval: in.inner})
		}
		if over := in.block.one("workload", workload.label); over != nil && over.attributes["env"] != nil {
			layers = append(layers, &layer{name: layerService, expr: over.attributes["env"].Expr, eval: in.user})
		}
		in.envs[workload.label] = merge(1, layers)
	}
}

// defaults are the overrides that the cloud has for all services.
func (g *graph) defaults() []*block {
	if d := g.defaultsBlock(); d != nil {
		return d.all("config")
	}
	return nil
}

func (g *graph) defaultsBlock() *block {
	if g.expandedDefaults != nil {
		return g.expandedDefaults
	}
	for _, b := range g.document.all("cloud") {
		return b.one("defaults", "")
	}
	return nil
}

// defaultsGrow reports whether the cloud's defaults hold dynamic blocks, which only
// the evaluation of the cloud shows.
func (g *graph) defaultsGrow() bool {
	d := g.defaultsBlock()
	return d != nil && (d.grows || d == g.expandedDefaults)
}

// edges are all references of the service and of its definition, but for those
// in values that are overridden.
func (in *instance) edges() []edge {
	out := []edge{{to: "cloud", at: in.block.header}}
	out = append(out, in.user.reach.edgesWithoutSettings(in.block)...)
	if mayBeExternal(in.block) { // what its definition refers to counts if it is read
		return append(out, in.dependsOn(in.node.module, in.block)...)
	}
	out = append(out, in.inner.reach.edgesWithoutSettings(in.definition)...)
	if d := in.defaultsBlock(); d != nil && d.grows {
		out = append(out, in.cloud.reach.blockEdges(d)...)
	}
	if in.home != nil && in.home.call != nil {
		out = append(out, edge{to: in.home.path() + "*", at: in.block.header})
	}
	for _, name := range keysOf(in.configs) {
		out = append(out, in.configs[name].edges()...)
	}
	for _, name := range keysOf(in.envs) {
		out = append(out, in.envs[name].edges()...)
	}
	for _, b := range in.definition.all("database") {
		if id := in.inner.reach.find("service", in.literal(b, "server"), nil); id != nil {
			out = append(out, edge{to: id[0], at: b.header})
		}
	}
	out = append(out, in.mountEdges()...)
	out = append(out, in.dependsOn(in.node.module, in.block)...)
	out = append(out, in.triggerEdges(in.node.module, in.block)...)
	self := in.block.id()
	return slices.DeleteFunc(out, func(e edge) bool { return e.to == self || in.meansOwn(e) })
}

// edgesWithoutSettings are the references in a block, but for those in values that
// are merged with others. Where a dynamic block makes the values they count.
func (r reach) edgesWithoutSettings(b *block) []edge {
	var out []edge
	for _, attr := range b.ordered() {
		merged := b.typ.Name == "config" && attr.Name == "values" || b.typ.Name == "workload" && attr.Name == "env"
		if typ := b.typ.attribute(attr.Name); !merged && (typ == nil || typ.Type != TypeReferences) {
			out = append(out, r.edges(attr.Expr)...)
		}
	}
	for _, child := range b.blocks {
		if child.typ == dynamicType {
			out = append(out, r.blockEdges(child)...)
			continue
		}
		out = append(out, r.edgesWithoutSettings(child)...)
	}
	return out
}

// evaluate makes the Service, and returns what others read as service.NAME.
func (in *instance) evaluate(it item) cty.Value {
	s := &in.out
	s.Block = in.node.address(in.frame, it)
	if s.Name = it.nameOf(in.user, in.block); s.Name == "" || !in.claim("service", s.Name, s.Block, in.block.header) {
		return cty.DynamicVal
	}
	if in.directory != nil && s.Name != in.block.label {
		in.mergeSettings() // the config directory may have files for the name
	}
	s.Lifecycle = lifecycle(layered{in.block, in.user})
	var object cty.Value
	if in.isExternal() {
		object = in.external()
	} else {
		object = in.deployed()
	}
	if !in.definition.complete() {
		object = cty.DynamicVal.WithMarks(deferrals(in.definition.open))
	}
	in.checkOverrides()
	if l := in.block.one("lifecycle", ""); l != nil {
		in.user.preconditions(l)
	}
	s.Reasons = in.reasonsOf(in.node, in.frame)
	s.Needs = needsOf(s.Reasons)
	s.Undecided = in.decisions.open[in.node.id]
	in.configs, in.envs = nil, nil // they are large, and were all read
	in.services = append(in.services, in)
	in.byAddress[s.Block] = in
	return object
}

// deployed makes what is deployed of the service.
func (in *instance) deployed() cty.Value {
	s := &in.out
	s.Role = in.user.role(in.block, "role")
	s.Exposure = in.user.exposure(in.block, "expose")
	s.Lifecycle.ReplaceTriggeredBy = in.triggers(in.frame, in.user, in.block)
	in.images = in.user.strings(in.block, "images")
	in.replicas = in.allReplicas()
	in.ports()
	in.setSelf(in.object())
	in.secrets()
	in.databases()
	object := in.outputs()
	in.setSelf(object)
	in.files()
	for _, b := range in.definition.all("job") {
		s.Jobs = append(s.Jobs, in.job(b, in.inner, in.inner.environment(b)))
	}
	for _, b := range in.definition.all("workload") {
		s.Workloads = append(s.Workloads, in.workload(b))
	}
	in.endpoints()
	return object
}

func (in *instance) setSelf(self cty.Value) {
	for _, e := range []*evaluator{in.user, in.cloud, in.inner} {
		e.scope.singles["self"] = self
	}
}

// rangeOf is the place of a block for the Config: the user's override where there
// is one, nothing where only the catalogue has it.
func rangeOf(override, definition *block) hcl.Range {
	switch {
	case override != nil:
		return override.header
	case builtinRange(definition.header):
		return hcl.Range{}
	}
	return definition.header
}

func (in *instance) ports() {
	numbers := map[int]string{}
	for _, b := range in.definition.all("port") {
		override := in.block.one("port", b.label)
		p := Port{
			Name:     b.label,
			Number:   in.inner.number(b, "number"),
			Exposed:  in.inner.bool(b, "expose"),
			NodePort: in.inner.number(b, "node_port"),
			Range:    rangeOf(override, b),
		}
		if override != nil {
			p.NodePort = in.user.number(override, "node_port")
		}
		if other, taken := numbers[p.Number]; taken && p.Number != 0 {
			in.error(b.attributeRange("number"), "Two ports with one number", "Port %q has the number %d already.", other, p.Number)
		}
		numbers[p.Number] = p.Name
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
	s := in.out
	host := s.Name + "." + in.config.Cloud.Namespace
	values := map[string]cty.Value{
		"name":      cty.StringVal(s.Name),
		"namespace": in.inNamespace(in.config.Cloud.Namespace),
		"host":      in.inNamespace(host),
		"replicas":  cty.NumberIntVal(0),
		"external":  cty.False,
	}
	for _, b := range in.definition.all("workload")[:min(1, len(in.definition.all("workload")))] {
		values["replicas"] = in.replicasValue(b)
	}
	if len(s.Ports) > 0 {
		port := s.Ports[0].Number
		address := net.JoinHostPort(host, strconv.Itoa(port))
		values["port"] = in.inner.scope.groups["port"][s.Ports[0].Name]
		first := in.definition.all("port")[0]
		values["address"] = in.inner.read(first, in.inNamespace(address), "number")
		values["url"] = in.inner.read(first, in.inNamespace("http://"+address), "number")
		values["public_url"] = in.publicURL(address)
	}
	if !in.definition.complete() {
		for _, name := range []string{"port", "address", "url", "public_url"} {
			values[name] = cty.DynamicVal.WithMarks(deferrals(in.definition.open))
		}
	}
	return cty.ObjectVal(values)
}

// inNamespace is a text that is made of the cloud's namespace.
func (in *instance) inNamespace(text string) cty.Value {
	v := cty.StringVal(text)
	for _, b := range in.document.all("cloud") {
		v = in.cloud.read(b, v, "namespace")
	}
	return v
}

// publicURL is the URL for clients outside; others use the given address.
func (in *instance) publicURL(internal string) cty.Value {
	v := in.user.read(in.block, in.inNamespace("http://"+in.publicAddress(internal)), "expose")
	for _, b := range in.definition.all("port") {
		v = in.inner.read(b, v, "number", "expose")
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
		for _, x := range in.config.Exposures {
			if x.Name == in.out.Exposure {
				return net.JoinHostPort(x.Host(), strconv.Itoa(p.Number))
			}
		}
	}
	return internal
}

// outputs evaluates the outputs, and returns the service's object with them.
func (in *instance) outputs() cty.Value {
	base := in.inner.scope.singles["self"].AsValueMap()
	names := keysOf(base)
	in.out.Outputs = map[string]cty.Value{}
	for _, b := range in.definition.all("output") {
		if slices.Contains(names, b.label) {
			in.error(b.labelRange, "Unsuitable name", "Every service has an attribute %q already.", b.label)
			continue
		}
		v := cty.DynamicVal
		if attr := b.attributes["value"]; attr != nil {
			v = in.inner.value(attr.Expr)
		}
		in.out.Outputs[b.label], base[b.label] = v, v
	}
	return cty.ObjectVal(base)
}

func (in *instance) endpoints() {
	for _, b := range in.definition.all("endpoint") {
		e := Endpoint{Type: b.label, Port: in.inner.string(b, "port"), Path: in.inner.string(b, "path")}
		in.checkPort(b, "port", e.Port, in.definition.labels("port"))
		in.out.Endpoints = append(in.out.Endpoints, e)
	}
}

// files makes the config files.
func (in *instance) files() {
	for _, b := range in.definition.all("config") {
		override := in.block.one("config", b.label)
		f := ConfigFile{
			Name:       b.label,
			Format:     in.literal(b, "format"),
			Path:       in.inner.string(b, "path"),
			SecretPath: in.inner.string(b, "secret_path"),
			Range:      in.rangeOfFile(override, b),
		}
		unused := "content"
		if f.Format == "raw" {
			unused = "values"
			f.Content, f.Origin = in.content(b, override)
		} else {
			f.Options = in.configs[b.label].options()
			f.Partial = in.configs[b.label].partial
		}
		for _, part := range []*block{b, override} {
			if part != nil && part.attributes[unused] != nil && f.Format != "" {
				in.error(part.attributes[unused].NameRange, "Argument does not fit the format",
					"%q is %s: a raw file has content, and other files have values.", b.label, f.Format)
			}
		}
		in.out.Configs = append(in.out.Configs, f)
	}
}

func (in *instance) content(b, override *block) (Text, Origin) {
	content, replaced := in.replacement(b)
	if override != nil {
		if text, given := in.user.text(override, "content"); given {
			return text, Origin{Layer: layerService, Range: override.attributeRange("content")}
		}
	}
	if replaced {
		return content, Origin{Layer: layerDirectory, Range: in.rangeOfFile(nil, b)}
	}
	text, given := in.inner.text(b, "content")
	if !given {
		in.error(b.header, "Missing argument", "config %q is raw: it needs the argument \"content\".", b.label)
	}
	return text, Origin{Layer: layerDefinition, Range: b.attributeRange("content")}
}
