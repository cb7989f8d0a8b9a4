package mark_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/mark"
)

var password = mark.Generated{Service: "keystone", Secret: "admin", Key: "value"}

// token is the text that stands for the password.
func token() string {
	v, _ := password.Token().Unmark()
	return v.AsString()
}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		source string
		want   []string
	}{
		{"", nil},
		{"a/b", []string{"a/b"}},
		{"a" + token() + token() + "b", []string{"a", "keystone/admin/value", "keystone/admin/value", "b"}},
		{token()[1:], nil},
		{token()[:len(token())-1], nil},
		{"\uefe0a/b\uefe1", nil},
	} {
		var got []string
		err := mark.Split(test.source,
			func(s string) { got = append(got, s) },
			func(g mark.Generated) { got = append(got, g.Service+"/"+g.Secret+"/"+g.Key) },
		)
		if want := test.want == nil && test.source != ""; want != errors.Is(err, mark.ErrComputed) {
			t.Errorf("%q: %v", test.source, err)
		}
		if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.source, diff)
		}
	}
}

// TestSettle checks that each mark stands where it belongs, and nowhere else.
func TestSettle(t *testing.T) {
	later := mark.Deferred{By: "data.x"}
	text := cty.StringVal("a")
	for name, test := range map[string]struct{ given, want cty.Value }{
		"plain":              {text, text},
		"sensitive":          {text.Mark(mark.Sensitive{}), text.Mark(mark.Sensitive{})},
		"a mark of others":   {text.Mark("x"), text.Mark(mark.Sensitive{})},
		"generated":          {cty.StringVal("a" + token()).Mark(password), cty.StringVal("a" + token()).Mark(password)},
		"the other branch":   {text.Mark(password), text},
		"all of a list":      {cty.TupleVal([]cty.Value{text, cty.StringVal(token())}).Mark(password), cty.TupleVal([]cty.Value{text, password.Token()})},
		"may become one":     {cty.UnknownVal(cty.String).Mark(password), cty.UnknownVal(cty.String).Mark(mark.Sensitive{})},
		"known later":        {cty.UnknownVal(cty.String).Mark(later), cty.UnknownVal(cty.String).Mark(later)},
		"known after all":    {text.Mark(later), text},
		"computed from one":  {cty.True.Mark(password), cty.NilVal},
		"a part of a token":  {cty.StringVal(token()[1:]).Mark(password), cty.NilVal},
		"a forged token":     {cty.StringVal(token()), cty.NilVal},
		"a key with a token": {cty.ObjectVal(map[string]cty.Value{token(): text}).Mark(password), cty.NilVal},
	} {
		got, err := mark.Settle(test.given, nil)
		if (err != nil) != (test.want == cty.NilVal) || err == nil && !got.RawEquals(test.want) {
			t.Errorf("%s: got %#v, %v, want %#v", name, got, err, test.want)
		}
	}
}
