package diagnose

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/discovery"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/internal/run/reach"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/keystone"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// Discover is `kolla discover`.
func Discover(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "discover",
		Usage:     "Show where services are: DNS names, addresses, ports, ready pods",
		ArgsUsage: "[SERVICE...]",
		Description: `
Shows the Services of Kubernetes of all services, or of the named ones: the DNS name, the
cluster IP, each port as PORT:NODEPORT/PROTOCOL, and how many pods are ready. The domain of
the cluster may follow each DNS name; pods need not write it.

SERVICE is the name of a service, a workload or a Service, or an address: nova,
service.nova, nova-api, module.edge. Options may follow it.

-wide adds short names, the names of single pods, workloads, nodes, and the URLs from
inside and outside. -env prints the environment variables that Kubernetes makes of
Services. Only pods with service_links = true get them. -json prints all of this.

-check also opens each public URL from this machine, without a password, and prints what
answers and how fast. A public address that is no URL gets a TCP connection only. Then it
starts a pod in the namespace of the cloud, from an image of the cloud, which opens the
public and the internal URLs, and is removed. With -no-pods it starts none.

-keystone also lists the endpoints in Keystone's catalogue, and says which are missing or
not as declared. It logs in as the administrator, as kolla plan does, and changes nothing.

It evaluates the configuration, and needs the cluster. It needs no state.

Exit codes: 0 the cluster has all Services, 1 error, 2 it lacks a Service, or with -check
a URL does not answer, or the pod does not run, or with -keystone Keystone does not answer
or an endpoint is not as declared.`,
		Flags: append(command.CloudFlags(),
			&cli.BoolFlag{Name: "wide", Usage: "also show names of pods, workloads, nodes and URLs"},
			&cli.BoolFlag{Name: "env", Usage: "print the environment variables for pods, as NAME=VALUE"},
			&cli.BoolFlag{Name: "check", Usage: "also open each URL, from here and from a pod"},
			&cli.BoolFlag{Name: "keystone", Usage: "also list the endpoints in Keystone's catalogue"},
			&cli.BoolFlag{Name: "no-pods", Usage: "with -check, start no pod"},
			&cli.DurationFlag{Name: "timeout", Value: podTimeout, Usage: "with -check, wait up to `DURATION` for the pod, which may have to pull an image"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if err := command.Exclusive(c, [][2]string{{"wide", "env"}, {"wide", "json"}, {"env", "json"}, {"env", "check"}, {"env", "keystone"}}); err != nil {
				return err
			}
			return runDiscover(command.NewWorkspace(s, c), names)
		},
	}
}

func runDiscover(w *command.Workspace, names []string) error {
	ctx := w.Flags.Context
	w.Loading = engine.Loading{Cluster: w.Cluster, Settled: true, Quiet: true}
	objects, err := w.Render()
	if err != nil {
		return err
	}
	blocks, err := chooseBlocks(discovery.Declared(w.Config, objects), names)
	if err != nil {
		return err
	}
	if err := w.Connect(ctx); err != nil {
		return err
	}
	cloud := discovery.Cloud{Name: w.Config.Cloud.Name, Namespace: w.Config.Cloud.Namespace, Server: w.Cluster.Identity().Server}
	snapshot := w.Cluster.Snapshot()
	found, err := discovery.Of(ctx, cloud, blocks, snapshot)
	if err != nil {
		return err
	}
	if w.Flags.Bool("check") {
		if found.Checks, err = reach.Public(ctx, blocks, trustOf(ctx, w), reach.Patience); err != nil {
			return err
		}
		if !w.Flags.Bool("no-pods") {
			if err := openInside(ctx, w, objects, blocks, found); err != nil {
				return err
			}
		}
	}
	if w.Flags.Bool("keystone") {
		if err := readCatalogue(ctx, w, objects, found, len(names) > 0); err != nil {
			return err
		}
	}
	if err := showDiscovery(w, found, snapshot, len(names) > 0); err != nil {
		return err
	}
	if _, missing := found.Services(); missing > 0 || !found.Answers() || !found.Registered() {
		return command.ExitCode(command.ExitChanges)
	}
	return nil
}

// trustOf returns the CAs of the system and of the exposures. The CA of an exposure that cannot be read is
// left out, and the check of its URLs says so.
func trustOf(ctx context.Context, w *command.Workspace) *x509.CertPool {
	trust, err := x509.SystemCertPool()
	if err != nil {
		trust = x509.NewCertPool()
	}
	for _, x := range w.Config.Exposures {
		if x.TLS == nil || !x.TLS.PrivateCA {
			continue
		}
		live, err := w.Client.Get(ctx, providers.Ref{GVK: kinds.Secret.WithVersion("v1"), Namespace: w.Config.Cloud.Namespace, Name: x.TLS.Secret})
		if err == nil {
			trust.AppendCertsFromPEM(providers.ValuesOf(live)[configs.KeyCA])
		}
	}
	return trust
}

// openInside opens URLs from a pod, like one of the cloud.
func openInside(ctx context.Context, w *command.Workspace, objects []providers.Object, blocks []discovery.Block, found *discovery.Directory) error {
	var pods []*corev1.PodSpec
	for i := range objects {
		if pod, ok := scheduling.PodOf(objects[i].Manifest); ok && kinds.RunsPods(objects[i].Ref().GVK.GroupKind()) {
			pods = append(pods, pod)
		}
	}
	known := func(image string) bool { return !strings.Contains(image, configs.KnownAfterApply) }
	base := probe.Choose(probe.Bases(pods, known), w.Config.Cloud.Registry)
	at := slices.IndexFunc(pods, func(pod *corev1.PodSpec) bool {
		return slices.ContainsFunc(probe.Bases([]*corev1.PodSpec{pod}, known), func(b probe.Base) bool { return b.Image == base.Image })
	})
	if at < 0 {
		found.NoPod = "the configuration has no pods, and so no image for one"
		return nil
	}
	var err error
	var denied *providers.PermissionError
	found.Inside, found.NoPod, err = reach.Inside(ctx, prober(w), pods[at], base, blocks)
	if errors.As(err, &denied) && ctx.Err() == nil {
		found.NoPod, err = denied.Error(), nil
	}
	return err
}

// readCatalogue reads the endpoints of Keystone as the administrator of the first job that registers something.
// named: the arguments name services, and only their endpoints count.
func readCatalogue(ctx context.Context, w *command.Workspace, objects []providers.Object, found *discovery.Directory, named bool) error {
	at := slices.IndexFunc(objects, func(o providers.Object) bool { return o.Registers != nil && o.Registers.Keystone != nil })
	if at < 0 {
		found.NoKeystone = "no job of the configuration registers anything"
		return nil
	}
	by := objects[at].Registers.Keystone
	secret, err := w.Client.Get(ctx, providers.Ref{GVK: kinds.Secret.WithVersion("v1"), Namespace: by.Password.Namespace, Name: by.Password.Name})
	switch {
	case apierrors.IsForbidden(err):
		found.NoKeystone = fmt.Sprintf("you are not allowed to get Secret %s in namespace %s", by.Password.Name, by.Password.Namespace)
		return nil
	case err != nil && !apierrors.IsNotFound(err):
		return err
	}
	live, err := keystone.New(w.Client, func(string, string) map[string][]byte { return providers.ValuesOf(secret) }).Catalogue(ctx, by)
	var unread *providers.UncomparedError
	switch {
	case errors.As(err, &unread):
		found.NoKeystone = unread.Why
		return nil
	case err != nil:
		return err
	}
	var blocks []discovery.Block
	if named {
		blocks = found.Blocks
	}
	found.Keystone = discovery.Catalogue(blocks, objects, live)
	return nil
}

// showDiscovery prints a directory in the form that the options choose. named: the arguments name
// services, and the variables are theirs only.
func showDiscovery(w *command.Workspace, found *discovery.Directory, snapshot *providers.Snapshot, named bool) error {
	if !w.Flags.Bool("env") && !w.Flags.Bool("json") {
		if err := tables.Discovery(w.Streams.Out, found, w.Flags.Bool("wide")); err != nil {
			return err
		}
		if w.Flags.Bool("check") {
			if err := tables.Checks(w.Streams.Out, found); err != nil {
				return err
			}
		}
		if w.Flags.Bool("keystone") {
			return tables.Endpoints(w.Streams.Out, found)
		}
		return nil
	}
	variables := found.OwnEnvironment()
	if !named {
		apiServer, err := findAPIServer(w.Flags.Context, w)
		if err != nil {
			return err
		}
		if variables, err = found.Environment(snapshot, apiServer); err != nil {
			return err
		}
	}
	if w.Flags.Bool("json") {
		return found.JSON(w.Streams.Out, variables)
	}
	return tables.Environment(w.Streams.Out, found.Namespace, variables)
}

// findAPIServer reads the Service of the API server. Without the right to read it, there is a warning
// and no Service.
func findAPIServer(ctx context.Context, w *command.Workspace) (*unstructured.Unstructured, error) {
	live, err := w.Client.Get(ctx, discovery.APIServer)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		w.Printer.Warn("The variables of the API server are missing",
			fmt.Sprintf("You are not allowed to get Service %s in namespace %s. `kolla rbac -read-only` has a rule for it.", discovery.APIServer.Name, discovery.APIServer.Namespace))
		return nil, nil
	}
	return live, err
}

// chooseBlocks returns the blocks that names choose, or all blocks without names. The name of a
// workload or a Service chooses a part of its block.
func chooseBlocks(blocks []discovery.Block, names []string) ([]discovery.Block, error) {
	if len(names) == 0 {
		return blocks, nil
	}
	c := newChoice(names)
	var out []discovery.Block
	var known []string
	for _, b := range blocks {
		known = append(known, b.Address, addrs.SplitBlock(b.Address).Name)
		for _, o := range b.Objects() {
			known = append(known, o.Name)
		}
		if chosen := b.Only(c.object); c.block(b) {
			out = append(out, b)
		} else if len(chosen.Objects()) > 0 {
			out = append(out, chosen)
		}
	}
	if i := slices.Index(c.matched, false); i >= 0 {
		slices.Sort(known)
		return nil, failure.New(fmt.Sprintf("The configuration has no service or workload %q", names[i]),
			words.WithHint(words.DidYouMean(names[i], slices.Compact(known)), "Name a service (nova or service.nova), a module (module.edge), a workload (nova-api) or a Service of Kubernetes. `kolla discover` lists them."))
	}
	return out, nil
}

// choice is the arguments of a command that name services and objects.
type choice struct {
	names   []string
	targets []addrs.Target // of the names that are addresses; zero: a plain name
	matched []bool         // the name fits a block or an object
}

func newChoice(names []string) *choice {
	c := &choice{names: names, targets: make([]addrs.Target, len(names)), matched: make([]bool, len(names))}
	for i, name := range names {
		if target, err := addrs.ParseTarget(name); err == nil {
			c.targets[i] = target
		}
	}
	return c
}

// block reports whether a name chooses a whole block.
func (c *choice) block(b discovery.Block) bool {
	return c.takes(func(name string, t addrs.Target) bool {
		label := addrs.SplitBlock(b.Address)
		return t.Block != "" && t.Whole() && addrs.Covers(t.Block, b.Address) || name == b.Name || label.Type == "service" && name == label.Name
	})
}

// object reports whether a name chooses an object.
func (c *choice) object(o addrs.Object) bool {
	return c.takes(func(name string, t addrs.Target) bool {
		return name == o.Name || t.Block != "" && !t.Whole() && t.Has(o)
	})
}

func (c *choice) takes(fits func(name string, t addrs.Target) bool) (found bool) {
	for i, name := range c.names {
		if fits(name, c.targets[i]) {
			c.matched[i], found = true, true
		}
	}
	return found
}
