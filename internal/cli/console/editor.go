package console

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// discarded is the line that Ctrl-C makes of the typed text. It is no expression.
const discarded = "^C"

// editor reads lines from a person at a terminal. The person can move in a line, change it,
// and bring back earlier lines, which are only in memory.
//
// The terminal is raw only while a line is being typed. So values are printed as always,
// and Ctrl-C during an evaluation ends the program.
type editor struct {
	terminal *term.Terminal
	in, out  *os.File
	before   *term.State // of the terminal while a line is being read
}

// newEditor returns nil if the input or the screen is no terminal.
func newEditor(input io.Reader, screen io.Writer) *editor {
	in, readable := input.(*os.File)
	out, writable := screen.(*os.File)
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

// HiddenLine reads a line from a raw terminal without showing it. Ctrl-C is
// context.Canceled.
func HiddenLine(in io.Reader, out io.Writer) (string, error) {
	line, err := newTerminal(in, out).ReadPassword("")
	if line == discarded {
		return "", context.Canceled
	}
	return line, err
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

// release restores the terminal.
func (e *editor) release() { _ = term.Restore(int(e.in.Fd()), e.before) }

// keys translates pressed keys for a terminal of x/term, which takes Ctrl-C for the end of
// the input, and does not know the sequences for Home and End of screen, tmux and rxvt.
// Ctrl-C becomes keys that replace the line by a discarded one.
type keys struct {
	in      io.Reader
	held    string // the start of a possible sequence, whose rest was not read yet
	waiting string // text for the next Read
	err     error  // of the input, after waiting
}

// The characters of keys: Ctrl-A, Ctrl-E and Ctrl-U move and delete.
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

// take translates text. It holds back an incomplete sequence at the end.
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

// history has the earlier lines, without empty, discarded and repeated ones.
type history struct{ lines []string }

const maxHistory = 1000

// Add adds a line.
func (h *history) Add(line string) {
	last := len(h.lines) - 1
	if strings.TrimSpace(line) == "" || line == discarded || last >= 0 && h.lines[last] == line {
		return
	}
	h.lines = append(h.lines[max(0, len(h.lines)-maxHistory+1):], line)
}

// Len returns the number of lines.
func (h *history) Len() int { return len(h.lines) }

// At returns a line; 0 is the last one.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
