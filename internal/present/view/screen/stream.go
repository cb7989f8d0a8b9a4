package screen

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// defaultWidth is the number of columns of an output that is no terminal.
const defaultWidth = 80

// proseWidth is the largest width of running text: longer lines are hard to read on any
// terminal.
const proseWidth = 100

// Stream is an output and the properties of its other end.
type Stream struct {
	Writer   io.Writer
	Width    int  // columns
	Height   int  // lines of the terminal; zero: it is no terminal
	Color    bool // SGR sequences are understood and wanted
	Terminal bool // a person watches: lines may be rewritten
}

// NewStream finds the properties of w. An output that is no terminal is 80 columns wide.
func NewStream(w io.Writer, noColor bool) Stream {
	stream := Stream{Writer: w, Width: defaultWidth}
	file, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return stream
	}
	if width, height, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		stream.Width, stream.Height = width, height
	}
	// A dumb terminal understands neither colours nor the way back up.
	stream.Terminal = os.Getenv("TERM") != "dumb"
	stream.Color = stream.Terminal && !noColor && os.Getenv("NO_COLOR") == ""
	return stream
}

// Print writes all lines in one call, so that two streams on one terminal do not mix.
// It breaks long lines on a terminal only: programs read whole lines.
func (s Stream) Print(lines []Line) error {
	for i, l := range lines {
		lines[i] = l.sealed()
	}
	if s.Terminal {
		lines = broken(lines, s.Width)
	}
	var b strings.Builder
	for _, l := range lines {
		l.Render(&b, s.Color)
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(s.Writer, b.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// Redraw replaces the content of a terminal by a text. It shortens long lines, and leaves out lines
// for which the terminal is too small.
func (s Stream) Redraw(text string) error {
	const home, restOfLine, restOfScreen = "\x1b[H", "\x1b[K", "\x1b[J"
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if room := max(s.Height-1, 1); s.Height > 0 && len(lines) > room {
		more := len(lines) - room + 1
		lines = append(lines[:room-1], fmt.Sprintf("(%d more lines)", more))
	}
	var b strings.Builder
	b.WriteString(home)
	for _, line := range lines {
		b.WriteString(Truncate(foreign.Text(line), s.Width, "…") + restOfLine + "\n")
	}
	b.WriteString(restOfScreen)
	if _, err := io.WriteString(s.Writer, b.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// ProseWidth returns the width of running text.
func (s Stream) ProseWidth() int { return max(min(s.Width, proseWidth), 20) }

// Inner returns the width of running text that is indented by the given number of columns. Without
// a terminal, the indent does not reduce the width.
func (s Stream) Inner(indent int) int {
	if s.Terminal {
		return max(s.ProseWidth()-indent, 20)
	}
	return s.ProseWidth()
}

// Quoting breaks running text that quotes others. The first line begins with kolla's own
// words, and all further lines are indented.
func (s Stream) Quoting(words string) []Line {
	var out []Line
	for i, part := range Wrap(strings.Join(strings.Fields(words), " "), s.Inner(Further)) {
		if i > 0 {
			part = strings.Repeat(" ", Further) + part
		}
		out = append(out, Text(part))
	}
	return out
}

// Prose indents running text by the given number of columns. It breaks the text at blanks on a
// terminal only.
func (s Stream) Prose(words string, indent int) string {
	width := math.MaxInt
	if s.Terminal {
		width = s.ProseWidth() - indent
	}
	lines := Wrap(words, width)
	for i, l := range lines {
		lines[i] = Text(l).Indent(indent).String()
	}
	return strings.Join(lines, "\n")
}
