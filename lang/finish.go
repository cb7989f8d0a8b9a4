package lang

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/moves"
	"kolla.openstack.org/kolla/lang/internal/services"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// finish sorts the evaluated blocks by their places in the source, and checks the whole
// configuration.
func finish(a *assembly, clouds []*source.Block) {
	c := a.config
	c.Services = a.services.Evaluated()
	slices.Sort(c.Unset)
	inSourceOrder(c.Outputs, func(o configs.Output) hcl.Range { return o.Range })
	inSourceOrder(c.Roles, func(r configs.Role) hcl.Range { return r.Range })
	inSourceOrder(c.Exposures, func(x configs.Exposure) hcl.Range { return x.Range })
	inSourceOrder(c.Secrets, func(s configs.SharedSecret) hcl.Range { return s.Range })
	inSourceOrder(c.Data, func(d configs.Data) hcl.Range { return d.Range })
	inSourceOrder(c.Policies, func(p configs.Policy) hcl.Range { return p.Range })
	inSourceOrder(c.Manifests, func(m configs.Manifest) hcl.Range { return m.Range })
	whole := a.services.Checked()
	check.NodePorts(whole)
	check.PublicPorts(whole)
	check.HTTPPorts(whole)
	check.ManagedExposures(whole)
	check.Clashes(whole)
	a.services.CheckExternal()
	a.services.CheckDefinitions()
	check.Patterns(whole)
	for _, b := range clouds {
		check.Images(whole, b)
		check.Releases(whole, b)
	}
	check.UnusedOverrides(whole, a.services.Directory)
	check.Mentions(whole)
	check.HostPorts(whole)
	check.DuplicateDaemonSets(whole)
	a.services.CheckDefaultPlace()
	moves.Collect(a.moves, c, a.options.Undeclared)
	a.services.Cleanups()
	forgetSecrets(a)
	checkReasons(a)
	checkExplained(a)
	services.SpreadLogging(c)
}

// inSourceOrder sorts a list of the Config by the places of the blocks.
func inSourceOrder[T any](list []T, at func(T) hcl.Range) {
	slices.SortStableFunc(list, func(a, b T) int { return diag.Compare(at(a), at(b)) })
}

// checkReasons reports blocks that wait for each other, if a secret is among them.
func checkReasons(a *assembly) {
	if len(a.config.Secrets) == 0 {
		return
	}
	reasons := map[string][]configs.Reason{}
	for _, s := range a.config.Secrets {
		reasons[s.Block] = s.Reasons
	}
	for _, s := range a.config.Services {
		reasons[s.Block] = s.Reasons
	}
	for _, m := range a.config.Manifests {
		reasons[m.Block] = m.Reasons
	}
	graph.CheckReasons(a.report, reasons)
}

// checkExplained reports a value that is unknown without a reason: there was no error, and
// nothing is left for after the apply. Only a bug of kolla leads to such a value.
func checkExplained(a *assembly) {
	decisions := a.constant.Decisions
	if a.report.All().HasErrors() || len(decisions.Open) > 0 || len(decisions.Unexplained) == 0 {
		return
	}
	a.report.Error(decisions.Unexplained[0], "Value not evaluated", "Nothing is wrong with the configuration, and still there is no value here. This is a bug in kolla: please report it, with this block and what it refers to.")
}

// forgetSecrets removes variables from Config.Variables that the configuration makes secret
// although they are not sensitive: in sensitive(...), as the value of a secret, in a sensitive
// output, or in a sensitive variable of a module.
func forgetSecrets(a *assembly) {
	if len(a.config.Variables) == 0 {
		return
	}
	var found []graph.Edge
	for _, m := range a.graph.Modules() {
		r := a.graph.Reach(m)
		keep := func(expr hcl.Expression) { found = append(found, r.Edges(expr)...) }
		secretsMade(a, m.Written.Document, keep)
		for _, child := range m.Calls {
			for _, v := range a.vars[child] {
				if attr := child.Written.Call.Attributes[v.Name]; attr != nil && v.Sensitive {
					keep(attr.Expr)
				}
			}
		}
	}
	seen := map[string]bool{}
	for len(found) > 0 {
		n := a.graph.Node(found[0].To)
		found = found[1:]
		if n == nil || seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		found = append(found, n.Needs...)
		if n.Root == "var" && n.Module == a.graph.Root {
			delete(a.config.Variables, n.Name)
		}
	}
}

// secretsMade finds the expressions in a block that make something secret.
func secretsMade(a *assembly, b *source.Block, keep func(hcl.Expression)) {
	for name, attr := range b.Attributes {
		switch {
		case name == "value" && (b.Type == schema.SharedSecretType || b.Type == schema.SecretType):
			keep(attr.Expr)
		case name == "value" && b.Type.Name == "output" && b.Attributes["sensitive"] != nil:
			keep(attr.Expr)
		case bytes.Contains(sourceOf(a, attr.Expr.Range()), []byte("sensitive")):
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
		secretsMade(a, child, keep)
	}
}

// sourceOf returns the source of a range, or nil.
func sourceOf(a *assembly, at hcl.Range) []byte {
	file := a.config.Files[at.Filename]
	if file == nil || at.End.Byte > len(file.Bytes) || at.Start.Byte > at.End.Byte {
		return nil
	}
	return file.Bytes[at.Start.Byte:at.End.Byte]
}
