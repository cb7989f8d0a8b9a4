// Package logs makes the log that the environment asks for. It is for those who want to
// know the reasons of kolla's decisions.
package logs

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Variable is the environment variable with the level of the log.
const Variable = "KOLLA_LOG"

// New makes a log of a level: debug or trace. With an empty level nothing is logged.
func New(out io.Writer, level string) (*slog.Logger, error) {
	least := slog.LevelDebug
	switch level {
	case "":
		return slog.New(slog.DiscardHandler), nil
	case "debug":
	case "trace":
		least = kubernetes.LevelTrace
	default:
		return nil, failure.New(
			fmt.Sprintf("Unsuitable value %q of %s", level, Variable),
			"It is debug, for each request and each decision, or trace, for retries, events and changed fields as well. Without it nothing is logged.")
	}
	return slog.New(slog.NewTextHandler(harmless{out}, &slog.HandlerOptions{Level: least, ReplaceAttr: nameLevel})), nil
}

// nameLevel gives the level below debug its name.
func nameLevel(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.LevelKey && a.Value.Any() == kubernetes.LevelTrace {
		return slog.String(slog.LevelKey, "TRACE")
	}
	return a
}

// harmless writes lines that may quote others; see internal/base/foreign.
type harmless struct{ io.Writer }

// Write implements io.Writer. The handler writes one line at a time.
func (h harmless) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.Writer, foreign.Line(strings.TrimSuffix(string(p), "\n"))+"\n"); err != nil {
		return 0, err
	}
	return len(p), nil
}
