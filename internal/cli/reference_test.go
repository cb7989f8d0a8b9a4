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

	"kolla.openstack.org/kolla/lang"
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

const languageIntroduction = `# Language

Written from the schema of the language by ` + "`make golden`" + `.

All ` + "`*.hcl`" + ` files of a directory are one configuration; hidden files are not read.
Expressions, [functions](functions.md) and ` + "`variable`" + ` blocks are as in Terraform.
Everything can be referred to: ` + "`var.NAME`, `local.NAME`, `cloud.namespace`, `role.NAME`, `exposure.NAME`" + `,
and of a service ` + "`service.NAME.host`, `.port`, `.address` (host:port), `.url`, `.public_url`" + `
and the outputs of its definition. Within a service and its definition there are also
` + "`self`, `port.NAME`, `secret.NAME.value` and `database.NAME.url`" + `. A reference to a
service is also a dependency: it is ready before anything that refers to it starts.

A config value is the first that is given of: the service's, the config directory's, the
cloud's defaults, the definition's. Values merge key by key, lists replace, ` + "`null`" + ` takes
a key away. A list is joined by commas; a list of lists repeats the key.

The config directory (` + "`config_dir`" + ` of the cloud) holds overrides as kolla-ansible has them.
SERVICE is the name of a service or of its definition, and what is further down is stronger:

| file | overrides |
| --- | --- |
| ` + "`global.conf`" + ` | every ini file NAME.conf of every service |
| ` + "`SERVICE.conf`" + ` | where the service has no file of that name, its ini files NAME.conf |
| ` + "`FILE`" + ` | the ini or properties file of that name, of every service that has one |
| ` + "`SERVICE/FILE`" + ` | the file of that service |

Ini files are read as oslo.config reads them: a repeated key has several values, an indented
line goes on with the value above it, nothing is interpolated. They and properties files
are merged key by key; any other file is replaced. Templates (` + "`{{ }}`" + `) are an error, since
nothing fills them in. A warning tells what is not used: variants for a host or for one
container, which kolla-ansible knows, and files that no service has.

The value of a generated secret is not known before apply. It can be put into
strings, config values and environment variables, and into nothing else.

There are bounds, which nothing comes near that people write: 4 MiB a file; 500 blocks,
brackets and templates in one another; 10,000 operators an expression; 16 MiB of text and
100,000 elements a value; 1,000 modules, and 10,000 services, roles, uses of modules and so
on, each instance of a repeated block counted.
`

func languageReference() string {
	var b strings.Builder
	b.WriteString(languageIntroduction)
	for _, block := range lang.Schema() {
		writeBlock(&b, "", block)
	}
	return b.String()
}

// writeBlock writes a section for a type of block, and one for each in it.
func writeBlock(b *strings.Builder, path string, block *lang.BlockType) {
	name := strings.TrimSpace(path + " " + block.Name)
	header := block.Name
	if block.Label != "" {
		header += fmt.Sprintf(" %q", strings.ToUpper(block.Label))
	}
	fmt.Fprintf(b, "\n## %s\n\n`%s { ... }`\n\n%s\n", name, header, block.Doc)
	if len(block.Attributes) > 0 {
		b.WriteString("\n| argument | type | default | |\n| --- | --- | --- | --- |\n")
	}
	for _, a := range block.Attributes {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", a.Name, a.Type, defaultOf(a), strings.ReplaceAll(a.Doc, "|", "\\|"))
	}
	for _, inner := range block.Blocks {
		writeBlock(b, name, inner)
	}
}

func defaultOf(a lang.Attribute) string {
	switch {
	case a.Required:
		return "required"
	case a.Default == nil, a.Default == "":
		return ""
	}
	return fmt.Sprintf("`%v`", a.Default)
}
