package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// misspeltKinds are the blocks that have an effect only where something else in the service
// names them, with what does.
var misspeltKinds = []struct{ kind, use string }{
	{"port", "Another one would be of use only if a workload of the service listed it in `ports`."},
	{"queue", "Another one would be of use only if something in the service read it."},
	{"user", "Another one would be of use only if something in the service read it."},
	{"config", "Another one would be of use only if a workload or a job of the service listed it in `config`."},
	{"identity_role", "One that is not enabled and that the definition does not have is of no use."},
	{"endpoint", ""},
}

// checkMisspelt reports blocks of the service that override nothing and that nothing uses,
// where the definition has one of nearly that name. An endpoint is registered in any case,
// so that there is a warning.
func (in *instance) checkMisspelt() {
	if !in.definition.Complete() || in.out.External {
		return
	}
	for _, k := range misspeltKinds {
		known := in.written.Labels(k.kind)
		for _, b := range in.block.All(k.kind) {
			near := words.Nearest(b.Label, known)
			if near == "" || slices.Contains(known, b.Label) || len(lacking(b)) > 0 {
				continue
			}
			enabled := in.definition.One(k.kind, b.Label) != nil
			there := fmt.Sprintf("Did you mean %q? Definition %q has: %s.", near, in.out.Definition, words.Sorted(known))
			switch {
			case !enabled && k.kind == schema.EndpointType.Name:
				in.report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", there)
			case k.kind == schema.EndpointType.Name && !alike(b.Label, near):
				in.report.Warn(b.LabelRange, fmt.Sprintf("Another %s %q", b.Type.Label, b.Label), "%s This one is registered beside it.", there)
			case k.kind == schema.EndpointType.Name, enabled && (k.kind == schema.IdentityRoleType.Name || in.uses(b)):
			default:
				in.report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s %s", there, k.use)
			}
		}
	}
}

// alike reports whether two types of services differ in a version only, as volumev2 and
// volumev3 do.
func alike(a, b string) bool {
	base := func(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "0123456789"), "v") }
	return base(a) == base(b)
}

// uses reports whether anything in the service's block, outside of a block in it, reads
// that, or has its label as a text.
func (in *instance) uses(b *source.Block) bool {
	var within func(*source.Block) bool
	within = func(outer *source.Block) bool {
		for _, attr := range outer.Attributes {
			if in.usesIn(attr.Expr, b) {
				return true
			}
		}
		return slices.ContainsFunc(outer.Blocks, func(inner *source.Block) bool { return inner != b && within(inner) })
	}
	return within(in.block)
}

func (in *instance) usesIn(expr hcl.Expression, b *source.Block) bool {
	for _, t := range in.memo.references(expr) {
		if name, ok := addrs.NameOf(t); t.RootName() == b.Type.Name && (!ok || name == b.Label) {
			return true
		}
	}
	node, ok := expr.(hclsyntax.Node)
	found := false
	if ok {
		_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
			literal, ok := n.(*hclsyntax.LiteralValueExpr)
			found = found || ok && literal.Val.Type() == cty.String && literal.Val.AsString() == b.Label
			return nil
		})
	}
	return found
}
