package inspect

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// Render is `kolla render`.
func Render(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "render",
		Usage: "Print the Kubernetes objects of the cloud as YAML",
		Description: `
Needs no cluster. Secrets are printed without values, because apply generates the values
and only the cluster stores them. Roles that match nodes by label have no nodes here.
Values that depend on data blocks are printed as (known after apply); a warning names the
objects.`,
		Flags: append(command.VariableFlags(), command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			objects, err := w.Render()
			if err != nil {
				return err
			}
			warnIncomplete(w.Printer, objects)
			return writeYAML(s.Out, objects)
		},
	}
}

// warnIncomplete names the objects that lack values from the cluster, so that they are not applied
// as they are.
func warnIncomplete(printer *view.Printer, objects []providers.Object) {
	var lines []string
	for _, o := range objects {
		if len(o.Deferred) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", o.Address, strings.Join(o.Deferred, ", ")))
		}
	}
	if len(lines) == 0 {
		return
	}
	printer.Warn("Some values are not known yet", fmt.Sprintf(
		"These objects depend on data from the cluster, and contain %q instead of it. Do not apply them as they are:\n\n%s",
		configs.KnownAfterApply, strings.Join(lines, "\n")))
}

// writeYAML prints objects as YAML documents, each with its address in a comment.
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
