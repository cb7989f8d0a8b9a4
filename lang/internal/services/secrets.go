package services

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// evaluateSecrets evaluates the secrets of the definition. Their values exist before their
// arguments are evaluated, so secrets can refer to each other in any order.
func evaluateSecrets(u *use, e *eval.Env, definition *source.Block) ([]configs.Secret, *eval.Env) {
	own := slices.DeleteFunc(slices.Clone(definition.All("secret")), func(b *source.Block) bool { return isMissing(u, definition, b.Label) })
	var out []configs.Secret
	e, group := withMore(e, definition, "secret", u.locals)
	for _, b := range own {
		kind := eval.String(e, b, "kind")
		group[b.Label] = blocks.SecretValue(u.name, b.Label, kind, blocks.NumberOfKeys(e, b, kind), eval.Awaited(e, b, "kind"))
	}
	for _, b := range own {
		if layers.IsReserved(b.Label) {
			e.Report.Error(b.LabelRange, "Unsuitable name", "Names that start with %s are kept for the passwords of databases, queues and users.", words.Sorted(layers.KeptPrefixes))
		}
		s := blocks.Secret(e, b)
		s.Source = blocks.SecretSource(e, b, s.Keys, u.set.Config.Cloud.Namespace)
		if b.Base != nil && len(b.Top.Attributes) == 0 {
			withoutSource(e, b.Top)
		}
		given := blocks.IsGiven(e, b)
		if given && s.Source == nil && !blocks.SaysSource(b) {
			e.Report.Error(u.block.Header, "Secret that has to be given",
				"Definition %q takes secret %q from outside, and kolla makes up no value for it. Say in service %q where it comes from:\n\n%s",
				u.decl.written.Label, b.Label, u.block.Label, blocks.ExampleOf(s))
		}
		if s.Source != nil && b.Base != nil { // what the definition says of it is for others
			blocks.CheckSecretArguments(e.OfService, b.Top, s.Kind, true)
		} else {
			blocks.CheckSecretArguments(e, b, s.Kind, s.Source != nil || given)
		}
		out = append(out, s)
	}
	return out, e
}

// isOwnSecret reports whether a reference means a secret of the definition. It takes precedence
// over a secret block of the same name.
func isOwnSecret(d *declaration, e graph.Edge) bool {
	return slices.ContainsFunc(d.overlay.whole.Labels("secret"), func(name string) bool {
		return strings.HasSuffix("."+e.To, ".secret."+name)
	})
}

// mountEdges returns the references to secret blocks that the definition mounts.
func mountEdges(d *declaration) []graph.Edge {
	var out []graph.Edge
	var within func(*source.Block)
	within = func(b *source.Block) {
		for _, child := range b.Blocks {
			switch {
			case layers.GateOf(child) != layers.GateOpen:
			case child.Type != schema.MountType:
				within(child)
			default:
				if id := d.reach().Find("secret", child.Label); id != "" {
					out = append(out, graph.Edge{To: id, At: child.LabelRange})
				}
			}
		}
	}
	within(d.overlay.whole)
	return out
}

// sourceOfSecret returns the source of a secret in the service block, or nil.
func sourceOfSecret(u *use, e *eval.Env, name string, keys []string) *configs.SecretSource {
	b := u.block.One("secret", name)
	if b == nil {
		return nil
	}
	source := blocks.SecretSource(e.OfService, b, keys, u.set.Config.Cloud.Namespace)
	if source == nil && !blocks.SaysSource(b) {
		withoutSource(e, b)
	}
	return source
}

// withoutSource reports a secret block that has no source.
func withoutSource(e *eval.Env, b *source.Block) {
	e.Report.Error(b.Header, "Missing argument", "Give the source of the value: one of from_env, from_file, from_secret and value.")
}
