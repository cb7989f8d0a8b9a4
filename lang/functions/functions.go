// Package functions has the functions of the language: Terraform's, as far as they make
// sense here, with what the reference says of each.
//
//	table := functions.Table(functions.NewFiles(dir))
//
// They are those of cty's libraries wherever these have them, and each is fenced in: it
// keeps the marks of its arguments, passes generated secrets on or refuses them, makes
// nothing beyond all bounds, and does not panic. The tests call all of them with all that
// is odd.
package functions

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/syntax"
)

// Info describes a function of the language.
type Info struct {
	Name      string
	Group     string // what it is about: "Strings"
	Signature string // "substr(str, offset, length)"
	Doc       string
	Example   string // a call, as it is written in a configuration
	Result    string // what Example gives, as an expression
	// CarriesSecrets: strings with generated secrets in them can go through. Every
	// other function refuses them, as their values are not known.
	CarriesSecrets bool
}

// All are all functions of the language, group by group, by name.
func All() []Info {
	var out []Info
	for _, group := range library(NewFiles("")) {
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

// Absent are functions of Terraform that the language does not have, and
// what to do without them.
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

// entry is a function with what the reference says of it.
type entry struct {
	name     string
	carries  bool
	function function.Function
	doc      string
	example  string
	result   string
}

// carries makes an entry for a function that strings pass through unchanged, or
// that looks after generated secrets itself: they can be among its arguments.
func carries(name string, f function.Function, doc, example, result string) entry {
	return entry{name: name, carries: true, function: guarded(f, anything), doc: doc, example: example, result: result}
}

func anything([]cty.Value) error { return nil }

// computes makes an entry for a function whose result depends on the values of
// strings: it refuses generated secrets, whose values are not known.
func computes(name string, f function.Function, doc, example, result string) entry {
	return refuses(name, refusing(f), doc, example, result)
}

// refuses makes an entry for a function that refuses generated secrets itself.
func refuses(name string, f function.Function, doc, example, result string) entry {
	return entry{name: name, function: f, doc: doc, example: example, result: result}
}

// group is a group of functions in the reference.
type group struct {
	name      string
	functions []entry
}

// library is the table of all functions, under Terraform's names. All of them give
// the same result for the same arguments and files.
func library(files *Files) []group {
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
	inTemplates := byName(groups)
	for _, f := range noTemplates() {
		inTemplates[f.name] = f.function
	}
	groups[1].functions = append(groups[1].functions, templateStringFunction(inTemplates))
	groups[4].functions = append(groups[4].functions, files.templateFunction(inTemplates))
	return groups
}

func byName(groups []group) map[string]function.Function {
	out := map[string]function.Function{}
	for _, group := range groups {
		for _, f := range group.functions {
			out[f.name] = f.function
		}
	}
	out[syntax.Deciding] = decidingFunc
	return out
}

// Table is all functions of the language by name. Those that read files read them with
// files.
func Table(files *Files) map[string]function.Function { return byName(library(files)) }
