package openstack_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/providers/openstack"
)

// unsetCases returns directories with valid configurations, and the catalogue of each.
func unsetCases(t *testing.T) map[string]fs.FS {
	t.Helper()
	out := map[string]fs.FS{}
	for _, pattern := range []string{"testdata/*/cloud.hcl", "../../lang/testdata/config/*/*.hcl"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, file := range files {
			dir := filepath.Dir(file)
			out[dir] = openstack.Catalogue()
			if strings.HasPrefix(pattern, "../../lang") && filepath.Base(dir) != "sample" {
				out[dir] = os.DirFS("../../lang/testdata/catalogue")
			}
		}
	}
	return out
}

// TestUnset replaces each argument, and each part of maps and lists, by a variable without a value,
// one at a time. A valid configuration must stay valid: the value is not known, so no check can
// reject it.
func TestUnset(t *testing.T) {
	for dir, catalogue := range unsetCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			u := unset{dir: t.TempDir(), options: lang.Options{Catalogue: catalogue, Unset: true}, complaints: map[string]bool{}}
			if err := os.CopyFS(u.dir, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			u.declare(t)
			if _, diags := lang.Load(u.dir, u.options); diags.HasErrors() {
				t.Fatal(diags)
			}
			u.before = u.complaintsNow()
			for name, source := range u.files {
				for i, p := range u.places(t, name, source) {
					if testing.Short() && i%16 > 0 {
						continue
					}
					u.try(t, name, source, p)
				}
			}
		})
	}
}

// unset is a copy of a configuration. One place of it is changed at a time.
type unset struct {
	dir        string
	options    lang.Options
	files      map[string]string // of the root and of modules, by path
	before     []string          // diagnostics of the unchanged configuration
	complaints map[string]bool
}

// place is the position of a value that can be an expression.
type place struct {
	at   hcl.Range
	what string // "service.ports"
	typ  schema.AttributeType
}

const unsetVariable = "unset_variable"

// declare declares the variable in every module.
func (u *unset) declare(t *testing.T) {
	t.Helper()
	u.files = map[string]string{}
	declared := map[string]bool{}
	err := filepath.WalkDir(u.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hcl" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(source)
		body := parsed(t, path, text)
		for i := len(body.Blocks) - 1; i >= 0; i-- {
			if b := body.Blocks[i]; b.Type == "module" {
				at := b.OpenBraceRange.End.Byte
				text = text[:at] + "\n" + unsetVariable + " = var." + unsetVariable + "\n" + text[at:]
			}
		}
		u.files[path] = text
		declared[filepath.Dir(path)] = true
		return os.WriteFile(path, []byte(text), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range declared {
		if err := os.WriteFile(filepath.Join(dir, "unset.hcl"), []byte("variable \""+unsetVariable+"\" {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func parsed(t *testing.T, path, source string) *hclsyntax.Body {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(source), path, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body.(*hclsyntax.Body)
}

// places returns the places of a file.
func (u *unset) places(t *testing.T, path, source string) []place {
	t.Helper()
	return placesIn(parsed(t, path, source), &schema.BlockType{Blocks: schema.Blocks()})
}

func placesIn(body *hclsyntax.Body, typ *schema.BlockType) []place {
	var out []place
	for name, attr := range body.Attributes {
		p := place{at: attr.Expr.Range(), what: typ.Name + "." + name, typ: schema.TypeAny}
		for _, a := range typ.Attributes {
			if a.Name == name {
				p.typ = a.Type
			}
		}
		if name == unsetVariable || mustBeWritten(p) {
			continue
		}
		out = append(out, p)
		for _, part := range parts(attr.Expr) {
			out = append(out, place{at: part, what: p.what + " (a part)", typ: p.typ})
		}
	}
	for _, b := range body.Blocks {
		if b.Type == "dynamic" {
			out = append(out, placesIn(b.Body, &schema.BlockType{Name: "dynamic", Blocks: []*schema.BlockType{
				{Name: "content", Attributes: within(typ, b.Labels[0]).Attributes, Blocks: within(typ, b.Labels[0]).Blocks},
			}})...)
			continue
		}
		out = append(out, placesIn(b.Body, within(typ, b.Type))...)
	}
	return out
}

func within(typ *schema.BlockType, name string) *schema.BlockType {
	for _, b := range typ.Blocks {
		if b.Name == name {
			return b
		}
	}
	return &schema.BlockType{Name: name}
}

// parts returns the values in a map or list, at any depth.
func parts(expr hclsyntax.Expression) []hcl.Range {
	var inner []hclsyntax.Expression
	switch expr := expr.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range expr.Items {
			inner = append(inner, item.ValueExpr)
		}
	case *hclsyntax.TupleConsExpr:
		inner = expr.Exprs
	}
	var out []hcl.Range
	for _, e := range inner {
		out = append(out, e.Range())
		out = append(out, parts(e)...)
	}
	return out
}

// mustBeWritten reports whether an argument must be a literal, because it is read before any
// expression is evaluated.
func mustBeWritten(p place) bool {
	switch p.typ {
	case schema.TypeLiteral, schema.TypeReferences, schema.TypeConstraint, schema.TypeAddress:
		return true
	}
	if p.what == "service.with" { // the values of the map may be unknown
		return true
	}
	return slices.Contains([]string{"variable.default", "variable.sensitive", "variable.nullable", "dynamic.iterator", "input.default", "input.sensitive", "input.nullable", "config.only"}, strings.TrimSuffix(p.what, " (a part)"))
}

// try checks the configuration with the variable at one place.
func (u *unset) try(t *testing.T, path, source string, p place) {
	t.Helper()
	changed := source[:p.at.Start.Byte] + "var." + unsetVariable + source[p.at.End.Byte:]
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, complaint := range u.complaintsNow() {
		if slices.Contains(u.before, complaint) || u.complaints[p.what+complaint] {
			continue
		}
		u.complaints[p.what+complaint] = true
		t.Errorf("%s:%d: %s (%s): %s", filepath.Base(path), p.at.Start.Line, p.what, p.typ, complaint)
	}
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
}

// complaintsNow returns the errors and warnings about the current configuration.
func (u *unset) complaintsNow() (complaints []string) {
	defer func() {
		if bug := recover(); bug != nil {
			complaints = append(complaints, fmt.Sprintf("panic: %v\n%s", bug, debug.Stack()))
		}
	}()
	config, diags := lang.Load(u.dir, u.options)
	if !diags.HasErrors() {
		_, more := openstack.Check(config, openstack.Offline())
		diags = append(diags, more...)
	}
	for _, d := range diags {
		text := d.Summary + ": " + d.Detail
		if !strings.HasPrefix(d.Summary, "Pods weaken") {
			complaints = append(complaints, text)
			continue
		}
		// The warning lists causes. A shorter list is no complaint.
		complaints = append(complaints, weakening.FindAllString(text, -1)...)
	}
	return complaints
}

// weakening matches a cause in the warning of pods that weaken the namespace, without its
// place.
var weakening = regexp.MustCompile(`(?m)^  .*? of \S+ `)
