// Package machine is a real node: containerd, kubelet and kube-proxy in namespaces of their
// own, much as a small machine would run them. The kernel removes their processes, mounts and
// routes with the namespaces when the first process ends.
package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
)

// Settings are the settings of a machine. It reads them when it is switched on.
type Settings struct {
	Name    string     `json:"name"`
	Address netip.Addr `json:"address"`
	// TunnelAddress is the address of eth1. The third interface, eth2, has no address.
	TunnelAddress netip.Addr `json:"tunnelAddress"`
	// Home is the folder with everything that is the machine's own: EtcFolder,
	// which is written for it, and VarFolder, which it sees as /var and keeps.
	Home string `json:"home"`
	// Programs is the folder with containerd, runc and the CNI plugins.
	Programs string `json:"programs"`
	// Fabric is the folder with the sockets of the network between the machines.
	Fabric string `json:"fabric"`
	// Cgroup is the machine's own in every hierarchy, as a path from the root.
	Cgroup string `json:"cgroup"`
	// APIServer is the address of the API server for the machine.
	APIServer  string     `json:"apiServer"`
	ClusterDNS netip.Addr `json:"clusterDNS"`
	// PodNetwork holds the pods of all machines.
	PodNetwork netip.Prefix `json:"podNetwork"`
	// PauseImage is the image of the container that holds each pod's namespaces. Registry is
	// the source of all images, regardless of the registry in their names.
	PauseImage string `json:"pauseImage"`
	Registry   string `json:"registry"`
}

// RealLabel is the label of nodes that are machines.
const RealLabel = "devcluster.kolla/real"

// The folders of a machine's home.
const (
	EtcFolder = "etc"
	VarFolder = "var"
)

// The files of EtcFolder that others write.
const (
	SettingsFile         = "settings.json"
	CAFile               = "ca.crt"
	KubeletCertFile      = "kubelet.crt"
	KubeletKeyFile       = "kubelet.key"
	KubeletKubeconfig    = "kubelet.kubeconfig"
	ProxyKubeconfig      = "kube-proxy.kubeconfig"
	VolumesFolder        = "/var/lib/devcluster/volumes"
	unresolvableFile     = "resolv.conf"
	containerdConfigFile = "containerd.toml"
	kubeletConfigFile    = "kubelet.yaml"
)

// MakeHome makes a folder the home of a machine, unless it is one.
func MakeHome(home string) error {
	for _, folder := range []string{EtcFolder, VarFolder + "/lib", VarFolder + "/log", VarFolder + "/tmp"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o755); err != nil {
			return fmt.Errorf("make home of the machine: %w", err)
		}
	}
	// As everywhere; programs look for their sockets in either place.
	err := os.Symlink("/run", filepath.Join(home, VarFolder, "run"))
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make home of the machine: %w", err)
	}
	return nil
}

// Read reads the settings of the machine whose home is given.
func Read(home string) (Settings, error) {
	var settings Settings
	data, err := os.ReadFile(filepath.Join(home, EtcFolder, SettingsFile))
	if err != nil {
		return settings, fmt.Errorf("read settings of the machine: %w", err)
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return settings, fmt.Errorf("read settings of the machine: %w", err)
	}
	return settings, nil
}
