package functions

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/mark"
)

func stringFunctions() []entry {
	return []entry{
		carries("chomp", stdlib.ChompFunc, "The text without line breaks at its end.", `chomp("hello\n")`, `"hello"`),
		computes("didyoumean", didyoumeanFunc, "A sentence with the name that was probably meant by another, and a space before it, for an `error_message`; an empty text if there is no such name, or it is one of them.", `didyoumean("nfz", ["nfs", "rbd"])`, `" Did you mean \"nfs\"?"`),
		computes("endswith", textTest("suffix", strings.HasSuffix), "Whether a text ends with another.", `endswith("nova.conf", ".conf")`, `true`),
		carries("format", padding(stdlib.FormatFunc), "A text with values in the places of its verbs, such as %s, %d, %03d, %q or %#v.", `format("%s-%02d", "node", 7)`, `"node-07"`),
		carries("formatlist", padding(stdlib.FormatListFunc), "A format applied to the elements of lists, one after another.", `formatlist("%s:%d", ["a", "b"], 11211)`, `["a:11211", "b:11211"]`),
		carries("indent", indentFunc, "The text with spaces before each line but the first.", `indent(2, "a:\nb: 1")`, `"a:\n  b: 1"`),
		carries("join", stdlib.JoinFunc, "The elements of lists in one text, with a separator between them.", `join(", ", ["a", "b"])`, `"a, b"`),
		computes("lower", stdlib.LowerFunc, "The text in small letters.", `lower("KEYSTONE")`, `"keystone"`),
		computes("regex", stdlib.RegexFunc, "What a regular expression (RE2) matches first: a text, or a list or map of its groups. It is an error if there is nothing.", `regex("^(\\w+)-(\\d+)", "node-12")`, `["node", "12"]`),
		computes("regexall", stdlib.RegexAllFunc, "All that a regular expression matches.", `regexall("[a-z]+", "1234abcd5678efgh9")`, `["abcd", "efgh"]`),
		computes("replace", replaceFunc, "The text with another in all places of a part of it, or of what a regular expression between slashes matches.", `replace("hello world", "/w.*d/", "you")`, `"hello you"`),
		computes("split", stdlib.SplitFunc, "The parts of a text between separators.", `split(",", "a,b,c")`, `["a", "b", "c"]`),
		computes("startswith", textTest("prefix", strings.HasPrefix), "Whether a text starts with another.", `startswith("nova.conf", "nova")`, `true`),
		computes("strcontains", textTest("substr", strings.Contains), "Whether a text has another in it.", `strcontains("hello world", "wor")`, `true`),
		computes("strrev", stdlib.ReverseFunc, "The text with its characters in reverse order.", `strrev("hello")`, `"olleh"`),
		computes("substr", stdlib.SubstrFunc, "So many characters of a text from an offset on. A negative offset counts from the end; the length -1 means all that follow.", `substr("hello world", 1, 4)`, `"ello"`),
		computes("title", stdlib.TitleFunc, "The text with a capital letter at the start of each word.", `title("hello world")`, `"Hello World"`),
		computes("trim", stdlib.TrimFunc, "The text without any of the given characters at its ends.", `trim("?!hello?!", "!?")`, `"hello"`),
		computes("trimprefix", stdlib.TrimPrefixFunc, "The text without another at its start.", `trimprefix("helloworld", "hello")`, `"world"`),
		computes("trimspace", stdlib.TrimSpaceFunc, "The text without white space at its ends.", `trimspace("  hello\n\n")`, `"hello"`),
		computes("trimsuffix", stdlib.TrimSuffixFunc, "The text without another at its end.", `trimsuffix("helloworld", "world")`, `"hello"`),
		computes("upper", stdlib.UpperFunc, "The text in capital letters.", `upper("hello")`, `"HELLO"`),
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
		return function.NewArgErrorf(0, "a number from 0 to %d is needed", maxIndent)
	}
	return nil
})
