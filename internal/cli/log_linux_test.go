package cli

import (
	"bytes"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/view/screen"
)

// TestLogOnATerminal holds that no live view is shown between the lines of a log on the
// same terminal, and that one is where the log goes into a file.
func TestLogOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	terminal := openTerminal(t).program
	for name, test := range map[string]struct {
		level string
		s     streams
		live  bool
	}{
		"no log":        {"", streams{out: terminal, err: terminal}, true},
		"both":          {"debug", streams{out: terminal, err: terminal}, false},
		"log in a file": {"debug", streams{out: terminal, err: &bytes.Buffer{}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(logVariable, test.level)
			s, err := test.s.withLog()
			if err != nil {
				t.Fatal(err)
			}
			if got := screen.NewStream(s.out, false).Terminal; got != test.live {
				t.Errorf("a live view: %v, want %v", got, test.live)
			}
		})
	}
}

// TestLogIsHarmless holds that what others wrote is no command of a CI system in a log, and
// stays on its line.
func TestLogIsHarmless(t *testing.T) {
	t.Setenv(logVariable, "debug")
	var out bytes.Buffer
	s, err := streams{err: &out}.withLog()
	if err != nil {
		t.Fatal(err)
	}
	s.log.Debug("request", "error", "x\n::error::y ##vso[task.setvariable]z")
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "##vso[") {
		t.Errorf("got %q", got)
	}
}
