package functions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/mark"
)

// samples are values that some function or other takes.
var samples = []cty.Value{
	cty.StringVal("hunter2"), cty.StringVal("aHVudGVyMg=="), cty.StringVal("1"), cty.StringVal("%s"), cty.StringVal("10.0.0.0/8"),
	cty.StringVal("2026-01-01T00:00:00Z"), cty.StringVal("1h"), cty.StringVal("{}"), cty.StringVal("true"), cty.StringVal("hunter2.tmpl"),
	cty.StringVal("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
	cty.NumberIntVal(0), cty.NumberIntVal(2), cty.NumberIntVal(4), cty.True,
	cty.ListVal([]cty.Value{cty.StringVal("hunter2"), cty.StringVal("b")}),
	cty.ListVal([]cty.Value{cty.True}), cty.ListVal([]cty.Value{cty.NumberIntVal(1)}),
	cty.ListVal([]cty.Value{cty.ListVal([]cty.Value{cty.StringVal("hunter2")})}),
	cty.SetVal([]cty.Value{cty.StringVal("hunter2")}),
	cty.MapVal(map[string]cty.Value{"hunter2": cty.StringVal("hunter2")}),
	cty.MapVal(map[string]cty.Value{"hunter2": cty.ListVal([]cty.Value{cty.StringVal("hunter2")})}),
}

// accepted finds arguments that a function takes.
func accepted(f function.Function, chosen []cty.Value, left int) []cty.Value {
	if left == 0 {
		if _, err := tryCall(f, chosen); err != nil {
			return nil
		}
		return chosen
	}
	want := cty.DynamicPseudoType
	if i := len(chosen); i < len(f.Params()) {
		want = f.Params()[i].Type
	} else if f.VarParam() != nil {
		want = f.VarParam().Type
	}
	for _, sample := range samples {
		if want.IsPrimitiveType() && !sample.Type().Equals(want) {
			continue
		}
		if all := accepted(f, append(chosen[:len(chosen):len(chosen)], sample), left-1); all != nil {
			return all
		}
	}
	return nil
}

// tryCall keeps functions that panic on what they do not take from ending the test.
func tryCall(f function.Function, args []cty.Value) (v cty.Value, err error) {
	defer func() {
		if recover() != nil {
			err = function.NewArgErrorf(0, "panic")
		}
	}()
	return f.Call(args)
}

// TestMarksTravelThroughFunctions marks every argument of every function in turn: the
// result is marked, and an error does not show the value.
func TestMarksTravelThroughFunctions(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hunter2.tmpl"), []byte("${hunter2}"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := Table(NewFiles(dir), budget.New())
	tried := 0
	for name, f := range all {
		if name == "nonsensitive" || name == "issensitive" {
			continue
		}
		var args []cty.Value
		for n := len(f.Params()); n <= len(f.Params())+2 && args == nil; n++ {
			if n > 0 && (n == len(f.Params()) || f.VarParam() != nil) {
				args = accepted(f, nil, n)
			}
		}
		if args == nil {
			continue
		}
		tried++
		for i := range args {
			marked := append([]cty.Value{}, args...)
			marked[i] = marked[i].Mark(mark.Sensitive{})
			got, err := tryCall(f, marked)
			switch {
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("%s: the error shows a sensitive argument %d: %v", name, i, err)
			case err == nil && !mark.IsSensitive(got):
				t.Errorf("%s: argument %d of %#v is sensitive, and the result is not", name, i, args)
			}
		}
	}
	if tried < len(all)*9/10 {
		t.Errorf("arguments were found for %d of %d functions", tried, len(all))
	}
}
