package lang

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// forgetSecrets takes variables out of Config.Variables that are not sensitive themselves,
// and that the configuration makes a secret of: the argument of sensitive(...), the value
// of a secret, what a sensitive variable of a module or a sensitive output gets.
func (g *graph) forgetSecrets() {
	if len(g.config.Variables) == 0 {
		return
	}
	var found []edge
	for _, m := range g.modules() {
		r := g.reach(m)
		keep := func(expr hcl.Expression) { found = append(found, r.edges(expr)...) }
		g.secretsMade(m.written.Document, keep)
		for _, child := range m.calls {
			for _, v := range child.vars {
				if attr := child.written.Call.Attributes[v.Name]; attr != nil && v.Sensitive {
					keep(attr.Expr)
				}
			}
		}
	}
	seen := map[string]bool{}
	for len(found) > 0 {
		n := g.nodes[found[0].to]
		found = found[1:]
		if n == nil || seen[n.id] {
			continue
		}
		seen[n.id] = true
		found = append(found, n.needs...)
		if n.root == "var" && n.module == g.loader.root {
			delete(g.config.Variables, n.name)
		}
	}
}

// secretsMade finds the expressions in a block that something secret is made of.
func (g *graph) secretsMade(b *source.Block, keep func(hcl.Expression)) {
	for name, attr := range b.Attributes {
		switch {
		case name == "value" && (b.Type == schema.SharedSecretType || b.Type == schema.SecretType):
			keep(attr.Expr)
		case name == "value" && b.Type.Name == "output" && b.Attributes["sensitive"] != nil:
			keep(attr.Expr)
		case bytes.Contains(g.sourceOf(attr.Expr.Range()), []byte("sensitive")):
			_ = hclsyntax.VisitAll(attr.Expr, func(n hclsyntax.Node) hcl.Diagnostics {
				if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && call.Name == "sensitive" {
					for _, arg := range call.Args {
						keep(arg)
					}
				}
				return nil
			})
		}
	}
	for _, child := range b.Blocks {
		g.secretsMade(child, keep)
	}
}

// sourceOf is the source of a range.
func (g *graph) sourceOf(at hcl.Range) []byte {
	file := g.config.Files[at.Filename]
	if file == nil || at.End.Byte > len(file.Bytes) || at.Start.Byte > at.End.Byte {
		return nil
	}
	return file.Bytes[at.Start.Byte:at.End.Byte]
}
