package console

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestEditor checks the keys of the editor: keys move the cursor and change the line,
// Ctrl-C drops the line and does not end the console, and Up brings back the previous line.
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
		"b\x1b[1~a\x1b[4~c\r":                 {"abc"}, // Home and End in screen and tmux
		"b\x1b[7~a\x1b[8~c\r":                 {"abc"},
		"b\x1bOHa\x1bOFc\r":                   {"abc"},
		"ab\x1b[Hc\x1b[Fd\r":                  {"cabd"},
		"ab\x1b\x03c\r":                       {discarded, "c"},
	} {
		for way, in := range map[string]io.Reader{
			"at once":   strings.NewReader(typed),
			"in pieces": iotest.OneByteReader(strings.NewReader(typed)), // as over a slow line
			"with EOF":  iotest.DataErrReader(strings.NewReader(typed)),
		} {
			terminal := newTerminal(in, io.Discard)
			var got []string
			for {
				line, err := terminal.ReadLine()
				if err != nil {
					break
				}
				got = append(got, line)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, read %s, gives %q, want %q", typed, way, got, want)
			}
		}
	}
}
