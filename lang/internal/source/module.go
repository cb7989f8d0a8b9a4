package source

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/schema"
)

// Module is a directory as it is written: the root of the configuration, or the directory of
// a module block. Two blocks with the same directory make two modules.
type Module struct {
	Name     string    // label of the block; empty for the root
	Dir      string    // of its files
	Parent   *Module   // nil for the root
	Call     *Block    // the module block; nil for the root
	Document *Block    // all blocks of all files
	Calls    []*Module // the modules that it uses
}

// Path returns the start of the addresses of everything in the module, without keys:
// "module.edge.".
func (m *Module) Path() string {
	if m.Parent == nil {
		return ""
	}
	return m.Parent.Path() + "module." + m.Name + "."
}

// Described names the module at the start of a sentence.
func (m *Module) Described() string {
	if m.Parent == nil {
		return "The configuration"
	}
	return "Module " + strings.TrimSuffix(m.Path()[len("module."):], ".")
}

// modules reads the directories that the module blocks of a module name, and those that they
// use in turn.
func (r *Reader) modules(m *Module) bool {
	ok := true
	for _, b := range m.Document.All("module") {
		if !r.Report.Spend(diag.Modules, 1, b.Header, "Too many modules", "A configuration may have at most %d module blocks, those in the modules that it uses counted each time. For many uses of one module, give one block for_each or count.") {
			return false
		}
		dir, found := r.sourceDir(m, b)
		var document *Block
		if found {
			document, found = r.directory(dir, b)
		}
		ok = ok && found
		if document == nil {
			continue
		}
		child := &Module{Name: b.Label, Dir: dir, Parent: m, Call: b, Document: document}
		if found {
			r.checkModule(child)
		}
		m.Calls = append(m.Calls, child)
		ok = r.modules(child) && ok
	}
	return ok
}

// sourceDir returns the directory that a module block names.
func (r *Reader) sourceDir(m *Module, b *Block) (string, bool) {
	if b.Attributes["source"] == nil {
		return "", false
	}
	given := r.Literal(b, "source")
	if given == "" {
		return "", false
	}
	slashed := filepath.ToSlash(given)
	if !strings.HasPrefix(slashed, "./") && !strings.HasPrefix(slashed, "../") && slashed != ".." {
		r.Report.Error(b.AttributeRange("source"), "Not a local directory", "%q does not start with ./ or ../. A module is a directory beside the configuration; what comes from elsewhere has to be put there first, with git for instance.", given)
		return "", false
	}
	dir := filepath.Join(m.Dir, given)
	for outer := m; outer != nil; outer = outer.Parent {
		if sameDir(outer.Dir, dir) {
			r.Report.Error(b.AttributeRange("source"), "Module uses itself", "%s is the directory %q already: it would be used without end.", outer.Described(), outer.Dir)
			return "", false
		}
	}
	return dir, true
}

func sameDir(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// onlyInRoot are the types of blocks that concern the whole cloud.
var onlyInRoot = []string{"cloud", "import", "policy"}

// checkModule reports blocks that may not stand in a module, and arguments of the module
// block that are for no variable.
func (r *Reader) checkModule(m *Module) {
	for _, kind := range onlyInRoot {
		for _, b := range m.Document.All(kind) {
			r.Report.Error(b.Header, "Block in a module", "%s belongs into the files of the configuration itself: what it says is for the whole cloud.", b.Described())
		}
	}
	known := m.Document.Labels("variable")
	for _, attr := range m.Call.Ordered() {
		if schema.ModuleType.Attribute(attr.Name) == nil && !slices.Contains(known, attr.Name) {
			r.Report.Error(attr.NameRange, fmt.Sprintf("There is no variable %q", attr.Name), "%s", words.WithHint(words.DidYouMean(attr.Name, append(known, schema.ModuleType.AttributeNames()...)),
				fmt.Sprintf("The module in %q declares: %s.", m.Dir, words.Sorted(known))))
		}
	}
}

// Misspelt reports whether an argument of the module block that is for no variable is
// probably meant for this one.
func (m *Module) Misspelt(variable string) bool {
	known := append(m.Document.Labels("variable"), schema.ModuleType.AttributeNames()...)
	return slices.ContainsFunc(m.Call.Ordered(), func(attr *hclsyntax.Attribute) bool {
		return !slices.Contains(known, attr.Name) && words.Nearest(attr.Name, known) == variable
	})
}
