package lang

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/imagelock"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/moves"
	"kolla.openstack.org/kolla/lang/internal/services"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/variables"
	"kolla.openstack.org/kolla/lang/mark"
)

// Options are the inputs of Load beside the files of the directory.
type Options struct {
	Catalogue fs.FS // *.hcl files with the built-in definitions
	// FS has the files of the configuration under their paths relative to the working
	// directory, which may begin with "..". Files with absolute paths are always read from the
	// disk. If FS is nil, all files are read from the disk.
	FS fs.FS
	// Confined: no file of the disk is read, also not one with an absolute path. FS has all files.
	Confined bool
	Vars     []Var    // -var and -var-file, in the order in which they were given
	Environ  []string // as of os.Environ: KOLLA_VAR_name gives values to variables
	// Prompt asks the user for the value of a variable, and asks again if the value is
	// unsuitable. If Prompt is nil, a variable without a value is an error.
	Prompt func(v configs.Variable) (string, error)
	// Unset: a variable without a value is unknown. This is no error, and Prompt is not
	// called. Values that depend on it are not checked.
	Unset bool
	// Unlocked: the file with the digests of the images is not read.
	Unlocked bool
	// Undeclared: imports of undeclared objects go into Config.Undeclared. Otherwise each of
	// them is an error.
	Undeclared bool
	// Read reads live objects from the cluster, sorted by namespace and name. It returns none
	// if there is no such object. Errors of the type *ReadError contain advice. If Read is
	// nil, there is no cluster, and the data are unknown.
	Read func(configs.DataQuery) ([]map[string]any, error)
	// Later has the addresses of the data that Load must not read yet, because the plan
	// changes them.
	Later map[string]bool
	// Settled: the dependencies of data are applied. Missing data and unmet postconditions
	// are errors instead of unknown.
	Settled bool
	// SilenceOffline: without Read, Load does not report values that depend on unread data.
	SilenceOffline bool
	// Restricted: the plan is of a part of the cloud. See Config.Undecided.
	Restricted bool
	// PolicyFiles are the paths of files with policies.
	PolicyFiles []string
	// Sensitive gets the text of each sensitive value, so that a caller can recognize it in
	// text of others. May be nil.
	Sensitive func(text string)
}

// Var is an option that gives values to variables.
type Var = variables.Option

// Load reads and evaluates the configuration in a directory: all of its *.hcl
// files, except hidden ones and those with values for variables.
//
// It finds as many errors as it can. The Config is never nil, and has the sources that
// diagnostics refer to. Use the rest of it only if the diagnostics have no errors.
func Load(dir string, options Options) (*configs.Config, hcl.Diagnostics) {
	config, _, diags := LoadConsole(dir, options)
	return config, diags
}

// LoadConsole is Load for a program that evaluates more expressions afterwards.
func LoadConsole(dir string, options Options) (*configs.Config, *Console, hcl.Diagnostics) {
	l := newLoader(dir, options)
	console := &Console{}
	// If a file cannot be parsed, blocks are missing, and errors about them would mislead.
	root, ok := l.sources.Configuration()
	if root != nil {
		catalogue, alsoOK := l.sources.Catalogue(options.Catalogue, configs.CatalogueDir)
		if l.readPolicies(root.Document) && ok && alsoOK {
			catalogue = layers.Bases(l.report, root, catalogue)
			console.evaluator = l.evaluate(root, catalogue)
		}
	}
	l.report.Mask(l.config.Files)
	return l.config, console, l.report.Sorted()
}

// loader is one run of Load.
type loader struct {
	report    *diag.Reporter
	decisions *eval.Decisions
	dir       string
	options   Options
	sources   *source.Reader
	reader    *functions.Files
	functions map[string]function.Function
	config    *configs.Config
	memo      *eval.Memo
	digest    map[string]string  // everything that the digest is made from
	constant  *eval.Env          // knows no names
	outside   *variables.Outside // values of the root module's variables
}

// newLoader makes a loader that has read nothing.
func newLoader(dir string, options Options) *loader {
	files := functions.NewFiles(dir)
	files.Builtin, files.BuiltinDir, files.FS, files.Confined = options.Catalogue, configs.CatalogueDir, options.FS, options.Confined
	limits := budget.New()
	decisions := eval.NewDecisions()
	decisions.Restricted, decisions.Silent = options.Restricted, options.SilenceOffline
	l := &loader{
		report:    diag.New(),
		decisions: decisions,
		dir:       dir,
		options:   options,
		reader:    files,
		functions: functions.Table(files, limits),
		config:    &configs.Config{Files: map[string]*hcl.File{}, Refused: map[string]string{}, Variables: map[string]json.RawMessage{}},
		memo:      eval.NewMemo(limits),
		digest:    map[string]string{},
	}
	l.report.Secret = options.Sensitive
	l.constant = eval.Constant(l.report, decisions, l.memo, l.functions)
	literal := func(b *source.Block, name string) string { return eval.Literal(l.constant, b, name) }
	fsys := options.FS
	if fsys == nil {
		fsys = source.Disk
	}
	l.sources = &source.Reader{FS: fsys, Dir: dir, Report: l.report, Files: l.config.Files, Contents: l.digest, Literal: literal}
	l.outside = &variables.Outside{
		FS: fsys, Dir: dir, Environ: options.Environ, Options: options.Vars, Prompt: options.Prompt, Unset: options.Unset,
		Keep: l.sources.Keep, Hide: func(name string) { delete(l.config.Files, name) }, Constant: l.constant,
	}
	return l
}

// evaluate fills in the Config. It returns the environment of expressions outside of blocks.
func (l *loader) evaluate(root *source.Module, catalogue *source.Block) *eval.Env {
	clouds := root.Document.All("cloud")
	l.checkClouds(clouds)
	lock := l.readLock()
	l.backend(clouds)
	root.Document = services.Logging(l.constant, root.Document)
	env := eval.Env{Report: l.report, Decisions: l.decisions, Functions: l.functions, Memo: l.memo, Catalogue: catalogue}
	g := graph.New(env, root, l.dir)
	a := &assembly{
		report: l.report, config: l.config, options: l.options, dir: l.dir, reader: l.reader, constant: l.constant, outside: l.outside, record: l.recordVariable,
		graph: g, claims: graph.Claims{}, moves: &moves.Reader{Graph: g, Report: l.report, Constant: l.constant}, vars: map[*graph.Module][]*variables.Variable{},
	}
	a.services = services.New(&services.Set{
		Graph: g, Report: l.report, Config: l.config, Root: root.Document, Catalogue: catalogue,
		Directory: l.configDirectory(clouds), Leaves: settings.LeafMemo{}, Constant: l.constant, Claims: a.claims, Moves: a.moves,
	})
	l.reader.Published = func(made mark.Generated) (cty.Value, error) { return publicPart(a, made) }
	addCloud(a, clouds)
	addModule(a, g.Root)
	addPolicies(a)
	a.services.Last()
	l.config.Undecided = graph.Undecided(g.Evaluate(), l.decisions.Open)
	l.config.Cloud.Lock = lock
	finish(a, clouds)
	l.config.Digest = l.makeDigest()
	return g.Root.Frames[0].Env()
}

// checkClouds reports a configuration that does not have exactly one cloud.
func (l *loader) checkClouds(clouds []*source.Block) {
	if len(clouds) == 0 {
		l.report.Error(diag.Nowhere, "No cloud block", "A configuration has exactly one block that says what is deployed:\n\n  cloud \"NAME\" {\n    release = \"2025.1\"\n  }")
		return
	}
	for _, b := range clouds[1:] {
		l.report.Error(b.Header, "Second cloud block", "A configuration describes one cloud, and the first block is at %s. Another cloud needs a directory of its own.", diag.Position(clouds[0].Header))
	}
}

// configDirectory reads the config directory that the cloud names. It is nil if there is none.
func (l *loader) configDirectory(clouds []*source.Block) *settings.Directory {
	if len(clouds) == 0 {
		return nil
	}
	given := eval.Literal(l.constant, clouds[0], "config_dir")
	if given == "" {
		return nil
	}
	return settings.ReadDirectory(l.report, l.reader, l.config.Files, l.functions["yamldecode"], clouds[0].AttributeRange("config_dir"), given)
}

// readLock reads the digests of the images; nil: there is no file with digests.
func (l *loader) readLock() map[string]string {
	name := filepath.Join(l.dir, imagelock.File)
	if l.options.Unlocked {
		return nil
	}
	if _, err := fs.Stat(l.sources.FS, name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	body, ok := l.sources.File(name)
	if !ok {
		return nil
	}
	lock, diags := imagelock.Read(body)
	l.report.Add(diags...)
	return lock
}

// recordVariable adds the value of a variable to the digest and to the Config. A value that is
// secret or not known is left out.
func (l *loader) recordVariable(name string, value cty.Value) {
	key := "variable " + name
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
	l.config.Variables[name] = typed
}

// makeDigest hashes everything that the configuration is made from.
func (l *loader) makeDigest() string {
	for name, source := range l.reader.Seen() {
		l.digest["read "+name] = string(source)
	}
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(l.digest)) {
		for _, field := range []string{key, l.digest[key]} {
			fmt.Fprintf(h, "%d:", len(field))
			_, _ = io.WriteString(h, field)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
