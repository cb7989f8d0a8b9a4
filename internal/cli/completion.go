package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/completion"
)

func completionCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "Print a completion script for a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `
For this shell only:   source <(kolla completion bash)
For every fish shell:  kolla completion fish > ~/.config/fish/completions/kolla.fish

It completes commands, options, and addresses after -target, -exclude, -replace, state show
and state list. The addresses come from the configuration and the state, without a cluster.`,
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			shell := c.Args().First()
			script, ok := completion.Script(shell)
			if !ok {
				return failure.New(fmt.Sprintf("No completion for the shell %q", shell), "There is one for bash, zsh and fish: kolla completion bash")
			}
			fmt.Fprint(s.Out, script)
			return nil
		},
	}
}
