package cli

import (
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// discarded is the line that Ctrl-C makes of whatever was typed. No expression is so.
const discarded = "^C"

// editor reads lines from a person at a terminal, who can move in them, change them,
// and bring back those from before. What was typed is kept nowhere but in memory.
//
// The terminal is raw only while a line is being typed: values are printed as always,
// and Ctrl-C in an evaluation that takes long ends the program.
type editor struct {
	terminal *term.Terminal
	in, out  *os.File
	before   *term.State // of the terminal while a line is being read
}

// newEditor makes one; nil where nobody would see what is typed.
func (s streams) newEditor() *editor {
	in, readable := s.in.(*os.File)
	out, writable := s.err.(*os.File)
	if !readable || !writable || !isatty.IsTerminal(in.Fd()) || !isatty.IsTerminal(out.Fd()) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &editor{terminal: newTerminal(in, out), in: in, out: out}
}

func newTerminal(in io.Reader, out io.Writer) *term.Terminal {
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{in: in}, out}, "")
	terminal.History = &history{}
	return terminal
}

// next reads a line in the background.
func (e *editor) next(prompt string) <-chan inputLine {
	line := make(chan inputLine, 1)
	state, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		line <- inputLine{err: err}
		return line
	}
	e.before = state
	if width, height, err := term.GetSize(int(e.out.Fd())); err == nil && width > 0 {
		_ = e.terminal.SetSize(width, height) // a line is broken in the wrong place at worst
	}
	e.terminal.SetPrompt(prompt)
	go func() {
		text, err := e.terminal.ReadLine()
		e.release()
		line <- inputLine{text: text, err: err}
	}()
	return line
}

// release gives the terminal back as it was.
func (e *editor) release() { _ = term.Restore(int(e.in.Fd()), e.before) }

// keys are the keys that are pressed. Ctrl-C, which a terminal of x/term takes for the
// end, replaces the line by the one that is discarded.
type keys struct {
	in      io.Reader
	waiting string // was read, and not asked for yet
}

// toEnd and clear are what the keys Ctrl-E and Ctrl-U do.
const (
	ctrlC = "\x03"
	toEnd = "\x05"
	clear = "\x15"
)

func (k *keys) Read(p []byte) (int, error) {
	if k.waiting == "" {
		read := make([]byte, len(p))
		n, err := k.in.Read(read)
		if n == 0 {
			return 0, err
		}
		k.waiting = strings.ReplaceAll(string(read[:n]), ctrlC, toEnd+clear+discarded+"\r")
	}
	n := copy(p, k.waiting)
	k.waiting = k.waiting[n:]
	return n, nil
}

// history are the lines from before, without those that nobody wants back.
type history struct{ lines []string }

const maxHistory = 1000

// Add takes one more line.
func (h *history) Add(line string) {
	last := len(h.lines) - 1
	if strings.TrimSpace(line) == "" || line == discarded || last >= 0 && h.lines[last] == line {
		return
	}
	h.lines = append(h.lines[max(0, len(h.lines)-maxHistory+1):], line)
}

// Len is how many there are.
func (h *history) Len() int { return len(h.lines) }

// At is one of them; 0 is the last.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
