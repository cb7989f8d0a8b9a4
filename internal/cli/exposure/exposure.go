// Package exposure has `kolla exposure`: the list of public ports, and the configuration of the machines
// outside of the cluster that hold a VIP.
package exposure

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
)

// Command is `kolla exposure`.
func Command(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "exposure",
		Usage: "List endpoints that are reachable from outside the cluster",
		Description: `
Without a command it lists each endpoint that clients can reach, with its address, its port
and the node port behind it. It needs no cluster.`,
		Flags: append(command.VariableFlags(), command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			if err := w.LoadConfig(); err != nil {
				return err
			}
			return tables.Exposures(s.Out, w.Config)
		},
		Subcommands: []*cli.Command{haproxyCommand(s), certificateCommand(s), keepalivedCommand(s)},
	}
}

func haproxyCommand(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "haproxy",
		Usage:     "Print the configuration of the HAProxy that holds the VIP",
		ArgsUsage: "[EXPOSURE]",
		Description: `
For a machine outside of the cluster that runs HAProxy 2.6 or later. HAProxy listens on the
VIP at the ports of the exposed services, and distributes connections to the node ports of
those nodes of the exposure that pass its health checks. If the configuration has only one
exposure, you need not name it.

kolla reads only the nodes and their addresses from the cluster; the cloud need not be
applied yet. The file includes nodes that are cordoned or not ready: the health checks
decide. Print the file again when you add or remove nodes, or let -watch do it: it writes the
file when the nodes differ, and lets HAProxy load it. Connections stay with the old process
until they end. -watch needs HAProxy's master process (haproxy -W -S SOCKET, as in Debian's
package), and runs until it is interrupted.

If the exposure has a block tls, HAProxy reads its certificate from the file of -certificate.
kolla exposure certificate writes this file. -watch writes it too, and again when the
certificate changes.`,
		Flags: append(command.CloudFlags(),
			outFlag(),
			&cli.StringFlag{Name: "certificate", Usage: "`FILE` on the machine with the certificate and its key (default: /etc/haproxy/EXPOSURE.pem)"},
			&cli.BoolFlag{Name: "watch", Usage: "go on: look at the nodes every 10 seconds; needs -out"},
			&cli.StringFlag{Name: "master-socket", Value: haproxy.MasterSocket, Usage: "`SOCKET` of HAProxy's master process, for -watch"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			if c.Bool("watch") && c.String("out") == "" {
				return failure.New("-watch without -out", "HAProxy loads a file. Say which: -out=/etc/haproxy/haproxy.cfg.")
			}
			return runHAProxy(command.NewWorkspace(s, c), c.Args().First())
		},
	}
}

// outFlag is the option -out of commands that print a configuration.
func outFlag() cli.Flag {
	return &cli.StringFlag{Name: "out", Usage: "write to `FILE` atomically instead of printing; only overwrites a file that kolla wrote"}
}

// written returns the file of -out, which begins with a signature.
func written(c *cli.Context, signature string) files.Output {
	return files.Output{Path: c.String("out"), Option: "-out", Content: "configuration that kolla wrote", Ours: files.Begins(signature)}
}

// writeChecked prints a configuration, or writes it to a file. check is the command that checks the file.
func writeChecked(w *command.Workspace, file files.Output, check string, content []byte) error {
	return write(w, file, content, renameio.WithExistingPermissions(), " Before it is loaded:\n\n  %s %s", check, file.Path)
}

// write prints a text, or writes it to a file. next is the format of a text for people about the written file.
func write(w *command.Workspace, file files.Output, content []byte, permissions renameio.Option, next string, args ...any) error {
	if file.Path == "" {
		_, err := w.Streams.Out.Write(content)
		return err
	}
	if err := file.Write(content, permissions); err != nil {
		return err
	}
	foreign.Fprintf(w.Streams.Out, "Wrote %s."+next+"\n", append([]any{file.Path}, args...)...)
	return nil
}

func runHAProxy(w *command.Workspace, name string) error {
	file := written(w.Flags, haproxy.Signature)
	if err := file.Check(); err != nil {
		return err
	}
	exposure, err := loadExposure(w, "haproxy", name)
	if err != nil {
		return err
	}
	if err := w.Dial(); err != nil {
		return err
	}
	certificate := cmp.Or(w.Flags.String("certificate"), haproxy.CertificateFile(exposure))
	if w.Flags.Bool("watch") {
		k := &keeper{w: w, file: file, exposure: exposure, socket: w.Flags.String("master-socket"), certificate: certificateFile(certificate)}
		return k.keep(w.Flags.Context)
	}
	nodes, err := haproxyNodes(w.Flags.Context, w)
	if err != nil {
		return err
	}
	content, diags := haproxy.Render(w.Config, exposure, nodes, certificate)
	w.Printer.Diagnostics(diags, w.Config.Files)
	if diags.HasErrors() {
		return command.ExitCode(command.ExitError)
	}
	return writeChecked(w, file, "haproxy -c -f", content)
}

// haproxyNodes lists the nodes of the cluster.
func haproxyNodes(ctx context.Context, w *command.Workspace) ([]haproxy.Node, error) {
	live, err := w.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return haproxy.Nodes(live)
}

// loadExposure loads the configuration, and finds the exposure with a name, for a subcommand. Without a name there must
// be only one.
func loadExposure(w *command.Workspace, subcommand, name string) (configs.Exposure, error) {
	w.Loading.Cluster = w.Cluster // for data blocks
	if err := w.LoadConfig(); err != nil {
		return configs.Exposure{}, err
	}
	config := w.Config
	if x := config.Exposure(name); x != nil {
		return *x, nil
	}
	var names []string
	for _, x := range config.Exposures {
		names = append(names, x.Name)
	}
	switch {
	case len(names) == 0:
		return configs.Exposure{}, failure.New("The configuration has no exposure", "An exposure makes services reachable from outside. Add one, and add expose = exposure.public to each of these services:\n\n  exposure \"public\" {\n    vip = \"ADDRESS\"\n  }")
	case name != "":
		return configs.Exposure{}, failure.New(fmt.Sprintf("No exposure %q", name), fmt.Sprintf("%sThe configuration has: %s.", command.DidYouMean(name, names), strings.Join(names, ", ")))
	case len(names) > 1:
		return configs.Exposure{}, failure.New("Which exposure?", fmt.Sprintf("The configuration has several: %s. Name one:\n\n  kolla exposure %s %s", strings.Join(names, ", "), subcommand, names[0]))
	}
	return config.Exposures[0], nil
}
