package functions

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/mark"
)

// maxFile is the size limit of files in expressions and manifests, in bytes. A larger file does
// not fit into any object of a cluster.
const maxFile = 16 << 20

// Files reads the files that expressions and manifests name. It records hashes of the files,
// which are part of the configuration's digest.
type Files struct {
	dir  string            // base of relative paths
	seen map[string][]byte // SHA-256 of the content by path as given, nil for a missing file; also a hash of each fileset's result
	// Published returns the public part of a secret, such as a certificate. The result is
	// unknown, and marked as such, until the secret exists. Published returns an error for a
	// secret value that is not public. Nil means that no public part is known.
	Published func(mark.Generated) (cty.Value, error)
	// Builtin contains the files that come with the program. Their paths begin with BuiltinDir.
	Builtin    fs.FS
	BuiltinDir string
	// FS has the files with relative paths; nil: the disk has them. See lang.Options.
	FS fs.FS
	// Confined: the disk has no files. FS has all of them.
	Confined bool

	budget *budget.Budget // of the expressions that read files; nil: nobody counts
}

// relative is a file system that also has the files at some absolute paths of the disk, under
// relative names.
type relative interface {
	Relative(path string) (name string, ok bool)
}

// builtin returns the path within Builtin of a file that comes with the program.
func (f *Files) builtin(name string) (within string, ok bool) {
	if f.Builtin == nil {
		return "", false
	}
	return strings.CutPrefix(name, f.BuiltinDir+"/")
}

// NewFiles returns a Files that reads files relative to a directory.
func NewFiles(dir string) *Files {
	return &Files{dir: dir, seen: map[string][]byte{}}
}

// Seen returns a hash of the content of each file that was read or looked for, by its path as
// given. The hash of a missing file is nil. Seen also contains a hash of the result of each
// fileset.
func (f *Files) Seen() map[string][]byte { return f.seen }

// Path returns the path of a file. ~ is the home directory, as in Terraform.
func (f *Files) Path(name string) string {
	if expanded, err := pathExpand(name); err == nil {
		name = expanded
	}
	if !filepath.IsAbs(name) {
		return filepath.Join(f.dir, name)
	}
	if r, ok := f.FS.(relative); ok {
		if inside, ok := r.Relative(name); ok {
			return inside
		}
	}
	return name
}

// pathExpand replaces ~ at the beginning of a path by the home directory. It only reads the
// environment: it must not start a program, as some libraries do.
func pathExpand(name string) (string, error) {
	first, rest, _ := strings.Cut(name, "/")
	switch {
	case !strings.HasPrefix(first, "~"):
		return name, nil
	case first != "~":
		return "", fmt.Errorf("%s is the home directory of another user; only ~ itself is replaced", first)
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, rest), err
}

// onDisk reports whether a path of Path is one of the disk.
func (f *Files) onDisk(path string) bool { return !f.Confined && (f.FS == nil || filepath.IsAbs(path)) }

// ReadDir lists the directory with a path of Path.
func (f *Files) ReadDir(path string) ([]fs.DirEntry, error) {
	if f.onDisk(path) {
		if err := files.RefuseKernel(path); err != nil {
			return nil, err
		}
		return os.ReadDir(path)
	}
	return fs.ReadDir(f.FS, path)
}

// Stat describes the file or directory with a path of Path, or the one that a link leads to.
func (f *Files) Stat(path string) (fs.FileInfo, error) {
	if f.onDisk(path) {
		return os.Stat(path)
	}
	return fs.Stat(f.FS, path)
}

// Glob lists the paths that match a pattern, as filepath.Glob does. The pattern is one of Path.
func (f *Files) Glob(pattern string) ([]string, error) {
	if f.onDisk(pattern) {
		return filepath.Glob(pattern)
	}
	return fs.Glob(f.FS, pattern)
}

// readFile reads the file with a path of Path.
func (f *Files) readFile(path string) ([]byte, error) {
	if f.onDisk(path) {
		return files.Read(path, maxFile)
	}
	return fs.ReadFile(f.FS, path)
}

// Read reads a regular file of at most 16 MiB for an expression. The error names the file.
func (f *Files) Read(name string) ([]byte, error) {
	source, err := f.ReadManifest(name)
	if err == nil {
		err = f.spend(budget.StepsOf(len(source)))
	}
	if err != nil {
		return nil, err
	}
	return source, nil
}

// ReadManifest reads a file as Read does, but takes nothing from the budget of the expressions: it
// would count the time in which the manifests before it were parsed.
func (f *Files) ReadManifest(name string) ([]byte, error) {
	path, read := f.Path(name), f.readFile
	if within, ok := f.builtin(name); ok {
		path, read = name, func(string) ([]byte, error) { return fs.ReadFile(f.Builtin, within) }
	}
	source, err := read(path)
	if f.Confined && errors.Is(err, fs.ErrInvalid) {
		err = errors.New("only files of the configuration's own source can be read here")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, files.Cause(err))
	}
	f.seen[name] = sumOf(sha256.New, source)
	return source, nil
}

// spend takes steps from the budget of the expressions.
func (f *Files) spend(steps int) error {
	if f.budget == nil {
		return nil
	}
	return f.budget.Spend(steps)
}

// readBounded reads r to the end. It returns an error if r has more than maxFile bytes.
func readBounded(r io.Reader) ([]byte, error) {
	source, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(source) > maxFile {
		err = fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	return source, err
}

func (f *Files) readText(name string) (string, error) {
	source, err := f.Read(name)
	if err == nil && !utf8.Valid(source) {
		err = fmt.Errorf("%s is not a UTF-8 file; filebase64 reads any file", name)
	}
	return string(source), err
}

func (f *Files) exists(name string) (cty.Value, error) {
	var info fs.FileInfo
	var err error
	if within, ok := f.builtin(name); ok {
		info, err = fs.Stat(f.Builtin, within)
	} else {
		info, err = f.Stat(f.Path(name))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.seen[name] = nil
		return cty.False, nil
	case err != nil:
		return cty.UnknownVal(cty.Bool), fmt.Errorf("look for %s: %w", name, files.Cause(err))
	case !info.Mode().IsRegular():
		return cty.UnknownVal(cty.Bool), fmt.Errorf("%s is not a regular file", name)
	}
	return cty.True, nil
}

// set returns the files below a path that match a pattern.
func (f *Files) set(path, pattern string) (cty.Value, error) {
	found, err := matching(f, f.Path(path), pattern)
	if err != nil {
		return cty.UnknownVal(cty.Set(cty.String)), err
	}
	f.seen[fmt.Sprintf("fileset %q %q", path, pattern)] = sumOf(sha256.New, []byte(fmt.Sprintf("%q", found)))
	if len(found) == 0 {
		return cty.SetValEmpty(cty.String), nil
	}
	var list []cty.Value
	for _, name := range found {
		list = append(list, cty.StringVal(name))
	}
	return cty.SetVal(list), nil
}

// functions returns the functions that read files or handle file names.
func (f *Files) functions() []entry {
	return append([]entry{
		computes("abspath", oneText("path", func(name string) (string, error) {
			abs, err := filepath.Abs(f.Path(name))
			return filepath.ToSlash(abs), err
		}), "Converts a path to an absolute path. A relative path starts at the directory of the configuration.", `abspath("/etc/../var/kolla")`, `"/var/kolla"`),
		computes("basename", oneText("path", func(name string) (string, error) { return filepath.Base(name), nil }), "Returns the last part of a path.", `basename("files/policy/nova.yaml")`, `"nova.yaml"`),
		computes("dirname", oneText("path", func(name string) (string, error) { return filepath.Dir(name), nil }), "Removes the last part of a path.", `dirname("files/policy/nova.yaml")`, `"files/policy"`),
		computes("file", oneText("path", f.readText), "Returns the contents of a file as a string. The file must be UTF-8.", `file("motd.txt")`, `"Welcome\n"`),
		computes("filebase64", oneText("path", func(name string) (string, error) {
			source, err := f.Read(name)
			return base64.StdEncoding.EncodeToString(source), err
		}), "Returns the contents of a file, encoded as base64.", `filebase64("motd.txt")`, `"V2VsY29tZQo="`),
		computes("fileexists", function.New(&function.Spec{
			Params: []function.Parameter{{Name: "path", Type: cty.String}},
			Type:   function.StaticReturnType(cty.Bool),
			Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.exists(args[0].AsString()) },
		}), "Returns true if a file exists at the path. It is an error if the path is not a file, for example a directory.", `fileexists("none.txt")`, `false`),
		computes("fileset", function.New(&function.Spec{
			Params: []function.Parameter{{Name: "path", Type: cty.String}, {Name: "pattern", Type: cty.String}},
			Type:   function.StaticReturnType(cty.Set(cty.String)),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return f.set(args[0].AsString(), args[1].AsString())
			},
		}), "Returns the set of files in a directory that match a pattern, as paths relative to the directory. * matches any name, ** any number of directories.", `fileset("policy", "**/*.yaml")`, `["nova.yaml", "old/nova.yaml"]`),
		computes("pathexpand", oneText("path", pathExpand), "Replaces ~ at the start of a path with the home directory.", `pathexpand("/etc/kolla")`, `"/etc/kolla"`),
	}, f.fileHashes()...)
}
