package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/functions"
)

const functionsIntroduction = `# Functions

Written from the functions themselves by ` + "`make golden`" + `; the examples are tested.

The functions have the names and meanings of Terraform's; ` + "`cidrcontains`" + `, ` + "`base64gunzip`" + `
and ` + "`urldecode`" + ` are OpenTofu's. All of them give the same result each time for the same
arguments and files. ` + "`yamldecodeall`" + ` is kolla's own: ` + "`yamldecode`" + ` takes one document, as
in Terraform, and ` + "`yamldecodeall`" + ` gives a list of all of them, however many there are.

Paths are relative to the directory of the configuration; ` + "`~`" + ` is the home directory. A
file may have 16 MiB. What expressions read is a part of the configuration, also which
files a ` + "`fileset`" + ` finds. The examples read ` + "`motd.txt`" + `, a line with ` + "`Welcome`" + `, and what
lies beside it.

What is made of a sensitive value is sensitive. A value that a ` + "`secret`" + ` block generates
does not exist before apply: functions marked with ● take it, and carry it in texts,
lists and maps; all others refuse it, and ` + "`try`" + ` and ` + "`can`" + ` do not hide that.

Within templates there are all functions but the two that render templates.
`

// functionReference lists all functions, with an example of each.
func functionReference() string {
	var b strings.Builder
	b.WriteString(functionsIntroduction)
	group := ""
	for _, f := range functions.All() {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n## %s\n\n| function | | example | gives |\n| --- | --- | --- | --- |\n", group)
		}
		carries := ""
		if f.CarriesSecrets {
			carries = " ●"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | `%s` | `%s` |\n", f.Signature, carries, f.Doc, f.Example, f.Result)
	}
	absent := functions.Absent()
	b.WriteString("\n## Functions of Terraform that are not here\n\n| function | |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(absent)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, absent[name])
	}
	return b.String()
}
