package machine

import (
	"fmt"
)

const (
	containerdSocket = "/run/containerd/containerd.sock"
	registryDir      = "/run/registry"
	cniConfigDir     = "/run/cni"
)

// configFiles returns the files that the services read, by path, except for the one
// that only the node's part of the pod network makes possible.
func (s Settings) configFiles() map[string]string {
	return map[string]string{
		etcFile(containerdConfigFile):        s.containerdConfig(),
		etcFile(kubeletConfigFile):           s.kubeletConfig(),
		registryDir + "/_default/hosts.toml": s.registryConfig(),
		// The machine resolves no names outside of the cluster.
		etcFile(unresolvableFile): "",
	}
}

// containerdConfig leaves out unused plugins, and plugins that need more rights or kernel
// features than a small machine has.
func (s Settings) containerdConfig() string {
	return fmt.Sprintf(`version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.nri.v1.nri",
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.erofs",
  "io.containerd.snapshotter.v1.zfs",
]

[grpc]
address = %q

# Nobody reads the statistics that containerd collects: the size of each container's files every
# ten seconds, and the processor time of all containers every second.
[plugins."io.containerd.cri.v1.images"]
stats_collect_period = 3600

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = %q

[plugins."io.containerd.cri.v1.images".registry]
config_path = %q

[plugins."io.containerd.cri.v1.runtime"]
stats_collect_period = "1h"
disable_apparmor = true
# Without CAP_SYS_RESOURCE no score can be lowered, and runc ends with an error.
restrict_oom_score_adj = true

[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = [%q]
conf_dir = %q

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = %q
`, containerdSocket, s.PauseImage, registryDir, programsMount+"/cni", cniConfigDir, programsMount+"/runc")
}

// registryConfig sends every pull to the fabric's registry.
func (s Settings) registryConfig() string {
	return fmt.Sprintf(`server = %[1]q

[host.%[1]q]
capabilities = ["pull", "resolve"]
`, s.Registry)
}

func (s Settings) kubeletConfig() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
authentication:
  anonymous: {enabled: false}
  x509: {clientCAFile: %[2]s}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: %[3]s
clusterDNS: [%[4]s]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://%[5]s
evictionHard: {memory.available: 50Mi, nodefs.available: "%[9]d", imagefs.available: "%[9]d"}
failCgroupV1: false
failSwapOn: false
healthzPort: 0
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 5s
oomScoreAdj: 0
podLogsDir: /var/log/pods
readOnlyPort: 0
resolvConf: %[6]s
# What changed in a ConfigMap or a Secret is seen by the next pod at once.
configMapAndSecretChangeDetectionStrategy: Watch
tlsCertFile: %[7]s
tlsPrivateKeyFile: %[8]s
volumePluginDir: /var/lib/kubelet/volumeplugins
`, s.Address, etcFile(CAFile), s.rootCgroup(), s.ClusterDNS, containerdSocket, etcFile(unresolvableFile),
		etcFile(KubeletCertFile), etcFile(KubeletKeyFile), evictionDisk)
}

func (s Settings) kubeletFlags() []string {
	return []string{
		"--config=" + etcFile(kubeletConfigFile),
		"--kubeconfig=" + etcFile(KubeletKubeconfig),
		"--hostname-override=" + s.Name,
		"--node-ip=" + s.Address.String(),
		"--node-labels=" + RealLabel + "=true",
		"--root-dir=/var/lib/kubelet",
		"--cert-dir=/var/lib/kubelet/pki",
	}
}

// proxyFlags leave alone what is not a network namespace's own.
func (s Settings) proxyFlags() []string {
	return []string{
		"--kubeconfig=" + etcFile(ProxyKubeconfig),
		"--hostname-override=" + s.Name,
		"--proxy-mode=iptables",
		"--cluster-cidr=" + s.PodNetwork.String(),
		"--healthz-bind-address=" + s.Address.String() + ":10256",
		"--metrics-bind-address=127.0.0.1:10249",
		"--conntrack-max-per-core=0",
		"--conntrack-tcp-timeout-established=0",
		"--conntrack-tcp-timeout-close-wait=0",
		"--oom-score-adj=0",
	}
}
