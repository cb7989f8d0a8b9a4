package inspect

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/revision"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/openstack"
)

// Diff is `kolla diff`.
func Diff(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "Compare two versions of the configuration, without a cluster",
		ArgsUsage: "BASE [HEAD]",
		Description: `
Renders two versions of the configuration, as kolla render does, and compares the objects.
BASE and HEAD are revisions of the git repository that contains the configuration, or
directories, written as paths: ./NAME, ../NAME or /NAME. HEAD is the working tree if it is left
out. A name without ./, ../ or / is always a revision, even if a directory has this name: a
branch under review could add such a directory.

It uses no cluster: drift, defaults of the server, and values that only the cluster has
are not compared. The result cannot be applied; kolla plan compares with the cluster.

Variables need no values. Variable files that git does not track are read from the working
tree for both versions. So is a -var-file that does not exist in a revision.

Exit codes: 0 done, 1 error; with -detailed-exitcode 0 no differences, 2 differences.`,
		Flags: append(append(append(command.VariableFlags(), command.FormatFlags()...), command.DetailFlags()...),
			&cli.StringSliceFlag{Name: "target", Usage: "compare only `ADDRESS`, an object or a block, and its dependencies; may be repeated"},
			&cli.StringSliceFlag{Name: "exclude", Usage: "leave out `ADDRESS`, an object or a block, and everything that depends on it; may be repeated"},
			&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 when there are differences"},
			command.AnnotationsFlag(),
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			switch {
			case err != nil:
				return err
			case len(names) == 0:
				return failure.New("Nothing to compare with", "Name a revision or a directory: kolla diff origin/main")
			case len(names) > 2:
				return command.TooMany(c, names[2])
			}
			outputs, err := command.Outputs(c)
			if err != nil {
				return err
			}
			stdout := s.Out
			if outputs.Stdout() {
				s.Out = s.Err
			}
			w := command.NewWorkspace(s, c)
			w.Outputs = outputs
			return command.Annotated(w, stdout, func() error { return runDiff(w, stdout, names) })
		},
	}
}

func runDiff(w *command.Workspace, stdout io.Writer, names []string) error {
	ctx := w.Flags.Context
	if len(names) == 1 {
		names = append(names, ".")
	}
	var versions [2]engine.Version
	for i, printer := range []*view.Printer{w.Streams.Printer(w.Flags), w.Printer} {
		s, err := sideOf(ctx, names[i])
		if err != nil {
			return err
		}
		if versions[i], err = s.load(w, printer, i == 0); err != nil {
			return err
		}
	}
	base, head := versions[0], versions[1]
	if was, is := base.Config.Cloud.Name, head.Config.Cloud.Name; was != is {
		return failure.New("These are two clouds", fmt.Sprintf("%s describes cloud %q, and %s describes cloud %q. Clouds with different names have different objects, so kolla cannot compare them.", base.Name, was, head.Name, is))
	}
	plan, problems, err := engine.Diff(ctx, base, head, engine.DiffOptions{
		Selection: plans.Selection{Targets: w.Flags.StringSlice("target"), Excludes: w.Flags.StringSlice("exclude")},
		Values:    w.Outputs.Values(), Tool: w.Streams.Version,
	})
	if err != nil {
		return err
	}
	if plan == nil {
		w.Printer.Problems(problems)
		return command.ExitCode(command.ExitError)
	}
	if err := w.ShowPlan(stdout, plan); err != nil {
		return err
	}
	if w.Flags.Bool("detailed-exitcode") && plan.Changes() {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// side is a version of the configuration that is to be read.
type side struct {
	name string
	dir  string
	fsys fs.FS      // nil: the disk
	vars []lang.Var // in addition to those of the command line
}

// isPath reports whether an argument names a directory and not a revision. The spelling decides,
// because a branch can bring a directory with the name of any revision.
func isPath(name string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	return first == "." || first == ".." || filepath.IsAbs(name)
}

// sideOf returns the version that an argument names.
func sideOf(ctx context.Context, name string) (side, error) {
	if isPath(name) {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			return side{}, failure.New(fmt.Sprintf("No directory %q", name), "A name that starts with ./, ../ or / is a directory with a configuration, but this directory does not exist. Write a git revision without such a prefix: kolla diff origin/main")
		}
		s := side{name: name, dir: name}
		if name == "." {
			s.name = "the working tree"
		}
		return s, nil
	}
	repository, err := revision.Find(ctx, ".")
	if err != nil {
		return side{}, err
	}
	tree, err := repository.Tree(ctx, name)
	if err != nil {
		return side{}, err
	}
	untracked, err := repository.Untracked(ctx, "*.vars.hcl", "*.vars.hcl.json")
	if err != nil {
		return side{}, err
	}
	const short = 7 // characters, as git abbreviates a commit
	s := side{name: fmt.Sprintf("%s (%s)", name, tree.Commit[:short]), dir: ".", fsys: tree}
	slices.Sort(untracked)
	for _, file := range lang.AutoVarFiles(untracked) {
		s.vars = append(s.vars, lang.Var{File: file})
	}
	return s, nil
}

// load reads and renders a version, and shows its errors. Warnings of the base are not shown:
// they are about text that is replaced.
func (s side) load(w *command.Workspace, printer *view.Printer, base bool) (engine.Version, error) {
	config, diags := lang.Load(s.dir, lang.Options{
		Catalogue: openstack.Catalogue(), FS: s.fsys, Environ: os.Environ(), Unset: true,
		Vars: slices.Concat(s.vars, command.GivenVars(w.Flags)),
	})
	v := engine.Version{Name: s.name, Config: config}
	if !diags.HasErrors() {
		facts := openstack.Offline()
		facts.Past = base
		objects, more := openstack.Render(config, facts)
		v.Objects, diags = objects, append(diags, more...)
	}
	if base {
		diags = slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError })
	}
	printer.Diagnostics(diags, config.Files)
	if diags.HasErrors() {
		return engine.Version{}, failure.New(fmt.Sprintf("The configuration of %s is not valid", s.name), "The errors above are in that version. Only valid configurations can be compared.")
	}
	return v, nil
}
