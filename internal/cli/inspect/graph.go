package inspect

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/graph"
)

// Graph is `kolla graph`.
func Graph(s command.Streams) *cli.Command {
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
		Flags: append(command.VariableFlags(),
			&cli.StringFlag{Name: "format", Value: "dot", Usage: "write `FORMAT`: dot, for Graphviz, or mermaid"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c); err != nil {
				return err
			}
			write := graph.DOT
			switch format := c.String("format"); format {
			case "dot":
			case "mermaid":
				write = graph.Mermaid
			default:
				return failure.New(fmt.Sprintf("No format %q", format), command.DidYouMean(format, []string{"dot", "mermaid"})+"There are: dot, mermaid.")
			}
			w := command.NewWorkspace(s, c)
			w.Loading.Quiet = true
			if err := w.LoadConfig(); err != nil {
				return err
			}
			return write(s.Out, w.Config)
		},
	}
}
