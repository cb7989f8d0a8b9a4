package cli

import (
	_ "embed" // the text of help.txt
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// appHelp is the output of `kolla` without a command.
//
//go:embed help.txt
var appHelp string

// commandHelp returns the help of a command. The library fills in nothing.
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

// optionHelp returns the help of an option, with one dash as in Terraform. Two dashes work as
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
