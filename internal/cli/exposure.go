package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
)

// nodesTimeout bounds how long a server that does not answer goes unnoticed.
const nodesTimeout = 20 * time.Second

func exposureCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "exposure",
		Usage: "List what is reachable from outside, or configure the way in",
		Description: `
Without a command it lists, without a cluster, what clients reach at which address
and port, and the node port behind it.`,
		Flags: append(variableFlags(), noColorFlag()),
		Action: func(c *cli.Context) error {
			w := newWorkspace(s, c)
			if err := w.loadConfig(); err != nil {
				return err
			}
			return listExposures(s, w.config)
		},
		Subcommands: []*cli.Command{haproxyCommand(s)},
	}
}

func haproxyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "haproxy",
		Usage:     "Print the configuration of the HAProxy that holds the VIP",
		ArgsUsage: "[EXPOSURE]",
		Description: `
For a device outside of the cluster that runs HAProxy 2.6 or later. It listens on the
VIP at the ports of the exposed services, and spreads what comes in over the node
ports of the exposure's nodes, as long as they pass its health checks. With a single
exposure in the configuration there is no need to name it.

The nodes and their addresses come from the cluster, of which nothing else is read;
the cloud need not be applied yet. Nodes that are not ready or cordoned stay: the
health checks decide. Make the file anew when nodes come or go.`,
		Flags: append(append(variableFlags(), clusterFlags()...),
			&cli.StringFlag{Name: "out", Usage: "write to `FILE` in one step instead of printing; over nothing but a file that kolla wrote"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			return runHAProxy(newWorkspace(s, c), c.Args().First(), c.String("out"))
		},
	}
}

func runHAProxy(w *workspace, name, out string) error {
	if err := checkConfigTarget(out); err != nil {
		return err
	}
	w.loading.Cluster = w.cluster
	if err := w.loadConfig(); err != nil {
		return err
	}
	exposure, err := chooseExposure(w.config, name)
	if err != nil {
		return err
	}
	content, err := w.renderHAProxy(w.flags.Context, exposure)
	if err != nil {
		return err
	}
	if out == "" {
		_, err := w.out.Write(content)
		return err
	}
	if err := renameio.WriteFile(out, content, 0o644, renameio.WithExistingPermissions()); err != nil {
		return fmt.Errorf("write the configuration of HAProxy: %w", err)
	}
	foreign.Fprintf(w.out, "Wrote %s. Before HAProxy loads it:\n\n  haproxy -c -f %s\n", out, out)
	return nil
}

// renderHAProxy joins the configuration with the nodes of the cluster.
func (w *workspace) renderHAProxy(ctx context.Context, exposure configs.Exposure) ([]byte, error) {
	if err := w.dial(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, nodesTimeout)
	defer cancel()
	live, err := w.client.List(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Node"}, "")
	if err != nil {
		return nil, err
	}
	nodes, err := haproxy.Nodes(live)
	if err != nil {
		return nil, err
	}
	content, diags := haproxy.Render(w.config, exposure, nodes)
	w.printer.Diagnostics(diags, w.config.Files)
	if diags.HasErrors() {
		return nil, exitCode(exitError)
	}
	return content, nil
}

// checkConfigTarget refuses to write over a file that kolla did not make.
func checkConfigTarget(path string) error {
	if path == "" {
		return nil
	}
	ours, err := files.Begins(path, haproxy.Signature)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, files.ErrNotRegular):
	case err != nil:
		return fmt.Errorf("look at what -out would replace: %w", err)
	}
	if !ours {
		return failure.New("There is another file of that name", fmt.Sprintf("%s was not made by kolla, and -out would overwrite it. Move it away, or choose another name.", path))
	}
	return nil
}

// chooseExposure finds the exposure of that name, or the only one there is.
func chooseExposure(config *configs.Config, name string) (configs.Exposure, error) {
	var names []string
	for _, x := range config.Exposures {
		if x.Name == name {
			return x, nil
		}
		names = append(names, x.Name)
	}
	switch {
	case len(names) == 0:
		return configs.Exposure{}, failure.New("The configuration has no exposure", "It says how services are reached from outside. Add one, and to each such service expose = exposure.public:\n\n  exposure \"public\" {\n    vip = \"ADDRESS\"\n  }")
	case name != "":
		return configs.Exposure{}, failure.New(fmt.Sprintf("No exposure %q", name), fmt.Sprintf("%sThe configuration has: %s.", didYouMean(name, names), strings.Join(names, ", ")))
	case len(names) > 1:
		return configs.Exposure{}, failure.New("Which exposure?", fmt.Sprintf("The configuration has several: %s. Name one:\n\n  kolla exposure haproxy %s", strings.Join(names, ", "), names[0]))
	}
	return config.Exposures[0], nil
}

// listExposures prints a row for each port that is reachable from outside, and for
// each exposure through which nothing is.
func listExposures(s streams, config *configs.Config) error {
	if len(config.Exposures) == 0 {
		fmt.Fprintln(s.out, "Nothing is reachable from outside: the configuration has no exposure.")
		return nil
	}
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "EXPOSURE\tMODE\tVIP\tFQDN\tSERVICE\tPORT\tNODE PORT")
	for _, x := range config.Exposures {
		fqdn := x.FQDN
		if fqdn == "" {
			fqdn = "-"
		}
		empty := true
		for _, service := range config.Services {
			for _, p := range service.Ports {
				if service.Exposure != x.Name || !p.Exposed {
					continue
				}
				empty = false
				nodePort := "not fixed"
				if p.NodePort != 0 {
					nodePort = fmt.Sprint(p.NodePort)
				}
				number := fmt.Sprint(p.AtExposure())
				if p.UDP {
					number += "/udp"
				}
				foreign.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", x.Name, x.Mode, x.VIP, fqdn, service.Name, number, nodePort)
			}
		}
		if empty {
			foreign.Fprintf(table, "%s\t%s\t%s\t%s\t-\t-\t-\n", x.Name, x.Mode, x.VIP, fqdn)
		}
	}
	return table.Flush()
}
