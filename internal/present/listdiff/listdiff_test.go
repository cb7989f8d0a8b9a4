package listdiff_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/listdiff"
)

func decode(t testing.TB, text string) []any {
	t.Helper()
	var out []any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// written formats pairs as a text such as "0-0 1-. .-1".
func written(pairs []listdiff.Pair) string {
	var out []string
	at := func(i int) string {
		if i == listdiff.None {
			return "."
		}
		return fmt.Sprint(i)
	}
	for _, p := range pairs {
		out = append(out, at(p.Before)+"-"+at(p.After))
	}
	return strings.Join(out, " ")
}

func TestPairs(t *testing.T) {
	const (
		secrets    = `{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}`
		all        = `{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}`
		pods       = `{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}`
		podsDelete = `{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "delete"]}`
	)
	tests := map[string]struct{ before, after, want string }{
		"same":                  {`["a", "b"]`, `["a", "b"]`, "0-0 1-1"},
		"empty":                 {`[]`, `[]`, ""},
		"added at the end":      {`["a"]`, `["a", "b"]`, "0-0 .-1"},
		"added at the start":    {`["a"]`, `["b", "a"]`, ".-0 0-1"},
		"removed":               {`["a", "b", "c"]`, `["a", "c"]`, "0-0 1-. 2-1"},
		"changed":               {`["a", "b", "c"]`, `["a", "x", "c"]`, "0-0 1-1 2-2"},
		"all gone":              {`["a", "b"]`, `[]`, "0-. 1-."},
		"a rule becomes all":    {"[" + pods + "," + secrets + "]", "[" + pods + "," + all + "]", "0-0 1-1"},
		"the more alike one":    {"[" + secrets + "," + pods + "]", "[" + podsDelete + "]", "0-. 1-0"},
		"repeated elements":     {`["-v", "-v"]`, `["-v", "-v", "-v"]`, "0-0 1-1 .-2"},
		"changed and added":     {`["--a=1", "--b=1"]`, `["--a=2", "--c", "--b=1"]`, "0-0 .-1 1-2"},
		"one became another":    {`[1, 2]`, `["x"]`, "0-0 1-."},
		"the same key":          {`[{"key": "a", "operator": "Exists"}]`, `[{"key": "a", "operator": "Equal"}, {"operator": "Exists"}]`, "0-0 .-1"},
		"changed between equal": {`["a", "b", "c", "d"]`, `["a", "B", "c", "D"]`, "0-0 1-1 2-2 3-3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := written(listdiff.Of(decode(t, test.before), decode(t, test.after)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got): %s", diff)
			}
		})
	}
}

// TestLongLists checks that the elements of very long lists are paired, even without a full
// comparison.
func TestLongLists(t *testing.T) {
	var before, after []any
	for i := range 3000 {
		before, after = append(before, i), append(after, i+1)
	}
	hold(t, before, after, listdiff.Of(before, after))
}

// FuzzPairs checks that each element of both lists is in exactly one pair, in order.
func FuzzPairs(f *testing.F) {
	f.Add("abc", "axc")
	f.Add("", "aab")
	f.Add("abcabba", "cbabac")
	f.Fuzz(func(t *testing.T, x, y string) {
		elements := func(s string) []any {
			var out []any
			for _, r := range s[:min(len(s), 64)] {
				out = append(out, string(r))
			}
			return out
		}
		before, after := elements(x), elements(y)
		hold(t, before, after, listdiff.Of(before, after))
	})
}

func hold(t *testing.T, before, after []any, pairs []listdiff.Pair) {
	t.Helper()
	var was, is []int
	for _, p := range pairs {
		if p.Before != listdiff.None {
			was = append(was, p.Before)
		}
		if p.After != listdiff.None {
			is = append(is, p.After)
		}
	}
	for name, list := range map[string]struct {
		at  []int
		all []any
	}{"first": {was, before}, "second": {is, after}} {
		if len(list.at) != len(list.all) || !slices.IsSorted(list.at) || len(slices.Compact(list.at)) != len(list.all) {
			t.Errorf("places in the %s list are %v, want each of %d once and in order", name, list.at, len(list.all))
		}
	}
	if reflect.DeepEqual(before, after) && slices.ContainsFunc(pairs, func(p listdiff.Pair) bool { return p.Before != p.After }) {
		t.Errorf("equal lists are paired as %v", pairs)
	}
}
