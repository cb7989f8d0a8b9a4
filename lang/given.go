package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Names of the files that give values to variables without being named on the
// command line.
const (
	varsFile      = "kolla.vars.hcl"
	autoExtension = ".auto.vars.hcl"
	environPrefix = "KOLLA_VAR_"
)

// given is the value that a source gives to a variable: the later source wins.
type given struct {
	text   string         // from -var, the environment, a prompt
	expr   hcl.Expression // from a file
	at     hcl.Range      // of the name there
	source string         // for messages: "-var", "KOLLA_VAR_x", a position
}

// giveAll goes through the sources, the weakest first.
func (l *loader) giveAll(declared []*variable) {
	byName := map[string]*variable{}
	for _, v := range declared {
		byName[v.Name] = v
	}
	for _, entry := range l.options.Environ {
		name, text, _ := strings.Cut(entry, "=")
		if v := byName[strings.TrimPrefix(name, environPrefix)]; v != nil && strings.HasPrefix(name, environPrefix) {
			v.given = &given{text: text, source: name}
		}
	}
	for _, name := range l.autoVarFiles() {
		l.giveFile(byName, name)
	}
	for _, option := range l.options.Vars {
		if option.File != "" {
			l.giveFile(byName, option.File)
		} else {
			l.giveAssignment(byName, option.Assignment)
		}
	}
	l.reportStrays(byName)
	for _, name := range l.strayNames {
		l.misnamed(byName, name)
	}
	l.notRead(byName)
}

// notRead warns of values that are where Terraform looks for them, of variables that
// nothing gives a value.
func (l *loader) notRead(byName map[string]*variable) {
	missed := func(name string) bool { return byName[name] != nil && byName[name].given == nil }
	for _, entry := range l.options.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if variable, ok := strings.CutPrefix(name, "TF_VAR_"); ok && missed(variable) {
			l.report.AlertPlain("Value not read", fmt.Sprintf("kolla does not read %s, which Terraform would. The value of the variable %q comes from %s%s.", name, variable, environPrefix, variable))
		}
	}
	entries, err := os.ReadDir(l.dir)
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
		names := slices.DeleteFunc(valuesIn(filepath.Join(l.dir, entry.Name())), func(name string) bool { return !missed(name) })
		if len(names) > 0 {
			l.report.AlertPlain("Values not read", fmt.Sprintf("kolla does not read %s, which Terraform would. It has values for: %s. Rename it to %s, or give -var-file=%s.", entry.Name(), words.Sorted(names), reads, entry.Name()))
		}
	}
}

// valuesIn are the names of what a file gives values to, as far as it can be read.
func valuesIn(name string) []string {
	source, err := syntax.Read(name)
	if err != nil {
		return nil
	}
	files, _ := syntax.Parse(name, source)
	attributes, _ := files[name].Body.JustAttributes()
	return keysOf(attributes)
}

// giveAssignment takes the value that a -var gives.
func (l *loader) giveAssignment(byName map[string]*variable, assignment string) {
	name, text, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	v := byName[name]
	switch {
	case !ok:
		l.report.ErrorPlain("Unsuitable -var", fmt.Sprintf("%q gives no value. Write -var 'NAME=VALUE'.", name))
	case v == nil:
		l.strayNames = append(l.strayNames, name)
		l.report.ErrorPlain(fmt.Sprintf("There is no variable %q", name),
			words.WithHint(words.DidYouMean(name, keysOf(byName)), fmt.Sprintf("-var gives it a value, but no variable block declares it. %s", words.Known("variable", keysOf(byName)))))
	default:
		v.given = &given{text: text, source: "-var"}
	}
}

// autoVarFiles are the files of the directory that give values by themselves.
func (l *loader) autoVarFiles() []string {
	var names []string
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil // it was read before
	}
	all := source.Names(entries)
	for _, name := range []string{varsFile, varsFile + ".json"} {
		if slices.Contains(all, name) {
			names = append(names, filepath.Join(l.dir, name))
		}
	}
	for _, name := range all {
		if stem := strings.TrimSuffix(name, ".json"); strings.HasSuffix(stem, autoExtension) {
			names = append(names, filepath.Join(l.dir, name))
		}
	}
	return names
}

func (l *loader) giveFile(byName map[string]*variable, name string) {
	content, err := syntax.Read(name)
	if err != nil {
		l.varsBroken = true
		l.report.ErrorPlain("Cannot read a file with values", fmt.Sprintf("The values of variables should come from %s: %s.", name, source.Cause(err)))
		return
	}
	body, ok := l.sources.Keep(syntax.ParseHidden(name, content))
	// A file with values may hold secrets: diagnostics name it and do not quote it.
	delete(l.config.Files, name)
	if !ok {
		l.varsBroken = true
		return
	}
	var strays []*hclsyntax.Attribute
	attributes, blocks := source.Arguments(l.report, body)
	for _, at := range blocks {
		l.report.Error(at, "Unexpected block", "A file with values for variables holds only `NAME = VALUE`. Blocks belong into another .hcl file.")
	}
	for _, key := range keysOf(attributes) {
		attr := attributes[key]
		v := byName[key]
		if v == nil {
			strays = append(strays, attr)
			continue
		}
		v.given = &given{expr: attr.Expr, at: attr.NameRange, source: diag.Position(attr.NameRange)}
	}
	l.strays = append(l.strays, strays...)
}

// reportStrays is about values in files for variables that there are not. Such a file
// may be for several configurations; where a variable has no value otherwise, its name
// is probably misspelt.
func (l *loader) reportStrays(byName map[string]*variable) {
	for _, attr := range l.strays {
		summary := fmt.Sprintf("There is no variable %q", attr.Name)
		detail := words.WithHint(words.DidYouMean(attr.Name, keysOf(byName)), "The value is given here, but no variable block declares it.")
		if l.misnamed(byName, attr.Name) {
			l.report.Error(attr.NameRange, summary, "%s", detail)
		} else {
			l.report.Alert(attr.NameRange, summary, "%s", detail)
		}
	}
}

// misnamed reports whether a value for a variable that there is not was probably meant
// for one that has none.
func (l *loader) misnamed(byName map[string]*variable, name string) bool {
	v := byName[words.Nearest(name, keysOf(byName))]
	if v == nil || v.given != nil || v.fallback != cty.NilVal {
		return false
	}
	v.broken = true
	return true
}
