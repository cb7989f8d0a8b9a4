package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"kolla.openstack.org/kolla/lang"
)

// interactive reports whether a person sits at the other end.
func (s streams) interactive() bool {
	file, ok := s.in.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// ask prints a question to standard error and reads one line.
func (s streams) ask(question string) (string, error) {
	fmt.Fprint(s.err, question)
	answer, err := bufio.NewReader(s.in).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(s.err)
		return "", &failure{"No answer", "Standard input ended before there was one. Without a person to ask, use -auto-approve or a saved plan, and -var for variables."}
	}
	return strings.TrimSpace(answer), nil
}

func (w *workspace) askVariable(v lang.Variable) (string, error) {
	question := "var." + v.Name + "\n"
	if v.Description != "" {
		question += "  " + v.Description + "\n"
	}
	return w.ask(question + "\n  Enter a value: ")
}

// approve asks for the word yes, and takes no other.
func (s streams) approve(question string) error {
	answer, err := s.ask(question + "\n  Only \"yes\" is accepted.\n\n  Enter a value: ")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return &failure{"Not approved", "Nothing was changed."}
	}
	fmt.Fprintln(s.err)
	return nil
}
