package inspect

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/graph"
	"kolla.openstack.org/kolla/lang/configs"
)

// Graph is `kolla graph`.
func Graph(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "graph",
		Usage: "Print the dependencies as a graph for Graphviz or Mermaid",
		Description: `
An arrow points from a block to each block that it depends on: from a service or manifest to the
services and manifests that start before it, to the roles that it runs on, and to the exposures that
make it reachable. An external service is dashed; in Mermaid it has another shape. Needs no
cluster. To see the graph, with Graphviz:

  kolla graph | dot -Tsvg > cloud.svg

GitHub and GitLab draw Mermaid graphs in Markdown files.`,
		Flags: append(command.VariableFlags(),
			&cli.StringFlag{Name: "format", Value: "dot", Usage: "print as `FORMAT`: dot (for Graphviz) or mermaid"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			format := c.String("format")
			write := map[string]func(io.Writer, *configs.Config) error{"dot": graph.DOT, "mermaid": graph.Mermaid}[format]
			if write == nil {
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
