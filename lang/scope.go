package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// group is the named things of one kind, such as all roles.
type group map[string]cty.Value

// scope says what names mean in an expression. What it does not know, its parent
// may.
type scope struct {
	parent  *scope
	groups  map[string]group     // role.NAME, var.NAME, ...
	singles map[string]cty.Value // cloud, self, ...
	// nodes are those that the groups hold the values of, in the frame: one that was not
	// evaluated yet has no value.
	nodes map[blockKey]*node
	// open is what has to be known before it is known which names the groups have; NilVal:
	// these are all.
	open  cty.Value
	frame *frame // nil: the first one of the node's module
	// lazy are names in groups that are evaluated when they are read.
	lazy map[blockKey]*lazy
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, groups: map[string]group{}, singles: map[string]cty.Value{}}
}

// find looks a root name up: either a group or a single value is returned.
func (s *scope) find(root string) (g group, single cty.Value, ok bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.singles[root]; ok {
			return nil, v, true
		}
		if g, ok := s.groups[root]; ok {
			return g, cty.NilVal, true
		}
	}
	return nil, cty.NilVal, false
}

// member looks ROOT.NAME up. A name that the nearest group of that kind does not
// have, one further out may.
func (s *scope) member(root, name string) (value cty.Value, ok bool) {
	if s = s.holding(root, name); s == nil {
		return cty.NilVal, false
	}
	return s.groups[root][name], true
}

// holding is the scope that has ROOT.NAME, or nil.
func (s *scope) holding(root, name string) *scope {
	for ; s != nil; s = s.parent {
		if _, ok := s.groups[root][name]; ok {
			return s
		}
	}
	return nil
}

// mayHave is what has to be known before it is known which names a kind has; NilVal: they
// are all known.
func (s *scope) mayHave(root string) cty.Value {
	for ; s != nil; s = s.parent {
		if _, ok := s.groups[root]; ok && s.open != cty.NilVal {
			return s.open
		}
	}
	return cty.NilVal
}

// names are those that all groups of a kind have.
func (s *scope) names(root string) []string {
	var out []string
	for ; s != nil; s = s.parent {
		out = append(out, keysOf(s.groups[root])...)
	}
	return out
}

// roots are all names that an expression can start with.
func (s *scope) roots() []string {
	var names []string
	for ; s != nil; s = s.parent {
		names = append(names, keysOf(s.groups)...)
		names = append(names, keysOf(s.singles)...)
	}
	return names
}

// nouns name the members of groups in messages.
var nouns = map[string]string{
	"var": "variable", "local": "local value", "role": "role", "exposure": "exposure", "service": "service",
	"module": "module", "data": "data", "manifest": "manifest", "port": "port", "secret": "secret", "database": "database",
	"queue": "queue", "user": "user", "endpoint": "endpoint",
	"input": "input",
}

// nounOf is how a message names a block of the group.
func nounOf(group string) string {
	if group == "data" {
		return "data block"
	}
	return cmp.Or(nouns[group], group)
}

// context makes HCL's evaluation context of just what an expression refers to.
// References that mean nothing are reported; ok is then false.
func (e *evaluator) context(expr hcl.Expression, refs []hcl.Traversal) (ctx *hcl.EvalContext, ok bool) {
	ok = true
	found := map[string]map[string]cty.Value{}
	ctx = &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: e.functions}
	for _, t := range refs {
		root := t.RootName()
		g, single, known := e.scope.find(root)
		switch {
		case !known && root == "manifest" && len(t) > 1:
			e.report.Error(t.SourceRange(), "Manifests cannot be read", "Refer to what %s makes by the name that is written in it. What only the cluster knows of it, a data block reads, with depends_on = [manifest.NAME].", written(t[:2]))
			ok = false
		case !known:
			e.unknownRoot(t)
			ok = false
		case g == nil:
			if _, done := ctx.Variables[root]; !done || readsServices(t) {
				ctx.Variables[root] = e.whole(t, single)
			}
		case root == "service" && e.mayBeMissing(expr, t):
			if found[root] == nil {
				found[root] = map[string]cty.Value{}
			}
			name, _ := addrs.NameOf(t)
			found[root][name] = cty.NullVal(cty.DynamicPseudoType)
		default:
			name, value, known := e.member(root, t)
			if !known {
				ok = false
				continue
			}
			if found[root] == nil {
				found[root] = map[string]cty.Value{}
			}
			found[root][name] = value
		}
	}
	for root, values := range found {
		ctx.Variables[root] = cty.ObjectVal(values)
	}
	return ctx, ok
}

// member finds what a reference into a group means.
func (e *evaluator) member(root string, t hcl.Traversal) (name string, value cty.Value, ok bool) {
	name, named := addrs.NameOf(t)
	if !named {
		e.report.Error(t.SourceRange(), "Name missing",
			"%q alone is not a value: say which %s, as in %s.NAME. Names that are computed cannot be used here.", root, nouns[root], root)
		return "", cty.NilVal, false
	}
	if root == "service" && e.owner != nil && e.owner.Label == name {
		if _, _, known := e.scope.find("self"); known {
			e.report.Error(t.SourceRange(), "A service refers to itself", "Within service %q, write self instead of service.%s.", name, name)
		} else {
			e.report.Error(t.SourceRange(), "A service refers to itself", "The arguments of service %q cannot be made of what it is. Make a local value of what several of them need.", name)
		}
		return "", cty.NilVal, false
	}
	if value, ok = e.lookup(root, name, t, t.SourceRange()); !ok {
		if open := e.scope.mayHave(root); open != cty.NilVal {
			return name, cty.DynamicVal.WithMarks(values.Deferrals(open)), true
		}
		e.missing(root, name, e.scope.names(root), t.SourceRange())
		return name, value, false
	}
	return name, value, true
}

// lookup looks ROOT.NAME up to read it: what it is gets evaluated now, if it was not
// before, and what is evaluated at the moment needs it. Almost always the references
// were known and in order; this is for names that only the evaluation shows. Of a
// module the traversal says which outputs are read.
func (e *evaluator) lookup(root, name string, t hcl.Traversal, at hcl.Range) (value cty.Value, ok bool) {
	s := e.scope.holding(root, name)
	if s == nil {
		return cty.NilVal, false
	}
	if n := s.nodes[blockKey{root, name}]; n != nil {
		e.reach.graph.demand(n, s.frame, t, at)
	}
	if l := s.lazy[blockKey{root, name}]; l != nil {
		s.groups[root][name] = l.read(e, root+"."+name, at)
	}
	return s.groups[root][name], true
}

// disabled reports references into blocks that do not count (enabled = false), if
// that is what a complaint about the range is about. Those of a definition are the
// business of whoever uses it.
func (e *evaluator) disabled(complaint hcl.Range, refs []hcl.Traversal) bool {
	for _, t := range refs {
		root := t.RootName()
		name, ok := addrs.NameOf(t)
		if !ok || len(t) < 3 || !slices.Contains([]string{"service", "role", "exposure", "data", "secret", "database", "module"}, root) || !t.SourceRange().Overlaps(complaint) {
			continue
		}
		value, ok := e.scope.member(root, name)
		if !ok || !value.IsKnown() || !value.IsNull() {
			continue
		}
		if _, own := e.scope.groups[root][name]; e.inDefinition && !own {
			e.unmet(root, name, diag.Position(t.SourceRange()))
			return true
		}
		e.report.Error(t.SourceRange(), fmt.Sprintf("The %s %q is not enabled", nouns[root], name), "Its argument enabled is false, so it has no attributes. Where it may be missing, write try(%s, VALUE).", written(t))
		return true
	}
	return false
}

// never reports whether it is known of a block that has no instance that there is none.
func (e *evaluator) never(root, name string) bool {
	value, ok := e.scope.member(root, name)
	return ok && value.IsKnown()
}

// missing reports a reference to something that is not declared. What a
// definition of the catalogue lacks is the business of whoever uses it.
func (e *evaluator) missing(root, name string, known []string, at hcl.Range) {
	noun := nouns[root]
	if e.owner != nil && e.inDefinition && (root == "service" || root == "role" || root == "exposure") {
		e.unmet(root, name, diag.Position(at))
		return
	}
	hint := words.DidYouMean(name, known)
	if root == "data" && hint == "" && strings.Contains(name, "_") {
		hint = " A data block has one name, and no type before it: data.NAME."
	}
	e.report.Error(at, fmt.Sprintf("There is no %s %q", noun, name), "%s",
		words.WithHint(hint, words.Known(nounOf(root), known)))
}

// minimal is what has to stand in a block at least.
var minimal = map[string]string{
	"role":     "\n    nodes = [\"NAME\"]\n  ",
	"exposure": "\n    vip = \"ADDRESS\"\n  ",
}

// unmet reports that the definition of a service needs a block that the user has
// not written.
func (e *evaluator) unmet(typ, name, refersAt string) {
	summary := fmt.Sprintf("Service %q needs %s %q", e.owner.Label, typ, name)
	if value, ok := e.scope.member(typ, name); ok && value.IsKnown() && value.IsNull() {
		e.report.Error(e.owner.Header, summary, "Its definition refers to it (%s), and it is not enabled (enabled = false). Enable it, or do not enable this one either.", refersAt)
		return
	}
	least := minimal[typ]
	if d := e.reach.graph.builtin.One("definition", name); typ == "service" && d != nil && deploysNothing(d) {
		least = "\n    external = { host = \"ADDRESS\" }\n  "
	}
	e.report.Error(e.owner.Header, summary,
		"Its definition refers to it (%s), and the configuration does not declare it. Add:\n\n  %s %q {%s}", refersAt, typ, name, least)
}

// unknownRoot reports a name that starts no reference. A bare word that is the
// name of something was meant as a reference to it, or as a string.
func (e *evaluator) unknownRoot(t hcl.Traversal) {
	root := t.RootName()
	if len(e.scope.roots()) == 0 {
		e.report.Error(t.SourceRange(), "Reference where there can be none", "This value is needed before anything else is evaluated, so it cannot refer to %q. A text stands in quotes.", root)
		return
	}
	if hint := e.elsewhere(t); hint != "" {
		e.report.Error(t.SourceRange(), fmt.Sprintf("Unknown name %q", root), "%s", hint)
		return
	}
	var hint string
	for _, kind := range []string{"role", "exposure", "secret", "service", "var", "local"} {
		if len(t) == 1 {
			if _, ok := e.scope.member(kind, root); ok {
				hint = fmt.Sprintf(" Did you mean %s.%s?", kind, root)
				break
			}
		}
	}
	if hint == "" {
		hint = words.DidYouMean(root, e.scope.roots())
	}
	e.report.Error(t.SourceRange(), fmt.Sprintf("Unknown name %q", root), "%s",
		words.WithHint(hint, fmt.Sprintf("References start with one of: %s. A text stands in quotes.", words.Sorted(e.scope.roots()))))
}

// elsewhere is about names that mean something in other places, or in Terraform; ""
// for all others.
func (e *evaluator) elsewhere(t hcl.Traversal) string {
	_, _, counts := e.scope.find("count")
	_, _, each := e.scope.find("each")
	rest := strings.TrimPrefix(written(t), t.RootName())
	switch root := t.RootName(); {
	case root == "each" && counts:
		return "This block has count, and not for_each: count.index is the number of the instance."
	case root == "count" && each:
		return "This block has for_each, and not count: each.key is the key of the instance, and each.value the value."
	case root == "each":
		return "The name each means something only in a block with for_each."
	case root == "count":
		return "The name count means something only in a block with count."
	case root == "self":
		return "The name self means something only in definitions, and in the config blocks of services. Elsewhere write service.NAME."
	case slices.Contains(podFields, root):
		return fmt.Sprintf("Only the env of workloads, jobs, init steps and sidecars can say %s, because it is known only where the pod runs. For a config file of OpenStack write there env = { OS_GROUP__OPTION = %s }: oslo.config reads such variables before its files.", written(t), written(t))
	case root == "locals", root == "variable", root == "vars", root == "variables":
		root = map[bool]string{true: "local", false: "var"}[root == "locals"]
		if len(t) == 1 {
			rest = ".NAME"
		}
		return fmt.Sprintf("Write %s%s: expressions read the %s as %s.NAME.", root, rest, map[string]string{"local": "local values", "var": "variables"}[root], root)
	case root == "terraform":
		return "There are no workspaces: each cloud has a directory of its own. cloud.name is the name of this one."
	case len(t) > 2 && strings.Contains(root, "_"), root == "resource":
		return "There are no resources as in Terraform. A service is service.NAME, and an object of the cluster that a data block reads is data.NAME."
	}
	return ""
}
