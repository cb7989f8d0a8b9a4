package services

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// declaration is a service block with its definition, as they are written in a module.
type declaration struct {
	set     *Set
	node    *graph.Node   // its Block is the service block
	written *source.Block // the definition
	home    *graph.Module // of the definition; nil: the catalogue
	overlay *overlay      // without the blocks that dynamic blocks stand for
}

// reach finds the references in the definition.
func (d *declaration) reach() graph.Reach {
	return d.set.Graph.DefinitionReach(d.home, d.node.Module)
}

// overlay is a definition with the overrides of the cloud's defaults and of a service.
type overlay struct {
	whole  *source.Block
	strays []layers.Stray // blocks of the service that override nothing
}

// merged are the values of config files, by label. They are large, so that nothing keeps them after
// the evaluation of the service block.
type merged map[string]*settings.Merged

// overlaid puts the cloud's defaults and a service block over a definition.
func overlaid(c *Set, definition, block *source.Block) (*overlay, merged) {
	definition, _ = layers.Merge(definition, blocks.Defaults(definition, c.defaults()), configs.LayerCloud)
	whole, strays := layers.Merge(definition, block, configs.LayerService)
	whole = layers.StartBlocks(c.Report, whole, configs.LayerService)
	return &overlay{whole, strays}, configFiles(c, whole, whole, folders(c, whole, block, "")).Merge()
}

// configFiles says how the config files of a service are put together. Enabled is the definition
// without disabled blocks.
func configFiles(c *Set, whole, enabled *source.Block, folders []string) *settings.Files {
	return &settings.Files{
		Whole: whole, Enabled: enabled, Defaults: c.inDefaults("config"), Directory: c.Directory, Names: folders,
		Constant: c.Constant, Leaves: c.Leaves,
	}
}

// folders returns the folders of a service in the config directory, the weakest first. Its name in the
// cluster may be empty.
func folders(c *Set, definition, block *source.Block, name string) []string {
	all := []string{definition.Label, block.Label, name}
	if definition.Attributes["project"] != nil {
		all = slices.Insert(all, 0, eval.Literal(c.Constant, definition, "project"))
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// use is one instance of a service block in one frame, before its evaluation.
type use struct {
	set      *Set
	decl     *declaration
	frame    *graph.Frame
	block    *source.Block // the service block
	over     *overlay
	locals   []*hclsyntax.Attribute // of the definition
	name     string                 // in the cluster
	address  string
	external bool // the service exists already
	// with are replacements of services, by the name in the definition. Nil: the replacement
	// is not known yet.
	with map[string]*service
}

// prepare returns one instance, the environment of its definition, and its config values, which are
// those of the declaration if nothing of the instance changes them. It is not ok if the instance has
// no name of its own, which is reported.
func prepare(d *declaration, values merged, f *graph.Frame, it eval.Instance) (u *use, e *eval.Env, own merged, ok bool) {
	c, block, over := d.set, d.node.Block, d.overlay
	e, with := environment(d, f, it)
	if d.collects() {
		checkTargets(c, e.OfService)
		e = withLogs(c, e)
	}
	dynamic := block.HasDynamic || d.written.HasDynamic
	if dynamic { // dynamic blocks can read the inputs
		e = withInputs(d, e, d.written, source.Locals(c.Report, over.whole))
	}
	if defaults := c.defaults(); dynamic || defaults != nil && (defaults.HasDynamic || defaults == c.expanded) {
		block = eval.Expanded(e.OfService, block)
		over, values = overlaid(c, eval.Expanded(e, d.written), block)
	}
	for _, e := range []*eval.Env{e.OfService, e.OfCloud, e} {
		e.Scope.Open = over.whole.Incomplete
	}
	address, name := d.node.Address(f, it), it.Name(e.OfService, block)
	if name == "" || !c.Claims.Take(c.Report, "service", name, address, block.Header) {
		return nil, nil, nil, false
	}
	if c.Directory != nil && name != block.Label { // it may have files for the name
		values = configFiles(c, over.whole, over.whole, folders(c, over.whole, block, name)).Merge()
	}
	return &use{
		set: c, decl: d, frame: f, block: block, over: over, locals: source.Locals(c.Report, over.whole),
		name: name, address: address, external: isExternal(e.OfService, block), with: with,
	}, e, values, true
}
