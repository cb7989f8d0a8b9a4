package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

var update = flag.Bool("update", false, "write the references anew")

// TestReference holds that the references in docs are what the commands and the
// language say of themselves.
func TestReference(t *testing.T) {
	app := newApp(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	for path, want := range map[string]string{
		"../../docs/commands.md":  commandReference(app),
		"../../docs/language.md":  languageReference(),
		"../../docs/functions.md": functionReference(),
		"../../docs/services.md":  servicesReference(catalogued(t)),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale, run make golden (-want +got):\n%s", path, diff)
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
