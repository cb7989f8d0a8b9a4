package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// logVariable names the level of the log on standard error.
const logVariable = "KOLLA_LOG"

// withLog are the streams with the log that the environment asks for. On a terminal, lines
// of a log would tear a live view apart: the progress is then printed as in a file.
func (s streams) withLog() (streams, error) {
	s.log = slog.New(slog.DiscardHandler)
	var level slog.Level
	switch value := os.Getenv(logVariable); value {
	case "":
		return s, nil
	case "debug":
		level = slog.LevelDebug
	case "trace":
		level = kubernetes.LevelTrace
	default:
		return s, failure.New(
			fmt.Sprintf("Unsuitable value %q of %s", value, logVariable),
			"It is debug, for each request and each decision, or trace, for retries, events and changed fields as well. Without it nothing is logged.")

	}
	s.log = slog.New(slog.NewTextHandler(harmless{s.err}, &slog.HandlerOptions{Level: level, ReplaceAttr: nameLevel}))
	if file, ok := s.err.(*os.File); ok && isatty.IsTerminal(file.Fd()) {
		s.out = struct{ io.Writer }{s.out}
	}
	return s, nil
}

// nameLevel gives the level below debug its name.
func nameLevel(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.LevelKey && a.Value.Any() == kubernetes.LevelTrace {
		return slog.String(slog.LevelKey, "TRACE")
	}
	return a
}

// harmless writes lines that may quote others; see internal/foreign.
type harmless struct{ io.Writer }

// Write implements io.Writer. The handler writes one line at a time.
func (h harmless) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.Writer, foreign.Line(strings.TrimSuffix(string(p), "\n"))+"\n"); err != nil {
		return 0, err
	}
	return len(p), nil
}
