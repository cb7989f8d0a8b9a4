package words_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/words"
)

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		lines []string
		noun  string
		want  string
	}{
		{[]string{"a", "b"}, "node", "a|b"},
		{[]string{"a", "b", "c"}, "node", "a|b|c"},
		{[]string{"a", "b", "c", "d"}, "node", "a|b|and 2 more nodes"},
		{[]string{"a", "b", "c", "d", "e"}, "", "a|b|and 3 more"},
	} {
		if got := strings.Join(words.First(c.lines, 2, c.noun), "|"); got != c.want {
			t.Errorf("First(%q, 2, %q) = %q, want %q", c.lines, c.noun, got, c.want)
		}
	}
}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		names    []string
		all, few string
	}{
		{nil, "none", ""},
		{[]string{"a"}, "a", "a"},
		{[]string{"a", "b"}, "a and b", "a, b"},
		{[]string{"a", "b", "c"}, "a, b and c", "a, b and 1 more"},
	} {
		if got := words.All(c.names); got != c.all {
			t.Errorf("All(%q) = %q, want %q", c.names, got, c.all)
		}
		if got := words.Few(c.names, 2); got != c.few {
			t.Errorf("Few(%q, 2) = %q, want %q", c.names, got, c.few)
		}
	}
}
