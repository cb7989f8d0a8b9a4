package cli

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
)

// inline matches a kolla command within a line of text.
var inline = regexp.MustCompile("`(kolla [^`]*)`")

// TestCommandLines checks that the commands and options that the documents name exist.
func TestCommandLines(t *testing.T) {
	app := newApp(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	for _, name := range documents(t) {
		if filepath.Base(name) == "commands.md" {
			continue // generated from the commands
		}
		for _, line := range commandLines(readText(t, name)) {
			if wrong := wrongWith(app, strings.Fields(line)[1:]); wrong != "" {
				t.Errorf("%s: %q: %s", name, line, wrong)
			}
		}
	}
}

// commandLines returns the kolla commands in a document.
func commandLines(text string) []string {
	var out []string
	for _, match := range fenced.FindAllStringSubmatch(text, -1) {
		if match[1] == "hcl" || match[1] == "json" {
			continue
		}
		prompt := "" // in a block with a prompt, all other lines are output
		if strings.Contains("\n"+match[2], "\n$ ") {
			prompt = "$ "
		}
		for line := range strings.Lines(match[2]) {
			if command, ok := strings.CutPrefix(line, prompt); ok && strings.HasPrefix(command, "kolla ") {
				command, _, _ = strings.Cut(command, "#")
				command, _, _ = strings.Cut(command, " | ")
				out = append(out, command)
			}
		}
	}
	for _, match := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		out = append(out, match[1])
	}
	return out
}

// wrongWith names the first word of a command line that is not a command or option, or returns "".
func wrongWith(app *cli.App, words []string) string {
	flags, commands := app.Flags, app.Commands
	takesValue := false
	for _, word := range words {
		word = strings.Trim(word, "'\"")
		switch i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == word }); {
		case takesValue:
			takesValue = false
		case strings.HasPrefix(word, "-") && len(word) > 1:
			name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
			flag := flagNamed(flags, name)
			if flag == nil {
				return "there is no option " + word
			}
			documented, ok := flag.(cli.DocGenerationFlag)
			takesValue = ok && documented.TakesValue() && !given
		case i >= 0:
			flags, commands = commands[i].Flags, commands[i].Subcommands
		case len(commands) == len(app.Commands):
			return "there is no command " + word
		}
	}
	return ""
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	for _, flag := range flags {
		if slices.Contains(flag.Names(), name) {
			return flag
		}
	}
	return nil
}

// TestWrongWith checks that unknown commands and options are found.
func TestWrongWith(t *testing.T) {
	app := newApp(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	for line, want := range map[string]string{
		"plan -out change.plan -target=service.keystone": "",
		"-chdir=prod plan":                    "",
		"state list service.keystone":         "",
		"plan -upgrade=false":                 "there is no option -upgrade=false",
		"taint service.keystone":              "there is no command taint",
		"-chdir prod untaint x":               "there is no command untaint",
		"state list -detailed-exitcode":       "there is no option -detailed-exitcode",
		"exposure haproxy -out=/etc/x public": "",
	} {
		if got := wrongWith(app, strings.Fields(line)); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	got := commandLines("a `kolla plan` b\n\n```\n$ kolla apply # x\nkolla says\n```\n\n```\nkolla fmt\n```\n")
	if !slices.Equal(got, []string{"kolla apply ", "kolla fmt\n", "kolla plan"}) {
		t.Errorf("got %q", got)
	}
}
