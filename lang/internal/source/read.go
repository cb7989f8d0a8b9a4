package source

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/parallel"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Reader reads the files of one configuration.
type Reader struct {
	// FS has the files of the configuration and of its modules, by the path of their
	// directory and their name. Disk is the usual one.
	FS     fs.FS
	Dir    string // of the configuration
	Report *diag.Reporter
	// Files gets the files that were parsed, for diagnostics to quote.
	Files map[string]*hcl.File
	// Contents gets the source of each file, by its kind and its name: "file cloud.hcl".
	Contents map[string]string
	// Literal is the value of an argument that has to be known before anything is evaluated.
	// It is empty if the value cannot be used, which is reported.
	Literal func(b *Block, argument string) string
}

// Configuration reads the directory of the configuration, and those of its modules. The root
// is nil if there is nothing in the directory. It is not ok if some blocks are missing, so
// that complaints about references would be misleading.
func (r *Reader) Configuration() (root *Module, ok bool) {
	document, ok := r.directory(r.Dir, nil)
	if document == nil {
		return nil, false
	}
	root = &Module{Dir: r.Dir, Document: document}
	return root, r.modules(root) && ok
}

const starter = " `kolla init` writes a starter."

// directory reads all files of a directory. call is the module block that names it, or nil.
// The document is nil if there is nothing. It is not ok if some files cannot be read.
func (r *Reader) directory(dir string, call *Block) (document *Block, ok bool) {
	at := diag.Nowhere
	if call != nil {
		at = call.AttributeRange("source")
	}
	entries, err := fs.ReadDir(r.FS, dir)
	if err != nil {
		r.Report.Error(at, "Cannot read the configuration", "The directory %s: %s.", dir, files.Cause(err))
		return nil, false
	}
	var bodies []hcl.Body
	ok = true
	for _, name := range Names(entries) {
		if isVarFile(name) {
			continue
		}
		body, good := r.File(filepath.Join(dir, name))
		ok = ok && good
		if good {
			bodies = append(bodies, body)
		}
	}
	if len(bodies) == 0 && ok {
		place, hint := "directory "+strconv.Quote(dir), starter
		if filepath.Clean(dir) == "." {
			place = "this directory"
		}
		if hasTerraform(entries) {
			hint = " Files called *.tf are Terraform's, which kolla does not read: its blocks are others." + hint
		}
		if call != nil {
			hint = strings.TrimSuffix(hint, starter)
		}
		r.Report.Error(at, "No configuration", "There are no .hcl files in %s.%s", place, hint)
		return nil, false
	}
	return Decode(r.Report, schema.FileType, bodies), ok
}

// Names returns the names of the files of a directory in either syntax, in order.
func Names(entries []fs.DirEntry) []string {
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() && (strings.HasSuffix(name, nativeExtension) || strings.HasSuffix(name, syntax.JSONExtension)) && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

const (
	// nativeExtension is the end of the name of a file in the native syntax.
	nativeExtension = ".hcl"
	// varsExtension is the end of the name of a file with values for variables, before
	// ".json".
	varsExtension = ".vars.hcl"
)

// isVarFile reports whether a file gives values to variables.
func isVarFile(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".json"), varsExtension)
}

func hasTerraform(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return strings.HasSuffix(entry.Name(), ".tf") })
}

// File reads and parses a file of the configuration.
func (r *Reader) File(name string) (hcl.Body, bool) {
	content, err := fs.ReadFile(r.FS, name)
	if err != nil {
		r.Report.Error(diag.Nowhere, "Cannot read the configuration", "The file %s: %s.", name, files.Cause(err))
		return nil, false
	}
	rel, err := filepath.Rel(r.Dir, name)
	if err != nil {
		rel = name
	}
	r.Contents["file "+filepath.ToSlash(rel)] = string(content)
	return r.Keep(syntax.Parse(name, content))
}

// Keep adds the result of parsing one file to Report and Files.
func (r *Reader) Keep(files map[string]*hcl.File, diags hcl.Diagnostics) (body hcl.Body, ok bool) {
	r.Report.Add(diags...)
	for name, file := range files {
		r.Files[name] = file
		body = file.Body
	}
	return body, !diags.HasErrors()
}

// Catalogue reads the built-in definitions, the *.hcl files of a file system. dir is put
// before their names in ranges. Without a file system there are none.
func (r *Reader) Catalogue(fsys fs.FS, dir string) (document *Block, ok bool) {
	if fsys == nil {
		return &Block{Type: schema.CatalogueType}, true
	}
	names, err := fs.Glob(fsys, "*.hcl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	contents, sources := make([][]byte, len(names)), make([]parsed, len(names))
	for i, name := range names {
		if contents[i], err = fs.ReadFile(fsys, name); err != nil {
			r.Report.Error(diag.Nowhere, "Cannot read the catalogue", "The file %s: %s.", name, files.Cause(err))
			return nil, false
		}
		r.Contents["catalogue "+name] = string(contents[i])
	}
	parallel.Each(len(names), func(i int) { sources[i] = parseOnce(path.Join(dir, names[i]), contents[i]) })
	var bodies []hcl.Body
	for _, file := range sources {
		body, ok := r.Keep(file.files, file.diags)
		if !ok {
			return nil, false
		}
		bodies = append(bodies, body)
	}
	return r.decodeOnce(bodies), true
}

// decodeOnce checks the blocks of the catalogue, and keeps the result if it has no mistakes. Nobody
// changes it.
func (r *Reader) decodeOnce(bodies []hcl.Body) *Block {
	key := ""
	for _, body := range bodies {
		key += fmt.Sprintf("%p ", body)
	}
	if known, ok := catalogues.Load(key); ok {
		return known.(*Block)
	}
	report := diag.New()
	out := Decode(report, schema.CatalogueType, bodies)
	if diags := report.Sorted(); len(diags) > 0 {
		r.Report.Add(diags...)
		return out
	}
	known, _ := catalogues.LoadOrStore(key, out)
	return known.(*Block)
}

// catalogues has the results of decodeOnce, by the addresses of the parsed files, which parseOnce
// keeps.
var catalogues sync.Map

// definitions has the results of parseOnce, by the name and the content of the file.
var definitions sync.Map

// parsed is the result of parsing a file.
type parsed struct {
	files map[string]*hcl.File
	diags hcl.Diagnostics
}

// parseOnce parses a file of the catalogue and keeps the result. A program that loads
// configurations in a loop parses each file once. Nobody changes a parsed file.
func parseOnce(name string, content []byte) parsed {
	key := [2]string{name, string(content)}
	known, ok := definitions.Load(key)
	if !ok {
		files, diags := syntax.Parse(name, content)
		known, _ = definitions.LoadOrStore(key, parsed{files, diags})
	}
	return known.(parsed)
}
