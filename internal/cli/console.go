package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/urfave/cli/v2"
)

// consoleName is the name of what is typed in diagnostics.
const consoleName = "<console>"

func consoleCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "console",
		Usage: "Evaluate expressions with the values of the configuration",
		Description: `
Reads expressions, one a line, and prints what they are: var.NAME, service.NAME.url,
any function. A line that ends within brackets goes on on the next one. Needs no
cluster, and changes nothing. Secrets are not shown. "exit" or Ctrl-D ends it.

Exit codes: 0 done, 1 error; what is typed on a terminal is never one.`,
		Flags: append(variableFlags(), noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			w := newWorkspace(s, c)
			if err := w.loadConfig(); err != nil {
				w.printer.Failure("The console needs a configuration without errors", "Expressions are evaluated with its values. Mend what is said above first; `kolla validate` says it again.")
				return err
			}
			return newConsole(w).run(c.Context)
		},
	}
}

// console reads expressions and prints their values.
type console struct {
	*workspace
	prompts bool     // a person types
	pending []string // lines of an expression that is not complete yet
	failed  bool
}

func newConsole(w *workspace) *console { return &console{workspace: w, prompts: w.interactive()} }

func (c *console) run(ctx context.Context) error {
	if c.prompts {
		fmt.Fprintln(c.err, `Type an expression, such as cloud.namespace. "exit" or Ctrl-D ends.`)
	}
	lines := readLines(c.in)
	for {
		c.prompt()
		select {
		case <-ctx.Done():
			fmt.Fprintln(c.err)
			return ctx.Err()
		case l := <-lines:
			more, err := c.take(l)
			if err != nil || !more {
				return err
			}
		}
	}
}

func (c *console) prompt() {
	switch {
	case !c.prompts:
	case len(c.pending) > 0:
		fmt.Fprint(c.err, ": ")
	default:
		fmt.Fprint(c.err, "> ")
	}
}

// inputLine is a line of the input, without its end, or why there is none any more.
type inputLine struct {
	text string
	err  error
}

// readLines reads in the background: nothing can end a read from a terminal, and it
// is left behind when the program ends. The last line that it sends has an error.
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

// take takes one line. It reports whether there may be more.
func (c *console) take(l inputLine) (more bool, err error) {
	word := strings.TrimSpace(l.text)
	switch {
	case l.err != nil:
		if c.prompts {
			fmt.Fprintln(c.err)
		}
		if err := c.evaluate(strings.Join(c.pending, "\n")); err != nil {
			return false, err
		}
		return false, c.end(l.err)
	case len(c.pending) == 0 && (word == "exit" || word == "quit"):
		return false, c.end(io.EOF)
	}
	c.pending = append(c.pending, l.text)
	expression := strings.Join(c.pending, "\n")
	if goesOn(expression, word == "") {
		return true, nil
	}
	c.pending = nil
	return true, c.evaluate(expression)
}

// end is how the console ends when the input does.
func (c *console) end(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read expressions: %w", err)
	case c.failed && !c.prompts:
		return exitCode(exitError)
	}
	return nil
}

// evaluate prints the value of an expression, or what is wrong with it. The error is
// that of writing.
func (c *console) evaluate(expression string) error {
	if isBlank(expression) {
		return nil
	}
	if strings.Contains(expression, "\n") {
		expression += "\n" // the end of a heredoc is a whole line
	}
	value, diags := c.config.Evaluate(expression, consoleName)
	c.printer.Diagnostics(diags, map[string]*hcl.File{consoleName: {Bytes: []byte(expression)}})
	if diags.HasErrors() {
		c.failed = true
		return nil
	}
	return c.printer.Value(value)
}

// isBlank reports whether there is nothing but comments in an expression.
func isBlank(expression string) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(expression), consoleName, hcl.InitialPos)
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenEOF:
		default:
			return false
		}
	}
	return true
}

// goesOn reports whether an expression ends within brackets or a heredoc, so that it
// goes on on the next line. An empty line ends it all the same, but for a heredoc.
func goesOn(expression string, emptyLine bool) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(expression+"\n"), consoleName, hcl.InitialPos)
	brackets, heredocs := 0, 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenQuotedNewline: // a quote is missing: more lines cannot mend that
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
