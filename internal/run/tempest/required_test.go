package tempest

import (
	"strings"
	"testing"
)

func TestReadKnown(t *testing.T) {
	got, err := Known("# comment\n\na.b.c # it is broken, see bug # 5\nsetUpClass (a.b) # later\n")
	if err != nil || len(got) != 2 || got["a.b.c"] != "it is broken, see bug # 5" || got["setUpClass (a.b)"] != "later" {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"a.b.c # one\na.b.d\n":       "known.txt:2: a.b.d has no reason",
		"a.b.d # \n":                 "known.txt:1: a.b.d #",
		"a.b.c # one\na.b.c # two\n": "known.txt:2: a.b.c stands there twice",
	} {
		if _, err := Known(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestRequired checks the form and the numbers of the list: tests of all five services.
func TestRequired(t *testing.T) {
	counts := map[string]int{}
	for id, name := range Required() {
		counts[group(name)]++
		if len(id) != 36 {
			t.Errorf("%q is no id of a test", id)
		}
	}
	for name, want := range map[string]int{"servers": 95, "identity": 17, "images": 23, "networks": 82, "volumes": 65} {
		if counts[name] != want {
			t.Errorf("%d tests of %s, want %d", counts[name], name, want)
		}
	}
	if len(counts) != 5 {
		t.Errorf("the groups are %v, want five", counts)
	}
}
