package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-shellwords"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/compat"
	"kolla.openstack.org/kolla/internal/cli/completion"
	"kolla.openstack.org/kolla/internal/cli/logs"
	"kolla.openstack.org/kolla/internal/present/view"
)

// compatValue is the value of an option that has no effect.
type compatValue struct {
	compat.Option
	text string
}

func (v *compatValue) Set(text string) error { v.text = text; return nil }
func (v *compatValue) String() string        { return "" }

// IsBoolFlag reports whether the option needs no value.
func (v *compatValue) IsBoolFlag() bool {
	return !slices.Contains([]string{"lock-timeout", "type", "backup"}, v.Name)
}

// withCompat adds the options of Terraform that have no effect. No help lists them.
func withCompat(command *cli.Command) {
	for _, o := range compat.Options(command.Name) {
		command.Flags = append(command.Flags, &cli.GenericFlag{Name: o.Name, Value: &compatValue{Option: o}, Hidden: true})
	}
	if len(compat.Options(command.Name)) == 0 {
		return
	}
	action := command.Action
	command.Action = func(c *cli.Context) error {
		for _, o := range compat.Options(command.Name) {
			v, ok := c.Generic(o.Name).(*compatValue)
			if ok && v.text != "" && o.Is != "" && !sameValue(v.text, o.Is) {
				return failure.New(fmt.Sprintf("Unsuitable value %q for -%s", v.text, o.Name), o.Reason)
			}
		}
		return action(c)
	}
}

// sameValue compares values of an option: t, 1 and true are the same.
func sameValue(a, b string) bool {
	x, err := strconv.ParseBool(a)
	y, otherErr := strconv.ParseBool(b)
	if err == nil && otherErr == nil {
		return x == y
	}
	return a == b
}

// argumentsVariable contains options for every command. With the suffix _COMMAND it contains
// options for one command.
const argumentsVariable = "KOLLA_CLI_ARGS"

// withEnvironment inserts the options of KOLLA_CLI_ARGS and KOLLA_CLI_ARGS_COMMAND after the
// command. Options on the command line come later, so they take precedence.
func withEnvironment(args []string, commands []*cli.Command) ([]string, error) {
	at := 1
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		if slices.Contains([]string{chdirFlag, string(logs.CPU), string(logs.Memory), string(logs.Trace)}, strings.TrimLeft(args[at], "-")) {
			at++ // the option's value
		}
		at++
	}
	if at >= len(args) || !slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.HasName(args[at]) }) || slices.Contains(args, completion.Asks) {
		return args, nil
	}
	end := at + 1
	name := args[at]
	for _, sub := range commands[slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })].Subcommands {
		if end == at+1 && end < len(args) && sub.HasName(args[end]) {
			name, end = name+"_"+args[end], end+1
		}
	}
	var more []string
	for _, variable := range []string{argumentsVariable, argumentsVariable + "_" + strings.ReplaceAll(name, "-", "_")} {
		parser := shellwords.NewParser()
		words, err := parser.Parse(os.Getenv(variable))
		if err == nil && parser.Position >= 0 { // the parser stops at ; & | < >
			err = errors.New("one of ; & | < > stands outside of quotes")
		}
		if err != nil {
			return nil, failure.New("Unsuitable value of "+variable, fmt.Sprintf("It must contain options as in a shell, such as -no-color -var 'size=3': %s.", err))
		}
		more = append(more, words...)
	}
	return slices.Concat(args[:end], more, args[end:]), nil
}

// warnOfTerraform warns of environment variables that only Terraform reads.
func warnOfTerraform(p *view.Printer) {
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if rest, ok := strings.CutPrefix(name, "TF_CLI_ARGS"); ok && value != "" {
			p.Warn(name+" is not read", fmt.Sprintf("That is Terraform's. Options for kolla stand in %s%s.", argumentsVariable, rest))
		}
	}
}
