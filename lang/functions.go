package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// FunctionInfo describes a function of the language.
type FunctionInfo struct {
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

// Functions are all functions of the language, group by group, by name.
func Functions() []FunctionInfo {
	var out []FunctionInfo
	for _, group := range library(newFileReader("")) {
		slices.SortFunc(group.functions, func(a, b libraryFunction) int { return strings.Compare(a.name, b.name) })
		for _, f := range group.functions {
			out = append(out, FunctionInfo{
				Name: f.name, Group: group.name, Signature: signature(f.name, f.function),
				Doc: f.doc, Example: f.example, Result: f.result, CarriesSecrets: f.carries,
			})
		}
	}
	return out
}

// AbsentFunctions are functions of Terraform that the language does not have, and
// what to do without them.
func AbsentFunctions() map[string]string { return maps.Clone(absentFunctions) }

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

// libraryFunction is a function with what the reference says of it.
type libraryFunction struct {
	name     string
	carries  bool
	function function.Function
	doc      string
	example  string
	result   string
}

// carries makes an entry for a function that strings pass through unchanged, or
// that looks after generated secrets itself: they can be among its arguments.
func carries(name string, f function.Function, doc, example, result string) libraryFunction {
	return libraryFunction{name: name, carries: true, function: guarded(f, anything), doc: doc, example: example, result: result}
}

func anything([]cty.Value) error { return nil }

// computes makes an entry for a function whose result depends on the values of
// strings: it refuses generated secrets, whose values are not known.
func computes(name string, f function.Function, doc, example, result string) libraryFunction {
	return refuses(name, refusing(f), doc, example, result)
}

// refuses makes an entry for a function that refuses generated secrets itself.
func refuses(name string, f function.Function, doc, example, result string) libraryFunction {
	return libraryFunction{name: name, function: f, doc: doc, example: example, result: result}
}

// functionGroup is a group of functions in the reference.
type functionGroup struct {
	name      string
	functions []libraryFunction
}

// library is the table of all functions, under Terraform's names. All of them give
// the same result for the same arguments and files.
func library(files *fileReader) []functionGroup {
	groups := []functionGroup{
		{"Numbers", numberFunctions()},
		{"Strings", stringFunctions()},
		{"Collections", collectionFunctions()},
		{"Encoding", encodingFunctions()},
		{"Files", files.functions()},
		{"Dates and times", timeFunctions()},
		{"Hashes", hashFunctions()},
		{"IP networks", networkFunctions()},
		{"Types, errors and secrets", typeFunctions()},
	}
	inTemplates := byName(groups)
	for _, f := range noTemplates() {
		inTemplates[f.name] = f.function
	}
	groups[1].functions = append(groups[1].functions, templateStringFunction(inTemplates))
	groups[4].functions = append(groups[4].functions, files.templateFunction(inTemplates))
	return groups
}

func byName(groups []functionGroup) map[string]function.Function {
	out := map[string]function.Function{}
	for _, group := range groups {
		for _, f := range group.functions {
			out[f.name] = f.function
		}
	}
	withinBounds(out)
	return out
}

// functions are all functions of the language.
func functions(files *fileReader) map[string]function.Function { return byName(library(files)) }
