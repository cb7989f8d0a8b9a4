package services

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// evaluateSecrets evaluates the secrets of the definition. Their values exist before their
// arguments are evaluated, so secrets can refer to each other in any order.
func evaluateSecrets(in *instance) {
	own := slices.DeleteFunc(slices.Clone(in.definition.All("secret")), func(b *source.Block) bool { return isMissing(in, b.Label) })
	for _, b := range own {
		in.inner.Scope.Groups["secret"][b.Label] = blocks.SecretValue(in.out.Name, b.Label, eval.String(in.inner, b, "kind"), eval.Awaited(in.inner, b, "kind"))
	}
	for _, b := range own {
		if eval.IsReserved(b.Label) {
			in.report.Error(b.LabelRange, "Unsuitable name", "Names that start with %s are kept for the passwords of databases, queues and users.", words.Sorted(eval.KeptPrefixes))
		}
		s := blocks.Secret(in.inner, b)
		s.Source = blocks.SecretSource(in.inner, b, s.Keys, in.set.Config.Cloud.Namespace)
		if b.Base != nil && len(b.Top.Attributes) == 0 {
			withoutSource(in, b.Top)
		}
		given := blocks.IsGiven(in.inner, b)
		if given && s.Source == nil && !blocks.SaysSource(b) {
			in.report.Error(in.block.Header, "Secret that has to be given",
				"Definition %q takes secret %q from outside, and kolla makes up no value for it. Say in service %q where it comes from:\n\n%s",
				in.out.Definition, b.Label, in.block.Label, blocks.ExampleOf(s))
		}
		if s.Source != nil && b.Base != nil { // what the definition says of it is for others
			blocks.CheckSecretArguments(in.user, b.Top, s.Kind, true)
		} else {
			blocks.CheckSecretArguments(in.inner, b, s.Kind, s.Source != nil || given)
		}
		in.out.Secrets = append(in.out.Secrets, s)
	}
}

// isOwnSecret reports whether a reference means a secret of the definition. It takes precedence
// over a secret block of the same name.
func isOwnSecret(in *instance, e graph.Edge) bool {
	return slices.ContainsFunc(in.definition.Labels("secret"), func(name string) bool {
		return strings.HasSuffix("."+e.To, ".secret."+name)
	})
}

// mountEdges returns the references to secret blocks that the definition mounts.
func mountEdges(in *instance) []graph.Edge {
	var out []graph.Edge
	var within func(*source.Block)
	within = func(b *source.Block) {
		for _, child := range b.Blocks {
			switch {
			case eval.GateOf(child) != eval.GateOpen:
			case child.Type != schema.MountType:
				within(child)
			default:
				if id := in.innerReach.Find("secret", child.Label); id != "" {
					out = append(out, graph.Edge{To: id, At: child.LabelRange})
				}
			}
		}
	}
	within(in.definition)
	return out
}

// sourceOfSecret returns the source of a secret in the service block, or nil.
func sourceOfSecret(in *instance, name string, keys []string) *configs.SecretSource {
	b := in.block.One("secret", name)
	if b == nil {
		return nil
	}
	source := blocks.SecretSource(in.user, b, keys, in.set.Config.Cloud.Namespace)
	if source == nil && !blocks.SaysSource(b) {
		withoutSource(in, b)
	}
	return source
}

// withoutSource reports a secret block that has no source.
func withoutSource(in *instance, b *source.Block) {
	in.report.Error(b.Header, "Missing argument", "Give the source of the value: one of from_env, from_file, from_secret and value.")
}
