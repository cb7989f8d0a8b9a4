package cli

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/examples"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
)

func initCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "Write a starter cloud to edit",
		Description: `
Writes the files of a small cloud, with comments, into the current directory. It never
overwrites a file. A directory with a configuration needs no init: kolla has no plugins,
and it sets up a backend when it is first used.

After you change the backend block, -migrate-state moves the state to its new location. It
locks both locations, writes the state to the new location and verifies it, and then
disables the old state. If it was interrupted, run it again. If the old or new state file is
not kolla.state.json, name it with -state.

  all-in-one   all services, on one node that runs servers too
  compute-kit  all services, on three nodes that run servers too
  multinode    all services, on three control nodes and two hypervisors, in several files
               and a module`,
		Flags: append(append(command.StateFlags(), command.LockFlags()...),
			&cli.StringFlag{Name: "from", Value: "all-in-one", Usage: "start from `STARTER`: all-in-one, compute-kit or multinode"},
			&cli.BoolFlag{Name: "migrate-state", Usage: "move the state to the location in the backend block"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if c.Bool("migrate-state") {
				return command.NewWorkspace(s, c).Migrate(c.Context)
			}
			existing, _ := filepath.Glob("*.hcl")
			if len(existing) > 0 && !c.IsSet("from") {
				foreign.Fprintf(s.Out, "There is a configuration here already: %s. Nothing has to be initialized.\n", strings.Join(existing, ", "))
				return nil
			}
			written, err := writeStarter(c.String("from"), existing)
			if err != nil {
				return err
			}
			foreign.Fprintf(s.Out, "Wrote %s.\n\nSet the variables in there: nodes, VIP, interface, storage. Then:\n\n  kolla validate\n  kolla doctor\n  kolla plan\n", strings.Join(written, ", "))
			return nil
		},
	}
}

// writeStarter copies an example into the current directory.
func writeStarter(name string, existing []string) ([]string, error) {
	starters, err := fs.ReadDir(examples.Files, ".")
	if err != nil {
		return nil, fmt.Errorf("read the starters: %w", err)
	}
	var names []string
	for _, starter := range starters {
		names = append(names, starter.Name())
	}
	starter, err := fs.Sub(examples.Files, name)
	if _, statErr := fs.Stat(examples.Files, name); err != nil || statErr != nil {
		return nil, failure.New(fmt.Sprintf("No starter %q", name), "The starters are: "+strings.Join(names, ", ")+".")
	}
	if len(existing) > 0 {
		return nil, failure.New("There is a configuration here already", fmt.Sprintf("This directory contains %s. Run kolla init in an empty directory.", strings.Join(existing, ", ")))
	}
	var written []string
	err = fs.WalkDir(starter, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(starter, path)
		if err != nil {
			return err
		}
		written = append(written, path)
		return files.WriteNew(path, content)
	})
	if err != nil {
		return nil, fmt.Errorf("write the starter: %w", err)
	}
	return written, nil
}
