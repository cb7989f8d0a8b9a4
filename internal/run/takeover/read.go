package takeover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
)

// Sources are the names of the files and directories to read.
type Sources struct {
	Inventory, Globals, Passwords string
	// Config is the directory with overrides (node_custom_config), Certificates that of haproxy.pem.
	// If they are empty, those beside Globals are read if they exist.
	Config, Certificates string
}

// Input is what the files say.
type Input struct {
	Inventory *ansible.Inventory
	// Extra are the variables that win over those of the inventory: globals.yml, then passwords.yml, then
	// the files of globals.d.
	Extra       ansible.Variables
	GlobalsName string
	ConfigName  string
	Config      map[string][]byte // the files with overrides, by their paths with slashes
	Certificate []byte            // haproxy.pem
	Copies      map[string][]byte // files of the configuration that are copies
}

// Limits of the files.
const (
	maxFile  = 4 << 20
	maxFiles = 2_000
)

// notSecret matches names of variables that look like those of passwords and are none.
var notSecret = regexp.MustCompile(`^(update_keystone_service_user_passwords|enable_.*|.*_password_file)$`)

// Read reads the files. An error is about a file that cannot be read.
func Read(s Sources) (*Input, hcl.Diagnostics, error) {
	in := &Input{GlobalsName: s.Globals, Config: map[string][]byte{}, Copies: map[string][]byte{}}
	r := &reader{}
	if info, err := os.Stat(s.Inventory); err == nil && info.IsDir() {
		return nil, nil, failure.New("The inventory is a directory", fmt.Sprintf(
			"kolla reads one file. Write the inventory into one: ansible-inventory -i %s --list --yaml > inventory.yml", s.Inventory))
	}
	source := r.read(s.Inventory, "the inventory", "Name it with -inventory=FILE.")
	if r.err == nil {
		var diags hcl.Diagnostics
		in.Inventory, diags = ansible.ReadInventory(s.Inventory, source)
		r.diags = append(r.diags, diags...)
		r.inventoryVars(in.Inventory, filepath.Dir(s.Inventory))
	}
	globals := r.variables(s.Globals, "globals.yml", "Name it with -globals=FILE.", false)
	passwords := r.variables(s.Passwords, "passwords.yml", "Name it with -passwords=FILE.", true)
	in.Extra = passwords.Over(globals)
	for _, name := range globalsD(s.Globals) {
		in.Extra = r.variables(name, "a file of globals.d", "", false).Over(in.Extra)
	}
	beside := filepath.Dir(s.Globals)
	overrides := filepath.Join(beside, "config")
	if v, ok := (ansible.Scope{in.Extra}).Value("node_custom_config"); ok && !v.Unresolved && v.Text != "" {
		if _, err := os.Stat(v.Text); err == nil { // on another machine, a copy is beside globals.yml
			overrides = v.Text
		}
	}
	in.ConfigName = r.directory(s.Config, overrides, in.Config)
	certificates := map[string][]byte{}
	r.directory(s.Certificates, filepath.Join(beside, "certificates"), certificates)
	in.Certificate = certificates["haproxy.pem"]
	return in, r.diags, r.err
}

// globalsD returns the files of globals.d, in their order.
func globalsD(globals string) []string {
	var out []string
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(globals), "globals.d"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if slices.Contains([]string{".yml", ".yaml", ".json"}, filepath.Ext(e.Name())) {
			out = append(out, filepath.Join(filepath.Dir(globals), "globals.d", e.Name()))
		}
	}
	return out
}

// reader reads files until one cannot be read.
type reader struct {
	diags hcl.Diagnostics
	err   error
}

func (r *reader) read(name, what, advice string) []byte {
	if r.err != nil {
		return nil
	}
	content, err := files.Read(name, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.err = failure.New("There is no file "+name, strings.TrimSpace(fmt.Sprintf("It should be %s. %s", what, advice)))
	case err != nil:
		r.err = failure.With(fmt.Errorf("read %s: %w", what, err), "Cannot read "+name, strings.TrimSpace(failure.Sentence(err.Error())+". "+advice))
	}
	return content
}

func (r *reader) variables(name, what, advice string, secret bool) ansible.Variables {
	source := r.read(name, what, advice)
	if r.err != nil {
		return nil
	}
	variables, diags := ansible.ReadVariables(name, source, secret)
	r.diags = append(r.diags, diags...)
	for key, v := range variables {
		if secretName.MatchString(key) && !notSecret.MatchString(key) {
			v.Secret = true
			variables[key] = v
		}
	}
	return variables
}

// inventoryVars adds the variables of group_vars and host_vars beside the inventory.
func (r *reader) inventoryVars(in *ansible.Inventory, dir string) {
	for kind, variables := range map[string]func(name string) *ansible.Variables{
		"group_vars": func(name string) *ansible.Variables {
			if name == "all" && in.Groups[name] == nil {
				in.Groups[name] = &ansible.Group{Name: name, Vars: ansible.Variables{}}
			}
			if g := in.Groups[name]; g != nil {
				return &g.Vars
			}
			return nil
		},
		"host_vars": func(name string) *ansible.Variables {
			if h := in.Hosts[name]; h != nil {
				return &h.Vars
			}
			return nil
		},
	} {
		found := map[string][]byte{}
		r.directory("", filepath.Join(dir, kind), found)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			owner, _, nested := strings.Cut(name, "/")
			if ext := filepath.Ext(name); !slices.Contains([]string{"", ".yml", ".yaml", ".json"}, ext) {
				continue
			} else if !nested {
				owner = strings.TrimSuffix(owner, ext)
			}
			target := variables(owner)
			if target == nil {
				continue
			}
			more, diags := ansible.ReadVariables(filepath.Join(dir, kind, filepath.FromSlash(name)), found[name], false)
			r.diags = append(r.diags, diags...)
			for key, v := range more {
				v.Secret = secretName.MatchString(key) && !notSecret.MatchString(key)
				more[key] = v
			}
			*target = more.Over(*target)
		}
	}
}

// directory reads the files below a directory: the given one, or else another one if it exists. It
// returns the name of the directory that was read.
func (r *reader) directory(given, otherwise string, into map[string][]byte) string {
	dir := cmp.Or(given, otherwise)
	if r.err != nil {
		return dir
	}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != dir && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case len(into) >= maxFiles:
			return failure.New("Too many files in "+dir, fmt.Sprintf("kolla reads at most %d. Name the directory that kolla-ansible reads.", maxFiles))
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		into[filepath.ToSlash(relative)], err = files.Read(name, maxFile)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) && given == "":
	case errors.Is(err, fs.ErrNotExist):
		r.err = failure.New("There is no directory "+dir, "It was named on the command line.")
	case err != nil:
		r.err = err
	}
	return dir
}
