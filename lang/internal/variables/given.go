package variables

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/syntax"
)

// These files of the directory give values without an option. So does the environment.
const (
	varsFile      = "kolla.vars.hcl"
	autoExtension = ".auto.vars.hcl"
	environPrefix = "KOLLA_VAR_"
)

// given is a value from a source.
type given struct {
	text   string         // from -var, the environment or a person
	expr   hcl.Expression // from a file
	at     hcl.Range      // of the name in the file
	source string         // for messages: "-var", "KOLLA_VAR_x", or a position
}

// giving is one run of Outside.Give.
type giving struct {
	report *diag.Reporter
	from   *Outside
	byName map[string]*Variable
	// unknown are values in files for variables that are not declared, and unknownNames the
	// names of such values on the command line.
	unknown      []*hclsyntax.Attribute
	unknownNames []string
}

// Give notes for each variable which source gives it a value. Later sources win.
func (o *Outside) Give(declared []*Variable) {
	g := &giving{report: o.Constant.Report, from: o, byName: map[string]*Variable{}}
	for _, v := range declared {
		g.byName[v.Name] = v
	}
	for _, entry := range o.Environ {
		name, text, _ := strings.Cut(entry, "=")
		if v := g.byName[strings.TrimPrefix(name, environPrefix)]; v != nil && strings.HasPrefix(name, environPrefix) {
			v.given = &given{text: text, source: name}
		}
	}
	for _, name := range o.autoFiles() {
		g.file(name)
	}
	for _, option := range o.Options {
		if option.File != "" {
			g.file(option.File)
		} else {
			g.assignment(option.Assignment)
		}
	}
	g.reportUnknown()
	for _, name := range g.unknownNames {
		g.misnamed(name)
	}
	g.terraform()
}

// names returns the names of the declared variables, sorted.
func (g *giving) names() []string { return slices.Sorted(maps.Keys(g.byName)) }

// terraform warns of values that Terraform would read and kolla does not, if they belong to
// variables without a value.
func (g *giving) terraform() {
	missed := func(name string) bool { return g.byName[name] != nil && g.byName[name].given == nil }
	for _, entry := range g.from.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if variable, ok := strings.CutPrefix(name, "TF_VAR_"); ok && missed(variable) {
			g.report.Alert(diag.Nowhere, "Value not read", "kolla does not read %s, which Terraform would. The value of the variable %q comes from %s%s.", name, variable, environPrefix, variable)
		}
	}
	entries, err := fs.ReadDir(g.from.FS, g.from.Dir)
	if err != nil {
		return // it was read before
	}
	for _, entry := range entries {
		stem, json := strings.CutSuffix(entry.Name(), ".json")
		reads := varsFile
		if before, auto := strings.CutSuffix(stem, ".auto.tfvars"); auto {
			reads = before + autoExtension
		} else if stem != "terraform.tfvars" {
			continue
		}
		if json {
			reads += ".json"
		}
		names := slices.DeleteFunc(namesIn(g.from.FS, filepath.Join(g.from.Dir, entry.Name())), func(name string) bool { return !missed(name) })
		if len(names) > 0 {
			g.report.Alert(diag.Nowhere, "Values not read", "kolla does not read %s, which Terraform would. It has values for: %s. Rename it to %s, or give -var-file=%s.", entry.Name(), words.Sorted(names), reads, entry.Name())
		}
	}
}

// namesIn returns the names in a file with values. The file may have errors.
func namesIn(fsys fs.FS, name string) []string {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil
	}
	files, _ := syntax.Parse(name, source)
	attributes, _ := files[name].Body.JustAttributes()
	return slices.Sorted(maps.Keys(attributes))
}

// assignment notes the value of an option -var.
func (g *giving) assignment(assignment string) {
	name, text, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	v := g.byName[name]
	switch {
	case !ok:
		g.report.Error(diag.Nowhere, "Unsuitable -var", "%q gives no value. Write -var 'NAME=VALUE'.", name)
	case v == nil:
		g.unknownNames = append(g.unknownNames, name)
		g.report.Error(diag.Nowhere, fmt.Sprintf("There is no variable %q", name), "%s",
			words.WithHint(words.DidYouMean(name, g.names()), fmt.Sprintf("-var gives it a value, but no variable block declares it. %s", words.Known("variable", g.names()))))
	default:
		v.given = &given{text: text, source: "-var"}
	}
}

// autoFiles returns the files of the directory that give values without an option.
func (o *Outside) autoFiles() []string {
	var names []string
	entries, err := fs.ReadDir(o.FS, o.Dir)
	if err != nil {
		return nil // it was read before
	}
	for _, name := range AutoFiles(source.Names(entries)) {
		names = append(names, filepath.Join(o.Dir, name))
	}
	return names
}

// AutoFiles returns the names of files that give values to variables without an option, the
// weakest first. The given names are sorted.
func AutoFiles(names []string) []string {
	var out []string
	for _, name := range []string{varsFile, varsFile + ".json"} {
		if slices.Contains(names, name) {
			out = append(out, name)
		}
	}
	for _, name := range names {
		if stem := strings.TrimSuffix(name, ".json"); strings.HasSuffix(stem, autoExtension) {
			out = append(out, name)
		}
	}
	return out
}

// file notes the values in a file. The file may hold secrets, so diagnostics do not quote it.
func (g *giving) file(name string) {
	content, err := fs.ReadFile(g.from.FS, name)
	if errors.Is(err, fs.ErrNotExist) { // it is not part of the configuration
		content, err = syntax.Read(name)
	}
	if err != nil {
		g.from.broken = true
		g.report.Error(diag.Nowhere, "Cannot read a file with values", "The values of variables should come from %s: %s.", name, files.Cause(err))
		return
	}
	body, ok := g.from.Keep(syntax.ParseHidden(name, content))
	g.from.Hide(name)
	if !ok {
		g.from.broken = true
		return
	}
	attributes, blocks := source.Arguments(g.report, body)
	for _, at := range blocks {
		g.report.Error(at, "Unexpected block", "A file with values for variables holds only `NAME = VALUE`. Blocks belong into another .hcl file.")
	}
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		attr := attributes[key]
		v := g.byName[key]
		if v == nil {
			g.unknown = append(g.unknown, attr)
			continue
		}
		v.given = &given{expr: attr.Expr, at: attr.NameRange, source: diag.Position(attr.NameRange)}
	}
}

// reportUnknown reports values in files for variables that are not declared. Several
// configurations can share a file, so this is a warning, unless a declared variable has
// nearly the same name and no value.
func (g *giving) reportUnknown() {
	for _, attr := range g.unknown {
		summary := fmt.Sprintf("There is no variable %q", attr.Name)
		detail := words.WithHint(words.DidYouMean(attr.Name, g.names()), "The value is given here, but no variable block declares it.")
		if g.misnamed(attr.Name) {
			g.report.Error(attr.NameRange, summary, "%s", detail)
		} else {
			g.report.Alert(attr.NameRange, summary, "%s", detail)
		}
	}
}

// misnamed reports whether a value for an undeclared variable was probably meant for a
// declared one without a value. Nothing more is reported about that variable.
func (g *giving) misnamed(name string) bool {
	v := g.byName[words.Nearest(name, g.names())]
	if v == nil || v.given != nil || v.HasDefault() {
		return false
	}
	v.broken = true
	return true
}
