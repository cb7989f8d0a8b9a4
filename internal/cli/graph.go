package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/graph"
)

func graphCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "graph",
		Usage: "Print the dependencies as a graph to draw",
		Description: `
An arrow goes from what needs something to what it needs: from services and manifests
to those that must be ready before, to the roles they run on and the exposures that
make them reachable. A service that is there already (external) is dashed; in Mermaid
it has another shape. Needs no cluster. To see the graph, with Graphviz:

  kolla graph | dot -Tsvg > cloud.svg

What is written for Mermaid is drawn where Markdown is shown.`,
		Flags: append(variableFlags(),
			&cli.StringFlag{Name: "format", Value: "dot", Usage: "write `FORMAT`: dot, for Graphviz, or mermaid"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			write := graph.DOT
			switch format := c.String("format"); format {
			case "dot":
			case "mermaid":
				write = graph.Mermaid
			default:
				return failure.New(fmt.Sprintf("No format %q", format), didYouMean(format, []string{"dot", "mermaid"})+"There are: dot, mermaid.")
			}
			w := newWorkspace(s, c)
			w.loading.Quiet = true
			if err := w.loadConfig(); err != nil {
				return err
			}
			return write(s.out, w.config)
		},
	}
}
