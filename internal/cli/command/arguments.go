package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/compat"
	"kolla.openstack.org/kolla/lang/addrs"
)

// UsageError explains a wrong option.
func UsageError(c *cli.Context, err error, _ bool) error {
	command, flags := "kolla", c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "kolla" {
		command, flags = "kolla "+c.Command.Name, c.Command.Flags
	}
	help := fmt.Sprintf("`%s -help` lists all options.", command)
	if err.Error() == "flag needs an argument: -adopt" {
		return failure.New("-adopt needs an address", AdoptAdvice)
	}
	option, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return failure.New("Wrong options", failure.Sentence(err.Error())+". "+help)
	}
	option = strings.TrimPrefix(option, "-")
	if advice, ok := compat.Advice(command + " -" + option); ok {
		return failure.New(fmt.Sprintf("No option -%s", option), advice)
	}
	var names []string
	for _, flag := range flags {
		names = append(names, "-"+flag.Names()[0])
	}
	return failure.New(fmt.Sprintf("No option -%s", option), DidYouMean("-"+option, names)+help)
}

// NoArguments refuses arguments. Options after an argument are arguments too.
func NoArguments(c *cli.Context) error { return AtMost(c, 0) }

// AtMost refuses more than n arguments.
func AtMost(c *cli.Context, n int) error {
	if c.NArg() <= n {
		return nil
	}
	extra := c.Args().Get(n)
	if strings.HasPrefix(extra, "-") {
		return failure.New("Options come first", fmt.Sprintf("Put %s before the other arguments: kolla %s %s ...", extra, c.Command.Name, extra))
	}
	return TooMany(c, extra)
}

// TooMany returns the error about an unexpected argument.
func TooMany(c *cli.Context, extra string) error {
	return failure.New("Too many arguments", fmt.Sprintf("Did not expect %q. See `kolla %s -help`.", extra, c.Command.Name))
}

// given reports whether an option is set, and not to false.
func given(c *cli.Context, option string) bool { return c.IsSet(option) && c.Value(option) != false }

// Contradiction returns an error if an option is given and one of others is set, for the reason why.
func Contradiction(c *cli.Context, option, why string, others ...string) error {
	for _, other := range others {
		if given(c, option) && c.IsSet(other) {
			return failure.New(fmt.Sprintf("-%s and -%s contradict each other", option, other), why)
		}
	}
	return nil
}

// Exclusive returns an error if both options of a pair are given.
func Exclusive(c *cli.Context, pairs [][2]string) error {
	for _, pair := range pairs {
		if given(c, pair[0]) && given(c, pair[1]) {
			return failure.New("Options exclude each other", fmt.Sprintf("-%s and -%s do not go together.", pair[0], pair[1]))
		}
	}
	return nil
}

// Interspersed returns the arguments of a command that accepts options after them. It sets
// these options.
func Interspersed(c *cli.Context) ([]string, error) {
	var arguments []string
	for rest := c.Args().Slice(); len(rest) > 0; {
		word := rest[0]
		rest = rest[1:]
		if word == "--" {
			return append(arguments, rest...), nil
		}
		if len(word) < 2 || word[0] != '-' {
			arguments = append(arguments, word)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		i := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
		if i < 0 {
			return nil, UsageError(c, errors.New("flag provided but not defined: -"+name), false)
		}
		if documented, ok := c.Command.Flags[i].(cli.DocGenerationFlag); !given && ok && documented.TakesValue() {
			if len(rest) == 0 {
				return nil, UsageError(c, errors.New("flag needs an argument: -"+name), false)
			}
			value, given, rest = rest[0], true, rest[1:]
		}
		if !given {
			value = "true"
		}
		if err := c.Set(name, value); err != nil {
			return nil, UsageError(c, fmt.Errorf("invalid value %q for flag -%s: %w", value, name, err), false)
		}
	}
	return arguments, nil
}

// AdoptAdvice says how -adopt is used.
const AdoptAdvice = "It takes the address of one object, and may be repeated: -adopt=service.memcached/Service/memcached. A plan without it lists the objects that are in the way, with their addresses."

// Canonical writes addresses as plans show them. Texts that are no address stay as they are:
// the planner refuses them, and suggests an address.
func Canonical(addresses []string) []string {
	var out []string
	for _, text := range addresses {
		if target, err := addrs.ParseTarget(text); err == nil {
			text = target.String()
		}
		out = append(out, text)
	}
	return out
}

// DidYouMean returns a sentence with the most similar known name, and a space after it. It
// is empty if no name is similar.
func DidYouMean(given string, known []string) string {
	if text := words.DidYouMean(given, known); text != "" {
		return strings.TrimSpace(text) + " "
	}
	return ""
}
