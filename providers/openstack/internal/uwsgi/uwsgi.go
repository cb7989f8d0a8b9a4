// Package uwsgi checks how uWSGI runs the APIs of services.
package uwsgi

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
)

// safe has the modules whose processes may answer several requests at once, with the deployment
// by their own project that shows it. Keystone keeps the caller's token where all threads of a
// process find it, and answers one caller with the rights of another. Nova up to 2025.2 replaces
// the locks of Python by those of eventlet, which hang with native threads. kolla-ansible,
// openstack-helm, atmosphere and genestack run all modules of the catalogue with one thread.
var safe = map[string]string{
	"gnocchi.rest.wsgi": "its own command gnocchi-api starts it with as many threads as processors",
}

// concurrent are the options of uWSGI with which a process answers several requests at once.
var concurrent = []string{"threads", "async", "gevent", "asyncio", "tornado"}

// Check refuses processes that answer several requests at once, for modules that are not known
// to stand that.
func Check(config *configs.Config) hcl.Diagnostics {
	c := checker{}
	for i := range config.Services {
		c.service(&config.Services[i])
	}
	return c.diags
}

type checker struct {
	diags hcl.Diagnostics
	said  map[hcl.Range]bool // instances of a service and patterns share the places of values
}

// setting is the value of an option of concurrent.
type setting struct {
	name  string // for people
	value string
	at    hcl.Range
}

func (c *checker) service(s *configs.Service) {
	var modules []string
	for i := range s.Configs {
		own, settings := read(&s.Configs[i])
		modules = append(modules, own...)
		c.settings(own, settings)
	}
	// Options of the command line and of the environment count beside those of the files.
	for _, w := range s.Workloads {
		own, settings := started(w)
		c.settings(append(own, modules...), settings)
	}
}

// settings refuses settings, unless all modules are safe.
func (c *checker) settings(modules []string, settings []setting) {
	if len(modules) > 0 && !slices.ContainsFunc(modules, func(m string) bool { return safe[m] == "" }) {
		return
	}
	for _, s := range settings {
		if n, err := strconv.Atoi(s.value); err == nil && n <= 1 || c.said[s.at] {
			continue
		}
		if c.said == nil {
			c.said = map[hcl.Range]bool{}
		}
		c.said[s.at] = true
		var known []string
		for _, module := range slices.Sorted(maps.Keys(safe)) {
			known = append(known, fmt.Sprintf("%s (%s)", module, safe[module]))
		}
		c.diags = append(c.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Several requests at once in one process",
			Detail: fmt.Sprintf("%s is %s, so a process answers several requests at once. Most APIs of OpenStack do not stand that: Keystone answers one user with the rights of another, and Nova hangs. Write 1, and more processes. kolla accepts more only for %s.",
				s.name, s.value, strings.Join(known, ", ")),
			Subject: &s.at,
		})
	}
}

// section finds the settings of uWSGI in a raw file.
var section = regexp.MustCompile(`(?m)^[ \t]*([a-z-]+)[ \t]*[=:][ \t]*(.*?)[ \t\r]*$`)

// read returns the modules that a config file names, and its settings.
func read(f *configs.ConfigFile) (modules []string, settings []setting) {
	take := func(key, value string, at hcl.Range) {
		switch {
		case slices.Contains(concurrent, key):
			settings = append(settings, setting{fmt.Sprintf("[uwsgi] %s of %s", key, f.Name), value, at})
		case names(key):
			modules = append(modules, module(value))
		}
	}
	for _, o := range f.Options {
		if o.Section != "uwsgi" {
			continue
		}
		for _, value := range o.Values {
			if len(value.Deferred()) == 0 { // else a later plan knows it
				take(o.Key, value.Masked(), o.Origin.Range)
			}
		}
	}
	if text := f.Content.Masked(); strings.Contains(text, "[uwsgi]") || strings.Contains(text, "uwsgi:") {
		at := f.Origin.Range
		if at.Filename == "" {
			at = f.Range
		}
		for _, match := range section.FindAllStringSubmatch(text, -1) {
			take(match[1], match[2], at)
		}
	}
	return modules, settings
}

// started returns the modules and the settings in the command and the environment of a workload.
func started(w configs.Workload) (modules []string, settings []setting) {
	words := strings.Fields(strings.Join(slices.Concat(w.Pod.Command, w.Pod.Args), " "))
	var args []string
	if i := slices.IndexFunc(words, func(word string) bool { return path.Base(word) == "uwsgi" }); i >= 0 {
		args = words[i+1:]
	}
	for i, arg := range args {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case !strings.HasPrefix(arg, "-"):
		case slices.Contains(concurrent, name):
			settings = append(settings, setting{fmt.Sprintf("--%s of workload %q", name, w.Name), value, w.Range})
		case names(name) || name == "w":
			modules = append(modules, module(value))
		}
	}
	for _, e := range w.Pod.Env {
		if name, ok := strings.CutPrefix(e.Name, "UWSGI_"); ok && slices.Contains(concurrent, strings.ToLower(name)) && len(e.Value.Deferred()) == 0 {
			settings = append(settings, setting{fmt.Sprintf("%s of workload %q", e.Name, w.Name), e.Value.Masked(), e.Range})
		}
	}
	return modules, settings
}

// names reports whether an option of uWSGI names the module.
func names(option string) bool {
	return slices.Contains([]string{"module", "wsgi", "wsgi-file", "file", "mount"}, option)
}

// module returns the module of an option such as "keystone.wsgi.api:application".
func module(value string) string {
	name, _, _ := strings.Cut(value, ":")
	return name
}
