// Package view renders for people what the other packages found out: plans,
// problems, progress and results. It decides nothing.
//
// The rules of output, for all of kolla:
//
//   - What is done goes to standard output, so that a log of it is in order: the plan,
//     the progress of an apply, its closing line. What went wrong, and questions, go to
//     standard error.
//   - Colour is used only on a terminal, only without NO_COLOR, TERM=dumb and
//     -no-color, and never carries a meaning that the words do not carry.
//   - Lines that review bots look for ("Plan: ", "No changes.", "Error: ",
//     "Warning: ", "Apply complete!", "# ADDRESS will be ...") are Terraform's
//     own, whole, alone on their line and, but for the last, not indented.
//   - The sign of an object is on the line below the one with its address, which such
//     programs read from its start.
//   - What others wrote stays text: nothing in it steers a terminal or a CI system,
//     and it never begins a line; see internal/foreign. So running text that quotes
//     others is indented (message, quoting), and whatever is printed is made of lines.
//   - Secret values are never printed, whatever a caller passes.
package view

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// defaultWidth is the number of columns where there is no terminal to ask.
const defaultWidth = 80

// proseWidth is the most columns that running text takes: longer lines are hard
// to read however wide the terminal is.
const proseWidth = 100

// Printer renders. What goes to standard error may be printed from several
// goroutines, and while a Progress is shown: it stays above the live lines.
type Printer struct {
	Out Stream // plans, progress and results
	Err Stream // diagnostics
	// Zone is the time zone in which points in time are shown; nil: the local one.
	Zone *time.Location
	// CompactWarnings leaves the details of warnings out.
	CompactWarnings bool

	events *events              // nil: none are wanted
	files  map[string]*hcl.File // what diagnostics last were about

	mu       sync.Mutex
	progress *Progress // the one that is shown now
	outage   outage
}

// Stream is a way out, and what is known about its other end.
type Stream struct {
	Writer   io.Writer
	Width    int  // columns
	Color    bool // SGR sequences are understood and wanted
	Terminal bool // a person watches: lines may be rewritten
}

// New makes a printer for the two streams of a process.
func New(stdout, stderr io.Writer, noColor bool) *Printer {
	return &Printer{Out: NewStream(stdout, noColor), Err: NewStream(stderr, noColor)}
}

// NewStream finds out what w is. What is not a terminal is 80 columns wide.
func NewStream(w io.Writer, noColor bool) Stream {
	stream := Stream{Writer: w, Width: defaultWidth}
	file, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) {
		return stream
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		stream.Width = width
	}
	// A dumb terminal understands neither colours nor the way back up.
	stream.Terminal = os.Getenv("TERM") != "dumb"
	stream.Color = stream.Terminal && !noColor && os.Getenv("NO_COLOR") == ""
	return stream
}

// print writes lines in one piece, so that two streams on one terminal do not mix
// within them. Only on a terminal are those broken that are too wide for it: what
// programs read stays whole.
func (s Stream) print(lines []line) error {
	for i, l := range lines {
		lines[i] = l.sealed()
	}
	if s.Terminal {
		lines = broken(lines, s.Width)
	}
	var b strings.Builder
	for _, l := range lines {
		l.render(&b, s.Color)
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(s.Writer, b.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// tell prints lines to standard error. That it failed could not be told anywhere.
func (p *Printer) tell(lines []line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.progress != nil && p.progress.live != nil && p.Err.Terminal {
		p.progress.speak(lines) // above the live lines on the same terminal
		return
	}
	_ = p.Err.print(lines)
}

// prose is the width of running text.
func (s Stream) prose() int { return max(min(s.Width, proseWidth), 20) }

// inner is the width of running text that is indented. What is no terminal has room.
func (s Stream) inner(indent int) int {
	if s.Terminal {
		return max(s.prose()-indent, 20)
	}
	return s.prose()
}

// quoting is running text that quotes others and is not indented: its first words are
// kolla's own, and all lines but the first stand further in.
func (s Stream) quoting(words string) []line {
	var out []line
	for i, part := range wrap(strings.Join(strings.Fields(words), " "), s.inner(further)) {
		if i > 0 {
			part = strings.Repeat(" ", further) + part
		}
		out = append(out, text(part))
	}
	return out
}

// Prose is running text, indented by so many columns, and broken at blanks on a terminal.
// What programs read stays whole.
func (s Stream) Prose(words string, indent int) string {
	width := math.MaxInt
	if s.Terminal {
		width = s.prose() - indent
	}
	lines := wrap(words, width)
	for i, l := range lines {
		lines[i] = text(l).indent(indent).String()
	}
	return strings.Join(lines, "\n")
}

// moment shows a point in time to the minute, with its zone.
func (p *Printer) moment(t time.Time) string {
	zone := p.Zone
	if zone == nil {
		zone = time.Local
	}
	return t.In(zone).Format("2006-01-02 15:04 MST")
}

// duration shows a span of time as exactly as a person wants to know it: "0.4 s",
// "5 s", "12 s", "2 min 10 s", "1 h 5 min", "3 days".
func duration(d time.Duration) string {
	switch seconds := int(d.Round(time.Second).Seconds()); {
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 60*60:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	case seconds < 48*60*60:
		return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
	default:
		return fmt.Sprintf("%d days", seconds/86400)
	}
}

// count gives "1 object", "2 objects".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sortedKeys are the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
