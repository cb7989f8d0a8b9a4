package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func validateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "Check the configuration, without a cluster",
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
			fmt.Fprintf(s.out, "The configuration is valid: %s, %s.\n",
				counted(len(w.config.Services), "service"), counted(len(objects), "object"))
			return nil
		},
	}
}

// counted gives "1 service", "2 services".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
