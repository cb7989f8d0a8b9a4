package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// Group is the named things of one kind, such as all roles.
type Group map[string]cty.Value

// Scope maps names to values. Names that it lacks are looked up in its parent.
type Scope struct {
	Parent  *Scope
	Groups  map[string]Group     // role.NAME, var.NAME, ...
	Singles map[string]cty.Value // cloud, self, ...
	// Pending evaluates the members of groups that have no value yet; nil: all have values.
	Pending Names
	// Open has the marks of the values that must be known before the names in the groups are
	// complete; NilVal: they are complete.
	Open cty.Value
	// Lazy has the names in groups that are evaluated when they are first read: ROOT.NAME.
	Lazy map[string]*Lazy
}

// Names evaluates the names of a scope.
type Names interface {
	// Demand evaluates ROOT.NAME if necessary, and records that the block under evaluation
	// needs it. For a module, the traversal shows which outputs are read.
	Demand(root, name string, t hcl.Traversal, at hcl.Range)
}

// NewScope returns a scope without names.
func NewScope(parent *Scope) *Scope {
	return &Scope{Parent: parent, Groups: map[string]Group{}, Singles: map[string]cty.Value{}}
}

// find looks up a root name. It returns a group or a single value.
func (s *Scope) find(root string) (g Group, single cty.Value, ok bool) {
	for ; s != nil; s = s.Parent {
		if v, ok := s.Singles[root]; ok {
			return nil, v, true
		}
		if g, ok := s.Groups[root]; ok {
			return g, cty.NilVal, true
		}
	}
	return nil, cty.NilVal, false
}

// Member looks up ROOT.NAME. If the nearest group of that kind lacks the name, it looks further
// out.
func (s *Scope) Member(root, name string) (value cty.Value, ok bool) {
	if s = s.holding(root, name); s == nil {
		return cty.NilVal, false
	}
	return s.Groups[root][name], true
}

// holding returns the scope that has ROOT.NAME, or nil.
func (s *Scope) holding(root, name string) *Scope {
	for ; s != nil; s = s.Parent {
		if _, ok := s.Groups[root][name]; ok {
			return s
		}
	}
	return nil
}

// incomplete returns the marks of the values that must be known before the names of a kind are
// complete; NilVal: they are complete.
func (s *Scope) incomplete(root string) cty.Value {
	for ; s != nil; s = s.Parent {
		if _, ok := s.Groups[root]; ok && s.Open != cty.NilVal {
			return s.Open
		}
	}
	return cty.NilVal
}

// Names returns the names in all groups of a kind.
func (s *Scope) Names(root string) []string {
	var out []string
	for ; s != nil; s = s.Parent {
		out = append(out, slices.Sorted(maps.Keys(s.Groups[root]))...)
	}
	return out
}

// roots returns all names that an expression can start with.
func (s *Scope) roots() []string {
	var names []string
	for ; s != nil; s = s.Parent {
		names = append(names, slices.Sorted(maps.Keys(s.Groups))...)
		names = append(names, slices.Sorted(maps.Keys(s.Singles))...)
	}
	return names
}

// nouns are the words of messages for the members of groups.
var nouns = map[string]string{
	"var": "variable", "local": "local value", "role": "role", "exposure": "exposure", "service": "service",
	"module": "module", "data": "data", "manifest": "manifest", "port": "port", "secret": "secret", "database": "database",
	"queue": "queue", "user": "user", "endpoint": "endpoint",
	"input": "input",
}

// NounOf returns the word of messages for a block of the group.
func NounOf(group string) string {
	if group == "data" {
		return "data block"
	}
	return cmp.Or(nouns[group], group)
}

// context makes an evaluation context of HCL that contains only the references of an
// expression. It reports references to unknown names; ok is then false.
func context(e *Env, expr hcl.Expression, refs []hcl.Traversal) (ctx *hcl.EvalContext, ok bool) {
	ok = true
	found := map[string]map[string]cty.Value{}
	ctx = &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: e.Functions}
	for _, t := range refs {
		root := t.RootName()
		g, single, known := e.Scope.find(root)
		switch {
		case !known && root == "manifest" && len(t) > 1:
			e.Report.Error(t.SourceRange(), "Manifests cannot be read", "Refer to what %s makes by the name that is written in it. To read values from the cluster, use a data block with depends_on = [manifest.NAME].", Written(t[:2]))
			ok = false
		case !known:
			unknownRoot(e, t)
			ok = false
		case g == nil:
			if before, done := ctx.Variables[root]; done {
				single = before
			}
			ctx.Variables[root] = wholeValue(e, t, single)
		case root == "service" && mayBeMissing(e, expr, t):
			if found[root] == nil {
				found[root] = map[string]cty.Value{}
			}
			name, _ := addrs.NameOf(t)
			found[root][name] = cty.NullVal(cty.DynamicPseudoType)
		default:
			name, value, known := memberOf(e, root, t)
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

// memberOf finds the value of a reference into a group.
func memberOf(e *Env, root string, t hcl.Traversal) (name string, value cty.Value, ok bool) {
	name, named := addrs.NameOf(t)
	if !named {
		e.Report.Error(t.SourceRange(), "Name missing",
			"%q alone is not a value: say which %s, as in %s.NAME. Names that are computed cannot be used here.", root, nouns[root], root)
		return "", cty.NilVal, false
	}
	if root == "service" && e.Owner != nil && e.Owner.Label == name {
		if _, _, known := e.Scope.find("self"); known {
			e.Report.Error(t.SourceRange(), "A service refers to itself", "Within service %q, write self instead of service.%s.", name, name)
		} else {
			e.Report.Error(t.SourceRange(), "A service refers to itself", "The arguments of service %q cannot refer to the service itself. Put values that several of them need into a local.", name)
		}
		return "", cty.NilVal, false
	}
	if value, ok = e.Lookup(root, name, t, t.SourceRange()); !ok {
		if open := e.Scope.incomplete(root); open != cty.NilVal {
			return name, cty.DynamicVal.WithMarks(values.Deferrals(open)), true
		}
		var known []string
		if !e.Report.Full() { // the names take long
			known = e.Scope.Names(root)
		}
		notFound(e, root, name, known, t.SourceRange())
		return name, value, false
	}
	return name, value, true
}

// Lookup finds ROOT.NAME to read it, and evaluates it if necessary. The block under evaluation
// needs it from then on. Nearly always the references are known before and in order; this is
// for names that only the evaluation shows. For a module, the traversal shows which outputs are
// read.
func (e *Env) Lookup(root, name string, t hcl.Traversal, at hcl.Range) (value cty.Value, ok bool) {
	s := e.Scope.holding(root, name)
	if s == nil {
		return cty.NilVal, false
	}
	if s.Pending != nil {
		s.Pending.Demand(root, name, t, at)
	}
	if len(s.Lazy) > 0 {
		if l := s.Lazy[root+"."+name]; l != nil {
			s.Groups[root][name] = l.read(e, root+"."+name, at)
		}
	}
	return s.Groups[root][name], true
}

// disabled reports references into disabled blocks (enabled = false), if the diagnostic about
// the range is about that. For references in a definition, the user of the definition gets the
// report.
func disabled(e *Env, complaint hcl.Range, refs []hcl.Traversal) bool {
	for _, t := range refs {
		root := t.RootName()
		name, ok := addrs.NameOf(t)
		if !ok || len(t) < 3 || !slices.Contains([]string{"service", "role", "exposure", "data", "secret", "database", "module"}, root) || !t.SourceRange().Overlaps(complaint) {
			continue
		}
		value, ok := e.Scope.Member(root, name)
		if !ok || !value.IsKnown() || !value.IsNull() {
			continue
		}
		if _, own := e.Scope.Groups[root][name]; e.InDefinition && !own {
			ReportMissingDependency(e, root, name, diag.Position(t.SourceRange()))
			return true
		}
		if e.InDefinition && e.Owner != nil && e.Owner.One(root, name) != nil {
			e.Report.Error(e.Owner.One(root, name).Header, fmt.Sprintf("The %s %q is not enabled", nouns[root], name), "The definition of the service reads it (%s), so that it has to be enabled. Remove enabled = false.", diag.Position(t.SourceRange()))
			return true
		}
		e.Report.Error(t.SourceRange(), fmt.Sprintf("The %s %q is not enabled", nouns[root], name), "Its argument enabled is false, so it has no attributes. Where it may be missing, write try(%s, VALUE).", Written(t))
		return true
	}
	return false
}

// HasNoInstance reports whether it is certain that a block has no instance.
func HasNoInstance(e *Env, root, name string) bool {
	value, ok := e.Scope.Member(root, name)
	return ok && value.IsKnown()
}

// notFound reports a reference to a name that is not declared. If a definition of the catalogue
// refers to it, the user of the definition has to declare it.
func notFound(e *Env, root, name string, known []string, at hcl.Range) {
	noun := nouns[root]
	if e.Owner != nil && e.InDefinition && (root == "service" || root == "role" || root == "exposure") {
		ReportMissingDependency(e, root, name, diag.Position(at))
		return
	}
	hint := words.DidYouMean(name, known)
	if root == "data" && hint == "" && strings.Contains(name, "_") {
		hint = " A data block has one name, and no type before it: data.NAME."
	}
	e.Blame(root, name).Error(at, fmt.Sprintf("There is no %s %q", noun, name), "%s",
		words.WithHint(hint, words.Known(NounOf(root), known)))
}

// Blame returns a Reporter for mistakes about ROOT.NAME in a definition of the catalogue: their
// place is the owner's block or argument of that name, or the owner.
func (e *Env) Blame(root, name string) *diag.Reporter {
	if e.Owner == nil {
		return e.Report
	}
	if b := e.Owner.One(root, name); b != nil {
		return e.Report.For(b.Header, configs.CatalogueDir)
	}
	if attr := e.Owner.Attributes[name]; root == "input" && attr != nil {
		return e.Report.For(attr.Expr.Range(), configs.CatalogueDir)
	}
	return e.Report
}

// minimal returns the least content of a block.
var minimal = map[string]string{
	"role":     "\n    nodes = [\"NAME\"]\n  ",
	"exposure": "\n    vip = \"ADDRESS\"\n  ",
}

// ReportMissingDependency reports that the definition of a service needs a block that the user has
// not written.
func ReportMissingDependency(e *Env, typ, name, refersAt string) {
	need := diag.Need{Kind: typ, Name: name, Service: e.Owner.Label, At: e.Owner.Header, RefersAt: refersAt}
	if value, ok := e.Scope.Member(typ, name); ok && value.IsKnown() && value.IsNull() {
		need.Missing = "it is not enabled (enabled = false). Enable it, or do not enable this one either."
		e.Report.Needed(need)
		return
	}
	least := minimal[typ]
	if d := e.Catalogue.One("definition", name); typ == "service" && d != nil && DeploysNothing(d) {
		least = "\n    external = { host = \"ADDRESS\" }\n  "
	}
	need.Missing = fmt.Sprintf("the configuration does not declare it. Add:\n\n  %s %q {%s}", typ, name, least)
	e.Report.Needed(need)
}

// unknownRoot reports an unknown name at the start of a reference. A bare word that is also the
// name of a block was meant as a reference to the block, or as a string.
func unknownRoot(e *Env, t hcl.Traversal) {
	root := t.RootName()
	if len(e.Scope.roots()) == 0 {
		e.Report.Error(t.SourceRange(), "Reference where there can be none", "This value is needed before anything else is evaluated, so it cannot refer to %q. Strings must be in quotes.", root)
		return
	}
	if hint := hintForForeignName(e, t); hint != "" {
		e.Report.Error(t.SourceRange(), fmt.Sprintf("Unknown name %q", root), "%s", hint)
		return
	}
	var hint string
	for _, kind := range []string{"role", "exposure", "secret", "service", "var", "local"} {
		if len(t) == 1 {
			if _, ok := e.Scope.Member(kind, root); ok {
				hint = fmt.Sprintf(" Did you mean %s.%s?", kind, root)
				break
			}
		}
	}
	if hint == "" {
		hint = words.DidYouMean(root, e.Scope.roots())
	}
	e.Report.Error(t.SourceRange(), fmt.Sprintf("Unknown name %q", root), "%s",
		words.WithHint(hint, fmt.Sprintf("References start with one of: %s. A text stands in quotes.", words.Sorted(e.Scope.roots()))))
}

// hintForForeignName explains names that exist in other places, or in Terraform. It returns an empty
// text for all others.
func hintForForeignName(e *Env, t hcl.Traversal) string {
	_, _, counts := e.Scope.find("count")
	_, _, each := e.Scope.find("each")
	rest := strings.TrimPrefix(Written(t), t.RootName())
	switch root := t.RootName(); {
	case root == "each" && counts:
		return "This block has count, and not for_each: count.index is the number of the instance."
	case root == "count" && each:
		return "This block has for_each, and not count: each.key is the key of the instance, and each.value the value."
	case root == "definition":
		return "Only abstract definitions can read definition.name: it is the name of the definition that starts from them."
	case root == "workload", root == "job":
		return fmt.Sprintf("%s.name can be read only in a definition with a %s that starts from another one (from = \"NAME\").", root, root)
	case root == "each":
		return "The name each means something only in a block with for_each."
	case root == "count":
		return "The name count means something only in a block with count."
	case root == "self":
		return "The name self means something only in definitions, and in the config blocks of services. Elsewhere write service.NAME."
	case slices.Contains(podFields, root):
		return fmt.Sprintf("Only the env of workloads, jobs, init steps and sidecars can say %s, because it is known only where the pod runs. For a config file of OpenStack write there env = { OS_GROUP__OPTION = %s }: oslo.config reads such variables before its files.", Written(t), Written(t))
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

// NamedKinds are the roots of references that have a name, and are kept by frame.
var NamedKinds = []string{"var", "local", "role", "exposure", "data", "secret", "service", "module"}

// SharedKinds are the roots of references from a definition to blocks outside of it.
var SharedKinds = []string{"role", "exposure", "secret", "service"}

// DeploysNothing reports whether a definition describes a service that exists already: it
// has ports, and no workload listens on them.
func DeploysNothing(b *source.Block) bool {
	return b.Complete() && len(b.All("port")) > 0 && !slices.ContainsFunc(b.Blocks, func(child *source.Block) bool {
		return !slices.Contains([]string{"check", "input", "locals", "output", "port"}, child.Type.Name)
	})
}

// MayBeExternal reports whether a service block has the argument external. Its value may
// still be null.
func MayBeExternal(b *source.Block) bool {
	attr := b.Attributes["external"]
	return attr != nil && !layers.IsNullLiteral(attr.Expr)
}

// mayBeMissing reports whether a reference to a missing service stands within try or can.
func mayBeMissing(e *Env, expr hcl.Expression, t hcl.Traversal) bool {
	name, named := addrs.NameOf(t)
	if !named || e.Owner != nil && e.Owner.Label == name {
		return false
	}
	if _, declared := e.Scope.Member("service", name); declared {
		return false
	}
	return e.Memo.inTry(expr, t.SourceRange())
}

// late reports which attributes of the cloud a reference reads that are evaluated only when they are read:
// cloud.services, or cloud.targets and cloud.urls. The whole cloud has all.
func late(t hcl.Traversal) (services, observed bool) {
	name, named := addrs.NameOf(t)
	if t.RootName() != "cloud" {
		return false, false
	}
	return !named || name == "services", !named || name == "targets" || name == "urls"
}

// Observes reports whether a reference reads cloud.targets, cloud.urls, or the whole cloud.
func Observes(t hcl.Traversal) bool {
	_, observed := late(t)
	return observed
}

// wholeValue returns the value of a name, with the parts that are evaluated only when they are
// read.
func wholeValue(e *Env, t hcl.Traversal, v cty.Value) cty.Value {
	services, observed := late(t)
	for _, part := range []struct {
		read bool
		of   *Lazy
		name string
	}{{services, e.InUse, "cloud.services"}, {observed, e.Observed, "cloud.targets"}} {
		if !part.read || !v.IsKnown() || !v.Type().IsObjectType() {
			continue
		}
		more := part.of.read(e, part.name, t.SourceRange())
		if !more.Type().IsObjectType() {
			return cty.DynamicVal // it needs itself, which was reported
		}
		values := v.AsValueMap()
		maps.Copy(values, more.AsValueMap())
		v = cty.ObjectVal(values)
	}
	return v
}

// podFields are the roots of references to facts that only a pod knows. Only expressions in env
// can read them, because Kubernetes puts them into variables.
var podFields = []string{"node", "pod"}

// onlyInPod reports an expression that computes with facts that only a pod knows.
func onlyInPod(e *Env, at hcl.Range, refs []hcl.Traversal) bool {
	i := slices.IndexFunc(refs, func(t hcl.Traversal) bool { return slices.Contains(podFields, t.RootName()) })
	if i < 0 {
		return false
	}
	e.Report.Error(at, "Known only where a pod runs", "%s is known only where the pod runs, so it can be part of a string, but expressions cannot compute with it. Let the command in the pod do that.", Written(refs[i]))
	return true
}
