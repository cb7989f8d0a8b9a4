package functions

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/mark"
)

func stringFunctions() []entry {
	return []entry{
		carries("chomp", stdlib.ChompFunc, "Removes line breaks from the end of a string.", `chomp("hello\n")`, `"hello"`),
		computes("didyoumean", didyoumeanFunc, "Returns a suggestion for an `error_message`: a space, then a sentence with the element of names that is most similar to name. Returns an empty string if no element is similar, or if name is one of them.", `didyoumean("nfz", ["nfs", "rbd"])`, `" Did you mean \"nfs\"?"`),
		computes("endswith", textTest("suffix", strings.HasSuffix), "Returns true if a string ends with the given suffix.", `endswith("nova.conf", ".conf")`, `true`),
		carries("format", padding(stdlib.FormatFunc), "Formats values into a string. Verbs such as %s, %d, %03d, %q and %#v mark the places of the values.", `format("%s-%02d", "node", 7)`, `"node-07"`),
		carries("formatlist", padding(stdlib.FormatListFunc), "Returns a list of strings: applies a format to each position of the given lists. An argument that is not a list is used for every string.", `formatlist("%s:%d", ["a", "b"], 11211)`, `["a:11211", "b:11211"]`),
		carries("indent", indentFunc, "Adds the given number of spaces to the start of every line but the first.", `indent(2, "a:\nb: 1")`, `"a:\n  b: 1"`),
		carries("join", stdlib.JoinFunc, "Joins the elements of one or more lists into a string, with a separator between them.", `join(", ", ["a", "b"])`, `"a, b"`),
		computes("lower", stdlib.LowerFunc, "Converts a string to lowercase.", `lower("KEYSTONE")`, `"keystone"`),
		computes("regex", stdlib.RegexFunc, "Returns the first match of a regular expression (RE2): a string, or a list or map of its capture groups. It is an error if nothing matches.", `regex("^(\\w+)-(\\d+)", "node-12")`, `["node", "12"]`),
		computes("regexall", stdlib.RegexAllFunc, "Returns a list of all matches of a regular expression (RE2). The list is empty if nothing matches.", `regexall("[a-z]+", "1234abcd5678efgh9")`, `["abcd", "efgh"]`),
		computes("replace", replaceFunc, "Replaces every occurrence of a substring, or every match of a regular expression written between slashes.", `replace("hello world", "/w.*d/", "you")`, `"hello you"`),
		computes("split", stdlib.SplitFunc, "Splits a string into a list at each occurrence of a separator.", `split(",", "a,b,c")`, `["a", "b", "c"]`),
		computes("startswith", textTest("prefix", strings.HasPrefix), "Returns true if a string starts with the given prefix.", `startswith("nova.conf", "nova")`, `true`),
		computes("strcontains", textTest("substr", strings.Contains), "Returns true if a string contains the given substring.", `strcontains("hello world", "wor")`, `true`),
		computes("strrev", stdlib.ReverseFunc, "Reverses the characters of a string.", `strrev("hello")`, `"olleh"`),
		computes("substr", stdlib.SubstrFunc, "Extracts a substring by offset and length. A negative offset counts from the end of the string. The length -1 means up to the end.", `substr("hello world", 1, 4)`, `"ello"`),
		computes("title", stdlib.TitleFunc, "Converts the first letter of each word to uppercase.", `title("hello world")`, `"Hello World"`),
		computes("trim", stdlib.TrimFunc, "Removes the given characters from the start and end of a string.", `trim("?!hello?!", "!?")`, `"hello"`),
		computes("trimprefix", stdlib.TrimPrefixFunc, "Removes a prefix from a string. Returns the string unchanged if it does not start with the prefix.", `trimprefix("helloworld", "hello")`, `"world"`),
		computes("trimspace", stdlib.TrimSpaceFunc, "Removes white space from the start and end of a string.", `trimspace("  hello\n\n")`, `"hello"`),
		computes("trimsuffix", stdlib.TrimSuffixFunc, "Removes a suffix from a string. Returns the string unchanged if it does not end with the suffix.", `trimsuffix("helloworld", "world")`, `"hello"`),
		computes("upper", stdlib.UpperFunc, "Converts a string to uppercase.", `upper("hello")`, `"HELLO"`),
	}
}

// textTest returns a function that compares two texts.
func textTest(second string, test func(text, part string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "str", Type: cty.String}, {Name: second, Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

var didyoumeanFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "name", Type: cty.String}, {Name: "names", Type: cty.List(cty.String)}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !args[1].IsWhollyKnown() {
			return cty.UnknownVal(cty.String), nil
		}
		var known []string
		for _, name := range args[1].AsValueSlice() {
			if !name.IsNull() {
				known = append(known, name.AsString())
			}
		}
		if given := args[0].AsString(); given == "" || slices.Contains(known, given) {
			return cty.StringVal(""), nil
		}
		return cty.StringVal(words.DidYouMean(args[0].AsString(), known)), nil
	},
})

var replaceFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "str", Type: cty.String},
		{Name: "substr", Type: cty.String},
		{Name: "replace", Type: cty.String},
	},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if pattern, ok := betweenSlashes(args[1].AsString()); ok {
			return stdlib.RegexReplace(args[0], cty.StringVal(pattern), args[2])
		}
		return stdlib.Replace(args[0], args[1], args[2])
	},
})

// padding returns a format function that refuses to pad or cut generated secrets, because their
// length is not known.
func padding(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		format, _ := args[0].Unmark()
		if format.Type() != cty.String || !format.IsKnown() || format.IsNull() {
			return nil
		}
		for _, v := range verbs(format.AsString()) {
			if v.width+v.precision == "" || !strings.ContainsAny(v.kind, "sqv") {
				continue
			}
			for i, arg := range args {
				if mark.IsGenerated(arg) {
					return function.NewArgError(i, mark.ErrComputed)
				}
			}
		}
		return nil
	})
}

const maxIndent = 1000 // spaces

var indentFunc = guarded(stdlib.IndentFunc, func(args []cty.Value) error {
	spaces, _ := args[0].Unmark()
	if spaces.Type() != cty.Number || !spaces.IsKnown() || spaces.IsNull() {
		return nil
	}
	if spaces.LessThan(cty.Zero).True() || spaces.GreaterThan(cty.NumberIntVal(maxIndent)).True() {
		return function.NewArgErrorf(0, "a number from 0 to %d is required", maxIndent)
	}
	return nil
})
