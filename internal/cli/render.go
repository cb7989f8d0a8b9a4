package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

func renderCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "render",
		Usage: "Print the Kubernetes objects of the cloud as YAML",
		Description: `
Needs no cluster. Values of Secrets are made at apply and live only in the cluster,
so that Secrets are printed without them, and roles that match nodes by label have
no nodes here. What depends on data has (known after apply) in its place; a warning
names the objects.`,
		Flags: append(variableFlags(), noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			w := newWorkspace(s, c)
			objects, err := w.renderOffline()
			if err != nil {
				return err
			}
			w.warnIncomplete(objects)
			return writeYAML(s.out, objects)
		},
	}
}

// warnIncomplete names the objects that are printed without what only a cluster can tell:
// nobody is to hand them to one.
func (w *workspace) warnIncomplete(objects []providers.Object) {
	var lines []string
	for _, o := range objects {
		if len(o.Deferred) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", o.Address, strings.Join(o.Deferred, ", ")))
		}
	}
	if len(lines) == 0 {
		return
	}
	w.printer.Warn("Some values are not known yet", fmt.Sprintf(
		"These depend on what is read from the cluster, and have %q in its place. They are not fit to be applied as they are:\n\n%s",
		configs.KnownAfterApply, strings.Join(lines, "\n")))
}

// writeYAML prints objects as one stream of documents, each with its address.
func writeYAML(out io.Writer, objects []providers.Object) error {
	for _, o := range objects {
		text, err := yaml.Marshal(o.Manifest.Object)
		if err != nil {
			return fmt.Errorf("print %s: %w", o.Ref(), err)
		}
		foreign.Fprintf(out, "---\n# %s\n", o.Address)
		if o.Partial {
			fmt.Fprintln(out, "# Only these fields are kolla's; the object exists already.")
		}
		if len(o.Data) > 0 {
			foreign.Fprintf(out, "# Values that apply fills in: %s\n", strings.Join(slices.Sorted(maps.Keys(o.Data)), ", "))
		}
		if _, err := out.Write(text); err != nil {
			return fmt.Errorf("print %s: %w", o.Ref(), err)
		}
	}
	return nil
}
