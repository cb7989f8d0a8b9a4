package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// completes is the last word of a command line that asks what may stand in the place of
// the word before it. Completion scripts of shells add it.
const completes = "--generate-bash-completion"

// Completion scripts ask the program itself what can come next. Bash takes "=" for the end
// of a word, so that its script puts options and their values together again.
const (
	bashCompletion = `# Bash completion for kolla. Load it with: source <(kolla completion bash)
_kolla() {
  local words=() word candidate quote="" cut="" i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if ((i > 0)) && [[ "$word" == "=" || "${COMP_WORDS[i-1]}" == "=" ]]; then
      words[${#words[@]}-1]+="$word"
    else
      words+=("$word")
    fi
  done
  word="${words[${#words[@]}-1]}"
  [[ "$word" == *=* && "$word" == -* ]] && cut="${word%%=*}="
  word="${word#"$cut"}"
  [[ "$word" == [\"\']* ]] && quote="${word:0:1}" && word="${word:1}"
  words[${#words[@]}-1]="$cut$word"
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate="${candidate#"$cut"}"
    [[ -z "$quote" ]] && printf -v candidate %q "$candidate"
    COMPREPLY+=("$candidate")
  done < <("${words[@]}" --generate-bash-completion 2>/dev/null)
}
complete -o default -F _kolla kolla
`
	zshCompletion = `#compdef kolla
# Zsh completion for kolla. Load it with: source <(kolla completion zsh)
_kolla() {
  local -a before candidates
  before=("${(@Q)words[1,CURRENT]}")
  candidates=("${(@f)$("${before[@]}" --generate-bash-completion 2>/dev/null)}")
  candidates=(${candidates:#})
  (($#candidates)) && compadd -a candidates || _files
}
compdef _kolla kolla
`
	fishCompletion = `# Fish completion for kolla.
function __kolla_candidates
  set -l words (commandline -opc) (string trim --left --chars='"\'' -- (commandline -ct))
  $words --generate-bash-completion 2>/dev/null
end
complete -c kolla -a '(__kolla_candidates)'
`
)

func completionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "Print a completion script for a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `
For this shell only:   source <(kolla completion bash)
For every fish shell:  kolla completion fish > ~/.config/fish/completions/kolla.fish

Commands and options are completed, and the addresses after -target, -exclude, -replace,
state show and state list. The addresses come from the configuration and the state; no
cluster is asked.`,
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
			shell := c.Args().First()
			if scripts[shell] == "" {
				return failure.New(fmt.Sprintf("No completion for the shell %q", shell), "There is one for bash, zsh and fish: kolla completion bash")
			}
			fmt.Fprint(s.out, scripts[shell])
			return nil
		},
	}
}

// complete prints what may stand in the place of the last word, one a line. It is silent
// about everything that is wrong.
func (s streams) complete(app *cli.App, words []string) {
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
			fmt.Fprintln(s.out, foreign.Line(candidate))
		}
	}
}

// typed is a command line as far as it is typed.
type typed struct {
	path     []string // of the command: "state", "show"
	flags    []cli.Flag
	commands []*cli.Command // that may follow
	option   string         // whose value is next; empty: none
	started  bool           // an argument of the command is there already
	dir      string         // of -chdir
	state    string         // file
}

// readLine takes in the words before the current one.
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

// take notes the value of an option that says where things are.
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

// candidates are what may stand in the place of the current word, in order.
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
	case "state list":
		return knownAddresses(t.state).offered(current, true)
	case "state show":
		if !t.started {
			return knownAddresses(t.state).offered(current, false)
		}
	}
	return out
}

// options are those of the command, with one dash; with two, if two are typed.
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

// values are what an option may be given.
func (t *typed) values(option, current string) []string {
	if !takesValue(t.flags, option) {
		return nil
	}
	switch option {
	case "target", "exclude":
		return t.addresses().offered(current, true)
	case "replace":
		return t.addresses().offered(current, false)
	}
	return nil
}

// addressBook has the addresses of blocks, and of objects.
type addressBook struct{ blocks, objects []string }

// addresses are those of the configuration and the state.
func (t *typed) addresses() addressBook {
	declared, known := declaredAddresses(), knownAddresses(t.state)
	return addressBook{slices.Concat(declared.blocks, known.blocks), slices.Concat(declared.objects, known.objects)}
}

// declaredAddresses are those of the configuration in the working directory, as far as
// they are known without values for variables and without a cluster.
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

// knownAddresses are those of the state.
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

// add notes an object, its block, and the modules that this is in.
func (a *addressBook) add(address addrs.Object) {
	a.objects = append(a.objects, address.String())
	if n := len(a.blocks); n == 0 || a.blocks[n-1] != address.Block {
		a.blocks = append(append(a.blocks, modulesOf(address.Block)...), address.Block)
	}
}

// modulesOf are the modules that a block is in, from the outside: of
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

// offered are the addresses for a word: blocks if they are wanted, and their objects where
// they are not, or the word says which block.
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
