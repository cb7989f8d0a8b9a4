package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/configs"
)

// Interactive reports whether standard input is a terminal.
func (s Streams) Interactive() bool { return IsTerminal(s.In) }

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// ask prints a question to standard error and reads a line. It returns early if the context
// ends.
func (s Streams) ask(ctx context.Context, question string) (string, error) {
	answer, err := s.await(ctx, question, func() (string, error) { return bufio.NewReader(s.In).ReadString('\n') }, func() {})
	return strings.TrimSpace(answer), err
}

// await prints a question and waits for the result of read. If the context ends first, it
// calls restore and returns.
func (s Streams) await(ctx context.Context, question string, read func() (string, error), restore func()) (string, error) {
	fmt.Fprint(s.Err, foreign.Lines(question))
	type line struct {
		text string
		err  error
	}
	// Nothing can interrupt a read from a terminal. The goroutine may stay until the program
	// ends.
	answer := make(chan line, 1)
	go func() {
		text, err := read()
		answer <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		restore()
		fmt.Fprintln(s.Err)
		return "", ctx.Err()
	case l := <-answer:
		if l.err != nil && l.text == "" {
			fmt.Fprintln(s.Err)
			if errors.Is(l.err, context.Canceled) {
				return "", l.err
			}
			return "", failure.New("No answer", "Standard input ended before an answer. Without a terminal, use -auto-approve or a saved plan, and -var for variables.")
		}
		return l.text, nil
	}
}

// questions asks for values of variables. It keeps the answers, because a configuration is
// loaded several times.
type questions struct {
	streams Streams
	ctx     context.Context
	// asked: a question was asked, which may have taken long.
	asked   bool
	answers map[string]string
	refused map[string]string // the reason, by the name of the variable
	// unanswered is the error of a question without an answer. No more questions follow it.
	unanswered error
}

// answer returns the value of a variable. It asks once, and again if the value is refused.
func (q *questions) answer(v configs.Variable) (string, error) {
	q.asked = true
	if q.unanswered != nil {
		return "", q.unanswered
	}
	if why, ok := q.refused[v.Name]; ok && v.Refused == "" {
		v.Refused = why
		delete(q.refused, v.Name)
	}
	if said, ok := q.answers[v.Name]; ok && v.Refused == "" {
		return said, nil
	}
	said, err := q.askVariable(v)
	var nobody *failure.Error
	if errors.As(err, &nobody) {
		err = failure.New(nobody.Summary, fmt.Sprintf("The input ended before var.%s had a value. It can also come from -var '%s=...', from KOLLA_VAR_%s, or from a file such as kolla.vars.hcl.", v.Name, v.Name, v.Name))
	}
	if err != nil {
		q.unanswered = err
		return "", err
	}
	if q.answers == nil {
		q.answers = map[string]string{}
	}
	q.answers[v.Name] = said
	return said, nil
}

func (q *questions) askVariable(v configs.Variable) (string, error) {
	screen := screen.NewStream(q.streams.Err, true)
	question := ""
	if v.Refused != "" {
		question = "\n" + screen.Prose("Not accepted: "+v.Refused, 2) + "\n\n"
	}
	question += "var." + v.Name + "\n"
	if v.Description != "" {
		question += screen.Prose(v.Description, 2) + "\n"
	}
	if v.Sensitive {
		return q.streams.askSecret(q.ctx, question+"\n  Enter a value, which is not shown: ")
	}
	return q.streams.ask(q.ctx, question+"\n  Enter a value: ")
}

// askSecret reads a line without showing it.
func (s Streams) askSecret(ctx context.Context, question string) (string, error) {
	file, ok := s.In.(*os.File)
	if !ok {
		return "", errors.New("a secret can be asked for on a terminal only")
	}
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	restore := func() { _ = term.Restore(fd, before) }
	// A raw terminal needs the carriage return.
	return s.await(ctx, strings.ReplaceAll(question, "\n", "\r\n"), func() (string, error) {
		line, err := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{file, s.Err}, "").ReadPassword("")
		restore()
		if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
			err = context.Canceled
		}
		return line, err
	}, restore)
}

// Confirm asks a question. Only the word yes confirms.
func (s Streams) Confirm(ctx context.Context, question string) (bool, error) {
	answer, err := s.ask(ctx, question+"\n  Only \"yes\" is accepted.\n\n  Enter a value: ")
	if err == nil && answer == "yes" {
		fmt.Fprintln(s.Err)
	}
	return err == nil && answer == "yes", err
}

// Approve asks for approval. It accepts only the word yes.
func (s Streams) Approve(ctx context.Context, question string) error {
	yes, err := s.Confirm(ctx, question)
	if err != nil {
		return err
	}
	if !yes {
		return failure.New("Not approved", "Nothing was changed.")
	}
	return nil
}
