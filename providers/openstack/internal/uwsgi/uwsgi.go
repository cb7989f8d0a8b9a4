// Package uwsgi checks how uWSGI runs the APIs of services.
package uwsgi

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang/configs"
)

// safe has the modules whose processes may answer several requests at once, with the deployment
// by their own project that shows it. Keystone keeps the caller's token where all threads of a
// process find it, and answers one caller with the rights of another. Nova up to 2025.2 replaces
// the locks of Python by those of eventlet, which hang with native threads. kolla-ansible,
// openstack-helm, atmosphere and genestack run all modules of the catalogue with one thread.
var safe = map[string]string{
	"gnocchi.rest.wsgi": "Gnocchi's command gnocchi-api starts it with as many threads as processors",
	"gnocchi.wsgi.api":  "the same application, by its newer name",
	"gnocchi-api":       "the same application, as a script",
}

// concurrent are the options of uWSGI with which a process answers several requests at once.
var concurrent = []string{"threads", "async", "gevent", "asyncio", "tornado"}

// Check refuses processes that answer several requests at once, unless their modules are known to
// support that. It reads the config files, commands, environments and patches of services. It does
// not read manifests, or the scripts and files of images.
func Check(config *configs.Config) hcl.Diagnostics {
	c := checker{said: map[hcl.Range]bool{}}
	for i := range config.Services {
		c.service(&config.Services[i])
	}
	return c.diags
}

type checker struct {
	diags hcl.Diagnostics
	said  map[hcl.Range]bool // instances of a service and patterns share the places of values
}

// found has the options of a service that matter for Check.
type found struct {
	modules  []string
	settings []setting
}

// setting is the value of an option of concurrent.
type setting struct {
	name   string // for people
	value  string
	secret bool
	at     hcl.Range
}

func (c *checker) service(s *configs.Service) {
	var f found
	// Sections of files that a command or another section names.
	sections := []string{"uwsgi"}
	containers := containersOf(s)
	for _, k := range containers {
		sections = append(sections, f.command(k)...)
	}
	for i := range s.Configs {
		f.file(&s.Configs[i], sections)
	}
	if len(f.modules) > 0 && !slices.ContainsFunc(f.modules, func(m string) bool { return safe[m] == "" }) {
		return
	}
	for _, found := range f.settings {
		if !found.several() || c.said[found.at] {
			continue
		}
		c.said[found.at] = true
		value := found.value
		if found.secret {
			value = "(sensitive)"
		}
		c.diags = append(c.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Several requests at once in one process",
			Detail: fmt.Sprintf("%s is %q. A process would answer several requests at once, and most APIs of OpenStack do not stand that: Keystone answers one user with the rights of another, and Nova hangs. Write 1, and more processes. Modules that may have more: %s.",
				found.name, value, strings.Join(slices.Sorted(maps.Keys(safe)), ", ")),
			Subject: &found.at,
		})
	}
}

// several reports whether the value lets a process answer several requests. uWSGI reads the number
// at the beginning of a value, and replaces some placeholders.
func (s setting) several() bool {
	if strings.ContainsAny(s.value, "$%@`") {
		return true
	}
	digits := strings.TrimPrefix(strings.TrimSpace(s.value), "+")
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, err := strconv.Atoi(digits)
	return err == nil && n > 1 || err != nil && digits != ""
}

// option takes an option of uWSGI, and returns the section of another file that it names.
func (f *found) option(key string, s setting) (section string) {
	switch {
	case key == "set" || key == "S":
		inner, value, _ := strings.Cut(s.value, "=")
		s.name, s.value = s.name+" "+inner, value
		return f.option(inner, s)
	case slices.Contains(concurrent, key):
		f.settings = append(f.settings, s)
	case slices.Contains([]string{"module", "wsgi", "wsgi-file", "w", "file", "mount"}, key):
		where, module, ok := strings.Cut(s.value, "=") // of mount
		if !ok {
			module = where
		}
		module, _, _ = strings.Cut(module, ":")
		f.modules = append(f.modules, path.Base(module))
	case slices.Contains([]string{"ini", "yaml", "json", "include", "inherit"}, key):
		_, section, _ = strings.Cut(s.value, ":")
	}
	return section
}

// file takes the options of a config file, in the sections that uWSGI reads.
func (f *found) file(file *configs.ConfigFile, sections []string) {
	take := func(section, key, value string, secret bool, at hcl.Range) (named string) {
		return f.option(key, setting{fmt.Sprintf("[%s] %s of %s", section, key, file.Name), value, secret, at})
	}
	options, at := slices.Clip(file.Options), file.Origin.Range
	if at.Filename == "" {
		at = file.Range
	}
	for _, p := range parsed(file) {
		options = append(options, configs.Option{Section: p.section, Key: p.key, Values: []configs.Text{configs.Plain(p.value)}, Origin: configs.Origin{Range: at}})
	}
	seen := map[string]bool{}
	for sections = slices.Clone(sections); len(sections) > 0; sections = sections[1:] {
		if sections[0] == "" || seen[sections[0]] {
			continue
		}
		seen[sections[0]] = true
		for _, o := range options {
			if o.Section != sections[0] {
				continue
			}
			for _, text := range o.Values {
				if len(text.Deferred()) > 0 {
					continue // a later plan knows it
				}
				// uWSGI has no continuation lines: each line is an option.
				lines := strings.Split(text.Literal(), "\n")
				named := []string{take(o.Section, o.Key, lines[0], text.Secret(), o.Origin.Range)}
				for _, line := range lines[1:] {
					key, value, _ := strings.Cut(line, "=")
					named = append(named, take(o.Section, strings.TrimSpace(key), strings.TrimSpace(value), text.Secret(), o.Origin.Range))
				}
				sections = append(sections, named...)
			}
		}
	}
}

// option is one option in a raw file.
type option struct{ section, key, value string }

// parsed returns the options of a raw file of uWSGI: YAML, JSON or INI.
func parsed(file *configs.ConfigFile) []option {
	content := file.Content.Literal()
	if !slices.ContainsFunc(concurrent, func(name string) bool { return strings.Contains(content, name) }) {
		return nil
	}
	var out []option
	var document map[string]any
	if yaml.Unmarshal([]byte(content), &document) == nil {
		for section, options := range document {
			lists, _ := options.([]any) // of maps with one key
			for _, one := range append(lists, options) {
				options, _ := one.(map[string]any)
				for key, value := range options {
					values, ok := value.([]any) // of an option that is repeated
					if !ok {
						values = []any{value}
					}
					for _, value := range values {
						out = append(out, option{section, key, text(value)})
					}
				}
			}
		}
		return out
	}
	section := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		case ok && !strings.HasPrefix(line, ";") && !strings.HasPrefix(line, "#"):
			out = append(out, option{section, strings.TrimSpace(key), strings.TrimSpace(value)})
		}
	}
	return out
}

// text returns a value of a document as uWSGI reads it.
func text(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// container is a container of a service, or a part of one in a patch.
type container struct {
	name  string // for people
	short string // in the pod
	args  []string
	env   []configs.Env
	at    hcl.Range
}

// containersOf returns the containers of a service.
func containersOf(s *configs.Service) []container {
	var out []container
	for _, w := range s.Workloads {
		at := w.Range
		if at.Filename == "" {
			at = s.Range
		}
		out = append(out, container{fmt.Sprintf("workload %q", w.Name), w.Name, slices.Concat(w.Pod.Command, w.Pod.Args), w.Pod.Env, at})
		for _, init := range w.Pod.Inits {
			out = append(out, container{fmt.Sprintf("%q of workload %q", init.Name, w.Name), init.Name, slices.Concat(init.Command, init.Args), init.Env, at})
		}
	}
	for _, p := range s.Patches {
		for _, k := range patched(p.Object, p.Range) {
			// A patch may contain options without the program that they are for.
			of := slices.IndexFunc(out, func(c container) bool { return c.short == k.short })
			if !slices.ContainsFunc(k.args, isUWSGI) && of >= 0 && len(out[of].args) > 0 {
				k.args = append([]string{strings.Join(out[of].args, " ")}, k.args...)
			}
			out = append(out, k)
		}
	}
	return out
}

// patched returns the containers of a patch, at any depth.
func patched(part any, at hcl.Range) []container {
	var out []container
	switch part := part.(type) {
	case map[string]any:
		short, _ := part["name"].(string)
		k := container{name: "a patch", short: short, at: at}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			value := part[key]
			list, _ := value.([]any)
			for _, one := range list {
				text, isText := one.(string)
				variable, _ := one.(map[string]any)
				name, _ := variable["name"].(string)
				set, _ := variable["value"].(string)
				switch {
				case isText && (key == "command" || key == "args"):
					k.args = append(k.args, text)
				case key == "env":
					k.env = append(k.env, configs.Env{Name: name, Value: configs.Plain(set), Range: at})
				}
			}
			out = append(out, patched(value, at)...)
		}
		if len(k.args) > 0 || len(k.env) > 0 {
			out = append(out, k)
		}
	case []any:
		for _, one := range part {
			out = append(out, patched(one, at)...)
		}
	}
	return out
}

// isUWSGI reports whether a word of a command is uWSGI, or Debian's program for a language.
func isUWSGI(word string) bool {
	name := path.Base(word)
	return name == "uwsgi" || name == "uwsgi-core" || strings.HasPrefix(name, "uwsgi_")
}

// command takes the options in the command and the environment of a container, and returns the
// sections of files that they name.
func (f *found) command(k container) (sections []string) {
	quotes := strings.NewReplacer("'", "", `"`, "")
	words := strings.Fields(quotes.Replace(strings.Join(k.args, "\n")))
	program := slices.IndexFunc(words, isUWSGI)
	if program < 0 {
		return nil // the environment is of another program
	}
	for _, word := range words[:program] {
		if name, value, ok := strings.Cut(word, "="); ok {
			k.env = append(slices.Clip(k.env), configs.Env{Name: name, Value: configs.Plain(value), Range: k.at})
		}
	}
	args := words[program+1:]
	for i, arg := range args {
		key, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		sections = append(sections, f.option(key, setting{fmt.Sprintf("--%s of %s", key, k.name), value, false, k.at}))
	}
	for _, e := range k.env {
		if key, ok := strings.CutPrefix(e.Name, "UWSGI_"); ok && len(e.Value.Deferred()) == 0 {
			key = strings.ReplaceAll(strings.ToLower(key), "_", "-")
			sections = append(sections, f.option(key, setting{fmt.Sprintf("%s of %s", e.Name, k.name), e.Value.Literal(), e.Value.Secret(), e.Range}))
		}
	}
	return sections
}
