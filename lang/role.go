package lang

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

func (g *graph) role(n *node, f *frame, b *source.Block, e *evaluator, it item) cty.Value {
	r := configs.Role{
		Block:  n.address(f, it),
		Name:   it.nameOf(e, b),
		Nodes:  e.list(b, "nodes"),
		Match:  e.strings(b, "match"),
		Roles:  g.union(e, b),
		Labels: e.strings(b, "labels"),
		Taints: e.taints(b),
		Range:  b.Header,
	}
	if r.Name == "" {
		return cty.DynamicVal // which was reported
	}
	if !e.given(b, "labels") {
		r.Labels = map[string]string{"kolla.openstack.org/role-" + r.Name: "true"}
	}
	g.checkWays(e, b)
	if v, ok := e.publicAttribute(b, "nodes", cty.List(cty.String)); ok && v.LengthInt() == 0 {
		e.unsuitable(b, "nodes", "It needs at least one node.")
	}
	g.checkLabelKeys(b, "match", r.Match)
	g.checkLabelKeys(b, "labels", r.Labels)
	for i, name := range r.Nodes {
		if slices.Contains(r.Nodes[:i], name) {
			g.report.Error(b.AttributeRange("nodes"), "Node named twice", "The node %q is in the list more than once.", name)
		}
	}
	if g.claim("role", r.Name, r.Block, b.Header) {
		g.config.Roles = append(g.config.Roles, r)
	}
	value := map[string]cty.Value{
		"name":   cty.StringVal(r.Name),
		"labels": stringMap(r.Labels),
		"nodes":  stringList(r.Named()),
	}
	if len(r.Nodes) > 0 {
		value["nodes"] = stringList(r.Nodes) // in their order
	}
	if e.given(b, "nodes") && len(r.Nodes) == 0 || e.given(b, "roles") && len(r.Roles) == 0 {
		value["nodes"] = cty.UnknownVal(cty.List(cty.String)) // which was reported
	}
	if len(r.Labels) == 0 {
		value["labels"] = cty.UnknownVal(cty.Map(cty.String))
	}
	for name := range value {
		value[name] = e.read(b, value[name], name)
	}
	value["nodes"] = e.read(b, value["nodes"], "roles")
	return cty.ObjectVal(value)
}

// checkWays reports a role that does not say in exactly one way which nodes it is.
func (g *graph) checkWays(e *evaluator, b *source.Block) {
	var given []string
	misspelt := false
	for _, way := range []string{"nodes", "match", "roles"} {
		misspelt = misspelt || b.Misspelt(way)
		if e.given(b, way) {
			given = append(given, way)
		}
	}
	switch {
	case len(given) == 1 || len(given) == 0 && misspelt:
	case len(given) == 0:
		g.report.Error(b.Header, "Role without nodes", "A role says which nodes it is: nodes = [\"NAME\", ...], or match = { LABEL = \"VALUE\" } for the nodes with such a label, or roles = [role.NAME, ...] for those of other roles.")
	default:
		g.report.Error(b.Attributes[given[1]].NameRange, fmt.Sprintf("Both %s and %s", given[0], given[1]), "A role is either nodes by name, or nodes by label, or those of other roles: take all of these but one away.")
	}
}

// union evaluates the roles that a role is made of.
func (g *graph) union(e *evaluator, b *source.Block) []configs.Role {
	const name = "roles"
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	v := e.value(attr.Expr)
	bare, _ := v.Unmark()
	switch {
	case !bare.IsKnown():
		e.undecided(v, b.AttributeRange(name), fmt.Sprintf("%q", name))
		return nil
	case bare.IsNull():
		return nil
	case !values.IsList(bare):
		e.unsuitable(b, name, "It must be a list of roles, [role.NAME, ...], and this is %s.", values.KindOf(bare))
		return nil
	}
	items := mark.Elements(v)
	if len(items) == 0 {
		e.unsuitable(b, name, "It needs at least one role.")
	}
	var out []configs.Role
	for i, item := range items {
		if item.IsNull() {
			e.unsuitable(b, name, "Element %d is null.", i)
			continue
		}
		part := e.named(b, name, item, values.RoleType, "role")
		at := slices.IndexFunc(g.config.Roles, func(r configs.Role) bool { return r.Name == part })
		if at < 0 {
			continue // which was reported
		}
		if slices.ContainsFunc(out, func(r configs.Role) bool { return r.Name == part }) {
			g.report.Error(b.AttributeRange(name), "Role named twice", "The role %q is in the list more than once.", part)
			continue
		}
		out = append(out, g.config.Roles[at])
	}
	return out
}

// taints are those of a role.
func (e *evaluator) taints(b *source.Block) []configs.Taint {
	var out []configs.Taint
	for _, text := range e.list(b, "taints") {
		var t configs.Taint
		t.Key, t.Value, t.Effect = schema.SplitTaint(text)
		switch twice := slices.ContainsFunc(out, func(other configs.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect }); {
		case t.Effect == "NoExecute":
			e.unsuitable(b, "taints", "%q would end pods that run on the nodes before kolla has told them to tolerate it. NoSchedule keeps new ones away.", text)
		case twice:
			e.unsuitable(b, "taints", "A node has one taint %s:%s, and here are two.", t.Key, t.Effect)
		default:
			out = append(out, t)
		}
	}
	return out
}
