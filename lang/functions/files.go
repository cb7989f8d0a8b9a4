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

	"github.com/hashicorp/go-cty-funcs/filesystem"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/lang/mark"
)

// maxFile is how large a file may be that an expression or a manifest names, in
// bytes. What is larger fits into no object of a cluster.
const maxFile = 16 << 20

// Files reads the files that expressions and manifests name, and remembers
// what they are: they are part of the configuration's digest.
type Files struct {
	dir  string            // what relative paths are relative to
	seen map[string][]byte // hash of the content by path as it was given, nil: there is no such file; and of each fileset
	// Published gives what is public of a secret, such as a certificate; unknown and marked
	// so as long as nobody knows it. It refuses what is not public. Nil: nothing is known.
	Published func(mark.Generated) (cty.Value, error)
	// Builtin are files that come with the program; their paths begin with BuiltinDir.
	Builtin    fs.FS
	BuiltinDir string
}

// builtin is the path of a file that comes with the program, within Builtin.
func (f *Files) builtin(name string) (within string, ok bool) {
	if f.Builtin == nil {
		return "", false
	}
	return strings.CutPrefix(name, f.BuiltinDir+"/")
}

// NewFiles reads files relative to a directory.
func NewFiles(dir string) *Files {
	return &Files{dir: dir, seen: map[string][]byte{}}
}

// Seen are all files that were read or looked for: the hash of the content by the path as
// it was given, nil where there is no such file; and what each fileset found.
func (f *Files) Seen() map[string][]byte { return f.seen }

// Path is where a file is. ~ is the home directory, as in Terraform.
func (f *Files) Path(name string) string {
	if strings.HasPrefix(name, "~") {
		if expanded, err := filesystem.Pathexpand(cty.StringVal(name)); err == nil {
			name = expanded.AsString()
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.dir, name)
}

// Read reads a regular file that is not too large. The error names the file.
func (f *Files) Read(name string) ([]byte, error) {
	if within, ok := f.builtin(name); ok {
		source, err := fs.ReadFile(f.Builtin, within)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, withoutPath(err))
		}
		f.seen[name] = sumOf(sha256.New, source)
		return source, nil
	}
	source, err := files.Read(f.Path(name), maxFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path(name), withoutPath(err))
	}
	f.seen[name] = sumOf(sha256.New, source)
	return source, nil
}

// readBounded reads all there is, if that is not too much.
func readBounded(r io.Reader) ([]byte, error) {
	source, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(source) > maxFile {
		err = fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	return source, err
}

// withoutPath is an error without the name of the operation and of the file.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func (f *Files) readText(name string) (string, error) {
	source, err := f.Read(name)
	if err == nil && !utf8.Valid(source) {
		err = fmt.Errorf("%s is not a text in UTF-8; filebase64 reads any file", name)
	}
	return string(source), err
}

func (f *Files) exists(name string) (cty.Value, error) {
	var info fs.FileInfo
	var err error
	if within, ok := f.builtin(name); ok {
		info, err = fs.Stat(f.Builtin, within)
	} else {
		info, err = os.Stat(f.Path(name))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.seen[name] = nil
		return cty.False, nil
	case err != nil:
		return cty.UnknownVal(cty.Bool), fmt.Errorf("look for %s: %w", name, withoutPath(err))
	case !info.Mode().IsRegular():
		return cty.UnknownVal(cty.Bool), fmt.Errorf("%s is not a regular file", name)
	}
	return cty.True, nil
}

// set lists the files below a path that match a pattern.
func (f *Files) set(path, pattern string) (cty.Value, error) {
	found, err := matching(f.Path(path), pattern)
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

// functions are those that read files or are about their names.
func (f *Files) functions() []entry {
	return append([]entry{
		computes("abspath", oneText("path", func(name string) (string, error) {
			abs, err := filepath.Abs(f.Path(name))
			return filepath.ToSlash(abs), err
		}), "The path from the root directory.", `abspath("/etc/../var/kolla")`, `"/var/kolla"`),
		computes("basename", filesystem.BasenameFunc, "The last part of a path.", `basename("files/policy/nova.yaml")`, `"nova.yaml"`),
		computes("dirname", filesystem.DirnameFunc, "The path without its last part.", `dirname("files/policy/nova.yaml")`, `"files/policy"`),
		computes("file", oneText("path", f.readText), "The content of a text file.", `file("motd.txt")`, `"Welcome\n"`),
		computes("filebase64", oneText("path", func(name string) (string, error) {
			source, err := f.Read(name)
			return base64.StdEncoding.EncodeToString(source), err
		}), "The content of any file, in base64.", `filebase64("motd.txt")`, `"V2VsY29tZQo="`),
		computes("fileexists", function.New(&function.Spec{
			Params: []function.Parameter{{Name: "path", Type: cty.String}},
			Type:   function.StaticReturnType(cty.Bool),
			Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.exists(args[0].AsString()) },
		}), "Whether there is a file.", `fileexists("none.txt")`, `false`),
		computes("fileset", function.New(&function.Spec{
			Params: []function.Parameter{{Name: "path", Type: cty.String}, {Name: "pattern", Type: cty.String}},
			Type:   function.StaticReturnType(cty.Set(cty.String)),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return f.set(args[0].AsString(), args[1].AsString())
			},
		}), "The files in a directory that match a pattern, as paths relative to it. * matches any name, ** any directories.", `fileset("policy", "**/*.yaml")`, `["nova.yaml", "old/nova.yaml"]`),
		computes("pathexpand", filesystem.PathExpandFunc, "The path with the home directory in place of ~.", `pathexpand("/etc/kolla")`, `"/etc/kolla"`),
	}, f.fileHashes()...)
}
