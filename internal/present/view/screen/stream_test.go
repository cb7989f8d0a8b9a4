package screen_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// TestRedraw checks that a page fits the terminal, and that text of others stays text.
func TestRedraw(t *testing.T) {
	var out strings.Builder
	s := screen.Stream{Writer: &out, Width: 6, Height: 4, Terminal: true}
	if err := s.Redraw("a\nlonger than it\n\x1b[2J\n4\n5\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "\x1b[Ha\x1b[K\nlonge…\x1b[K\n(3 mo…\x1b[K\n\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	out.Reset()
	s.Height = 6
	if err := s.Redraw("\x1b[2J\n2"); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "\x1b[H\\u001…\x1b[K\n2\x1b[K\n\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
