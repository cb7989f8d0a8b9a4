package lang

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// addSecret adds two nodes for a secret block of a module. Its value does not depend on its
// arguments, so a certificate can name the service that mounts it. The arguments are a second
// node, to which nothing refers.
func addSecret(a *assembly, m *graph.Module, b *source.Block) {
	type use struct {
		frame *graph.Frame
		item  eval.Instance
		value *configs.SharedSecret
	}
	var uses []use
	r := a.graph.Reach(m)
	value := a.graph.Add(&graph.Node{ID: m.Path() + b.ID(), Module: m, Root: b.Type.Name, Name: b.Label, Block: b, At: b.Header})
	for _, name := range []string{"kind", "keys", schema.NameAttribute.Name, "for_each", "count", "enabled"} {
		if attr := b.Attributes[name]; attr != nil {
			value.Needs = append(value.Needs, r.Edges(attr.Expr)...)
		}
	}
	value.Evaluate = func(f *graph.Frame) cty.Value {
		return f.Repeated(b, func(it eval.Instance) cty.Value {
			e := a.graph.Env(it.Scope)
			s := &configs.SharedSecret{Block: value.Address(f, it)}
			s.Name, s.Kind = it.Name(e, b), eval.String(e, b, "kind")
			if s.Name == "" || !a.claims.Take(a.report, "secret", s.Name, s.Block, b.Header) {
				return cty.DynamicVal
			}
			uses = append(uses, use{f, it, s})
			return blocks.SecretValue("", s.Name, s.Kind, blocks.NumberOfKeys(e, b, s.Kind), eval.Awaited(e, b, "kind"))
		})
	}
	arguments := a.graph.Add(&graph.Node{ID: value.ID + " (arguments)", Module: m, Root: graph.ArgumentsRoot, ArgumentsOf: value.ID, Block: b, At: b.Header})
	arguments.Needs = slices.Concat(arguments.Needs, []graph.Edge{{To: value.ID, At: b.Header}}, r.BlockEdges(b), graph.DependsOn(a.report, m, b))
	arguments.Evaluate = func(f *graph.Frame) cty.Value {
		for _, u := range uses {
			if u.frame == f {
				sharedSecret(a, arguments, f, b, u.item, *u.value)
			}
		}
		return cty.NilVal
	}
}

// sharedSecret evaluates the arguments of a secret block of a module.
func sharedSecret(a *assembly, n *graph.Node, f *graph.Frame, b *source.Block, it eval.Instance, s configs.SharedSecret) {
	e := a.graph.Env(it.Scope)
	b = eval.Expanded(e, b)
	name := s.Name
	s.Secret, s.Lifecycle = blocks.Secret(e, b), blocks.Lifecycle(blocks.Layered{Block: b, Eval: e})
	eval.Preconditions(e, b)
	s.Name, s.Range = name, b.Header
	s.Source = blocks.SecretSource(e, b, s.Keys, a.config.Cloud.Namespace)
	blocks.CheckSecretArguments(e, b, s.Kind, s.Source != nil)
	s.Reasons = n.Reasons(f)
	s.Needs = graph.NeedsOf(s.Reasons)
	a.config.Secrets = append(a.config.Secrets, s)
}

// errPrivate refuses the private parts of a secret.
var errPrivate = errors.New("the value of a secret is never shown, only what is public of it: a certificate, or a public key")

// publicPart reads a certificate or a public key from the cluster. Expressions get them as tokens
// like secrets, so a service does not wait for them. The function nonsensitive calls publicPart
// to get the text.
func publicPart(a *assembly, made mark.Generated) (cty.Value, error) {
	ref := configs.SecretRef(made)
	if !ref.Public() {
		return cty.DynamicVal, errPrivate
	}
	a.graph.Require("cloud", hcl.Range{}) // for the namespace
	owner := a.claims["secret."+ref.Secret]
	at := owner.Address
	if ref.Service != "" {
		owner = a.claims["service."+ref.Service]
		at = owner.Address + "/Secret/" + ref.Object()
	}
	d := configs.Data{
		Block:     at,
		DataQuery: configs.DataQuery{APIVersion: "v1", Kind: "Secret", Namespace: a.config.Cloud.Namespace, Name: ref.Object()},
		Needs:     []string{owner.Address},
		Range:     owner.At,
	}
	var value string
	if a.options.Read != nil && !a.options.Later[d.Block] {
		found, err := a.options.Read(d.DataQuery)
		if err != nil {
			return cty.DynamicVal, fmt.Errorf("%s cannot be read: %w", d.DataQuery, err)
		}
		for _, object := range found {
			data, _ := object["data"].(map[string]any)
			encoded, _ := data[ref.Key].(string)
			decoded, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				return cty.DynamicVal, fmt.Errorf("%s has no text under %q", d.DataQuery, ref.Key)
			}
			value = string(decoded)
		}
	}
	d.Deferred = value == ""
	noteRead(a, d)
	if d.Deferred {
		return cty.UnknownVal(cty.String).Mark(mark.Deferred{By: d.Block, After: d.Block, Offline: a.options.Read == nil}), nil
	}
	return cty.StringVal(value), nil
}

// noteRead adds a query to Config.Data, once.
func noteRead(a *assembly, d configs.Data) {
	for i := range a.config.Data {
		if known := &a.config.Data[i]; known.Block == d.Block {
			known.Deferred = known.Deferred || d.Deferred
			return
		}
	}
	a.config.Data = append(a.config.Data, d)
}
