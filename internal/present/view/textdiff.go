package view

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// TextDiff prints the change of the file with that name, as a unified diff for patch -p1.
// The error is that of writing.
func TextDiff(out screen.Stream, name, before, after string) error {
	_, unified, _ := bytes.Cut(diff.Diff("old/"+name, []byte(before), "new/"+name, []byte(after)), []byte("\n"))
	if !out.Terminal { // to the byte: trailing blanks count
		if _, err := out.Writer.Write(unified); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	}
	var lines []screen.Line
	for l := range strings.Lines(string(unified)) {
		l = strings.TrimSuffix(l, "\n")
		look := screen.Plain
		switch {
		case strings.HasPrefix(l, "--- old/"), strings.HasPrefix(l, "+++ new/"):
			look = screen.Bold
		case strings.HasPrefix(l, "@@"):
			look = screen.Faint
		case strings.HasPrefix(l, "+"):
			look = screen.Added
		case strings.HasPrefix(l, "-"):
			look = screen.Removed
		}
		lines = append(lines, screen.Styled(look, l))
	}
	return out.Print(lines)
}
