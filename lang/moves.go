package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Target is a block with all of its objects, or one object.
type Target struct {
	Block  string  // "service.keystone"; of an object: its block
	Object Address // zero: the whole block
	Range  hcl.Range
}

// Whole reports whether the target is a whole block.
func (t Target) Whole() bool { return t.Object == Address{} }

// Has reports whether an address is the target, or one of its objects.
func (t Target) Has(a Address) bool {
	if t.Whole() {
		return a.Block == t.Block
	}
	return a == t.Object
}

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
	Attributes: []Attribute{
		{Name: "from", Type: TypeAddress, Required: true, Doc: `What it was: service.NAME, manifest.NAME or role.NAME, or an object's address in quotes, such as "manifest.a/Deployment/b".`},
		{Name: "to", Type: TypeAddress, Required: true, Doc: "What it is now."},
	},
}

var removedType = &BlockType{
	Name: "removed",
	Doc:  "Says that something was taken out of the configuration on purpose.",
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
	Attributes: []Attribute{
		{Name: "to", Type: TypeAddress, Required: true, Doc: `Address of the declared object, in quotes, such as "manifest.a/Deployment/b".`},
		{Name: "id", Type: TypeString, Required: true, Form: formPlain, Doc: "NAMESPACE/NAME of the object in the cluster, or NAME of one that is in no namespace."},
	},
}

// movable are the types of blocks that objects come from.
var movable = []string{"service", "manifest", "role"}

// moves reads the blocks that say what became of addresses.
func (g *graph) moves() {
	for _, b := range g.document.all("moved") {
		from, ok := g.target(b, "from")
		to, alsoOK := g.target(b, "to")
		if ok && alsoOK && g.checkMove(b, from, to) {
			g.config.Moves = append(g.config.Moves, Move{From: from, To: to, Range: b.header})
		}
	}
	for _, b := range g.document.all("removed") {
		r := Removal{Destroy: true, Range: b.header}
		if lifecycle := b.one("lifecycle", ""); lifecycle != nil {
			r.Destroy = g.evaluator().bool(lifecycle, "destroy")
		}
		var ok bool
		if r.From, ok = g.target(b, "from"); ok && g.gone(r.From) {
			g.config.Removals = append(g.config.Removals, r)
		}
	}
	for _, b := range g.document.all("import") {
		to, ok := g.target(b, "to")
		switch {
		case ok && to.Whole():
			g.error(to.Range, "One object expected", `An import takes over one object: write its address in quotes, such as "%s/Deployment/NAME".`, to)
		case ok && g.there(to):
			g.config.Imports = append(g.config.Imports, Import{To: to.Object, ID: g.evaluator().string(b, "id"), Range: b.header})
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
		gone := !from.Whole() || g.gone(from)
		return g.there(to) && gone
	}
	return false
}

func kindOfBlock(block string) string {
	kind, _, _ := strings.Cut(block, ".")
	return kind
}

// gone reports a block that is still declared.
func (g *graph) gone(t Target) bool {
	kind, name, _ := strings.Cut(t.Block, ".")
	declared := g.document.one(kind, name)
	if declared == nil || !t.Whole() {
		return true
	}
	g.error(t.Range, "Still declared", "%s is declared at %s. Take the declaration away, or this block.", t, position(declared.header))
	return false
}

// there reports a block that is not declared.
func (g *graph) there(t Target) bool {
	kind, name, _ := strings.Cut(t.Block, ".")
	if g.document.one(kind, name) != nil {
		return true
	}
	known := g.document.labels(kind)
	g.error(t.Range, fmt.Sprintf("There is no %s %q", kind, name), "%s",
		trimJoin(DidYouMean(name, known), fmt.Sprintf("Declared are: %s.", listed(known))))
	return false
}

// target reads an address: a reference such as service.keystone, or a text. It is
// not evaluated: what it names need not exist.
func (g *graph) target(b *block, name string) (Target, bool) {
	attr := b.attributes[name]
	if attr == nil {
		return Target{}, false
	}
	at := attr.Expr.Range()
	text := ""
	if t, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() && len(t) == 2 {
		label, _ := nameOf(t)
		text = t.RootName() + "." + label
	} else if v, diags := attr.Expr.Value(nil); !diags.HasErrors() && v.Type() == cty.String && !v.IsNull() {
		text = v.AsString()
	}
	out := Target{Block: text, Range: at}
	if strings.Contains(text, "/") {
		object, err := ParseAddress(text)
		if err != nil {
			g.error(at, "Not an address", "%s.", sentence(err))
			return Target{}, false
		}
		out.Block, out.Object = object.Block, object
	}
	kind, label, _ := strings.Cut(out.Block, ".")
	if label == "" || !slices.Contains(movable, kind) {
		g.error(at, "Not an address", "%s", trimJoin(DidYouMean(kind, movable),
			`Write a block as service.NAME, manifest.NAME or role.NAME; an object in quotes, as "BLOCK/KIND/NAME".`))
		return Target{}, false
	}
	return out, true
}
