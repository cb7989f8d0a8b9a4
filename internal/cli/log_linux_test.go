package cli

import (
	"bytes"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/logs"
	"kolla.openstack.org/kolla/internal/dev/ptytest"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// TestLogOnATerminal checks that there is no live view if the log goes to the same terminal, and
// that there is one if the log goes to a file.
func TestLogOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	terminal := ptytest.Open(t).Program
	for name, test := range map[string]struct {
		level string
		s     command.Streams
		live  bool
	}{
		"no log":        {"", command.Streams{Out: terminal, Err: terminal}, true},
		"both":          {"debug", command.Streams{Out: terminal, Err: terminal}, false},
		"log in a file": {"debug", command.Streams{Out: terminal, Err: &bytes.Buffer{}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(logs.Variable, test.level)
			s, err := withLog(test.s)
			if err != nil {
				t.Fatal(err)
			}
			if got := screen.NewStream(s.Out, false).Terminal; got != test.live {
				t.Errorf("a live view: %v, want %v", got, test.live)
			}
		})
	}
}

// TestLogIsHarmless checks that a log line contains text of other people on one line, and never
// as a command of a CI system.
func TestLogIsHarmless(t *testing.T) {
	t.Setenv(logs.Variable, "debug")
	var out bytes.Buffer
	s, err := withLog(command.Streams{Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	s.Log.Debug("request", "error", "x\n::error::y ##vso[task.setvariable]z")
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "##vso[") {
		t.Errorf("got %q", got)
	}
}
