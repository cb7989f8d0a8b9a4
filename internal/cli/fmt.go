package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang/syntax"
)

func fmtCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "Bring configuration files into canonical form",
		ArgsUsage: "[FILE|DIR|-]...",
		Description: `
Rewrites the *.hcl files of the current directory, or the files and directories
named, and prints the names of those it changed. With - it formats standard input
to standard output. Files in JSON are left alone. A link to a file stays a link.

Exit codes: 0 done, 1 error, 3 with -check: a file is not in canonical form.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "change nothing; exit with 3 when something would change"},
			&cli.BoolFlag{Name: "diff", Usage: "show the changes"},
			&cli.BoolFlag{Name: "list", Value: true, Usage: "print the names of files that change; -list=false does not"},
			&cli.BoolFlag{Name: "write", Value: true, Usage: "write the files; -write=false only lists them"},
			&cli.BoolFlag{Name: "recursive", Usage: "go into subdirectories"},
			noColorFlag(),
		},
		Action: func(c *cli.Context) error {
			arguments, err := interspersed(c)
			if err != nil {
				return err
			}
			check := c.Bool("check")
			f := formatter{
				streams: s, printer: s.printer(c),
				list: c.Bool("list"), diff: c.Bool("diff"), write: c.Bool("write") && !check,
			}
			f.print = !f.list && !f.diff && !f.write && !check
			if err := f.run(c.Context, arguments, c.Bool("recursive"), check); err != nil {
				return err
			}
			switch {
			case f.broken:
				return exitCode(exitError)
			case check && f.changed:
				return exitCode(exitUnchecked)
			}
			return nil
		},
	}
}

type formatter struct {
	streams
	printer           *view.Printer
	list, diff, write bool
	print             bool // the formatted files, instead of all that
	changed           bool // some file was not in canonical form
	broken            bool // some file could not be parsed
}

func (f *formatter) run(ctx context.Context, arguments []string, recursive, check bool) error {
	if !slices.Contains(arguments, "-") {
		return f.paths(arguments, recursive)
	}
	if len(arguments) > 1 {
		return failure.New("Standard input alone", "With - kolla fmt formats standard input to standard output: name no files beside it.")
	}
	return f.stdin(ctx, check)
}

// stdin formats standard input to standard output; with -diff only the changes are
// printed, and with -check alone nothing.
func (f *formatter) stdin(ctx context.Context, check bool) error {
	source, err := files.ReadAll(ctx, f.in, files.Largest)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	const name = "<stdin>"
	formatted, ok := f.format(name, source)
	if !ok {
		return nil
	}
	f.changed = !bytes.Equal(source, formatted)
	switch {
	case f.diff && f.changed:
		return f.printer.TextDiff(name, string(source), string(formatted))
	case f.diff || check:
		return nil
	}
	_, err = f.out.Write(formatted)
	return err
}

// format returns the canonical form of a file that can be parsed.
func (f *formatter) format(name string, source []byte) ([]byte, bool) {
	files, diags := syntax.Parse(name, source)
	if diags.HasErrors() {
		f.broken = true
		f.printer.Diagnostics(diags, files)
		return nil, false
	}
	return syntax.Format(source), true
}

// paths formats files and directories. What cannot be read is reported, and the others
// are formatted all the same.
func (f *formatter) paths(arguments []string, recursive bool) error {
	if len(arguments) == 0 {
		arguments = []string{"."}
	}
	for _, argument := range arguments {
		paths, err := filesOf(argument, recursive)
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

// fail reports what is wrong with one file, and returns what is wrong with more.
func (f *formatter) fail(err error) error {
	var problem *failure.Error
	if !errors.As(err, &problem) {
		return err
	}
	f.broken = true
	f.printer.Failure(problem.Summary, problem.Detail)
	return nil
}

// filesOf are the files that an argument means.
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

// configFiles lists the configuration files of a directory, sorted. Links to files are
// among them; links to directories are not followed, but for dir itself.
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
	source, err := files.Read(path, files.Largest)
	if err != nil {
		return failure.New("Cannot format "+path, failure.Sentence(err.Error())+".")
	}
	formatted, ok := f.format(path, source)
	if !ok {
		return nil
	}
	if f.print {
		_, err := f.out.Write(formatted)
		return err
	}
	if bytes.Equal(source, formatted) {
		return nil
	}
	f.changed = true
	if f.list {
		foreign.Fprintf(f.out, "%s\n", path)
	}
	if f.diff {
		if err := f.printer.TextDiff(path, string(source), string(formatted)); err != nil {
			return err
		}
	}
	if !f.write {
		return nil
	}
	return replace(path, formatted)
}

// replace writes a file anew, in one step. Where path is a link, what it leads to is
// written.
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
