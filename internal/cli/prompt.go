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

	"kolla.openstack.org/kolla/lang"
)

// interactive reports whether a person sits at the other end.
func (s streams) interactive() bool {
	file, ok := s.in.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// ask prints a question to standard error and reads one line, or ends with the
// context.
func (s streams) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(s.err, question)
	type line struct {
		text string
		err  error
	}
	// Nothing can end a read from a terminal: it is left behind when the program is
	// about to end.
	answer := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(s.in).ReadString('\n')
		answer <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.err)
		return "", ctx.Err()
	case l := <-answer:
		if l.err != nil && l.text == "" {
			fmt.Fprintln(s.err)
			return "", &failure{"No answer", "Standard input ended before there was one. Without a person to ask, use -auto-approve or a saved plan, and -var for variables."}
		}
		return strings.TrimSpace(l.text), nil
	}
}

// answer asks for the value of a variable, once.
func (w *workspace) answer(v lang.Variable) (string, error) {
	if said, ok := w.answers[v.Name]; ok {
		return said, nil
	}
	said, err := w.askVariable(v)
	if err != nil {
		return "", err
	}
	if w.answers == nil {
		w.answers = map[string]string{}
	}
	w.answers[v.Name] = said
	return said, nil
}

func (w *workspace) askVariable(v lang.Variable) (string, error) {
	question := "var." + v.Name + "\n"
	if v.Description != "" {
		question += "  " + v.Description + "\n"
	}
	if v.Sensitive {
		return w.askSecret(question + "\n  Enter a value, which is not shown: ")
	}
	return w.ask(w.flags.Context, question+"\n  Enter a value: ")
}

// askSecret reads a line without showing it.
func (s streams) askSecret(question string) (string, error) {
	file, ok := s.in.(*os.File)
	if !ok {
		return "", errors.New("a secret can be asked for on a terminal only")
	}
	fmt.Fprint(s.err, question)
	answer, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(s.err)
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	return string(answer), nil
}

// approve asks for the word yes, and takes no other.
func (s streams) approve(ctx context.Context, question string) error {
	answer, err := s.ask(ctx, question+"\n  Only \"yes\" is accepted.\n\n  Enter a value: ")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return &failure{"Not approved", "Nothing was changed."}
	}
	fmt.Fprintln(s.err)
	return nil
}
