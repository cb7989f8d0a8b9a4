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

	"kolla.openstack.org/kolla/internal/completion"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/view"
)

// habit is an option of Terraform that its clients give without being asked. It has no
// effect: kolla does always what `is` says. Another value is refused, with the reason.
type habit struct {
	name   string
	is     string // empty: any value
	reason string
}

const (
	takesLock = "It always takes the lock. To wait for it: -lock-timeout=5m"
	readsAll  = "It always reads the cluster. To update the state from the cluster: kolla apply -refresh-only"
)

// habits are those of each command.
var habits = map[string][]habit{
	"init": {
		{"backend", "", ""}, {"get", "", ""}, {"upgrade", "", ""}, {"input", "", ""}, {"lock", "", ""}, {"lock-timeout", "", ""}, {"no-color", "", ""},
	},
	"plan":    {{"lock", "", ""}, {"lock-timeout", "", ""}, {"refresh", "true", readsAll}, {"concise", "", ""}},
	"apply":   {{"lock", "true", takesLock}, {"refresh", "true", readsAll}, {"concise", "", ""}, {"backup", "", ""}},
	"destroy": {{"lock", "true", takesLock}, {"refresh", "true", readsAll}, {"concise", "", ""}, {"backup", "", ""}},
	"graph":   {{"type", "plan", "There is one graph: that of the configuration."}, {"draw-cycles", "", ""}},
}

// habitValue is what is given for a habit.
type habitValue struct {
	habit
	text string
}

func (v *habitValue) Set(text string) error { v.text = text; return nil }
func (v *habitValue) String() string        { return "" }

// IsBoolFlag lets options that are switches stand without a value.
func (v *habitValue) IsBoolFlag() bool {
	return !slices.Contains([]string{"lock-timeout", "type", "backup"}, v.name)
}

// withHabits gives a command the options that are habits. No help lists them.
func withHabits(command *cli.Command) {
	for _, h := range habits[command.Name] {
		command.Flags = append(command.Flags, &cli.GenericFlag{Name: h.name, Value: &habitValue{habit: h}, Hidden: true})
	}
	if len(habits[command.Name]) == 0 {
		return
	}
	action := command.Action
	command.Action = func(c *cli.Context) error {
		for _, h := range habits[command.Name] {
			v, ok := c.Generic(h.name).(*habitValue)
			if ok && v.text != "" && h.is != "" && !sameValue(v.text, h.is) {
				return failure.New(fmt.Sprintf("Unsuitable value %q for -%s", v.text, h.name), h.reason)
			}
		}
		return action(c)
	}
}

// sameValue compares values of an option: t, 1 and true are one.
func sameValue(a, b string) bool {
	x, err := strconv.ParseBool(a)
	y, otherErr := strconv.ParseBool(b)
	if err == nil && otherErr == nil {
		return x == y
	}
	return a == b
}

// argumentsVariable holds options for every command, and with _COMMAND for one.
const argumentsVariable = "KOLLA_CLI_ARGS"

// withEnvironment puts the options of KOLLA_CLI_ARGS and KOLLA_CLI_ARGS_COMMAND behind the
// command. Options of the command line come after them, and win.
func withEnvironment(args []string, commands []*cli.Command) ([]string, error) {
	at := 1
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		if slices.Contains([]string{chdirFlag, cpuProfileFlag, memoryProfileFlag, traceFlag}, strings.TrimLeft(args[at], "-")) {
			at++ // its value
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
			return nil, failure.New("Unsuitable value of "+variable, fmt.Sprintf("It holds options as a shell takes them, such as -no-color -var 'size=3': %s.", err))
		}
		more = append(more, words...)
	}
	return slices.Concat(args[:end], more, args[end:]), nil
}

// warnOfTerraform says that a variable which only Terraform reads has no effect.
func warnOfTerraform(p *view.Printer) {
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if rest, ok := strings.CutPrefix(name, "TF_CLI_ARGS"); ok && value != "" {
			p.Warn(name+" is not read", fmt.Sprintf("That is Terraform's. Options for kolla stand in %s%s.", argumentsVariable, rest))
		}
	}
}
