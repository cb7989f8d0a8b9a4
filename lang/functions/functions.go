// Package functions has the functions of the language: those of Terraform that make sense
// here, with their texts for the reference.
//
//	table := functions.Table(functions.NewFiles(dir))
//
// The functions come from cty's libraries where these have them. Each function is wrapped: it
// keeps the marks of its arguments, passes generated secrets on or refuses them, limits the
// size of its result, and does not panic. The tests call all functions with unusual
// arguments.
package functions

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Info describes a function of the language.
type Info struct {
	Name      string
	Group     string // the heading in the reference: "Strings"
	Signature string // "substr(str, offset, length)"
	Doc       string
	Example   string // a call, as it is written in a configuration
	Result    string // the result of Example, as an expression
	// CarriesSecrets means that strings with generated secrets can pass through the function.
	// All other functions refuse such strings, because the secrets' values are not known.
	CarriesSecrets bool
}

// All returns all functions of the language, group by group, sorted by name within a group.
func All() []Info {
	var out []Info
	for _, group := range library(NewFiles(""), budget.New()) {
		slices.SortFunc(group.functions, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		for _, f := range group.functions {
			out = append(out, Info{
				Name: f.name, Group: group.name, Signature: signature(f.name, f.function),
				Doc: f.doc, Example: f.example, Result: f.result, CarriesSecrets: f.carries,
			})
		}
	}
	return out
}

// Absent returns the functions of Terraform that the language does not have, each with advice
// about a replacement.
func Absent() map[string]string { return maps.Clone(absentFunctions) }

func signature(name string, f function.Function) string {
	var params []string
	for _, p := range f.Params() {
		params = append(params, p.Name)
	}
	if rest := f.VarParam(); rest != nil {
		params = append(params, rest.Name+"...")
	}
	return name + "(" + strings.Join(params, ", ") + ")"
}

// entry is a function with its text for the reference.
type entry struct {
	name     string
	carries  bool
	function function.Function
	check    func(args []cty.Value) error // nil: the function checks its arguments itself
	doc      string
	example  string
	result   string
}

// carries returns an entry for a function whose arguments may contain generated secrets. The
// function leaves strings unchanged, or handles generated secrets itself.
func carries(name string, f function.Function, doc, example, result string) entry {
	return entry{name: name, carries: true, function: f, check: anything, doc: doc, example: example, result: result}
}

func anything([]cty.Value) error { return nil }

// computes returns an entry for a function whose result depends on the values of strings. The
// function refuses generated secrets, because their values are not known.
func computes(name string, f function.Function, doc, example, result string) entry {
	return entry{name: name, function: f, check: noSecrets, doc: doc, example: example, result: result}
}

// within returns the entry with a function that checks its arguments and keeps to a budget.
func (e entry) within(b *budget.Budget) entry {
	if e.check != nil {
		limit := limited(e.name, b)
		e.function = guarded(e.function, func(args []cty.Value) error { return cmp.Or(e.check(args), limit(args)) })
	}
	return e
}

// group is a group of functions in the reference.
type group struct {
	name      string
	functions []entry
}

// library returns all functions, under Terraform's names. Each function returns the same result
// for the same arguments and files.
func library(files *Files, b *budget.Budget) []group {
	files.budget = b
	groups := []group{
		{"Numbers", numberFunctions()},
		{"Strings", stringFunctions()},
		{"Collections", collectionFunctions()},
		{"Encoding", encodingFunctions()},
		{"Files", files.functions()},
		{"Dates and times", timeFunctions()},
		{"Hashes", hashFunctions()},
		{"IP networks", networkFunctions()},
		{"Types, errors and secrets", typeFunctions(files)},
	}
	for _, group := range groups {
		for i, e := range group.functions {
			group.functions[i] = e.within(b)
		}
	}
	inTemplates := byName(groups, b)
	for _, f := range noTemplates() {
		inTemplates[f.name] = f.function
	}
	t := templates{functions: inTemplates, budget: b}
	groups[1].functions = append(groups[1].functions, t.ofTexts().within(b))
	groups[4].functions = append(groups[4].functions, t.ofFiles(files).within(b))
	return groups
}

func byName(groups []group, b *budget.Budget) map[string]function.Function {
	out := map[string]function.Function{}
	for _, group := range groups {
		for _, f := range group.functions {
			out[f.name] = f.function
		}
	}
	out[syntax.Deciding] = deciding(b)
	return out
}

// Table returns all functions of the language by name. They read files through files, and keep
// to a budget.
func Table(files *Files, b *budget.Budget) map[string]function.Function {
	return byName(library(files, b), b)
}
