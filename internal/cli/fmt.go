package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang"
)

func fmtCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "Bring configuration files into canonical form",
		ArgsUsage: "[FILE|DIR|-]...",
		Description: `
Rewrites the *.hcl files of the current directory, or the files and directories
named, and prints the names of those it changed. With - it formats standard input
to standard output.

Exit codes: 0 done, 1 error, 3 with -check: a file is not in canonical form.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "change nothing; exit with 3 when something would change"},
			&cli.BoolFlag{Name: "diff", Usage: "show the changes"},
			&cli.BoolFlag{Name: "write", Value: true, Usage: "write the files; -write=false only lists them"},
			&cli.BoolFlag{Name: "recursive", Usage: "go into subdirectories"},
			noColorFlag(),
		},
		Action: func(c *cli.Context) error {
			f := formatter{
				streams: s, printer: s.printer(c),
				diff: c.Bool("diff"), write: c.Bool("write") && !c.Bool("check"),
			}
			if c.Args().First() == "-" {
				return f.stdin()
			}
			if err := f.paths(c.Args().Slice(), c.Bool("recursive")); err != nil {
				return err
			}
			if f.broken {
				return exitCode(exitError)
			}
			if c.Bool("check") && f.changed {
				return exitCode(exitUnchecked)
			}
			return nil
		},
	}
}

type formatter struct {
	streams
	printer     *view.Printer
	diff, write bool
	changed     bool // some file was not in canonical form
	broken      bool // some file could not be parsed
}

func (f *formatter) stdin() error {
	source, err := io.ReadAll(f.in)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	formatted, ok := f.format("<stdin>", source)
	if !ok {
		return exitCode(exitError)
	}
	_, err = f.out.Write(formatted)
	return err
}

// format returns the canonical form of a file that can be parsed.
func (f *formatter) format(name string, source []byte) ([]byte, bool) {
	files, diags := lang.Parse(name, source)
	if diags.HasErrors() {
		f.broken = true
		f.printer.Diagnostics(diags, files)
		return nil, false
	}
	return lang.Format(source), true
}

func (f *formatter) paths(arguments []string, recursive bool) error {
	if len(arguments) == 0 {
		arguments = []string{"."}
	}
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		if err != nil {
			return &failure{"Cannot format " + argument, err.Error()}
		}
		files := []string{argument}
		if info.IsDir() {
			if files, err = configFiles(argument, recursive); err != nil {
				return fmt.Errorf("look for files: %w", err)
			}
		}
		for _, file := range files {
			if err := f.file(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// configFiles lists the configuration files of a directory, sorted.
func configFiles(dir string, recursive bool) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && (!recursive || strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case !entry.IsDir() && filepath.Ext(path) == ".hcl" && !strings.HasPrefix(entry.Name(), "."):
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func (f *formatter) file(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return &failure{"Cannot format " + path, err.Error()}
	}
	formatted, ok := f.format(path, source)
	if !ok || bytes.Equal(source, formatted) {
		return nil
	}
	f.changed = true
	fmt.Fprintln(f.out, path)
	if f.diff {
		if err := f.printer.TextDiff(path, string(source), string(formatted)); err != nil {
			return err
		}
	}
	if !f.write {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return &failure{"Cannot format " + path, err.Error()}
	}
	if err := renameio.WriteFile(path, formatted, info.Mode().Perm()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
