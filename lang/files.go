package lang

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// fileReader reads the files that expressions and manifests name, and remembers
// them: they are part of the configuration's digest.
type fileReader struct {
	dir  string            // what relative paths are relative to
	seen map[string][]byte // by path as it was given; nil: there is no such file
}

func newFileReader(dir string) *fileReader {
	return &fileReader{dir: dir, seen: map[string][]byte{}}
}

func (f *fileReader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.dir, name)
}

func (f *fileReader) read(name string) ([]byte, error) {
	info, err := os.Stat(f.path(name))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var source []byte
	if err == nil {
		source, err = os.ReadFile(f.path(name))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path(name), cause(err))
	}
	f.seen[name] = source
	return source, nil
}

// functions are those that read files.
func (f *fileReader) functions() map[string]function.Function {
	path := []function.Parameter{{Name: "path", Type: cty.String}}
	return map[string]function.Function{
		"file": function.New(&function.Spec{
			Description: "Content of a text file, by its path relative to the configuration.",
			Params:      path,
			Type:        function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				source, err := f.readText(args[0].AsString())
				return cty.StringVal(source), err
			},
		}),
		"filebase64": function.New(&function.Spec{
			Description: "Content of a file in base64.",
			Params:      path,
			Type:        function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				source, err := f.read(args[0].AsString())
				return cty.StringVal(base64.StdEncoding.EncodeToString(source)), err
			},
		}),
		"fileexists": function.New(&function.Spec{
			Description: "Whether there is a file at a path.",
			Params:      path,
			Type:        function.StaticReturnType(cty.Bool),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return f.exists(args[0].AsString())
			},
		}),
	}
}

func (f *fileReader) readText(name string) (string, error) {
	source, err := f.read(name)
	if err == nil && !utf8.Valid(source) {
		err = fmt.Errorf("%s is not a text in UTF-8; filebase64 reads any file", name)
	}
	return string(source), err
}

func (f *fileReader) exists(name string) (cty.Value, error) {
	info, err := os.Stat(f.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.seen[name] = nil
		return cty.False, nil
	case err != nil:
		return cty.UnknownVal(cty.Bool), fmt.Errorf("look for %s: %w", name, err)
	case !info.Mode().IsRegular():
		return cty.UnknownVal(cty.Bool), fmt.Errorf("%s is not a regular file", name)
	}
	return cty.True, nil
}

// templateFunc renders a template file with the given variables. Within it there
// are all other functions.
func (f *fileReader) templateFunc(inTemplate map[string]function.Function) function.Function {
	return function.New(&function.Spec{
		Description: "A file as a template: ${...} and %{...} in it are evaluated with the given variables.",
		Params: []function.Parameter{
			{Name: "path", Type: cty.String},
			{Name: "variables", Type: cty.DynamicPseudoType, AllowMarked: true},
		},
		Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			source, err := f.readText(name)
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			if !isMap(args[1]) {
				return cty.UnknownVal(cty.String), function.NewArgErrorf(1, "a map is needed")
			}
			expr, diags := hclsyntax.ParseTemplate([]byte(source), f.path(name), hcl.InitialPos)
			if diags.HasErrors() {
				return cty.UnknownVal(cty.String), diags
			}
			ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: inTemplate}
			for _, m := range members(args[1]) {
				ctx.Variables[m.key] = m.value
			}
			v, diags := expr.Value(ctx)
			if diags.HasErrors() {
				return cty.UnknownVal(cty.String), diags
			}
			return convert.Convert(v, cty.String)
		},
	})
}
