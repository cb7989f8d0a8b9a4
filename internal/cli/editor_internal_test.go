package cli

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// TestEditor holds what keys do: those that move and change, Ctrl-C, which drops what was
// typed and does not end, and Up, which brings back what was typed before.
func TestEditor(t *testing.T) {
	const left, up = "\x1b[D", "\x1b[A"
	for typed, want := range map[string][]string{
		"1 + 2\r3\r":                          {"1 + 2", "3"},
		"ac" + left + "b\r":                   {"abc"},
		"upper(" + left + left + "\x03nope\r": {discarded, "nope"},
		"\x03\x031\r":                         {discarded, discarded, "1"},
		"1\r\r\x032\r2\r" + up + up + "\r":    {"1", "", discarded, "2", "2", "1"},
		"1\r\x04 2\r":                         {"1"},
		"ab\x03\x04":                          {discarded},
	} {
		terminal := newTerminal(strings.NewReader(typed), io.Discard)
		var got []string
		for {
			line, err := terminal.ReadLine()
			if err != nil {
				break
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", typed, got, want)
		}
	}
}
