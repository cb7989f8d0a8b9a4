package cli

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/compat"
)

// TestOptionPlaceholders checks the placeholder of each option. The first word in back quotes of
// a usage becomes the placeholder, so a usage must quote no other word.
func TestOptionPlaceholders(t *testing.T) {
	app := newApp(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	placeholder := regexp.MustCompile(`^  -[a-z-]+=([A-Z]+|NAME=VALUE|HOST=NODE|NAMESPACE:NAME|full)\s`)
	checked := 0
	var check func(path string, flags []cli.Flag, commands []*cli.Command)
	check = func(path string, flags []cli.Flag, commands []*cli.Command) {
		for _, flag := range flags {
			help := optionHelp(flag)
			documented, ok := flag.(cli.DocGenerationFlag)
			if strings.Contains(help, "`") || help != "" && ok && documented.TakesValue() && !placeholder.MatchString(help) {
				t.Errorf("%s: the help of an option is\n%s", path, help)
			}
			checked++
		}
		for _, command := range commands {
			check(path+" "+command.Name, command.Flags, command.Subcommands)
		}
	}
	check("kolla", app.Flags, app.Commands)
	if checked == 0 {
		t.Error("no option was checked")
	}
}

// TestAdviceIsForOtherCommands checks that no advice says what to do without a command that kolla has.
func TestAdviceIsForOtherCommands(t *testing.T) {
	for _, c := range newApp(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}).Commands {
		advice, ok := compat.Advice("kolla " + c.Name)
		if ok && len(c.Subcommands) == 0 {
			t.Errorf("kolla %s exists, and there is the advice %q", c.Name, advice)
		}
	}
}
