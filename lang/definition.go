package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// definitionOf finds the definition of a service: by name in its module, in those
// around it or in the catalogue, or in a module that is named. An external service does
// with none.
func (g *graph) definitionOf(m *module, b *source.Block) (definition *source.Block, home *module) {
	attr := b.Attributes["definition"]
	if attr != nil {
		if t, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() && t.RootName() == "module" {
			return g.moduleDefinition(m, t)
		}
	}
	name := b.Label
	if attr != nil && !isNullLiteral(attr.Expr) {
		name = g.literal(b, "definition")
	}
	known := g.builtin.Labels("definition")
	for home := m; home != nil; home = home.parent {
		if d := home.written.Document.One("definition", name); d != nil {
			return d, home
		}
		known = append(known, home.written.Document.Labels("definition")...)
	}
	if d := g.builtin.One("definition", name); d != nil {
		return d, nil
	}
	switch {
	case name == "":
		return nil, nil
	case attr == nil && mayBeExternal(b):
		return &source.Block{Label: name, Header: b.Header, LabelRange: b.LabelRange}, m
	}
	at := b.LabelRange
	if attr != nil {
		at = b.AttributeRange("definition")
	}
	g.report.Error(at, fmt.Sprintf("There is no definition %q", name), "%s", words.WithHint(words.DidYouMean(name, known),
		"A service uses the definition of its own name, or the definition that its argument `definition` names. "+words.Known("definition", known)))
	return nil, nil
}

// moduleDefinition finds the definition that module.NAME.definition.NAME names.
func (g *graph) moduleDefinition(m *module, t hcl.Traversal) (*source.Block, *module) {
	var names []string
	for _, step := range t[1:] {
		if attr, ok := step.(hcl.TraverseAttr); ok {
			names = append(names, attr.Name)
		}
	}
	if len(names) != 3 || len(t) != 4 || names[1] != "definition" {
		g.report.Error(t.SourceRange(), "Unsuitable value for \"definition\"", "A definition of a module is named as module.NAME.definition.NAME, any other one as a text in quotes.")
		return nil, nil
	}
	home := m.calling(names[0])
	if home != nil && repeats(home.written.Call) {
		g.report.Error(t.SourceRange(), "Unsuitable value for \"definition\"", "Module %q is repeated, and its definitions would be different ones in each use. Take the definition from a module that is used once.", names[0])
		return nil, nil
	}
	if home == nil {
		known := m.written.Document.Labels("module")
		g.report.Undeclared(t.SourceRange(), "module", names[0], known)
		return nil, nil
	}
	definition := home.written.Document.One("definition", names[2])
	if definition == nil {
		g.report.Undeclared(t.SourceRange(), "definition", names[2], home.written.Document.Labels("definition"))
		return nil, nil
	}
	return definition, home
}

// definitionScope is what names mean in the definition, for a service in a frame: its
// own values are those of where it stands, and services, roles and exposures are
// those of where it is used.
func (in *instance) definitionScope(f *frame) *scope {
	out := newScope(f.things)
	out.singles["cloud"] = in.global.singles["cloud"]
	if in.home == nil {
		out.groups["local"], out.lazy = in.catalogue.groups["local"], in.catalogue.lazy
		out.singles["path"] = in.catalogue.singles["path"]
		return out
	}
	home := f
	for home != nil && home.module != in.home {
		home = home.parent
	}
	if home == nil && len(in.home.frames) > 0 {
		home = in.home.frames[0] // a module that is used for its definitions
	}
	if home != nil {
		for _, root := range []string{"var", "local", "data", "module"} {
			out.groups[root] = home.scope.groups[root]
		}
		out.singles["path"] = home.scope.singles["path"]
	}
	return out
}
