package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/providers"
)

func renderCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "render",
		Usage: "Print the Kubernetes objects of the cloud as YAML",
		Description: `
Needs no cluster. Values of Secrets are made at apply and live only in the cluster,
so that Secrets are printed without them, and roles that match nodes by label have
no nodes here.`,
		Flags: append(variableFlags(), noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			objects, err := newWorkspace(s, c).renderOffline()
			if err != nil {
				return err
			}
			return writeYAML(s.out, objects)
		},
	}
}

// writeYAML prints objects as one stream of documents, each with its address.
func writeYAML(out io.Writer, objects []providers.Object) error {
	for _, o := range objects {
		text, err := yaml.Marshal(o.Manifest.Object)
		if err != nil {
			return fmt.Errorf("print %s: %w", o.Ref(), err)
		}
		fmt.Fprintf(out, "---\n# %s\n", o.Address)
		if o.Partial {
			fmt.Fprintln(out, "# Only these fields are kolla's; the object exists already.")
		}
		if len(o.Data) > 0 {
			fmt.Fprintf(out, "# Values that apply fills in: %s\n", strings.Join(slices.Sorted(maps.Keys(o.Data)), ", "))
		}
		if _, err := out.Write(text); err != nil {
			return fmt.Errorf("print %s: %w", o.Ref(), err)
		}
	}
	return nil
}
