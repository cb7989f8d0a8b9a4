package redaction

import (
	"fmt"
	"strings"
	"testing"
)

// TestDashesCostNothing checks that the index does not search for lines of dashes. They are part of
// many texts and values.
func TestDashesCostNothing(t *testing.T) {
	x := newIndex()
	for i := range 100 {
		x.add(fmt.Sprintf("-----BEGIN KEY %d-----\nabcdefgh%d\n-----END KEY-----\n", i, i), false)
		x.add(fmt.Sprintf("--------\nheading-%d\n--------", i), false)
	}
	asked := 0
	count := func(match) bool {
		asked++
		return false
	}
	x.find("+"+strings.Repeat("-", 1000)+"+", count)
	if asked > 0 {
		t.Errorf("%d matches in a line of dashes", asked)
	}
	if x.find("-----BEGIN KEY 7-----\nabcdefgh7", count); asked == 0 {
		t.Error("no match in a key")
	}
}
