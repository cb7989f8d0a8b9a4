package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/examples"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
)

func initCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "Write a starter cloud to edit",
		Description: `
Writes the files of a small cloud, with comments, into the current directory.
Nothing that exists is overwritten. In a directory with a configuration there is nothing
to do: no plugins or backends have to be set up.

  all-in-one   all services, on one node that runs servers too
  compute-kit  all services, on three nodes that run servers too
  multinode    three control nodes, two compute nodes, one address for the outside`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Value: "all-in-one", Usage: "start from `STARTER`: all-in-one, compute-kit or multinode"},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			existing, _ := filepath.Glob("*.hcl")
			if len(existing) > 0 && !c.IsSet("from") {
				foreign.Fprintf(s.out, "There is a configuration here already: %s. Nothing has to be initialized.\n", strings.Join(existing, ", "))
				return nil
			}
			written, err := writeStarter(c.String("from"), existing)
			if err != nil {
				return err
			}
			foreign.Fprintf(s.out, "Wrote %s.\n\nName your nodes and your address in there, then:\n\n  kolla validate\n  kolla plan\n", strings.Join(written, ", "))
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
		return nil, failure.New("There is a configuration here already", fmt.Sprintf("This directory holds %s. Run kolla init in an empty one.", strings.Join(existing, ", ")))
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
		return writeNew(path, content)
	})
	if err != nil {
		return nil, fmt.Errorf("write the starter: %w", err)
	}
	return written, nil
}

// writeNew writes a file that must not exist yet. Of one that cannot be written in full
// nothing stays.
func writeNew(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
