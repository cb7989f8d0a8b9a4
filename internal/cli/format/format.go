// Package format brings configuration files into canonical form.
package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Options say what happens to files that are not in canonical form. Without List, Diff,
// Write and Check, the formatted files are printed.
type Options struct {
	List  bool // print their names
	Diff  bool // print the changes
	Write bool // write the files
	Check bool // print no formatted file
	// Recursive goes into subdirectories.
	Recursive bool
}

// Streams are the streams of a command, and its printer.
type Streams struct {
	In      io.Reader
	Out     io.Writer
	Printer *view.Printer
}

// Found says what was found.
type Found struct {
	Changed bool // a file was not in canonical form
	Broken  bool // a file could not be read or parsed; the reason was printed
}

// Run formats files and directories, or the current directory if none is named. The
// argument "-" is standard input.
func Run(ctx context.Context, o Options, s Streams, arguments []string) (Found, error) {
	f := &formatter{Options: o, Streams: s, print: !o.List && !o.Diff && !o.Write && !o.Check}
	if !slices.Contains(arguments, "-") {
		err := f.paths(arguments)
		return f.found, err
	}
	if len(arguments) > 1 {
		return f.found, failure.New("Standard input alone", "With - kolla fmt formats standard input to standard output: name no files beside it.")
	}
	err := f.stdin(ctx)
	return f.found, err
}

type formatter struct {
	Options
	Streams
	print bool // the formatted files
	found Found
}

// stdin formats standard input to standard output. With Diff it prints only the changes,
// and with Check alone nothing.
func (f *formatter) stdin(ctx context.Context) error {
	source, err := files.ReadAll(ctx, f.In, files.MaxSize)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	const name = "<stdin>"
	formatted, ok := f.format(name, source)
	if !ok {
		return nil
	}
	f.found.Changed = !bytes.Equal(source, formatted)
	switch {
	case f.Diff && f.found.Changed:
		return view.TextDiff(f.Printer.Out, name, string(source), string(formatted))
	case f.Diff || f.Check:
		return nil
	}
	_, err = f.Out.Write(formatted)
	return err
}

// format returns the canonical form of a file that can be parsed.
func (f *formatter) format(name string, source []byte) ([]byte, bool) {
	files, diags := syntax.Parse(name, source)
	if diags.HasErrors() {
		f.found.Broken = true
		f.Printer.Diagnostics(diags, files)
		return nil, false
	}
	return syntax.Format(source), true
}

// paths formats files and directories. It reports a file that it cannot read, and formats
// the others.
func (f *formatter) paths(arguments []string) error {
	if len(arguments) == 0 {
		arguments = []string{"."}
	}
	for _, argument := range arguments {
		paths, err := filesOf(argument, f.Recursive)
		if err := f.fail(err); err != nil {
			return err
		}
		for _, file := range paths {
			if err := f.fail(f.file(file)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fail reports the failure of one file. It returns all other errors.
func (f *formatter) fail(err error) error {
	var problem *failure.Error
	if !errors.As(err, &problem) {
		return err
	}
	f.found.Broken = true
	f.Printer.Failure(problem.Summary, problem.Detail)
	return nil
}

// filesOf lists the files of an argument: a file, or those in a directory.
func filesOf(argument string, recursive bool) ([]string, error) {
	info, err := os.Stat(argument)
	switch {
	case err != nil:
		return nil, failure.New("Cannot format "+argument, failure.Sentence(err.Error())+".")
	case info.IsDir():
		files, err := configFiles(argument, recursive)
		if err != nil {
			return nil, fmt.Errorf("look for files: %w", err)
		}
		return files, nil
	case !isConfigFile(argument):
		return nil, failure.New("Cannot format "+argument, "Only *.hcl files have a canonical form; files in JSON are left alone.")
	}
	return []string{argument}, nil
}

// configFiles lists the configuration files of a directory, sorted. It follows links to
// files, but not links to directories, except dir itself.
func configFiles(dir string, recursive bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir() && recursive:
			below, err := configFiles(path, recursive)
			if err != nil {
				return nil, err
			}
			files = append(files, below...)
		case isConfigFile(path) && !isDirectory(path):
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files, nil
}

func isConfigFile(path string) bool { return filepath.Ext(path) == ".hcl" }

// isDirectory follows links.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (f *formatter) file(path string) error {
	source, err := files.Read(path, files.MaxSize)
	if err != nil {
		return failure.New("Cannot format "+path, failure.Sentence(err.Error())+".")
	}
	formatted, ok := f.format(path, source)
	if !ok {
		return nil
	}
	if f.print {
		_, err := f.Out.Write(formatted)
		return err
	}
	if bytes.Equal(source, formatted) {
		return nil
	}
	f.found.Changed = true
	if f.List {
		foreign.Fprintf(f.Out, "%s\n", path)
	}
	if f.Diff {
		if err := view.TextDiff(f.Printer.Out, path, string(source), string(formatted)); err != nil {
			return err
		}
	}
	if !f.Write {
		return nil
	}
	return replace(path, formatted)
}

// replace writes a file in one step. It writes the target of a link.
func replace(path string, content []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = renameio.WriteFile(target, content, 0o644, renameio.WithExistingPermissions())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
