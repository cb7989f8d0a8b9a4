// Package completion completes command lines: names of commands and options, and addresses
// in the configuration and the state.
package completion

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// Asks is the last word of a command line that asks for the completions of the word before
// it. Completion scripts of shells add it.
const Asks = "--generate-bash-completion"

// Complete prints the completions of the last word, one per line. It prints no errors.
func Complete(out io.Writer, app *cli.App, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	line := readLine(app, words[:len(words)-1])
	current := words[len(words)-1]
	if line.dir != "" && os.Chdir(line.dir) != nil {
		return
	}
	for _, candidate := range line.candidates(current) {
		if strings.HasPrefix(candidate, current) {
			fmt.Fprintln(out, foreign.Line(candidate))
		}
	}
}

// typed is an incomplete command line.
type typed struct {
	path     []string // of the command: "state", "show"
	flags    []cli.Flag
	commands []*cli.Command // that can follow
	option   string         // the next word is its value; empty: no option
	started  bool           // the command has an argument already
	dir      string         // of -chdir
	state    string         // file
}

// readLine reads the words before the current one.
func readLine(app *cli.App, words []string) *typed {
	line := &typed{flags: app.Flags, commands: app.Commands, state: state.DefaultFile}
	for _, word := range words {
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		i := slices.IndexFunc(line.commands, func(c *cli.Command) bool { return c.Name == word })
		switch {
		case line.option != "":
			line.take(line.option, word)
			line.option = ""
		case strings.HasPrefix(word, "-") && given:
			line.take(name, value)
		case strings.HasPrefix(word, "-"):
			if takesValue(line.flags, name) {
				line.option = name
			}
		case i >= 0:
			line.path = append(line.path, word)
			line.flags, line.commands = line.commands[i].Flags, line.commands[i].Subcommands
		default:
			line.started, line.commands = true, nil
		}
	}
	return line
}

// take keeps the value of an option that names a place.
func (t *typed) take(option, value string) {
	switch option {
	case "chdir":
		t.dir = value
	case "state":
		t.state = value
	}
}

func takesValue(flags []cli.Flag, name string) bool {
	for _, flag := range flags {
		if documented, ok := flag.(cli.DocGenerationFlag); ok && slices.Contains(flag.Names(), name) {
			return documented.TakesValue()
		}
	}
	return false
}

// candidates returns the completions of the current word, in order.
func (t *typed) candidates(current string) []string {
	if t.option != "" {
		return t.values(t.option, current)
	}
	if option, value, given := strings.Cut(current, "="); given && strings.HasPrefix(option, "-") {
		var out []string
		for _, candidate := range t.values(strings.TrimLeft(option, "-"), value) {
			out = append(out, option+"="+candidate)
		}
		return out
	}
	if strings.HasPrefix(current, "-") {
		return t.options(current)
	}
	var out []string
	for _, command := range t.commands {
		out = append(out, command.Name)
	}
	switch strings.Join(t.path, " ") {
	case "completion":
		return []string{"bash", "fish", "zsh"}
	case "state list", "status", "logs":
		return knownAddresses(t.state).offered(current, true)
	case "discover":
		return t.addresses().offered(current, true)
	case "state show":
		if !t.started {
			return knownAddresses(t.state).offered(current, false)
		}
	}
	return out
}

// options returns the options of the command, with one dash, or with two if two are typed.
func (t *typed) options(current string) []string {
	dashes := "-"
	if strings.HasPrefix(current, "--") {
		dashes = "--"
	}
	out := []string{dashes + "help"}
	for _, flag := range t.flags {
		if visible, can := flag.(cli.VisibleFlag); !can || visible.IsVisible() {
			out = append(out, dashes+flag.Names()[0])
		}
	}
	slices.Sort(out)
	return out
}

// values returns the possible values of an option.
func (t *typed) values(option, current string) []string {
	if !takesValue(t.flags, option) {
		return nil
	}
	switch option {
	case "target", "exclude":
		return t.addresses().offered(current, true)
	case "until":
		return configs.Stages[:len(configs.Stages)-1]
	case "replace", "rotate":
		return t.addresses().offered(current, false)
	}
	return nil
}

// addressBook has the addresses of blocks, and of objects.
type addressBook struct{ blocks, objects []string }

// addresses returns the addresses in the configuration and the state.
func (t *typed) addresses() addressBook {
	declared, known := declaredAddresses(), knownAddresses(t.state)
	return addressBook{slices.Concat(declared.blocks, known.blocks), slices.Concat(declared.objects, known.objects)}
}

// declaredAddresses returns the addresses in the configuration of the working directory that
// are known without values for variables and without a cluster.
func declaredAddresses() addressBook {
	config, diags := lang.Load(".", lang.Options{Catalogue: openstack.Catalogue(), Environ: os.Environ(), Unset: true})
	if diags.HasErrors() {
		return addressBook{}
	}
	objects, _ := openstack.Render(config, openstack.Offline())
	var found addressBook
	for i := range objects {
		found.add(objects[i].Address)
	}
	for i := range config.Services {
		found.blocks = append(found.blocks, config.Services[i].Block)
	}
	return found
}

// knownAddresses returns the addresses in the state.
func knownAddresses(file string) addressBook {
	var found addressBook
	st, err := state.Open(file).Read()
	if err != nil {
		return found
	}
	for i := range st.Objects {
		if address, err := addrs.ParseObject(st.Objects[i].Address); err == nil {
			found.add(address)
		}
	}
	return found
}

// add adds an object, its block, and the modules of the block.
func (a *addressBook) add(address addrs.Object) {
	a.objects = append(a.objects, address.String())
	if n := len(a.blocks); n == 0 || a.blocks[n-1] != address.Block {
		a.blocks = append(append(a.blocks, modulesOf(address.Block)...), address.Block)
	}
}

// modulesOf returns the modules around a block, the outermost first: of
// `module.a["x"].module.b.service.c` they are `module.a["x"]` and `module.a["x"].module.b`.
func modulesOf(block string) []string {
	var modules []string
	start, dots, quoted := 0, 0, false
	for i := 0; i < len(block); i++ {
		switch {
		case block[i] == '\\':
			i++
		case block[i] == '"':
			quoted = !quoted
		case block[i] == '.' && !quoted:
			if dots++; dots%2 == 0 {
				if strings.HasPrefix(block[start:], "module.") {
					modules = append(modules, block[:i])
				}
				start = i + 1
			}
		}
	}
	return modules
}

// offered returns the addresses that begin with a word: blocks if they are wanted. Objects are
// offered if blocks are not wanted, or if the word matches at most one block.
func (a addressBook) offered(current string, blocks bool) []string {
	sorted := func(list []string) []string {
		list = slices.DeleteFunc(slices.Clone(list), func(address string) bool { return !strings.HasPrefix(address, current) })
		slices.Sort(list)
		return slices.Compact(list)
	}
	if !blocks {
		return sorted(a.objects)
	}
	found := sorted(a.blocks)
	if len(found) <= 1 {
		found = append(found, sorted(a.objects)...)
	}
	return found
}
