package words_test

import (
	"testing"

	"kolla.openstack.org/kolla/internal/words"
)

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
