package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// movable are the types of blocks that objects come from.
var movable = []string{"service", "manifest", "role", "secret", "module"}

// moves reads the blocks that say what became of addresses. Those in a module are
// relative to it.
func (g *graph) moves() {
	var moves []addrs.Move
	for _, m := range g.modules() {
		for _, f := range m.frames {
			for _, b := range m.written.Document.All("moved") {
				from, ok := g.target(f, b, "from")
				to, alsoOK := g.target(f, b, "to")
				if ok && alsoOK {
					moves = append(moves, addrs.Move{From: from, To: to, Range: b.Header})
				}
			}
			g.removals(f)
			if m.parent == nil {
				g.imports(f)
			}
		}
	}
	for _, m := range moves {
		if g.checkMove(m, moves) {
			g.config.Moves = append(g.config.Moves, m)
		}
	}
	g.checkTriggers()
}

// modules are all modules, the root first.
func (g *graph) modules() []*module {
	out := []*module{g.loader.root}
	for i := 0; i < len(out); i++ {
		out = append(out, out[i].calls...)
	}
	return out
}

func (g *graph) removals(f *frame) {
	for _, b := range f.module.written.Document.All("removed") {
		r := addrs.Removal{Destroy: true, Range: b.Header}
		if lifecycle := b.One("lifecycle", ""); lifecycle != nil {
			r.Destroy = g.evaluator(f).bool(lifecycle, "destroy")
		}
		var ok bool
		if r.From, ok = g.target(f, b, "from"); ok && g.gone(r.From, false) {
			g.config.Removals = append(g.config.Removals, r)
		}
	}
}

func (g *graph) imports(f *frame) {
	for _, b := range f.module.written.Document.All("import") {
		items, ok := g.items(f, b)
		if !ok {
			continue
		}
		for _, it := range items {
			e := g.evaluator(f)
			e.scope = it.scope
			g.importOne(b, e)
		}
	}
}

// importOne reads one import, in the scope of an evaluator.
func (g *graph) importOne(b *source.Block, e *evaluator) {
	if b.Attributes["to"] == nil {
		return // which was reported
	}
	to, ok := g.readTarget(b.Attributes["to"].Expr, e)
	if !ok {
		return
	}
	if to.Whole() {
		g.report.Error(to.Range, "One object expected", `An import takes over one object: write its address in quotes, such as "%s/Deployment/NAME".`, to)
		return
	}
	i := addrs.Import{To: to.Object, ID: e.string(b, "id"), Range: b.Header}
	switch {
	case g.options.Undeclared && i.ID != "" && !g.written(to.Block):
		g.config.Undeclared = append(g.config.Undeclared, i)
	case !g.written(to.Block) && addrs.TypeOf(to.Block) == "manifest":
		g.missing(to, " `kolla plan -generate-config-out=FILE` writes a manifest of what is in the cluster.")
	case g.there(to, nil):
		g.config.Imports = append(g.config.Imports, i)
	}
}

// checkMove reports moves that mean nothing.
func (g *graph) checkMove(m addrs.Move, all []addrs.Move) bool {
	from, to := m.From, m.To
	switch {
	case from.Whole() != to.Whole():
		g.report.Error(to.Range, "Block and object", "%s and %s must both be blocks, or both objects.", from, to)
	case from.String() == to.String():
		g.report.Error(m.Range, "Move without effect", "%s is moved to itself.", from)
	case addrs.TypeOf(from.Block) != addrs.TypeOf(to.Block):
		g.report.Error(to.Range, "Another type of block", "A %s cannot become a %s.", addrs.TypeOf(from.Block), addrs.TypeOf(to.Block))
	case g.moved[from.String()]:
		g.report.Error(from.Range, "Moved twice", "Another moved block says where %s went. Remove one of them.", from)
	default:
		g.moved[from.String()] = true
		gone := !from.Whole() || g.gone(from, to.Keyed())
		return g.there(to, all) && gone
	}
	return false
}

// declared are the addresses that the configuration has, with their places.
func (g *graph) declared() map[string]hcl.Range {
	if g.places == nil {
		g.places = map[string]hcl.Range{}
		for _, n := range g.order {
			for _, m := range n.made {
				g.places[m.address] = n.at
			}
		}
		g.addresses = keysOf(g.places)
	}
	return g.places
}

// covered are the declared addresses that a target is, or that are in it, sorted.
func (g *graph) covered(t addrs.Target) []string {
	g.declared()
	from, _ := slices.BinarySearch(g.addresses, t.Block)
	var out []string
	for _, address := range g.addresses[from:] {
		if !strings.HasPrefix(address, t.Block) {
			break
		}
		if addrs.Covers(t.Block, address) {
			out = append(out, address)
		}
	}
	return out
}

// gone reports a block that is still declared. single: what has no key is meant, so that
// instances that have one do not count.
func (g *graph) gone(t addrs.Target, single bool) bool {
	if !t.Whole() {
		return true
	}
	for _, address := range g.covered(t) {
		if !(single && strings.HasPrefix(address, t.Block+"[")) {
			at := g.places[address]
			if b := g.blockAt(t.Block); b != nil {
				at = b.Header // of a module that it is in, say
			}
			g.report.Error(t.Range, "Still declared", "%s is declared at %s. Take the declaration away, or this block.", t, diag.Position(at))
			return false
		}
	}
	return true
}

// there reports a block that is not declared. What is moved on, or has no instance at
// present, counts as declared.
func (g *graph) there(t addrs.Target, moves []addrs.Move) bool {
	if len(g.covered(t)) > 0 {
		return true
	}
	place := t.Object
	place.Block = t.Block
	movedOn := slices.ContainsFunc(moves, func(m addrs.Move) bool {
		_, applies := m.Apply(place)
		return applies
	})
	if movedOn || g.empty(t.Block) {
		return true
	}
	g.missing(t, "")
	return false
}

// missing reports that a block is not declared.
func (g *graph) missing(t addrs.Target, hint string) {
	var known []string
	kind := addrs.TypeOf(t.Block)
	for _, address := range keysOf(g.declared()) {
		switch parts := addrs.SplitBlock(address); kind {
		case parts.Type:
			known = append(known, address)
		case "module":
			known = append(known, addrs.Modules(parts.Module)...)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	g.report.Error(t.Range, fmt.Sprintf("There is no %s", t.Block), "%s%s",
		words.WithHint(words.DidYouMean(t.Block, known), words.Known(nounOf(kind), known)), hint)
}

// written reports whether a block stands in the files, however many instances it has.
func (g *graph) written(block string) bool { return g.blockAt(block) != nil }

// empty reports whether a block stands in the files, and has no instance at all.
func (g *graph) empty(block string) bool {
	b := g.blockAt(block)
	if b == nil {
		return false
	}
	bare := addrs.WithoutKeys(block)
	for address := range g.declared() {
		if addrs.Covers(bare, addrs.WithoutKeys(address)) {
			return false
		}
	}
	return true
}

// blockAt is the block that an address names, or one instance of which it names; nil:
// there is none.
func (g *graph) blockAt(address string) *source.Block {
	steps := addrs.Steps(address)
	m := g.loader.root
	for i, s := range steps {
		b := m.written.Document.One(s.Type, s.Name)
		if b == nil || i == len(steps)-1 {
			return b
		}
		if m = m.calling(s.Name); m == nil {
			return nil
		}
	}
	return nil
}
