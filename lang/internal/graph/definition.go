package graph

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// DefinitionOf finds the definition of a service in module m, and the module of the definition.
// The service names it, or has its name. It is in the module of the service, in a module around
// that, in the catalogue, or in a module that the service names. Home is nil for definitions of
// the catalogue. An external service without a definition gets an empty one.
func DefinitionOf(constant *eval.Env, catalogue *source.Block, m *Module, b *source.Block) (definition *source.Block, home *Module) {
	definition, home = findDefinition(constant, catalogue, m, b)
	if definition != nil && layers.IsAbstract(definition) {
		at := b.LabelRange
		if b.Attributes["definition"] != nil {
			at = b.AttributeRange("definition")
		}
		constant.Report.Error(at, fmt.Sprintf("Definition %q is abstract", definition.Label), "No service can use it. It is for definitions that start from it (from = %q), and say what it leaves out.", definition.Label)
		return nil, nil
	}
	return definition, home
}

func findDefinition(constant *eval.Env, catalogue *source.Block, m *Module, b *source.Block) (definition *source.Block, home *Module) {
	attr := b.Attributes["definition"]
	if attr != nil {
		if t, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() && t.RootName() == "module" {
			return moduleDefinition(constant.Report, m, t)
		}
	}
	name := b.Label
	if attr != nil && !layers.IsNullLiteral(attr.Expr) {
		name = eval.Literal(constant, b, "definition")
	}
	for home := m; home != nil; home = home.Parent {
		if d := home.Written.Document.One("definition", name); d != nil {
			return d, home
		}
	}
	if d := catalogue.One("definition", name); d != nil {
		return d, nil
	}
	switch {
	case name == "":
		return nil, nil
	case attr == nil && eval.MayBeExternal(b):
		return &source.Block{Label: name, Header: b.Header, LabelRange: b.LabelRange}, m
	}
	known := usable(catalogue)
	for home := m; home != nil; home = home.Parent {
		known = append(known, usable(home.Written.Document)...)
	}
	at := b.LabelRange
	if attr != nil {
		at = b.AttributeRange("definition")
	}
	constant.Report.Error(at, fmt.Sprintf("There is no definition %q", name), "%s", words.WithHint(words.DidYouMean(name, known),
		"A service uses the definition of its own name, or the definition that its argument `definition` names. "+words.Known("definition", known)))
	return nil, nil
}

// moduleDefinition finds the definition in a reference module.NAME.definition.NAME.
func moduleDefinition(report *diag.Reporter, m *Module, t hcl.Traversal) (*source.Block, *Module) {
	var names []string
	for _, step := range t[1:] {
		if attr, ok := step.(hcl.TraverseAttr); ok {
			names = append(names, attr.Name)
		}
	}
	if len(names) != 3 || len(t) != 4 || names[1] != "definition" {
		report.Error(t.SourceRange(), "Unsuitable value for \"definition\"", "A definition of a module is named as module.NAME.definition.NAME, any other one as a string in quotes.")
		return nil, nil
	}
	home := m.Calling(names[0])
	if home != nil && eval.Repeats(home.Written.Call) {
		report.Error(t.SourceRange(), "Unsuitable value for \"definition\"", "Module %q is repeated, and its definitions would be different ones in each use. Take the definition from a module that is used once.", names[0])
		return nil, nil
	}
	if home == nil {
		known := m.Written.Document.Labels("module")
		report.Undeclared(t.SourceRange(), "module", names[0], known)
		return nil, nil
	}
	definition := home.Written.Document.One("definition", names[2])
	if definition == nil {
		report.Undeclared(t.SourceRange(), "definition", names[2], usable(home.Written.Document))
		return nil, nil
	}
	return definition, home
}

// usable returns the names of the definitions that services can use.
func usable(document *source.Block) []string {
	return slices.DeleteFunc(document.Labels("definition"), func(name string) bool { return layers.IsAbstract(document.One("definition", name)) })
}
