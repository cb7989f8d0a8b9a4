package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Target is a block with all of its objects, or one object. A block may be repeated,
// or a module: then it is all that is in it, with every key.
type Target struct {
	Block  string  // `service.keystone`, `module.edge["west"]`; of an object: its block
	Object Address // zero: the whole block
	Range  hcl.Range
}

// Whole reports whether the target is a whole block.
func (t Target) Whole() bool { return t.Object == Address{} }

// Has reports whether an address is the target, or one of its objects.
func (t Target) Has(a Address) bool {
	if t.Whole() {
		return t.covers(a.Block)
	}
	return a == t.Object
}

// covers reports whether a block is the target, an instance of it, or in it.
func (t Target) covers(block string) bool {
	rest, ok := strings.CutPrefix(block, t.Block)
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '.')
}

// keyed reports whether the target is one instance of a repeated block.
func (t Target) keyed() bool { return strings.HasSuffix(t.Block, "]") }

// String gives the text form.
func (t Target) String() string {
	if t.Whole() {
		return t.Block
	}
	return t.Object.String()
}

// Move says that what was declared as From is now declared as To.
type Move struct {
	From, To Target // both blocks, or both objects
	Range    hcl.Range
}

// Apply gives the address that an object has now, if the move is about it. What had no
// key can get one.
func (m Move) Apply(a Address) (moved Address, ok bool) {
	if !m.From.Has(a) {
		return a, false
	}
	if !m.From.Whole() {
		return m.To.Object, true
	}
	rest := strings.TrimPrefix(a.Block, m.From.Block)
	if strings.HasPrefix(rest, "[") && m.To.keyed() {
		return a, false // another instance
	}
	a.Block = m.To.Block + rest
	return a, true
}

// Removal says that what was declared as From is gone from the configuration on
// purpose, and whether it goes from the cluster too.
type Removal struct {
	From    Target
	Destroy bool
	Range   hcl.Range
}

// Import takes over one object that exists.
type Import struct {
	To    Address
	ID    string // NAMESPACE/NAME, or NAME of what is in no namespace
	Range hcl.Range
}

var movedType = &BlockType{
	Name: "moved",
	Doc:  "Says that what was declared under one address is now declared under another, so that it is not deleted and made again. An object is named after its service: where the name of the object in the cluster changes too, it is made again all the same, and the plan says so.",
	Example: `# The block was called differently; its objects keep their names.
manifest "quotas" {
  files = ["manifests/*.yaml"]
}

moved {
  from = manifest.quota
  to   = manifest.quotas
}

# It was a block of its own, and is now one of several.
service "redis" {
  for_each   = toset(["cache"])
  definition = "memcached"
  name       = "redis"
}

moved {
  from = service.redis
  to   = service.redis["cache"]
}
`,
	Attributes: []Attribute{
		{Name: "from", Type: TypeAddress, Required: true, Doc: `What it was: service.NAME, manifest.NAME, role.NAME or secret.NAME, or an object's address in quotes, such as "manifest.a/Deployment/b".`},
		{Name: "to", Type: TypeAddress, Required: true, Doc: "What it is now."},
	},
}

var removedType = &BlockType{
	Name: "removed",
	Doc:  "Says that something was taken out of the configuration on purpose.",
	Example: `removed {
  from = manifest.dashboards

  lifecycle {
    destroy = false
  }
}
`,
	Attributes: []Attribute{
		{Name: "from", Type: TypeAddress, Required: true, Doc: "What it was: a block, or an object's address in quotes."},
	},
	Blocks: []*BlockType{{
		Name: "lifecycle", Single: true, Doc: "What becomes of it in the cluster.",
		Attributes: []Attribute{
			{Name: "destroy", Type: TypeBool, Default: true, Doc: "Whether it is deleted. If not, kolla only forgets it: it stays in the cluster as it is, without kolla's labels and annotations."},
		},
	}},
}

var importType = &BlockType{
	Name: "import",
	Doc:  "Takes over one object that exists and was not made by kolla, and makes it what is declared. Once that is done the block has no effect and can go.",
	Example: `manifest "settings" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings" }
  }
}

import {
  to = "manifest.settings/ConfigMap/settings"
  id = "openstack/settings"
}
`,
	Attributes: []Attribute{
		{Name: "to", Type: TypeAddress, Required: true, Doc: `Address of the declared object, in quotes, such as "manifest.a/Deployment/b".`},
		{Name: "id", Type: TypeString, Required: true, Form: formPlain, Doc: "NAMESPACE/NAME of the object in the cluster, or NAME of one that is in no namespace."},
	},
}

// movable are the types of blocks that objects come from.
var movable = []string{"service", "manifest", "role", "secret", "module"}

// moves reads the blocks that say what became of addresses. Those in a module are
// relative to it.
func (g *graph) moves() {
	for _, m := range g.modules() {
		for _, f := range m.frames {
			g.movesIn(f)
		}
	}
}

// modules are all modules, the root first.
func (g *graph) modules() []*module {
	out := []*module{g.loader.root}
	for i := 0; i < len(out); i++ {
		out = append(out, out[i].calls...)
	}
	return out
}

func (g *graph) movesIn(f *frame) {
	for _, b := range f.module.document.all("moved") {
		from, ok := g.target(f, b, "from")
		to, alsoOK := g.target(f, b, "to")
		if ok && alsoOK && g.checkMove(b, from, to) {
			g.config.Moves = append(g.config.Moves, Move{From: from, To: to, Range: b.header})
		}
	}
	for _, b := range f.module.document.all("removed") {
		r := Removal{Destroy: true, Range: b.header}
		if lifecycle := b.one("lifecycle", ""); lifecycle != nil {
			r.Destroy = g.evaluator(f).bool(lifecycle, "destroy")
		}
		var ok bool
		if r.From, ok = g.target(f, b, "from"); ok && g.gone(r.From, false) {
			g.config.Removals = append(g.config.Removals, r)
		}
	}
	for _, b := range f.module.document.all("import") {
		to, ok := g.target(f, b, "to")
		switch {
		case ok && to.Whole():
			g.error(to.Range, "One object expected", `An import takes over one object: write its address in quotes, such as "%s/Deployment/NAME".`, to)
		case ok && g.there(to):
			g.config.Imports = append(g.config.Imports, Import{To: to.Object, ID: g.evaluator(f).string(b, "id"), Range: b.header})
		}
	}
}

// checkMove reports moves that mean nothing.
func (g *graph) checkMove(b *block, from, to Target) bool {
	switch {
	case from.Whole() != to.Whole():
		g.error(to.Range, "Block and object", "%s and %s must both be blocks, or both objects.", from, to)
	case from.String() == to.String():
		g.error(b.header, "Move without effect", "%s is moved to itself.", from)
	case kindOfBlock(from.Block) != kindOfBlock(to.Block):
		g.error(to.Range, "Another type of block", "A %s cannot become a %s.", kindOfBlock(from.Block), kindOfBlock(to.Block))
	case slices.ContainsFunc(g.config.Moves, func(m Move) bool { return m.From.String() == from.String() }):
		g.error(from.Range, "Moved twice", "Another moved block says where %s went. Remove one of them.", from)
	default:
		gone := !from.Whole() || g.gone(from, to.keyed())
		return g.there(to) && gone
	}
	return false
}

// kindOfBlock is the type of the block that an address names.
func kindOfBlock(block string) string {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(block), "", hcl.InitialPos)
	if diags.HasErrors() {
		return ""
	}
	steps := blockSteps(t)
	return steps[len(steps)-1].typ
}

// step is one part of the address of a block: TYPE.NAME["KEY"].
type step struct{ typ, name, key string }

// blockSteps takes the address of a block apart; nil if it is none.
func blockSteps(t hcl.Traversal) []step {
	var out []step
	for i := 0; i < len(t); {
		var s step
		switch first := t[i].(type) {
		case hcl.TraverseRoot:
			s.typ = first.Name
		case hcl.TraverseAttr:
			s.typ = first.Name
		}
		if i++; i < len(t) {
			if attr, ok := t[i].(hcl.TraverseAttr); ok {
				s.name = attr.Name
				i++
			}
		}
		if i < len(t) {
			if index, ok := t[i].(hcl.TraverseIndex); ok {
				s.key = item{key: index.Key}.suffix()
				i++
			}
		}
		if s.typ == "" || s.name == "" {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// ParseBlock reads the address of a block, or of a module, and gives it the form that
// addresses of objects have: `module.edge["west"].service.redis`.
func ParseBlock(text string) (string, error) {
	t, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if !diags.HasErrors() {
		if block, ok := blockOf(t); ok {
			return block, nil
		}
	}
	return "", fmt.Errorf("%q is not the address of a block: expected TYPE.NAME, such as service.keystone, with the key of a repeated one and the modules that it is in, such as module.edge.service.redis[\"cache\"]", text)
}

func blockOf(t hcl.Traversal) (string, bool) {
	steps := blockSteps(t)
	var parts []string
	for i, s := range steps {
		if i < len(steps)-1 && s.typ != "module" {
			return "", false
		}
		parts = append(parts, s.typ+"."+s.name+s.key)
	}
	return strings.Join(parts, "."), len(parts) > 0
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
	}
	return g.places
}

// gone reports a block that is still declared. exact: its instances with keys do not
// count.
func (g *graph) gone(t Target, exact bool) bool {
	if !t.Whole() {
		return true
	}
	for _, address := range keysOf(g.declared()) {
		if address == t.Block || !exact && t.covers(address) {
			g.error(t.Range, "Still declared", "%s is declared at %s. Take the declaration away, or this block.", t, position(g.places[address]))
			return false
		}
	}
	return true
}

// there reports a block that is not declared.
func (g *graph) there(t Target) bool {
	var known []string
	for _, address := range keysOf(g.declared()) {
		if t.covers(address) {
			return true
		}
		if kindOfBlock(address) == kindOfBlock(t.Block) {
			known = append(known, address)
		}
	}
	g.error(t.Range, fmt.Sprintf("There is no %s", t.Block), "%s",
		trimJoin(DidYouMean(t.Block, known), fmt.Sprintf("Declared are: %s.", listed(known))))
	return false
}

// target reads an address: a reference such as service.keystone, or a text. It is
// not evaluated: what it names need not exist.
func (g *graph) target(f *frame, b *block, name string) (Target, bool) {
	attr := b.attributes[name]
	if attr == nil {
		return Target{}, false
	}
	at := attr.Expr.Range()
	out := Target{Range: at}
	if t, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() {
		out.Block, _ = blockOf(t)
	} else if v, diags := attr.Expr.Value(nil); !diags.HasErrors() && v.Type() == cty.String && !v.IsNull() {
		text := v.AsString()
		if strings.Contains(text, "/") {
			object, err := ParseAddress(text)
			if err != nil {
				g.error(at, "Not an address", "%s.", sentence(err))
				return Target{}, false
			}
			object.Block = f.address + object.Block
			out.Object, text = object, object.Block
		}
		out.Block, _ = ParseBlock(text)
	}
	if out.Whole() && out.Block != "" {
		out.Block = f.address + out.Block
	}
	if kind := kindOfBlock(out.Block); !slices.Contains(movable, kind) {
		g.error(at, "Not an address", "%s", trimJoin(DidYouMean(kind, movable),
			`Write a block as service.NAME, manifest.NAME, role.NAME, secret.NAME or module.NAME, with ["KEY"] where it is repeated; an object in quotes, as "BLOCK/KIND/NAME".`))
		return Target{}, false
	}
	return out, true
}
