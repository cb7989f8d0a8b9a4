package lang

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// CatalogueDir is put before the names of the catalogue's files in ranges, so
// that they cannot be taken for files of the user.
const CatalogueDir = "<catalogue>"

// Options say where a configuration gets what is not in its directory.
type Options struct {
	Catalogue fs.FS    // *.hcl files with the built-in definitions
	Vars      []string // "name=value", from -var, in order
	VarFiles  []string // from -var-file, in order
	Environ   []string // as of os.Environ: KOLLA_VAR_name gives values to variables
	// Prompt asks for the value of a variable that has none. If it is nil, that is
	// an error.
	Prompt func(v Variable) (string, error)
}

// Load reads and evaluates the configuration in a directory: all of its *.hcl
// files, except hidden ones and those with values for variables.
//
// It finds as many errors as it can. The Config is never nil, and has the sources
// that diagnostics refer to; whether the rest of it can be used is for the
// diagnostics to say.
func Load(dir string, options Options) (*Config, hcl.Diagnostics) {
	l := newLoader(dir, options)
	if l.readFiles() {
		l.evaluate()
	}
	return l.config, l.sorted()
}

func newLoader(dir string, options Options) *loader {
	files := newFileReader(dir)
	return &loader{
		reporter:  newReporter(),
		dir:       dir,
		options:   options,
		reader:    files,
		functions: functions(files),
		config:    &Config{Files: map[string]*hcl.File{}},
		digest:    map[string]string{},
		root:      newScope(nil),
	}
}

// loader is one run of Load.
type loader struct {
	*reporter
	dir       string
	options   Options
	names     []string // of the *.hcl files in dir
	reader    *fileReader
	functions map[string]function.Function
	config    *Config
	digest    map[string]string // what the digest is made of
	document  *block            // all blocks of all files
	builtin   *block            // all blocks of the catalogue
	root      *scope            // of the user's expressions
}

// readFiles parses all files and checks their structure. It reports whether there
// is something to evaluate: where a file cannot be parsed, blocks are missing, and
// complaints about that would be nonsense.
func (l *loader) readFiles() bool {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		l.addPlain("Cannot read the configuration", fmt.Sprintf("The directory %s: %s.", l.dir, cause(err)))
		return false
	}
	for _, entry := range entries {
		if name := entry.Name(); !entry.IsDir() && strings.HasSuffix(name, ".hcl") && !strings.HasPrefix(name, ".") {
			l.names = append(l.names, name)
		}
	}
	var bodies []*hclsyntax.Body
	complete := true
	for _, name := range l.names {
		if strings.HasSuffix(name, varsExtension) {
			continue
		}
		body, ok := l.readFile(name)
		complete = complete && ok
		if ok {
			bodies = append(bodies, body)
		}
	}
	if len(bodies) == 0 && complete {
		place := "directory " + strconv.Quote(l.dir)
		if filepath.Clean(l.dir) == "." {
			place = "this directory"
		}
		l.addPlain("No configuration", fmt.Sprintf("There are no .hcl files in %s. `kolla init` writes a starter.", place))
		return false
	}
	l.document = l.decode(fileType, bodies)
	var ok bool
	l.builtin, ok = l.readCatalogue()
	return complete && ok
}

func (l *loader) readFile(name string) (*hclsyntax.Body, bool) {
	full := filepath.Join(l.dir, name)
	source, err := os.ReadFile(full)
	if err != nil {
		l.addPlain("Cannot read the configuration", fmt.Sprintf("The file %s: %s.", full, cause(err)))
		return nil, false
	}
	l.digest["file "+name] = string(source)
	return l.parse(full, source)
}

// decode checks the blocks of several files as if they stood in one.
func (l *loader) decode(typ *BlockType, bodies []*hclsyntax.Body) *block {
	root := &block{typ: typ}
	d := decoder{l.reporter}
	for _, body := range bodies {
		d.body(root, body.Attributes, body.Blocks)
	}
	return root
}

// parse reads the syntax of one file, and keeps its source for diagnostics.
func (l *loader) parse(name string, source []byte) (*hclsyntax.Body, bool) {
	files, diags := Parse(name, source)
	l.add(diags...)
	for name, file := range files {
		l.config.Files[name] = file
	}
	body, ok := files[name].Body.(*hclsyntax.Body)
	return body, ok && !diags.HasErrors()
}

// Parse checks the syntax of one file. The source is returned for diagnostics to
// quote, whether it is right or not.
func Parse(name string, source []byte) (map[string]*hcl.File, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	return map[string]*hcl.File{name: file}, diags
}

// readCatalogue parses the built-in definitions.
func (l *loader) readCatalogue() (*block, bool) {
	if l.options.Catalogue == nil {
		return &block{typ: catalogueType}, true
	}
	names, err := fs.Glob(l.options.Catalogue, "*.hcl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var bodies []*hclsyntax.Body
	for _, name := range names {
		source, err := fs.ReadFile(l.options.Catalogue, name)
		if err != nil {
			l.addPlain("Cannot read the catalogue", fmt.Sprintf("The file %s: %s.", name, cause(err)))
			return nil, false
		}
		l.digest["catalogue "+name] = string(source)
		body, ok := l.parse(path.Join(CatalogueDir, name), source)
		if !ok {
			return nil, false
		}
		bodies = append(bodies, body)
	}
	return l.decode(catalogueType, bodies), true
}

// evaluator is one for expressions of the user outside of services.
func (l *loader) evaluator() *evaluator {
	return &evaluator{reporter: l.reporter, scope: l.root, functions: l.functions}
}

// evaluate fills in the Config.
func (l *loader) evaluate() {
	l.root.singles["path"] = cty.ObjectVal(map[string]cty.Value{"root": cty.StringVal(filepath.ToSlash(l.dir))})
	l.variables()
	l.checkClouds()
	newGraph(l).evaluate()
	l.config.Digest = l.makeDigest()
}

// checkClouds reports a configuration that does not have exactly one cloud.
func (l *loader) checkClouds() {
	clouds := l.document.all("cloud")
	if len(clouds) == 0 {
		l.addPlain("No cloud block", "A configuration has exactly one block that says what is deployed:\n\n  cloud \"NAME\" {\n    release = \"2025.1\"\n  }")
	}
	for _, b := range clouds[min(1, len(clouds)):] {
		l.error(b.header, "Second cloud block", "A configuration describes one cloud, and the first block is at %s. Another cloud needs a directory of its own.", position(clouds[0].header))
	}
}

// recordVariable makes the value of a variable a part of the digest.
func (l *loader) recordVariable(v *variable, value cty.Value) {
	key := "variable " + v.Name
	if value.ContainsMarked() || !value.IsWhollyKnown() {
		l.digest[key] = ""
		return
	}
	text, err := ctyjson.Marshal(value, value.Type())
	if err != nil {
		panic(err) // a known value without capsules always encodes
	}
	l.digest[key] = string(text)
}

// makeDigest hashes all that the configuration was made from.
func (l *loader) makeDigest() string {
	for name, source := range l.reader.seen {
		l.digest["read "+name] = string(source)
	}
	h := sha256.New()
	for _, key := range keysOf(l.digest) {
		for _, field := range []string{key, l.digest[key]} {
			fmt.Fprintf(h, "%d:", len(field))
			_, _ = io.WriteString(h, field)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// cause is an error without the name of the operation and of the file.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// byPosition sorts by file name and position.
func byPosition(a, b hcl.Range) int {
	if c := strings.Compare(a.Filename, b.Filename); c != 0 {
		return c
	}
	return a.Start.Byte - b.Start.Byte
}

// inSourceOrder sorts the blocks that a Config lists.
func inSourceOrder[T any](list []T, at func(T) hcl.Range) []T {
	slices.SortStableFunc(list, func(a, b T) int { return byPosition(at(a), at(b)) })
	return list
}
