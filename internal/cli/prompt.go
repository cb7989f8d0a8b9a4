package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"kolla.openstack.org/kolla/internal/console"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/lang/configs"
)

// interactive reports whether a person sits at the other end.
func (s streams) interactive() bool {
	file, ok := s.in.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// ask prints a question to standard error and reads one line, or ends with the
// context.
func (s streams) ask(ctx context.Context, question string) (string, error) {
	answer, err := s.await(ctx, question, func() (string, error) { return bufio.NewReader(s.in).ReadString('\n') }, func() {})
	return strings.TrimSpace(answer), err
}

// await prints a question and waits for what read gives, or until the context ends; then
// restore is called.
func (s streams) await(ctx context.Context, question string, read func() (string, error), restore func()) (string, error) {
	fmt.Fprint(s.err, foreign.Lines(question))
	type line struct {
		text string
		err  error
	}
	// Nothing can end a read from a terminal: it is left behind when the program is
	// about to end.
	answer := make(chan line, 1)
	go func() {
		text, err := read()
		answer <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		restore()
		fmt.Fprintln(s.err)
		return "", ctx.Err()
	case l := <-answer:
		if l.err != nil && l.text == "" {
			fmt.Fprintln(s.err)
			if errors.Is(l.err, context.Canceled) {
				return "", l.err
			}
			return "", failure.New("No answer", "Standard input ended before there was one. Without a person to ask, use -auto-approve or a saved plan, and -var for variables.")
		}
		return l.text, nil
	}
}

// questions asks for values of variables, and keeps the answers: a configuration is loaded
// several times.
type questions struct {
	streams
	ctx context.Context
	// asked: a question was asked, which may have taken long.
	asked   bool
	answers map[string]string
	refused map[string]string // why an answer did not fit, by the name of the variable
	// unanswered is why there is no answer. Nothing more is asked then.
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
	screen := screen.NewStream(q.err, true)
	question := ""
	if v.Refused != "" {
		question = "\n" + screen.Prose("Not accepted: "+v.Refused, 2) + "\n\n"
	}
	question += "var." + v.Name + "\n"
	if v.Description != "" {
		question += screen.Prose(v.Description, 2) + "\n"
	}
	if v.Sensitive {
		return q.askSecret(q.ctx, question+"\n  Enter a value, which is not shown: ")
	}
	return q.ask(q.ctx, question+"\n  Enter a value: ")
}

// askSecret reads a line without showing it.
func (s streams) askSecret(ctx context.Context, question string) (string, error) {
	file, ok := s.in.(*os.File)
	if !ok {
		return "", errors.New("a secret can be asked for on a terminal only")
	}
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	restore := func() { _ = term.Restore(fd, before) }
	// Nothing but this program begins lines anew while the terminal is raw.
	return s.await(ctx, strings.ReplaceAll(question, "\n", "\r\n"), func() (string, error) {
		line, err := console.HiddenLine(file, s.err)
		restore()
		return line, err
	}, restore)
}

// approve asks for the word yes, and takes no other.
func (s streams) approve(ctx context.Context, question string) error {
	answer, err := s.ask(ctx, question+"\n  Only \"yes\" is accepted.\n\n  Enter a value: ")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return failure.New("Not approved", "Nothing was changed.")
	}
	fmt.Fprintln(s.err)
	return nil
}
