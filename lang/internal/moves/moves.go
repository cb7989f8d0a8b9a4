package moves

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// collection is one run of Collect.
type collection struct {
	reader     *Reader
	config     *configs.Config
	undeclared bool
	moved      map[string]bool      // addresses that moved blocks are about
	places     map[string]hcl.Range // see declared
	addresses  []string             // the keys of places, sorted
}

// Collect reads the moved, removed and import blocks of all modules into a configuration with
// evaluated services, and reports addresses that are not declared. Addresses in a module are
// relative to the module. If undeclared is set, imports of blocks that are not declared go to
// Config.Undeclared. Otherwise they are errors.
func Collect(r *Reader, config *configs.Config, undeclared bool) {
	c := &collection{reader: r, config: config, undeclared: undeclared, moved: map[string]bool{}}
	var moves []addrs.Move
	for _, m := range r.Graph.Modules() {
		for _, f := range m.Frames {
			for _, b := range m.Written.Document.All("moved") {
				from, ok := r.argument(f, b, "from")
				to, alsoOK := r.argument(f, b, "to")
				if ok && alsoOK {
					moves = append(moves, addrs.Move{From: from, To: to, Range: b.Header})
				}
			}
			c.removals(f)
			if m.Parent == nil {
				c.imports(f)
			}
		}
	}
	for _, m := range moves {
		if c.checkMove(m, moves) {
			config.Moves = append(config.Moves, m)
		}
	}
	c.checkTriggers()
}

// removals reads the removed blocks of a frame.
func (c *collection) removals(f *graph.Frame) {
	for _, b := range f.Module.Written.Document.All("removed") {
		removal := addrs.Removal{Destroy: true, Data: addrs.NoData, Range: b.Header}
		if lifecycle := b.One("lifecycle", ""); lifecycle != nil {
			removal.Destroy = eval.Bool(f.Env(), lifecycle, "destroy")
			removal.Data = addrs.Data(eval.String(f.Env(), lifecycle, "delete_data"))
			if !removal.Destroy && removal.Data != addrs.NoData {
				c.reader.Report.Error(lifecycle.Attributes["delete_data"].Expr.Range(), "Nothing is deleted", "With destroy = false, the objects stay in the cluster with their data. Remove one of the two arguments.")
			}
		}
		var ok bool
		if removal.From, ok = c.reader.argument(f, b, "from"); ok && c.gone(removal.From, false) {
			c.config.Removals = append(c.config.Removals, removal)
		}
	}
}

// imports reads the import blocks of the root module.
func (c *collection) imports(f *graph.Frame) {
	for _, b := range f.Module.Written.Document.All("import") {
		items, ok := f.Instances(b)
		if !ok {
			continue
		}
		for _, it := range items {
			c.importOne(b, c.reader.Graph.Env(it.Scope))
		}
	}
}

// importOne reads one instance of an import block.
func (c *collection) importOne(b *source.Block, e *eval.Env) {
	if b.Attributes["to"] == nil {
		return // which was reported
	}
	to, ok := c.reader.read(b.Attributes["to"].Expr, e)
	if !ok {
		return
	}
	if to.Whole() {
		c.reader.Report.Error(to.Range, "One object expected", `An import takes over one object: write its address in quotes, such as "%s/Deployment/NAME".`, to)
		return
	}
	i := addrs.Import{To: to.Object, ID: eval.String(e, b, "id"), Range: b.Header}
	switch {
	case c.undeclared && i.ID != "" && c.blockAt(to.Block) == nil:
		c.config.Undeclared = append(c.config.Undeclared, i)
	case c.blockAt(to.Block) == nil && addrs.TypeOf(to.Block) == "manifest":
		c.missing(to, " `kolla plan -generate-config-out=FILE` writes a manifest of what is in the cluster.")
	case c.there(to, nil):
		c.config.Imports = append(c.config.Imports, i)
	}
}

// checkMove reports a move that has no effect or is impossible.
func (c *collection) checkMove(m addrs.Move, all []addrs.Move) bool {
	from, to := m.From, m.To
	switch {
	case from.Whole() != to.Whole():
		c.reader.Report.Error(to.Range, "Block and object", "%s and %s must both be blocks, or both objects.", from, to)
	case from.String() == to.String():
		c.reader.Report.Error(m.Range, "Move without effect", "%s is moved to itself.", from)
	case addrs.TypeOf(from.Block) != addrs.TypeOf(to.Block):
		c.reader.Report.Error(to.Range, "Another type of block", "A %s cannot become a %s.", addrs.TypeOf(from.Block), addrs.TypeOf(to.Block))
	case c.moved[from.String()]:
		c.reader.Report.Error(from.Range, "Moved twice", "Another moved block says where %s went. Remove one of them.", from)
	default:
		c.moved[from.String()] = true
		gone := !from.Whole() || c.gone(from, to.Keyed())
		return c.there(to, all) && gone
	}
	return false
}

// declared returns the addresses of all instances, with the places of their blocks.
func (c *collection) declared() map[string]hcl.Range {
	if c.places == nil {
		c.places = c.reader.Graph.Declared()
		c.addresses = slices.Sorted(maps.Keys(c.places))
	}
	return c.places
}

// covered returns the declared addresses that a target is, or that are in it, sorted.
func (c *collection) covered(t addrs.Target) []string {
	c.declared()
	from, _ := slices.BinarySearch(c.addresses, t.Block)
	var out []string
	for _, address := range c.addresses[from:] {
		if !strings.HasPrefix(address, t.Block) {
			break
		}
		if addrs.Covers(t.Block, address) {
			out = append(out, address)
		}
	}
	return out
}

// gone reports a target that is still declared. If single is set, instances with a key do not
// count, because the target is the block without a key.
func (c *collection) gone(t addrs.Target, single bool) bool {
	if !t.Whole() {
		return true
	}
	for _, address := range c.covered(t) {
		if !(single && strings.HasPrefix(address, t.Block+"[")) {
			at := c.places[address]
			if b := c.blockAt(t.Block); b != nil {
				at = b.Header // of a module that it is in, say
			}
			c.reader.Report.Error(t.Range, "Still declared", "%s is declared at %s. Take the declaration away, or this block.", t, diag.Position(at))
			return false
		}
	}
	return true
}

// there reports a target that is not declared. A target that is moved on counts as declared, and
// so does a block without instances.
func (c *collection) there(t addrs.Target, moves []addrs.Move) bool {
	if len(c.covered(t)) > 0 {
		return true
	}
	place := t.Object
	place.Block = t.Block
	movedOn := slices.ContainsFunc(moves, func(m addrs.Move) bool {
		_, applies := m.Apply(place)
		return applies
	})
	if movedOn || c.empty(t.Block) {
		return true
	}
	c.missing(t, "")
	return false
}

// missing reports that a block is not declared.
func (c *collection) missing(t addrs.Target, hint string) {
	var known []string
	kind := addrs.TypeOf(t.Block)
	for _, address := range slices.Sorted(maps.Keys(c.declared())) {
		switch parts := addrs.SplitBlock(address); kind {
		case parts.Type:
			known = append(known, address)
		case "module":
			known = append(known, addrs.Modules(parts.Module)...)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	c.reader.Report.Error(t.Range, fmt.Sprintf("There is no %s", t.Block), "%s%s",
		words.WithHint(words.DidYouMean(t.Block, known), words.Known(eval.NounOf(kind), known)), hint)
}

// empty reports whether a block stands in the files and has no instance.
func (c *collection) empty(block string) bool {
	b := c.blockAt(block)
	if b == nil {
		return false
	}
	bare := addrs.WithoutKeys(block)
	for address := range c.declared() {
		if addrs.Covers(bare, addrs.WithoutKeys(address)) {
			return false
		}
	}
	return true
}

// blockAt returns the block of an address, or nil. The address may have the key of an instance.
func (c *collection) blockAt(address string) *source.Block {
	steps := addrs.Steps(address)
	m := c.reader.Graph.Root
	for i, s := range steps {
		b := m.Written.Document.One(s.Type, s.Name)
		if b == nil || i == len(steps)-1 {
			return b
		}
		if m = m.Calling(s.Name); m == nil {
			return nil
		}
	}
	return nil
}

// checkTriggers reports triggers that name an instance that does not exist.
func (c *collection) checkTriggers() {
	check := func(l configs.Lifecycle) {
		for _, t := range l.ReplaceTriggeredBy {
			c.there(t, nil)
		}
	}
	for _, s := range c.config.Services {
		check(s.Lifecycle)
		for _, w := range s.Workloads {
			check(w.Lifecycle)
		}
	}
	for _, m := range c.config.Manifests {
		check(m.Lifecycle)
	}
}
