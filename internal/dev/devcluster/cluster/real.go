package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kolla.openstack.org/kolla/internal/dev/devcluster/fabric"
	"kolla.openstack.org/kolla/internal/dev/devcluster/machine"
	"kolla.openstack.org/kolla/internal/dev/devcluster/nodes"
	"kolla.openstack.org/kolla/internal/dev/devcluster/pki"
)

// Real asks for real nodes: machines in namespaces of their own, with
// containerd, kubelet and kube-proxy.
type Real struct {
	// Nodes is how many there are: real-1, real-2 and so on.
	Nodes int
	// Programs is the folder with what they run.
	Programs string
	// Images is the folder of an OCI image layout with all available images, regardless of the
	// registry in their names.
	Images string
}

const (
	nodeProgram = "kolla-devnode"
	fabricName  = "fabric"
)

// MaxRealNodes is the number of addresses for real nodes.
const MaxRealNodes = 50

// The images that a cluster with real nodes itself runs.
const (
	pauseImage   = "kolla.test/devcluster/pause:dev"
	corednsImage = "kolla.test/devcluster/coredns:dev"
)

// clusterDNS is the address of the Service in dns.yaml.
var clusterDNS = netip.MustParseAddr("10.96.0.10")

//go:embed dns.yaml
var dnsManifest string

func (r Real) program() string { return filepath.Join(r.Programs, nodeProgram) }

func (r Real) name(i int) string { return fmt.Sprintf("real-%d", i+1) }

// address returns the address of node i in a network of the fabric.
func (r Real) address(network netip.Prefix, i int) netip.Addr {
	const first = 11
	bytes := network.Addr().As4()
	bytes[3] = byte(first + i)
	return netip.AddrFrom4(bytes)
}

func (r Real) specs() []nodes.Spec {
	var specs []nodes.Spec
	for i := range r.Nodes {
		specs = append(specs, nodes.Spec{Name: r.name(i)})
	}
	return specs
}

// programs returns the files of the folder Programs.
func (r Real) programs() []string {
	return []string{
		nodeProgram, "containerd", "containerd-shim-runc-v2", "runc",
		"cni/bridge", "cni/host-local", "cni/loopback", "cni/portmap",
	}
}

// check returns the missing requirements of real nodes, before it makes anything.
func (r Real) check(simulated []nodes.Spec) error {
	if r.Nodes == 0 {
		return nil
	}
	if os.Geteuid() != 0 {
		return errors.New("start cluster: real nodes need root; run this as root, or leave out -real for simulated nodes")
	}
	for _, spec := range simulated {
		if slices.ContainsFunc(r.specs(), func(real nodes.Spec) bool { return real.Name == spec.Name }) {
			return fmt.Errorf("start cluster: %s is the name of a real node, and no simulated one can have it; choose another", spec.Name)
		}
	}
	var missing []error
	for _, file := range r.programs() {
		if _, err := os.Stat(filepath.Join(r.Programs, file)); err != nil {
			missing = append(missing, fmt.Errorf("%w; make it with: make devnode", err))
		}
	}
	if _, err := os.Stat(filepath.Join(r.Images, "index.json")); err != nil {
		missing = append(missing, fmt.Errorf("%w; make it with: make images", err))
	}
	if err := errors.Join(missing...); err != nil {
		return fmt.Errorf("start cluster: something that real nodes need is missing:\n%w", err)
	}
	return nil
}

// try does briefly what real nodes do, on their file system, before the cluster starts.
func (r Real) try(dir Dir) error {
	if r.Nodes == 0 {
		return nil
	}
	if err := os.MkdirAll(dir.join(machinesFolder), 0o700); err != nil {
		return fmt.Errorf("start cluster: %w", err)
	}
	cmd := exec.Command(r.program(), "check", dir.join(machinesFolder))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: machine.Namespaces}
	out, err := cmd.CombinedOutput()
	if said := strings.TrimSpace(string(out)); said != "" {
		err = errors.New(said)
	}
	if err != nil {
		return fmt.Errorf("start cluster: this computer cannot run real nodes:\n%w", err)
	}
	return nil
}

// prepareMachines writes the settings of the machines.
func (s *supervisor) prepareMachines() error {
	for i := range s.Real.Nodes {
		if err := s.prepareMachine(i); err != nil {
			return fmt.Errorf("prepare node %s: %w", s.Real.name(i), err)
		}
	}
	return nil
}

func (s *supervisor) prepareMachine(i int) error {
	name, address := s.Real.name(i), s.Real.address(fabric.Network, i)
	home := s.Dir.join(machinesFolder, name)
	if err := machine.MakeHome(home); err != nil {
		return err
	}
	url := fmt.Sprintf("https://%s:%d", fabric.Gateway, s.ports.APIServer)
	settings := machine.Settings{
		Name:          name,
		Address:       address,
		TunnelAddress: s.Real.address(fabric.TunnelNetwork, i),
		Home:          home,
		Programs:      s.Real.Programs,
		Fabric:        s.Dir.join(runFolder),
		Cgroup:        path.Join(s.Dir.cgroup(), name),
		APIServer:     url,
		ClusterDNS:    clusterDNS,
		PodNetwork:    netip.MustParsePrefix(podCIDR),
		PauseImage:    pauseImage,
		Registry:      fmt.Sprintf("http://%s:%d", fabric.Gateway, fabric.RegistryPort),
	}
	etc := filepath.Join(home, machine.EtcFolder)
	if err := writeJSON(filepath.Join(etc, machine.SettingsFile), settings); err != nil {
		return err
	}
	keys := s.Dir.join(pkiFolder)
	if err := pki.EnsureNode(keys, name, address.String()); err != nil {
		return err
	}
	for file, identity := range map[string]string{
		machine.KubeletKubeconfig: pki.NodeClient(name),
		machine.ProxyKubeconfig:   pki.Proxy,
	} {
		data, err := pki.Kubeconfig(keys, identity, url)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(etc, file), data); err != nil {
			return err
		}
	}
	for file, source := range map[string]string{
		machine.CAFile:          s.Dir.cert(pki.CA),
		machine.KubeletCertFile: s.Dir.cert(pki.NodeServer(name)),
		machine.KubeletKeyFile:  s.Dir.key(pki.NodeServer(name)),
	} {
		data, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(etc, file), data); err != nil {
			return err
		}
	}
	return machine.MakeCgroup(settings.Cgroup)
}

// launchFabric starts the network of the real nodes.
func (s *supervisor) launchFabric() {
	if s.Real.Nodes == 0 {
		return
	}
	s.launch(&child{
		name:    fabricName,
		program: s.Real.program(),
		args:    []string{"fabric", fmt.Sprint(s.ports.APIServer), s.Real.Images, s.Dir.cgroup()},
		stage:   stopEtcd,
	})
}

func (s *supervisor) launchMachines() {
	for i := range s.Real.Nodes {
		name := s.Real.name(i)
		s.launch(&child{
			name:       name,
			program:    s.Real.program(),
			args:       []string{"machine", s.Dir.join(machinesFolder, name)},
			namespaces: machine.Namespaces,
		})
	}
}

// startDNS makes the cluster's DNS and waits until it answers.
func (s *supervisor) startDNS(ctx context.Context, w *waiter) error {
	manifest := strings.ReplaceAll(dnsManifest, "IMAGE", corednsImage)
	cmd := exec.CommandContext(ctx, self, "kubectl", "-dir", string(s.Dir), "apply", "--server-side", "--force-conflicts", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out.String()))
	}
	return poll(ctx, func(ctx context.Context) error { return w.dnsReady(ctx, s.began) })
}

// cgroup returns the parent cgroup of all machines of the cluster, in every hierarchy.
func (d Dir) cgroup() string {
	sum := sha256.Sum256([]byte(d))
	return "/kolla-devcluster-" + hex.EncodeToString(sum[:6])
}

// removeOldCgroups removes the cgroups of machines of an earlier run.
func (d Dir) removeOldCgroups() error {
	if _, err := os.Stat(d.join(machinesFolder)); os.IsNotExist(err) || os.Geteuid() != 0 {
		return nil
	}
	return machine.RemoveCgroup(d.cgroup())
}

// Visitor is a machine outside of the cluster.
type Visitor struct {
	// Address is the one on the nodes' network. ProviderAddress, unless empty, is
	// one on the provider network.
	Address, ProviderAddress string
	// Root, unless empty, is the folder with the file system of the machine.
	Root string
}

// Outside returns the command that runs argv as a machine outside of the cluster.
func Outside(dir Dir, v Visitor, argv []string) (*exec.Cmd, error) {
	record, err := dir.running()
	if err != nil {
		return nil, err
	}
	if record.Programs == "" {
		return nil, fmt.Errorf("use cluster in %s: it has no real nodes, and so no network that others could be on; start it with -real", dir)
	}
	program := filepath.Join(record.Programs, nodeProgram)
	return exec.Command(program, append([]string{"outside", dir.join(runFolder), v.Address, v.ProviderAddress, v.Root}, argv...)...), nil
}
