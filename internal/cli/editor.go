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

// keys are the keys that are pressed, as a terminal of x/term knows them. Ctrl-C, which
// that takes for the end, replaces the line by the one that is discarded; Home and End
// have other sequences in screen, tmux and rxvt.
type keys struct {
	in      io.Reader
	held    string // may be the start of a sequence whose rest was not read yet
	waiting string // was read, and not asked for yet
	err     error  // what ends the input after that
}

// What keys send, and Ctrl-A, Ctrl-E and Ctrl-U do.
const (
	escape     = "\x1b"
	ctrlC      = "\x03"
	toStart    = "\x01"
	toEnd      = "\x05"
	toNoText   = "\x15"
	discarding = toEnd + toNoText + discarded + "\r"
)

var translated = []string{
	ctrlC, discarding, escape + ctrlC, discarding,
	escape + "[1~", toStart, escape + "[7~", toStart, escape + "OH", toStart,
	escape + "[4~", toEnd, escape + "[8~", toEnd, escape + "OF", toEnd,
}

func (k *keys) Read(p []byte) (int, error) {
	for k.waiting == "" && k.err == nil {
		read := make([]byte, len(p))
		n, err := k.in.Read(read)
		k.take(string(read[:n]))
		if err != nil {
			k.waiting, k.held, k.err = k.waiting+k.held, "", err
		}
	}
	if k.waiting == "" {
		return 0, k.err
	}
	n := copy(p, k.waiting)
	k.waiting = k.waiting[n:]
	return n, nil
}

// take translates what was read, but for a sequence at the end that is not complete.
func (k *keys) take(read string) {
	all := k.held + read
	k.held = ""
	if start := strings.LastIndex(all, escape); start >= 0 {
		for i := 0; i < len(translated); i += 2 {
			if end := all[start:]; end != translated[i] && strings.HasPrefix(translated[i], end) {
				all, k.held = all[:start], end
				break
			}
		}
	}
	k.waiting += strings.NewReplacer(translated...).Replace(all)
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
