package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/adoption"
)

// generateFlag is the option to write declarations for imports.
const generateFlag = "generate-config-out"

// checkGenerated refuses a file that exists. It refuses a name that would not make the file
// a part of the configuration.
func checkGenerated(path string) error {
	if path == "" {
		return nil
	}
	_, err := os.Lstat(path)
	switch name := filepath.Base(path); {
	case err == nil:
		return failure.New(fmt.Sprintf("%s exists", path), "-"+generateFlag+" writes a new file, and overwrites none.")
	case !errors.Is(err, fs.ErrNotExist):
		return failure.New(fmt.Sprintf("Cannot write %s", path), failure.Sentence(err.Error())+".")
	case filepath.Dir(filepath.Clean(path)) != ".", strings.HasPrefix(name, "."), !strings.HasSuffix(name, ".hcl"), strings.HasSuffix(name, ".vars.hcl"):
		return failure.New(fmt.Sprintf("%s would be no part of the configuration", path), "Name a file in this directory that ends with .hcl, such as -"+generateFlag+"=imported.hcl.")
	}
	return nil
}

// generate writes manifests for the imports whose address is not declared. Then it loads
// the configuration again, with the manifests.
func generate(ctx context.Context, w *command.Workspace) error {
	w.Undeclared = false
	if len(w.Config.Undeclared) == 0 {
		return nil
	}
	path := w.Flags.String(generateFlag)
	drafts, problems, err := adoption.Draft(ctx, w.Client, w.Config.Undeclared, w.Config.Cloud.Namespace)
	if err != nil {
		return err
	}
	text := "# Written by `kolla plan -" + generateFlag + "` from objects in the cluster. Review it,\n# and move the blocks to the right file.\n"
	var names, variables []string
	for _, d := range drafts {
		text += "\n" + string(d.Source)
		names, variables = append(names, d.Block), append(variables, d.Variables...)
	}
	if len(problems) > 0 {
		w.Printer.Problems(problems)
		return command.ExitCode(command.ExitError)
	}
	if err := files.WriteNew(path, []byte(text)); err != nil {
		return failure.New(fmt.Sprintf("Cannot write %s", path), failure.Sentence(err.Error())+".")
	}
	foreign.Fprintf(w.Streams.Err, "%s is written, with %s.\n", path, strings.Join(names, ", "))
	switch len(variables) {
	case 0:
	case 1:
		foreign.Fprintf(w.Streams.Err, "The value of a Secret is never written: give it as the variable %s.\n", variables[0])
	default:
		foreign.Fprintf(w.Streams.Err, "Values of Secrets are never written: give them as the variables %s.\n", strings.Join(variables, ", "))
	}
	fmt.Fprintln(w.Streams.Err)
	if err := w.LoadConfig(); err != nil {
		foreign.Fprintf(w.Streams.Err, "No plan is made yet, but %s is there. When this is corrected, run kolla plan again,\nwithout -%s.\n", path, generateFlag)
		return err
	}
	return nil
}
