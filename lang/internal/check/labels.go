package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Labels reports blocks of a service whose labels are probably misspelt: they override nothing
// in the definition, and nothing in the service uses them. Strays are the blocks that override
// nothing and are not complete.
func Labels(report *diag.Reporter, memo *eval.Memo, s *Service, strays []layers.Stray) {
	checkStrays(report, s, strays)
	checkUnread(report, memo, s)
	checkMisspelt(report, memo, s)
}

// checkStrays reports blocks that override nothing and are not complete.
func checkStrays(report *diag.Reporter, s *Service, strays []layers.Stray) {
	for _, stray := range strays {
		if s.Config.External || !s.Definition.Complete() {
			continue // it is refused, or it may come
		}
		b := stray.Block
		report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", words.WithHint(words.DidYouMean(b.Label, stray.Known),
			fmt.Sprintf("Definition %q has: %s. Another one needs: %s.", s.Config.Definition, words.Sorted(stray.Known), words.Sorted(layers.Lacking(b)))))
	}
}

// checkUnread reports secrets and databases of the service that the definition does not have and
// that nothing in the service reads.
func checkUnread(report *diag.Reporter, memo *eval.Memo, s *Service) {
	for _, b := range slices.Concat(s.Block.All("secret"), s.Block.All("database")) {
		known := s.Written.Labels(b.Type.Name)
		if b.Type == schema.SecretType {
			for _, p := range s.Config.Passwords() {
				known = append(known, p.Secret)
			}
		}
		if !s.Definition.Complete() || slices.Contains(known, b.Label) || s.Definition.One(b.Type.Name, b.Label) != nil && reads(memo, s.Block, b) {
			continue
		}
		report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", words.WithHint(words.DidYouMean(b.Label, known),
			fmt.Sprintf("Definition %q has: %s. Another one would be of use only if something in the service read it.", s.Config.Definition, words.Sorted(known))))
	}
}

// reads reports whether an expression in the service block reads a secret or database.
func reads(memo *eval.Memo, service, b *source.Block) bool {
	var within func(*source.Block) bool
	within = func(outer *source.Block) bool {
		if outer.Type == schema.MountType && b.Type == schema.SecretType && outer.Label == b.Label {
			return true
		}
		for _, attr := range outer.Attributes {
			for _, t := range memo.References(attr.Expr) {
				if name, ok := addrs.NameOf(t); ok && t.RootName() == b.Type.Name && name == b.Label {
					return true
				}
			}
		}
		return slices.ContainsFunc(outer.Blocks, within)
	}
	return within(service)
}

// misspeltKinds are blocks that have an effect only if something else in the service names them,
// with an advice for each.
var misspeltKinds = []struct{ kind, use string }{
	{"port", "Another one would be of use only if a workload of the service listed it in `ports`."},
	{"queue", "Another one would be of use only if something in the service read it."},
	{"user", "Another one would be of use only if something in the service read it."},
	{"config", "Another one would be of use only if a workload or a job of the service listed it in `config`."},
	{"identity_role", "One that is not enabled and that the definition does not have is of no use."},
	{"endpoint", ""},
}

// checkMisspelt reports blocks of the service that override nothing and that nothing uses, if the
// definition has a block of nearly the same name. For an endpoint it is a warning, because
// endpoints are registered in any case.
func checkMisspelt(report *diag.Reporter, memo *eval.Memo, s *Service) {
	if !s.Definition.Complete() || s.Config.External {
		return
	}
	for _, k := range misspeltKinds {
		known := s.Written.Labels(k.kind)
		for _, b := range s.Block.All(k.kind) {
			near := words.Nearest(b.Label, known)
			if near == "" || slices.Contains(known, b.Label) || len(layers.Lacking(b)) > 0 {
				continue
			}
			enabled := s.Definition.One(k.kind, b.Label) != nil
			there := fmt.Sprintf("Did you mean %q? Definition %q has: %s.", near, s.Config.Definition, words.Sorted(known))
			switch {
			case !enabled && k.kind == schema.EndpointType.Name:
				report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", there)
			case k.kind == schema.EndpointType.Name && !alike(b.Label, near):
				report.Warn(b.LabelRange, fmt.Sprintf("Another %s %q", b.Type.Label, b.Label), "%s This one is registered beside it.", there)
			case k.kind == schema.EndpointType.Name, enabled && (k.kind == schema.IdentityRoleType.Name || uses(memo, s.Block, b)):
			default:
				report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s %s", there, k.use)
			}
		}
	}
}

// alike reports whether two service types differ only in a version, as volumev2 and volumev3 do.
func alike(a, b string) bool {
	base := func(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "0123456789"), "v") }
	return base(a) == base(b)
}

// uses reports whether anything else in the service block reads a block or has its label as a
// text.
func uses(memo *eval.Memo, service, b *source.Block) bool {
	var within func(*source.Block) bool
	within = func(outer *source.Block) bool {
		for _, attr := range outer.Attributes {
			if usesIn(memo, attr.Expr, b) {
				return true
			}
		}
		return slices.ContainsFunc(outer.Blocks, func(inner *source.Block) bool { return inner != b && within(inner) })
	}
	return within(service)
}

// usesIn reports whether an expression reads a block or has its label as a text.
func usesIn(memo *eval.Memo, expr hcl.Expression, b *source.Block) bool {
	for _, t := range memo.References(expr) {
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

// Arguments reports arguments of a service block that are neither its own nor inputs of the
// definition.
func Arguments(report *diag.Reporter, service, definition *source.Block) {
	known := definition.Labels(schema.InputType.Name)
	for _, attr := range service.Ordered() {
		if schema.ServiceType.Attribute(attr.Name) != nil || slices.Contains(known, attr.Name) {
			continue
		}
		names := append(schema.ServiceType.AttributeNames(), known...)
		detail := words.Has("Its arguments are", schema.ServiceType.AttributeNames())
		if len(known) > 0 {
			detail += fmt.Sprintf(" Inputs of definition %q are: %s.", definition.Label, words.Sorted(known))
		}
		report.Error(attr.NameRange, "Unknown argument", "A service block has no argument %q.%s %s",
			attr.Name, words.DidYouMean(attr.Name, append(names, schema.ServiceType.BlockNames()...)), detail)
	}
}
