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
			fmt.Fprintf(s.out, "The configuration is valid: %d services, %d objects.\n", len(w.config.Services), len(objects))
			return nil
		},
	}
}
