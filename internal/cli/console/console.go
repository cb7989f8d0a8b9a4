// Package console reads expressions, one per line, and prints their values.
package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang"
)

// name is the name of an expression in diagnostics.
const name = "<console>"

// Options are the streams of a console, and what its expressions refer to.
type Options struct {
	In       io.Reader
	Out, Err io.Writer
	Prompts  bool // a person types
	Printer  *view.Printer
	Scope    *lang.Console // names that expressions can refer to
}

// Run evaluates expressions until the input ends. It returns false if one of them had
// errors and no person has seen these.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	c := &console{Options: o}
	err = c.run(ctx)
	return !c.failed || c.Prompts, err
}

// console has the state between two lines.
type console struct {
	Options
	pending []string // lines of an expression that is not complete yet
	failed  bool
}

func (c *console) run(ctx context.Context) error {
	if c.Prompts {
		fmt.Fprintln(c.Err, c.Printer.Err.Prose(`Type an expression, such as cloud.namespace. "help" shows the help; "exit" or Ctrl-D quits.`, 0))
	}
	source := c.lines()
	for {
		select {
		case <-ctx.Done():
			source.release()
			fmt.Fprintln(c.Err)
			return ctx.Err()
		case l := <-source.next(c.prompt()):
			more, err := c.take(l)
			if err != nil || !more {
				return err
			}
		}
	}
}

// lines returns the only reader of the input: two readers would take each other's lines.
func (c *console) lines() lines {
	if e := newEditor(c.In, c.Err); e != nil {
		return e
	}
	return &plainLines{c.Err, readLines(c.In)}
}

// help is printed for "help".
const help = `Type an expression to print its value:

  cloud.namespace                  the blocks of the configuration: var.NAME,
  service.keystone.url             local.NAME, role.NAME, service.NAME,
                                   data.NAME, module.NAME
  cidrhost("10.0.0.0/24", 5)       any function
  [for n in ["a", "b"] : upper(n)]
  type(var.sizes)                  the type of a value

Brackets and heredocs continue on the next line. Up and Down recall earlier lines;
"exit", Ctrl-C or Ctrl-D quits.
`

func (c *console) prompt() string {
	switch {
	case !c.Prompts:
		return ""
	case len(c.pending) > 0:
		return ": "
	}
	return "> "
}

// lines is a source of lines.
type lines interface {
	// next shows the prompt, and sends a line when it is complete.
	next(prompt string) <-chan inputLine
	// release restores the terminal while next waits for a line.
	release()
}

// inputLine is a line without its line break, or the error that ended the input.
type inputLine struct {
	text string
	err  error
}

// plainLines reads from a pipe, a file, or a terminal that cannot move its cursor.
type plainLines struct {
	err  io.Writer // for prompts
	read <-chan inputLine
}

func (p *plainLines) next(prompt string) <-chan inputLine {
	fmt.Fprint(p.err, prompt)
	return p.read
}

func (p *plainLines) release() {}

// readLines reads in the background, because nothing can interrupt a read from a terminal. It
// continues until the program ends. The last value that it sends has an error.
func readLines(in io.Reader) <-chan inputLine {
	lines := make(chan inputLine)
	go func() {
		reader := bufio.NewReader(in)
		for {
			text, err := reader.ReadString('\n')
			if err == nil || text != "" {
				lines <- inputLine{text: strings.TrimRight(text, "\r\n")}
			}
			if err != nil {
				lines <- inputLine{err: err}
				return
			}
		}
	}()
	return lines
}

// take handles a line. It reports whether more lines may come.
func (c *console) take(l inputLine) (more bool, err error) {
	word := strings.TrimSpace(l.text)
	switch {
	case l.err != nil:
		if c.Prompts {
			fmt.Fprintln(c.Err)
		}
		if err := c.evaluate(strings.Join(c.pending, "\n")); err != nil {
			return false, err
		}
		return false, end(l.err)
	case len(c.pending) == 0 && (word == "exit" || word == "quit"):
		return false, nil
	case len(c.pending) == 0 && word == "help":
		fmt.Fprint(c.Out, help)
		return true, nil
	}
	c.pending = append(c.pending, l.text)
	expression := strings.Join(c.pending, "\n")
	if goesOn(expression, word == "") {
		return true, nil
	}
	c.pending = nil
	return true, c.evaluate(expression)
}

// end returns the error of an input that has ended.
func end(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read expressions: %w", err)
}

// evaluate prints the value of an expression, or its errors. It returns an error if it
// cannot print.
func (c *console) evaluate(expression string) error {
	if isBlank(expression) {
		return nil
	}
	if strings.Contains(expression, "\n") {
		expression += "\n" // the end of a heredoc is a whole line
	}
	value, typ, diags := c.Scope.EvaluateTyped(expression, name)
	c.Printer.Diagnostics(diags, map[string]*hcl.File{name: {Bytes: []byte(expression)}})
	switch {
	case diags.HasErrors():
		c.failed = true
		return nil
	case typ != "":
		fmt.Fprintln(c.Out, foreign.Lines(typ))
		return nil
	}
	return view.PrintValue(c.Printer.Out, value)
}

// isBlank reports whether an expression contains only comments.
func isBlank(expression string) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(expression), name, hcl.InitialPos)
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenEOF:
		default:
			return false
		}
	}
	return true
}

// goesOn reports whether an expression ends within brackets or a heredoc, so that the next line is
// a part of it. An empty line ends an expression within brackets.
func goesOn(expression string, emptyLine bool) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(expression+"\n"), name, hcl.InitialPos)
	brackets, heredocs := 0, 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenQuotedNewline: // a closing quote is missing, and more lines do not help
			return false
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			brackets++
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd:
			brackets--
		case hclsyntax.TokenOHeredoc:
			heredocs++
		case hclsyntax.TokenCHeredoc:
			heredocs--
		}
	}
	return heredocs > 0 || brackets > 0 && !emptyLine
}
