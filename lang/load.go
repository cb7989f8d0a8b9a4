package lang

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Options say where a configuration gets what is not in its directory.
type Options struct {
	Catalogue fs.FS    // *.hcl files with the built-in definitions
	Vars      []Var    // -var and -var-file, in the order in which they were given
	Environ   []string // as of os.Environ: KOLLA_VAR_name gives values to variables
	// Prompt asks for the value of a variable that has none, and again where it does not
	// fit. If it is nil, that is an error.
	Prompt func(v configs.Variable) (string, error)
	// Unset: a variable that has no value is unknown, which is no error, and nobody is
	// asked. What follows from it is not checked.
	Unset bool
	// Undeclared collects the imports of what is not declared in Config.Undeclared, where
	// each is an error otherwise.
	Undeclared bool
	// Read reads objects from the cluster, as the server has them, in the order of
	// their namespaces and names; none where there is no such object. Errors that are
	// a *ReadError say how to go on. If it is nil there is no cluster at hand, and what
	// would be read is not known.
	Read func(configs.DataQuery) ([]map[string]any, error)
	// Later are the data, by their addresses, that are not to be read yet, because the
	// plan changes them.
	Later map[string]bool
	// Settled: what data depend on is applied, so that one which is not as it has to be
	// is an error, and not still to come.
	Settled bool
	// Ignorant: without Read, nothing is said of what depends on what would be read.
	Ignorant bool
	// Restricted: the plan is of a part of the cloud. See Config.Undecided.
	Restricted bool
}

// Var is one option that gives values to variables: one of the two is set.
type Var struct {
	Assignment string // of -var: "name=value"
	File       string // of -var-file: its path
}

// Load reads and evaluates the configuration in a directory: all of its *.hcl
// files, except hidden ones and those with values for variables.
//
// It finds as many errors as it can. The Config is never nil, and has the sources
// that diagnostics refer to; whether the rest of it can be used is for the
// diagnostics to say.
func Load(dir string, options Options) (*configs.Config, hcl.Diagnostics) {
	config, _, diags := LoadConsole(dir, options)
	return config, diags
}

// LoadConsole is Load for a program that evaluates more expressions afterwards.
func LoadConsole(dir string, options Options) (*configs.Config, *Console, hcl.Diagnostics) {
	l := newLoader(dir, options)
	console := &Console{}
	if l.readFiles() {
		console.evaluator = l.evaluate()
	}
	l.report.Mask(l.config.Files)
	return l.config, console, l.report.Sorted()
}

func newLoader(dir string, options Options) *loader {
	files := functions.NewFiles(dir)
	files.Builtin, files.BuiltinDir = options.Catalogue, configs.CatalogueDir
	decisions := newDecisions()
	decisions.restricted, decisions.silent = options.Restricted, options.Ignorant
	l := &loader{
		report:    diag.New(),
		decisions: decisions,
		dir:       dir,
		options:   options,
		reader:    files,
		functions: functions.Table(files),
		config:    &configs.Config{Files: map[string]*hcl.File{}, Refused: map[string]string{}, Variables: map[string]json.RawMessage{}},
		memo:      newMemo(),
		digest:    map[string]string{},
	}
	l.sources = &source.Reader{FS: source.Disk, Dir: dir, Report: l.report, Files: l.config.Files, Contents: l.digest, Literal: l.literal}
	return l
}

// loader is one run of Load.
type loader struct {
	report    *diag.Reporter
	decisions *decisions
	dir       string
	options   Options
	sources   *source.Reader
	reader    *functions.Files
	functions map[string]function.Function
	config    *configs.Config
	memo      *memo
	digest    map[string]string // what the digest is made of
	root      *module
	document  *source.Block // all blocks of all files of the root
	builtin   *source.Block // all blocks of the catalogue
	directory *directory
	// strays are values in files for variables that there are not, strayNames the names of
	// those on the command line.
	strays     []*hclsyntax.Attribute
	strayNames []string
	varsBroken bool // a file with values for variables could not be read
}

// readFiles parses all files and checks their structure. It reports whether there
// is something to evaluate: where a file cannot be parsed, blocks are missing, and
// complaints about that would be nonsense.
func (l *loader) readFiles() bool {
	root, ok := l.sources.Configuration()
	if root == nil {
		return false
	}
	l.document, l.root = root.Document, newModule(root, nil)
	builtin, alsoOK := l.readCatalogue()
	l.builtin = builtin
	return ok && alsoOK
}

// readCatalogue parses the built-in definitions.
func (l *loader) readCatalogue() (*source.Block, bool) {
	return l.sources.Catalogue(l.options.Catalogue, configs.CatalogueDir)
}

// evaluate fills in the Config. It returns the evaluator of expressions outside of blocks.
func (l *loader) evaluate() *evaluator {
	l.checkClouds()
	l.directory = l.readDirectory()
	g := newGraph(l)
	g.evaluate()
	l.config.Digest = l.makeDigest()
	return g.evaluator(l.root.frames[0])
}

// checkClouds reports a configuration that does not have exactly one cloud.
func (l *loader) checkClouds() {
	clouds := l.document.All("cloud")
	if len(clouds) == 0 {
		l.report.ErrorPlain("No cloud block", "A configuration has exactly one block that says what is deployed:\n\n  cloud \"NAME\" {\n    release = \"2025.1\"\n  }")
	}
	for _, b := range clouds[min(1, len(clouds)):] {
		l.report.Error(b.Header, "Second cloud block", "A configuration describes one cloud, and the first block is at %s. Another cloud needs a directory of its own.", diag.Position(clouds[0].Header))
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
	typed, err := ctyjson.Marshal(value, cty.DynamicPseudoType)
	if err != nil {
		panic(err) // as above
	}
	l.config.Variables[v.Name] = typed
}

// makeDigest hashes all that the configuration was made from.
func (l *loader) makeDigest() string {
	for name, source := range l.reader.Seen() {
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
