package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShortenedIsShorter checks that no value is shortened to a longer text, and that a short value
// beside a long one stays whole.
func TestShortenedIsShorter(t *testing.T) {
	for n := range 200 {
		long := strings.Repeat("x", n)
		for _, width := range []int{1, 20, 40, 80} {
			if got := shorten(long, n, width); utf8.RuneCountInString(got) > n {
				t.Errorf("%d characters in %d columns became %q", n, width, got)
			}
			before, after := shortenPair("3", long, 1, n, width)
			if before != "3" || utf8.RuneCountInString(after) > n {
				t.Errorf("3 and %d characters in %d columns became %q and %q", n, width, before, after)
			}
		}
	}
}
