package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/dev/golden"
)

// TestReference checks that the references in docs match the commands, the functions, the services
// and the schema.
func TestReference(t *testing.T) {
	app := newApp(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	pages := languageReference()
	pages["../../docs/commands.md"] = commandReference(app)
	pages["../../docs/functions.md"] = functionReference()
	pages["../../docs/services.md"] = servicesReference(catalogued(t))
	for path, want := range pages {
		golden.Compare(t, path, []byte(want))
	}
	kept, err := filepath.Glob(blocksPages + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if pages[path] == "" {
			t.Errorf("%s is about a block that does not exist", path)
		}
	}
}

// TestHelpListsCommands checks that `kolla` lists all its commands.
func TestHelpListsCommands(t *testing.T) {
	for _, command := range newApp(command.Streams{}).Commands {
		if !command.Hidden && !strings.Contains(appHelp, "\n  "+command.Name+" ") {
			t.Errorf("help.txt does not list %s", command.Name)
		}
	}
}

func commandReference(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nWritten from the commands' own help by `make golden`.\n")
	fmt.Fprintf(&b, "\n## kolla\n\n```\n%s```\n", appHelp)
	var walk func(path string, commands []*cli.Command)
	walk = func(path string, commands []*cli.Command) {
		for _, command := range commands {
			name := path + " " + command.Name
			fmt.Fprintf(&b, "\n## %s\n\n```\n%s```\n", name, commandHelp(name, command))
			walk(name, command.Subcommands)
		}
	}
	walk(app.Name, app.Commands)
	return b.String()
}
