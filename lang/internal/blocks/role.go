package blocks

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema/forms"
)

// checkWays reports a role that does not select its nodes in exactly one way.
func checkWays(e *eval.Env, b *source.Block) {
	var given []string
	misspelt := false
	for _, way := range []string{"nodes", "match", "roles"} {
		misspelt = misspelt || b.Misspelt(way)
		if eval.IsSet(e, b, way) {
			given = append(given, way)
		}
	}
	switch {
	case len(given) == 1 || len(given) == 0 && misspelt:
	case len(given) == 0:
		e.Report.Error(b.Header, "Role without nodes", "A role says which nodes it is: nodes = [\"NAME\", ...], or match = { LABEL = \"VALUE\" } for the nodes with such a label, or roles = [role.NAME, ...] for those of other roles.")
	default:
		e.Report.Error(b.Attributes[given[1]].NameRange, fmt.Sprintf("Both %s and %s", given[0], given[1]), "A role is either nodes by name, or nodes by label, or those of other roles: take all of these but one away.")
	}
}

// union evaluates the roles that a role combines.
func union(e *eval.Env, b *source.Block, roles []configs.Role) []configs.Role {
	const name = "roles"
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	v := e.Value(attr.Expr)
	bare, _ := v.Unmark()
	switch {
	case !bare.IsKnown():
		eval.ReportDeferred(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name))
		return nil
	case bare.IsNull():
		return nil
	case !values.IsList(bare):
		eval.Unsuitable(e, b, name, "It must be a list of roles, [role.NAME, ...], and this is %s.", values.KindOf(bare))
		return nil
	}
	items := mark.Elements(v)
	if len(items) == 0 {
		eval.Unsuitable(e, b, name, "It needs at least one role.")
	}
	var out []configs.Role
	for i, item := range items {
		if item.IsNull() {
			eval.Unsuitable(e, b, name, "Element %d is null.", i)
			continue
		}
		part := eval.NameFrom(e, b, name, item, values.RoleType, "role")
		at := slices.IndexFunc(roles, func(r configs.Role) bool { return r.Name == part })
		if at < 0 {
			continue // which was reported
		}
		if slices.ContainsFunc(out, func(r configs.Role) bool { return r.Name == part }) {
			e.Report.Error(b.AttributeRange(name), "Role named twice", "The role %q is in the list more than once.", part)
			continue
		}
		out = append(out, roles[at])
	}
	return out
}

// taintsOf returns the taints of a role.
func taintsOf(e *eval.Env, b *source.Block) []configs.Taint {
	var out []configs.Taint
	for _, text := range eval.List(e, b, "taints") {
		var t configs.Taint
		t.Key, t.Value, t.Effect = forms.SplitTaint(text)
		switch twice := slices.ContainsFunc(out, func(other configs.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect }); {
		case t.Effect == "NoExecute":
			eval.Unsuitable(e, b, "taints", "%q would end pods that run on the nodes before kolla has told them to tolerate it. NoSchedule keeps new ones away.", text)
		case twice:
			eval.Unsuitable(e, b, "taints", "A node has one taint %s:%s, and here are two.", t.Key, t.Effect)
		default:
			out = append(out, t)
		}
	}
	return out
}

// defaultLabel is the label of a role, without the role's name. Whoever has the credentials of a
// kubelet may set labels of its own node, but none of this domain: the admission plugin
// NodeRestriction forbids it.
const defaultLabel = "kolla.openstack.org.node-restriction.kubernetes.io/role-"

// Role evaluates an instance of a role block, and what expressions read of it. roles are the
// roles that were evaluated before. ok is false if the role has no name.
func Role(e *eval.Env, b *source.Block, it eval.Instance, roles []configs.Role) (r configs.Role, value cty.Value, ok bool) {
	r = configs.Role{
		Name:   it.Name(e, b),
		Nodes:  eval.List(e, b, "nodes"),
		Match:  eval.Strings(e, b, "match"),
		Roles:  union(e, b, roles),
		Labels: eval.Strings(e, b, "labels"),
		Taints: taintsOf(e, b),
		Range:  b.Header,
	}
	if r.Name == "" {
		return r, value, false // which was reported
	}
	if !eval.IsSet(e, b, "labels") {
		r.Labels = map[string]string{defaultLabel + r.Name: "true"}
	}
	checkWays(e, b)
	if v, ok := eval.PublicAttribute(e, b, "nodes", cty.List(cty.String)); ok && v.LengthInt() == 0 {
		eval.Unsuitable(e, b, "nodes", "It needs at least one node.")
	}
	checkLabelKeys(e.Report, b, "match", r.Match)
	checkLabelKeys(e.Report, b, "labels", r.Labels)
	for i, name := range r.Nodes {
		if slices.Contains(r.Nodes[:i], name) {
			e.Report.Error(b.AttributeRange("nodes"), "Node named twice", "The node %q is in the list more than once.", name)
		}
	}
	fields := map[string]cty.Value{
		"name":   cty.StringVal(r.Name),
		"labels": stringMap(r.Labels),
		"nodes":  StringList(r.Named()),
	}
	if len(r.Nodes) > 0 {
		fields["nodes"] = StringList(r.Nodes) // in the given order
	}
	if eval.IsSet(e, b, "nodes") && len(r.Nodes) == 0 || eval.IsSet(e, b, "roles") && len(r.Roles) == 0 {
		fields["nodes"] = cty.UnknownVal(cty.List(cty.String)) // which was reported
	}
	if len(r.Labels) == 0 {
		fields["labels"] = cty.UnknownVal(cty.Map(cty.String))
	}
	for name := range fields {
		fields[name] = eval.Read(e, b, fields[name], name)
	}
	fields["nodes"] = eval.Read(e, b, fields["nodes"], "roles")
	return r, cty.ObjectVal(fields), true
}
