package functions

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/mark"
)

// oddValues are what functions are easily wrong about.
func oddValues() []cty.Value {
	huge := cty.NumberVal(new(big.Float).SetMantExp(big.NewFloat(1), 2000))
	text := cty.StringVal("a")
	plain := []cty.Value{
		cty.True, cty.Zero, cty.NumberIntVal(-1), cty.NumberIntVal(3), cty.NumberFloatVal(1.5), cty.NumberIntVal(1 << 40), huge, cty.PositiveInfinity, cty.NegativeInfinity,
		cty.StringVal(""), text, cty.StringVal("é\u0301\U0001F469\u200D\U0001F4BB\n\x00"), cty.StringVal("%s%d%[9]s%"), cty.StringVal("%5000000000s"), cty.StringVal("(?P<a>.)(.)?"), cty.StringVal("/(/"), cty.StringVal("${"),
		cty.StringVal("10.0.0.0/8"), cty.StringVal("::/0"), cty.StringVal("fe80::1%eth0"), cty.StringVal("2026-01-01T00:00:00Z"), cty.StringVal("YQ=="), cty.StringVal("/w=="), cty.StringVal("H4sIAAAAAAAA/w=="), cty.StringVal("%zz"), cty.StringVal("%ff"),
		cty.StringVal("utf-8"), cty.StringVal("utf-7"), cty.StringVal("motd.txt"), cty.StringVal("~nobody/x"), cty.StringVal("\x00"), cty.StringVal("["), cty.StringVal("{{}"), cty.StringVal("policy"), cty.StringVal("greeting.tmpl"),
		cty.StringVal("a: &a [*a]"), cty.StringVal("--- &a\n...\n--- *a"), cty.StringVal("!!binary x"), cty.StringVal("? [a]\n: b"), cty.StringVal("<<: 1"), cty.StringVal(`[{"a":`), cty.StringVal("a,b\n1"), cty.StringVal(`"`),
		cty.EmptyTupleVal, cty.EmptyObjectVal, cty.ListValEmpty(cty.String), cty.SetValEmpty(cty.String), cty.MapValEmpty(cty.String), cty.ListValEmpty(cty.DynamicPseudoType),
		cty.ListVal([]cty.Value{text, text}), cty.ListVal([]cty.Value{text, cty.NullVal(cty.String)}), cty.ListVal([]cty.Value{text, cty.UnknownVal(cty.String)}),
		cty.SetVal([]cty.Value{text}), cty.SetVal([]cty.Value{text, cty.UnknownVal(cty.String)}), cty.SetVal([]cty.Value{cty.NullVal(cty.Number), cty.Zero}),
		cty.ListVal([]cty.Value{cty.Zero, cty.NumberIntVal(2)}), cty.ListVal([]cty.Value{cty.PositiveInfinity, cty.NegativeInfinity}),
		cty.TupleVal([]cty.Value{text, cty.Zero, cty.NullVal(cty.DynamicPseudoType)}), cty.TupleVal([]cty.Value{cty.EmptyTupleVal, cty.EmptyObjectVal, cty.DynamicVal}),
		cty.MapVal(map[string]cty.Value{"a": text, "b": cty.NullVal(cty.String)}), cty.MapVal(map[string]cty.Value{"": cty.ListVal([]cty.Value{text})}), cty.MapVal(map[string]cty.Value{"a": cty.NullVal(cty.List(cty.String))}),
		cty.ObjectVal(map[string]cty.Value{"a": text, "names": cty.TupleVal([]cty.Value{text})}), cty.ObjectVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String), "b": cty.DynamicVal}),
	}
	types := []cty.Type{cty.String, cty.Number, cty.Bool, cty.DynamicPseudoType, cty.List(cty.String), cty.Set(cty.String), cty.Map(cty.String), cty.Map(cty.List(cty.String)), cty.EmptyTuple, cty.EmptyObject, cty.Tuple([]cty.Type{cty.String}), cty.Object(map[string]cty.Type{"a": cty.String})}
	for _, t := range types {
		plain = append(plain, cty.NullVal(t), cty.UnknownVal(t))
	}
	later := mark.Deferred{By: "data.x"}
	out := []cty.Value{cty.UnknownVal(cty.String).Mark(later), cty.DynamicVal.Mark(later), cty.ObjectVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String).Mark(later)})}
	for _, v := range plain {
		out = append(out, v, v.Mark(mark.Sensitive{}))
		if within := deepMarked(v); within.ContainsMarked() {
			out = append(out, within)
		}
	}
	return out
}

// deepMarked marks what is in a value, not the value itself.
func deepMarked(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(p cty.Path, v cty.Value) (cty.Value, error) {
		if len(p) == 0 {
			return v, nil
		}
		return v.Mark(mark.Sensitive{}), nil
	})
	if err != nil {
		panic(err)
	}
	return out
}

// call calls a function as HCL does.
func call(f function.Function, args []cty.Value) (cty.Value, error) {
	params, rest := f.Params(), f.VarParam()
	if len(args) < len(params) || rest == nil && len(args) > len(params) {
		return cty.NilVal, errors.New("number of arguments")
	}
	args = slices.Clone(args)
	for i, arg := range args {
		p := rest
		if i < len(params) {
			p = &params[i]
		}
		if customdecode.CustomExpressionDecoderForType(p.Type) != nil {
			expr := hclsyntax.LiteralValueExpr{Val: arg}
			args[i] = customdecode.ExpressionClosureVal(&customdecode.ExpressionClosure{Expression: &expr, EvalContext: &hcl.EvalContext{}})
			continue
		}
		var err error
		if args[i], err = convert.Convert(arg, p.Type); err != nil {
			return cty.NilVal, err
		}
	}
	return f.Call(args)
}

// combinations calls with lists of up to three arguments: all of one, of two those
// in which not both are marked, and of three those in which two are usual.
func combinations(values []cty.Value, usual []cty.Value, do func(args []cty.Value)) {
	do(nil)
	for _, a := range values {
		do([]cty.Value{a})
		for _, b := range values {
			if !a.ContainsMarked() || !b.ContainsMarked() {
				do([]cty.Value{a, b})
			}
		}
		for _, b := range usual {
			for _, c := range usual {
				do([]cty.Value{a, b, c})
				do([]cty.Value{b, a, c})
				do([]cty.Value{b, c, a})
			}
		}
	}
}

func usualValues() []cty.Value {
	return []cty.Value{cty.StringVal("a"), cty.NumberIntVal(2), cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}), cty.ObjectVal(map[string]cty.Value{"a": cty.True}), cty.StringVal("10.0.0.0/8").Mark(mark.Sensitive{})}
}

// unmarking functions give results that tell nothing of what is marked in their
// arguments.
var unmarking = []string{"can", "issensitive", "nonsensitive"}

// shallow functions look only at the keys or the number of what they are given, or
// take one thing out of it: marks within an argument need not be on the result.
var shallow = []string{
	"chunklist", "coalescelist", "concat", "element", "keys", "length", "lookup", "merge", "one", "reverse", "setproduct", "slice", "templatefile", "templatestring", "try", "zipmap",
}

// choosing functions may give what has nothing to do with the arguments from a
// position on.
var choosing = map[string]int{"lookup": 2, "try": 1}

// TestFunctionsHold calls all functions with everything that is odd: none panics,
// what they make of sensitive values is sensitive, and what they make of known values is known.
func TestFunctionsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	odd, usual := oddValues(), usualValues()
	limits := budget.New()
	for name, f := range Table(NewFiles(dir), limits) {
		t.Run(name, func(t *testing.T) {
			results := 0
			combinations(odd, usual, func(args []cty.Value) {
				limits.Renew()
				defer func() {
					if r := recover(); r != nil {
						t.Fatalf("%#v: panic: %v", args, r)
					}
				}()
				got, err := call(f, args)
				var panicked function.PanicError
				if errors.As(err, &panicked) {
					t.Fatalf("%#v: panic: %v\n%s", args, panicked.Value, panicked.Stack)
				}
				if err != nil {
					return
				}
				results++
				if !got.IsWhollyKnown() && !slices.ContainsFunc(args, func(v cty.Value) bool { return !v.IsWhollyKnown() }) {
					t.Fatalf("%#v: the result of known values is not known: %#v", args, got)
				}
				if n, ok := choosing[name]; ok {
					args = args[:min(n, len(args))]
				}
				if !got.IsWhollyKnown() && slices.ContainsFunc(args, undecidedLater) && !mark.IsDeferred(got) {
					t.Fatalf("%#v: it is lost that the value is known later: %#v", args, got)
				}
				if marksLost(name, args, got) {
					t.Fatalf("%#v: a mark is lost: %#v", args, got)
				}
			})
			if results == 0 {
				t.Error("no arguments are suitable")
			}
		})
	}
}

func undecidedLater(v cty.Value) bool { return undecided(v) && mark.IsDeferred(v) }

func marksLost(name string, args []cty.Value, got cty.Value) bool {
	if slices.Contains(unmarking, name) || mark.IsSensitive(got) {
		return false
	}
	return slices.ContainsFunc(args, func(v cty.Value) bool {
		if slices.Contains(shallow, name) {
			return v.HasMark(mark.Sensitive{}) && !v.IsNull()
		}
		return mark.IsSensitive(v)
	})
}

// TestHugeArguments checks that no argument makes a function use up the memory, the
// stack or a person's patience.
func TestHugeArguments(t *testing.T) {
	nested := func(depth int) cty.Value {
		return cty.StringVal(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	}
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		alias := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", ")
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, alias)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(make([]byte, maxFile+1)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	all := Table(NewFiles(t.TempDir()), budget.New())
	for _, test := range []struct {
		name string
		args []cty.Value
		want string
	}{
		{"jsondecode", []cty.Value{nested(1 << 16)}, "exceeded max depth"},
		{"jsondecode", []cty.Value{nested(1 << 20)}, "at most 100000 elements"},
		{"yamldecode", []cty.Value{nested(1 << 16)}, "exceeded max depth"},
		{"yamldecode", []cty.Value{nested(1 << 20)}, "at most 100000 elements"},
		{"yamldecode", []cty.Value{cty.StringVal(bomb)}, "excessive aliasing"},
		{"yamldecodeall", []cty.Value{cty.StringVal("--- a\n---\n" + bomb)}, "document 2: document contains excessive aliasing"},
		{"base64gunzip", []cty.Value{cty.StringVal(base64.StdEncoding.EncodeToString(zipped.Bytes()))}, "more than 16 MiB"},
		{"format", []cty.Value{cty.StringVal("%900000000d"), cty.Zero}, "too large"},
		{"formatlist", []cty.Value{cty.StringVal("%.900000000f"), cty.Zero}, "too large"},
		{"indent", []cty.Value{cty.NumberIntVal(1 << 40), cty.StringVal("\n")}, "from 0 to 1000"},
		{"range", []cty.Value{cty.NumberIntVal(1 << 40)}, "more than 1024 values"},
		{"pow", []cty.Value{cty.NumberIntVal(-1), cty.NumberFloatVal(0.5)}, "no result"},
	} {
		_, err := call(all[test.name], test.args)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: want %q, got %.200s", test.name, test.want, err)
		}
	}
}

// TestSecretsCarried gives a generated secret to all functions: it goes through
// unchanged, but for the place that it is escaped for, or it is refused.
func TestSecretsCarried(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	secret := mark.Generated{Service: "own", Secret: "a", Key: "value"}.Token()
	bare, _ := secret.Unmark()
	places := []cty.Value{
		secret, cty.TupleVal([]cty.Value{secret}), cty.ListVal([]cty.Value{secret, cty.StringVal("b")}), cty.SetVal([]cty.Value{secret}),
		cty.ObjectVal(map[string]cty.Value{"a": secret}), cty.ObjectVal(map[string]cty.Value{"a": secret, "names": cty.TupleVal([]cty.Value{secret})}), cty.TupleVal([]cty.Value{cty.TupleVal([]cty.Value{secret})}),
	}
	usual := append(usualValues(), cty.StringVal("x%s"), cty.StringVal("%5s"), cty.StringVal("${a}"), cty.StringVal("greeting.tmpl"), cty.Zero)
	limits := budget.New()
	all := Table(NewFiles("testdata"), limits)
	for _, f := range All() {
		used := all[f.Name]
		carried := false
		combinations(append(places, usual...), usual, func(args []cty.Value) {
			limits.Renew()
			for _, given := range [][]cty.Value{args, reversed(args)} {
				if !slices.ContainsFunc(given, mark.IsGenerated) {
					continue
				}
				got, err := call(used, given)
				if err != nil {
					if mark.HasToken(err.Error()) {
						t.Errorf("%s(%#v): the error shows a token: %s", f.Name, given, err)
					}
					continue
				}
				if !f.CarriesSecrets {
					t.Fatalf("%s(%#v) takes a secret and gives %#v", f.Name, given, got)
				}
				carried = carried || holds(got, strings.TrimSuffix(bare.AsString(), "\uefe1"))
			}
		})
		if f.CarriesSecrets && !carried && !slices.Contains([]string{"can", "issensitive", "keys", "length"}, f.Name) {
			t.Errorf("%s is said to carry secrets, and none came through", f.Name)
		}
	}
}

// TestSecretsInDocuments checks that a secret is escaped for the JSON and the YAML that it
// is written into.
func TestSecretsInDocuments(t *testing.T) {
	token := mark.Generated{Service: "own", Secret: "a", Key: "value"}.Token()
	bare, _ := token.Unmark()
	lines := cty.StringVal("first\n" + bare.AsString()).Mark(mark.Generated{})
	all := Table(NewFiles(""), budget.New())
	for _, c := range []struct {
		function string
		arg      cty.Value
		within   string
		inner    string // function that is called before
	}{
		{"jsonencode", cty.ObjectVal(map[string]cty.Value{"p": token}), "json", ""},
		{"jsonencode", cty.ObjectVal(map[string]cty.Value{"p": lines}), "json", ""},
		{"yamlencode", cty.TupleVal([]cty.Value{token}), "json", ""},
		{"yamlencode", cty.TupleVal([]cty.Value{lines}), "line", ""},
		{"jsonencode", token, "json+json", "jsonencode"},
	} {
		arg := c.arg
		if c.inner != "" {
			var err error
			if arg, err = call(all[c.inner], []cty.Value{arg}); err != nil {
				t.Fatal(err)
			}
		}
		out, err := call(all[c.function], []cty.Value{arg})
		if err != nil {
			t.Fatal(err)
		}
		out, err = mark.Settle(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := out.Unmark()
		var found []string
		err = mark.Split(text.AsString(), func(string) {}, func(ref mark.Generated) { found = append(found, ref.Within) })
		if err != nil || !slices.Equal(found, []string{c.within}) {
			t.Errorf("%s(%#v): secrets within %q, %v; want %q", c.function, arg, found, err, c.within)
		}
	}
}

func reversed(args []cty.Value) []cty.Value {
	args = slices.Clone(args)
	slices.Reverse(args)
	return args
}

// holds reports whether a text in a value has another in it.
func holds(v cty.Value, text string) bool {
	v, _ = v.UnmarkDeep()
	found := false
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		found = found || v.Type() == cty.String && v.IsKnown() && !v.IsNull() && strings.Contains(v.AsString(), text)
		return !found, nil
	})
	return found
}

// TestNonsensitiveLater checks that nonsensitive takes away one mark and no other.
func TestNonsensitiveLater(t *testing.T) {
	later := mark.Deferred{By: "data.x"}
	list := cty.ListVal([]cty.Value{cty.StringVal("a").Mark(mark.Sensitive{}), cty.UnknownVal(cty.String).WithMarks(cty.NewValueMarks(mark.Sensitive{}, later))})
	all := Table(NewFiles(""), budget.New())
	got, err := call(all["nonsensitive"], []cty.Value{list})
	if want := cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String).Mark(later)}); err != nil || !got.RawEquals(want) {
		t.Errorf("%#v, %v", got, err)
	}
	secret := mark.Generated{Service: "own", Secret: "a", Key: "value"}.Token()
	got, err = call(all["lookup"], []cty.Value{cty.ObjectVal(map[string]cty.Value{"a": secret, "b": cty.UnknownVal(cty.Number).Mark(later)}), cty.StringVal("b")})
	if _, unsettled := mark.Settle(got, nil); err != nil || mark.IsGenerated(got) || unsettled != nil {
		t.Errorf("%#v, %v, %v", got, err, unsettled)
	}
}

// TestCosts checks that no result is larger than the function estimates from its arguments.
func TestCosts(t *testing.T) {
	texts := func(all ...string) cty.Value {
		list := make([]cty.Value, len(all))
		for i, text := range all {
			list[i] = cty.StringVal(text)
		}
		return cty.ListVal(list)
	}
	many := strings.Repeat("a b\n", 50)
	all := Table(NewFiles(""), budget.New())
	for _, c := range []struct {
		name string
		args []cty.Value
	}{
		{"csvdecode", []cty.Value{cty.StringVal("a,b\n1,2\n3,4\n")}},
		{"format", []cty.Value{cty.StringVal("%s-%09.3f-%%-%[1]s"), cty.StringVal("abc"), cty.NumberFloatVal(1.5)}},
		{"format", []cty.Value{cty.StringVal("%#v %v"), texts("a", "b"), cty.MustParseNumberVal("1e300")}},
		{"format", []cty.Value{cty.StringVal("%[2]s%s"), cty.Zero, cty.StringVal("abcdef"), cty.StringVal("abcdef")}},
		{"formatlist", []cty.Value{cty.StringVal("%s is %s"), texts("a", "bb", "ccc"), cty.StringVal("long")}},
		{"indent", []cty.Value{cty.NumberIntVal(7), cty.StringVal(many)}},
		{"join", []cty.Value{cty.StringVal(", "), texts("a", "b"), texts("c")}},
		{"jsondecode", []cty.Value{cty.StringVal(`{"a": [1, "x,y", {"b": []}], "c": "\"["}`)}},
		{"regexall", []cty.Value{cty.StringVal("(a)( )"), cty.StringVal(many)}},
		{"replace", []cty.Value{cty.StringVal(many), cty.StringVal("a"), cty.StringVal("xyz")}},
		{"replace", []cty.Value{cty.StringVal(many), cty.StringVal(""), cty.StringVal("xyz")}},
		{"replace", []cty.Value{cty.StringVal(many), cty.StringVal("/(a)( )/"), cty.StringVal("$2$1$0-")}},
		{"setproduct", []cty.Value{texts("a", "b"), texts("c", "d", "e")}},
		{"split", []cty.Value{cty.StringVal(""), cty.StringVal("abc")}},
		{"split", []cty.Value{cty.StringVal(" "), cty.StringVal(many)}},
	} {
		operands := make([]operand, len(c.args))
		for i, arg := range c.args {
			size, err := budget.SizeOf(arg)
			if err != nil {
				t.Fatal(err)
			}
			operands[i] = operand{arg, size}
		}
		estimated, err := costs[c.name](operands)
		if err != nil {
			t.Fatal(err)
		}
		v, err := call(all[c.name], c.args)
		if err != nil {
			t.Fatal(c.name, err)
		}
		got, err := budget.SizeOf(v)
		if err != nil {
			t.Fatal(err)
		}
		most := estimated.result
		if text := v.Type() == cty.String; text && got.Text > most.Text || !text && got.Parts > 1+2*most.Parts {
			t.Errorf("%s(%#v): the result has %+v, more than %+v", c.name, c.args, got, most)
		}
	}
}

// TestManifestsTakeNoBudget checks that a manifest is read where an expression may read nothing more.
func TestManifestsTakeNoBudget(t *testing.T) {
	limits := budget.New()
	files := NewFiles("")
	files.FS = fstest.MapFS{"a.yaml": {Data: []byte("a: 1")}}
	Table(files, limits)
	if limits.Spend(math.MaxInt) == nil {
		t.Fatal("the budget has no end")
	}
	if got, err := files.Read("a.yaml"); err == nil {
		t.Errorf("an expression reads %q", got)
	}
	if got, err := files.ReadManifest("a.yaml"); err != nil || string(got) != "a: 1" {
		t.Errorf("ReadManifest returns %q and %v", got, err)
	}
}
