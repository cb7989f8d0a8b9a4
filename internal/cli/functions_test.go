package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/functions"
)

const functionsIntroduction = `# Functions

` + "`make golden`" + ` generates this page from the source code of the functions. All examples are tested.

The functions have the same names and meanings as in Terraform. ` + "`cidrcontains`" + `, ` + "`base64gunzip`" + `
and ` + "`urldecode`" + ` come from OpenTofu. ` + "`didyoumean`" + ` and ` + "`yamldecodeall`" + ` exist only in kolla.
Every function returns the same result for the same arguments and files.

Paths are relative to the directory of the configuration. ` + "`~`" + ` is the home directory. A file
may be up to 16 MiB in size. The files that functions read are part of the configuration, and so
is the list of files that ` + "`fileset`" + ` returns. The examples read the file ` + "`motd.txt`" + `, which contains
the line ` + "`Welcome`" + `, and other files in the same directory.

A value that is computed from a sensitive value is sensitive. The value of a
` + "`secret`" + ` block does not exist before apply. Functions marked with ● accept such a value, also inside
strings, lists and maps. All other functions return an error for it. ` + "`try`" + ` and ` + "`can`" + ` do not
catch this error.

Templates can call all functions except ` + "`templatefile`" + ` and ` + "`templatestring`" + `.
`

// functionReference lists all functions, with an example of each.
func functionReference() string {
	var b strings.Builder
	b.WriteString(functionsIntroduction)
	group := ""
	for _, f := range functions.All() {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n## %s\n\n| function | description | example | result |\n| --- | --- | --- | --- |\n", group)
		}
		carries := ""
		if f.CarriesSecrets {
			carries = " ●"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | `%s` | `%s` |\n", f.Signature, carries, f.Doc, f.Example, f.Result)
	}
	absent := functions.Absent()
	b.WriteString("\n## Terraform functions that kolla does not have\n\n| function | instead |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(absent)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, absent[name])
	}
	return b.String()
}
