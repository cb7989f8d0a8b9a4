package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// Completion scripts ask the program itself what can come next.
const (
	bashCompletion = `# Bash completion for kolla. Load it with: source <(kolla completion bash)
_kolla() {
  local current="${COMP_WORDS[COMP_CWORD]}"
  local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  [[ "$current" == -* ]] && words+=("$current")
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$current"))
}
complete -o default -F _kolla kolla
`
	zshCompletion = `#compdef kolla
# Zsh completion for kolla. Load it with: source <(kolla completion zsh)
_kolla() {
  local current="${words[CURRENT]}"
  local -a before candidates
  before=("${(@)words[1,CURRENT-1]}")
  [[ "$current" == -* ]] && before+=("$current")
  candidates=("${(@f)$("${before[@]}" --generate-bash-completion 2>/dev/null)}")
  compadd -a candidates || _files
}
compdef _kolla kolla
`
)

func completionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "Print a completion script for a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `
For this shell only:   source <(kolla completion bash)
For every fish shell:  kolla completion fish > ~/.config/fish/completions/kolla.fish`,
		BashComplete: func(*cli.Context) { fmt.Fprintln(s.out, "bash\nzsh\nfish") },
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			var script string
			switch shell := c.Args().First(); shell {
			case "bash":
				script = bashCompletion
			case "zsh":
				script = zshCompletion
			case "fish":
				text, err := c.App.ToFishCompletion()
				if err != nil {
					return fmt.Errorf("make the fish completion: %w", err)
				}
				script = text
			default:
				return &failure{fmt.Sprintf("No completion for the shell %q", shell), "There is one for bash, zsh and fish: kolla completion bash"}
			}
			fmt.Fprint(s.out, script)
			return nil
		},
	}
}
