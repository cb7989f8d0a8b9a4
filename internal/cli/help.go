package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// appHelp is what `kolla` alone prints.
const appHelp = `kolla: OpenStack on Kubernetes. Plan it, apply it, keep it.

Usage: kolla [-chdir=DIR] COMMAND [options]

The usual way:
  init         Write a starter cloud to edit
  validate     Check the configuration, without a cluster
  plan         Show what would change in the cluster, and why
  apply        Make it so
  rollout      Replace pods that an apply left as they were
  destroy      Take the cloud down; data stays unless it is named

Also:
  fmt          Bring configuration files into canonical form
  render       Print the Kubernetes objects of the cloud as YAML
  config       Print a config file of a service, or where its values come from
  graph        Print the dependencies as a graph to draw
  console      Evaluate expressions with the values of the configuration
  output       Print the outputs of the configuration
  show         Show the state, or a saved plan
  state        Look into the state, or mend it
  force-unlock Release a lock that its holder left behind
  rbac         Print the Kubernetes roles that kolla needs for this cloud
  catalogue    List the services that kolla knows, or show one
  exposure     List what is reachable from outside, or configure the way in
  completion   Print a completion script for a shell
  version      Print the version

"kolla COMMAND -help" explains a command.
A configuration is all *.hcl files of a directory. The cluster is the one that
kubectl would use; -kubeconfig and -context choose another.

Environment:
  KOLLA_VAR_NAME        the value of variable NAME
  KOLLA_CLI_ARGS        options for every command, before those of the command line
  KOLLA_CLI_ARGS_plan   options for one command, here plan
  KOLLA_LOG=debug       log each request and each decision to standard error
  KOLLA_LOG=trace       also log retries, events of watches and the paths of changed fields
  KOLLA_DEBUG=1         print the stack if kolla crashes, instead of keeping it in a file
`

// commandHelp writes the help of one command. It is finished text: the library's
// templates have nothing left to fill in.
func commandHelp(path string, command *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s", command.Usage, path)
	switch {
	case len(command.Subcommands) > 0 && len(command.Flags) > 0:
		b.WriteString(" [COMMAND] [options]")
	case len(command.Subcommands) > 0:
		b.WriteString(" COMMAND [options]")
	case len(command.Flags) > 0:
		b.WriteString(" [options]")
	}
	if command.ArgsUsage != "" {
		b.WriteString(" " + command.ArgsUsage)
	}
	b.WriteString("\n")
	if command.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(command.Description))
	}
	if len(command.Subcommands) > 0 {
		b.WriteString("\nCommands:\n")
	}
	for _, sub := range command.Subcommands {
		fmt.Fprintf(&b, "  %-12s %s\n", sub.Name, sub.Usage)
	}
	var options strings.Builder
	for _, flag := range command.Flags {
		options.WriteString(optionHelp(flag))
	}
	if options.Len() > 0 {
		b.WriteString("\nOptions:\n" + options.String())
	}
	return b.String()
}

// optionHelp writes one option with one dash, as Terraform has them; two work as
// well. The word in back quotes in its usage names the value.
func optionHelp(flag cli.Flag) string {
	documented, ok := flag.(cli.DocGenerationFlag)
	if visible, can := flag.(cli.VisibleFlag); !ok || can && !visible.IsVisible() {
		return ""
	}
	usage := documented.GetUsage()
	name := "-" + flag.Names()[0]
	if documented.TakesValue() {
		value := "VALUE"
		if before, rest, found := strings.Cut(usage, "`"); found {
			var after string
			value, after, _ = strings.Cut(rest, "`")
			usage = before + value + after
		}
		name += "=" + value
	}
	if text := documented.GetDefaultText(); text != "" && documented.TakesValue() && text != `""` && text != " " {
		usage += " (default " + text + ")"
	}
	const column = 26
	if len(name) > column-2 {
		return fmt.Sprintf("  %s\n%*s%s\n", name, column+2, "", usage)
	}
	return fmt.Sprintf("  %-*s%s\n", column, name, usage)
}
