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

var update = flag.Bool("update", false, "write the command reference anew")

// TestReference holds that docs/commands.md is what the commands say of themselves.
func TestReference(t *testing.T) {
	const path = "../../docs/commands.md"
	want := reference(newApp(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}))
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
		t.Errorf("docs/commands.md is stale, run make golden (-want +got):\n%s", diff)
	}
}

func reference(app *cli.App) string {
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
