package console

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

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
	return &editor{terminal: term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, ""), in: in, out: out}
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
