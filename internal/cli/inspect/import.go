package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/takeover"
)

// Import is `kolla import`.
func Import(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:        "import",
		Usage:       "Write the configuration of a cloud that another program deployed",
		Subcommands: []*cli.Command{importKollaAnsible(s)},
	}
}

func importKollaAnsible(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "kolla-ansible",
		Usage: "Write a configuration from an inventory and the files in /etc/kolla",
		Description: `
Writes a new directory with cloud.hcl, report.md and the values of secrets:

  kolla import kolla-ansible -inventory=multinode -globals=/etc/kolla/globals.yml -out=prod
  kolla -chdir=prod validate

report.md says for each variable and file what it became, what does not carry over and why, and what
to do about it. It begins with what is in the way of a takeover. Passwords and keys go into files in
the directory secrets, which the configuration reads (from_file). No other file has their values.

It reads the inventory with group_vars and host_vars beside it, globals.yml, globals.d,
passwords.yml, the directory with overrides (node_custom_config) and haproxy.pem. It runs no
Ansible, connects to no host and needs no cluster. References such as {{ network_interface }} are
followed; other expressions are in the report. Files that ansible-vault encrypted have to be
decrypted before.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "inventory", Usage: "read the inventory from `FILE`, in the INI format of Ansible or in YAML"},
			&cli.StringFlag{Name: "globals", Value: "/etc/kolla/globals.yml", Usage: "read variables from `FILE`, and from globals.d beside it"},
			&cli.StringFlag{Name: "passwords", Usage: "read passwords from `FILE` (default passwords.yml beside globals.yml)"},
			&cli.StringFlag{Name: "config", Usage: "read overrides of config files from `DIR` (default node_custom_config, or else config beside globals.yml)"},
			&cli.StringFlag{Name: "certificates", Usage: "read haproxy.pem from `DIR` (default certificates beside globals.yml, if it exists)"},
			&cli.StringFlag{Name: "release", Usage: "the `RELEASE` of OpenStack, if globals.yml does not say it"},
			&cli.StringSliceFlag{Name: "node", Usage: "the Kubernetes node of a host with another name, `HOST=NODE`; may be repeated"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the cloud (default: that of the new directory)"},
			&cli.StringFlag{Name: "out", Usage: "write the new directory `DIR`, which must not exist"},
			command.NoColorFlag(),
		},
		Action: func(c *cli.Context) error {
			sources, options, err := importOptions(c)
			if err != nil {
				return err
			}
			input, diags, err := takeover.Read(sources)
			if err != nil {
				return err
			}
			var result takeover.Result
			if !diags.HasErrors() {
				result, diags = takeover.Convert(input, options)
			}
			if diags.HasErrors() {
				// Without the lines of the files: they may have passwords.
				s.Printer(c).Diagnostics(diags, nil)
				return command.ExitCode(command.ExitError)
			}
			if err := writeImport(c.String("out"), result.Files); err != nil {
				return err
			}
			tellImport(s, s.Printer(c), c.String("out"), result)
			return nil
		},
	}
}

var cloudName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)

// importOptions reads the command line.
func importOptions(c *cli.Context) (takeover.Sources, takeover.Options, error) {
	sources := takeover.Sources{
		Inventory: c.String("inventory"), Globals: c.String("globals"), Passwords: c.String("passwords"),
		Config: c.String("config"), Certificates: c.String("certificates"),
	}
	options := takeover.Options{Name: c.String("name"), Release: c.String("release"), Nodes: map[string]string{}}
	out := c.String("out")
	if sources.Inventory == "" || out == "" {
		return sources, options, failure.New("An option is missing", "Name the inventory of kolla-ansible and a new directory: kolla import kolla-ansible -inventory=FILE -globals=FILE -out=DIR.")
	}
	if sources.Passwords == "" {
		sources.Passwords = filepath.Join(filepath.Dir(sources.Globals), "passwords.yml")
	}
	if options.Name == "" {
		options.Name = filepath.Base(filepath.Clean(out))
	}
	if !cloudName.MatchString(options.Name) {
		return sources, options, failure.New(fmt.Sprintf("%q is no name of a cloud", options.Name),
			"A name has at most 40 lower-case letters, digits and dashes, and begins with a letter. Give it with -name=NAME.")
	}
	for _, assignment := range c.StringSlice("node") {
		host, node, ok := strings.Cut(assignment, "=")
		if !ok || host == "" || node == "" {
			return sources, options, failure.New(fmt.Sprintf("Unsuitable value %q for -node", assignment), "It is HOST=NODE: a host of the inventory, and the name of its node in Kubernetes.")
		}
		options.Nodes[host] = node
	}
	return sources, options, checkNew(out)
}

// checkNew refuses a directory that exists.
func checkNew(out string) error {
	switch _, err := os.Lstat(out); {
	case err == nil:
		return failure.New(out+" exists already", "kolla import overwrites nothing. Choose a new directory with -out, or move this one away.")
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", out, err)
	}
	return nil
}

// writeImport writes the files into a directory beside the new one, and renames it when it is complete.
func writeImport(out string, made []takeover.File) (err error) {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(out), ".kolla-import-")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temporary))
		}
	}()
	private := files.In(temporary)
	if err := private.Make(takeover.SecretsDir); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	for _, f := range made {
		name := filepath.FromSlash(f.Path)
		write := func() error { return files.WriteNew(filepath.Join(temporary, name), f.Content) }
		if f.Secret {
			write = func() error { return private.Replace(name, f.Content) }
		}
		if err := write(); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
	}
	if err := os.Chmod(temporary, 0o755); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := checkNew(out); err != nil {
		return err
	}
	return os.Rename(temporary, out)
}

// tellImport says what was written, and what is in the way.
func tellImport(s command.Streams, printer *view.Printer, out string, result takeover.Result) {
	tell := func(format string, args ...any) {
		fmt.Fprintln(s.Out, printer.Out.Prose(foreign.Text(fmt.Sprintf(format, args...)), 0))
	}
	tell("Wrote %s: cloud.hcl, report.md and %s in %s.", out, words.Count(result.Secrets, "secret file"), filepath.Join(out, takeover.SecretsDir))
	tell("%s of the old cloud carry over, %s. Read %s first.",
		words.Count(result.Carried, "setting"), words.Plural(result.Left, "one does not", fmt.Sprintf("%d do not", result.Left)), filepath.Join(out, "report.md"))
	for _, blocker := range result.Blockers {
		fmt.Fprintln(s.Out)
		tell("In the way: %s", blocker)
	}
	foreign.Fprintf(s.Out, "\nNext:\n\n  kolla -chdir=%s validate\n  kolla -chdir=%s plan\n", foreign.Word(out), foreign.Word(out))
}
