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

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// consoleName is the name of what is typed in diagnostics.
const consoleName = "<console>"

func consoleCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "console",
		Usage: "Evaluate expressions with the values of the configuration",
		Description: `
Reads expressions, one a line, and prints what they are: var.NAME, service.NAME.url,
any function. A line that ends within brackets goes on on the next one. "help" says
more, "exit" or Ctrl-D ends it.

Needs no cluster, unless there are data blocks to read: where no cluster can be reached,
what they would read is not known. Changes nothing. Secrets are not shown.

Exit codes: 0 done, 1 error; what is typed on a terminal is never one.`,
		Flags: append(append(variableFlags(), clusterFlags()...), noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			w := newWorkspace(s, c)
			w.loading.Quiet = true
			if err := w.loadForConsole(); err != nil {
				w.printer.Failure("The console needs a configuration without errors", "Expressions are evaluated with its values. Correct the errors above first; `kolla validate` prints them again.")
				return err
			}
			return newConsole(w).run(c.Context)
		},
	}
}

// loadForConsole reads data if there is a cluster to read them from.
func (w *workspace) loadForConsole() error {
	// Without an answer for a variable, the diagnostics say that it has no value.
	config, diags, _ := w.source.Read(w.flags.Context, w.loading)
	if diags.HasErrors() || len(config.Data) == 0 {
		return w.take(config, diags)
	}
	if err := w.connect(w.flags.Context); err != nil {
		reason := failure.Sentence(err.Error()) + "."
		if summary, detail, ok := kubernetes.Explain(err); ok {
			reason = failure.Sentence(summary) + ". " + detail
		}
		w.printer.Warn("The cluster is not read", reason+" What would be read from it is not known.")
		return w.take(config, diags)
	}
	w.loading.Cluster, w.loading.Settled = w.cluster, true
	return w.loadConfig()
}

// consoleHelp is what "help" prints.
const consoleHelp = `Type an expression, and its value is printed:

  cloud.namespace                  what the configuration declares: var.NAME,
  service.keystone.url             local.NAME, role.NAME, service.NAME,
                                   data.NAME, module.NAME
  cidrhost("10.0.0.0/24", 5)       any function
  [for n in ["a", "b"] : upper(n)]
  type(var.sizes)                  of what type a value is

What begins within brackets or a heredoc goes on on the next line. Up and Down
bring back what was typed, Ctrl-C drops the line, "exit" or Ctrl-D ends.
`

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
		fmt.Fprintln(c.err, c.printer.Err.Prose(`Type an expression, such as cloud.namespace. "help" says more; "exit" or Ctrl-D ends.`, 0))
	}
	source := c.lines()
	for {
		select {
		case <-ctx.Done():
			source.release()
			fmt.Fprintln(c.err)
			return ctx.Err()
		case l := <-source.next(c.prompt()):
			more, err := c.take(l)
			if err != nil || !more {
				return err
			}
		}
	}
}

// lines is who reads: two would take each other's lines.
func (c *console) lines() lines {
	if e := c.newEditor(); e != nil {
		return e
	}
	return &plainLines{c.streams, readLines(c.in)}
}

func (c *console) prompt() string {
	switch {
	case !c.prompts:
		return ""
	case len(c.pending) > 0:
		return ": "
	}
	return "> "
}

// lines is where the lines come from.
type lines interface {
	// next shows the prompt, and gives a line when there is one.
	next(prompt string) <-chan inputLine
	// release gives the terminal back while a line is being waited for.
	release()
}

// inputLine is a line of the input, without its end, or why there is none any more.
type inputLine struct {
	text string
	err  error
}

// plainLines are those of a pipe, a file, or a terminal that can do nothing.
type plainLines struct {
	streams
	read <-chan inputLine
}

func (p *plainLines) next(prompt string) <-chan inputLine {
	fmt.Fprint(p.err, prompt)
	return p.read
}

func (p *plainLines) release() {}

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
	case c.prompts && l.text == discarded:
		c.pending = nil
		return true, nil
	case len(c.pending) == 0 && (word == "exit" || word == "quit"):
		return false, c.end(io.EOF)
	case len(c.pending) == 0 && word == "help":
		fmt.Fprint(c.out, consoleHelp)
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
	value, typ, diags := c.console.EvaluateTyped(expression, consoleName)
	c.printer.Diagnostics(diags, map[string]*hcl.File{consoleName: {Bytes: []byte(expression)}})
	switch {
	case diags.HasErrors():
		c.failed = true
		return nil
	case typ != "":
		fmt.Fprintln(c.out, foreign.Lines(typ))
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
