package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/internal/variables"
)

// addVariables makes the nodes of the variables of a module. Variables of the root module get
// their values from outside, other variables from the module block.
func addVariables(a *assembly, m *graph.Module) {
	var declared []*variables.Variable
	for _, b := range m.Written.Document.All("variable") {
		declared = append(declared, variables.Declare(a.constant, a.config.Files, b))
	}
	a.vars[m] = declared
	if m.Written.Call == nil {
		a.outside.Give(declared)
	}
	for _, v := range declared {
		n := &graph.Node{ID: m.Path() + "var." + v.Name, Module: m, Root: "var", Name: v.Name, At: v.Range}
		if m.Written.Call != nil && m.Written.Call.Attributes[v.Name] != nil {
			n.Needs = a.graph.Reach(m.Parent).Edges(m.Written.Call.Attributes[v.Name].Expr)
		}
		n.Evaluate = func(f *graph.Frame) cty.Value {
			if f.Parent != nil {
				return variables.Checked(a.report, v, passedValue(a, f, v))
			}
			return outsideValue(a, v)
		}
		a.graph.Add(n)
		if len(v.Block.All("validation")) > 0 || v.Block.HasDynamic {
			needs := append(a.graph.Reach(m).BlockEdges(v.Block), graph.Edge{To: n.ID, At: v.Range})
			a.graph.Add(&graph.Node{ID: m.Path() + "validation." + v.Name, Module: m, Root: "validation", At: v.Range, Needs: needs, Evaluate: func(f *graph.Frame) cty.Value {
				variables.Validate(f.Env(), v, valueRange(f, v), a.config.Refused)
				return cty.NilVal
			}})
		}
	}
}

// outsideValue returns the value of a variable of the root module.
func outsideValue(a *assembly, v *variables.Variable) cty.Value {
	value, unset := a.outside.Value(v)
	if unset {
		a.config.Unset = append(a.config.Unset, v.Name)
	}
	value = variables.Checked(a.report, v, value)
	a.record(v.Name, value)
	return value
}

// passedValue returns the value that the module block gives to a variable, converted.
func passedValue(a *assembly, f *graph.Frame, v *variables.Variable) cty.Value {
	value, ok := f.Passed(v.Name)
	switch {
	case !ok && !v.HasDefault() && (v.MayLack() || f.Module.Written.Misspelt(v.Name)):
		return cty.DynamicVal
	case !ok && !v.HasDefault():
		a.report.Error(f.Module.Written.Call.Header, "Missing argument", "Module %q needs a value for its variable %q%s: %s = ....", f.Module.Written.Name, v.Name, v.Described(), v.Name)
		return cty.DynamicVal
	case !ok:
		return v.Default
	}
	attr := f.Module.Written.Call.Attributes[v.Name]
	here := values.Place{Name: v.Name, Expr: attr.Expr, Key: attr.NameRange, Literal: true}
	converted, ok := variables.Fit(a.report, v, value, here, fmt.Sprintf("Unsuitable value for variable %q", v.Name), "")
	if !ok {
		return cty.DynamicVal
	}
	return converted
}

// valueRange returns the place of the value of a variable in a frame.
func valueRange(f *graph.Frame, v *variables.Variable) hcl.Range {
	if f.Parent != nil {
		if attr := f.Module.Written.Call.Attributes[v.Name]; attr != nil {
			return values.Place{Expr: attr.Expr, Key: attr.NameRange}.At()
		}
	}
	return v.SourceRange()
}

// AutoVarFiles returns the names of files that give values to variables without an option, the
// weakest first. The given names are sorted.
func AutoVarFiles(names []string) []string { return variables.AutoFiles(names) }
