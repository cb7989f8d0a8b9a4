package cluster

import (
	"fmt"
	"path/filepath"

	"kolla.openstack.org/kolla/internal/dev/devcluster/components"
	"kolla.openstack.org/kolla/internal/dev/devcluster/fabric"
	"kolla.openstack.org/kolla/internal/dev/devcluster/pki"
)

// The networks inside the cluster. The one for pods holds a /24 for each of a
// thousand nodes.
const (
	serviceCIDR = "10.96.0.0/16"
	podCIDR     = "10.244.0.0/14"
)

// advertised is an address set aside for documentation (RFC 5737): the API
// server takes no loopback address for this and must not listen on another.
const advertised = "192.0.2.1"

// auditPolicy records who did what to which object, without its content.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

// egressConfig leads the API server's connections to kubelets through the
// network of the real nodes. The socket is in its working directory.
const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport: {uds: {udsName: ` + fabric.EgressSocket + `}}
`

// flags returns the arguments of a component.
func (d Dir) flags(component string, p ports, options Options) []string {
	switch component {
	case components.Etcd:
		return []string{"-data-dir=" + d.join(etcdFolder)}
	case components.APIServer:
		return d.apiServerFlags(p, options)
	case components.ControllerManager:
		return d.controllerManagerFlags()
	case components.Scheduler:
		return []string{
			"--kubeconfig=" + d.componentKubeconfig(pki.Scheduler),
			"--authentication-kubeconfig=" + d.componentKubeconfig(pki.Scheduler),
			"--authorization-kubeconfig=" + d.componentKubeconfig(pki.Scheduler),
			"--secure-port=0",
			"--leader-elect=false",
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
		}
	case components.Simulator:
		return []string{
			"-kubeconfig=" + d.componentKubeconfig(pki.Simulator),
			fmt.Sprintf("-listen=127.0.0.1:%d", p.Kubelet),
			"-tls-cert-file=" + d.cert(pki.Kubelet),
			"-tls-private-key-file=" + d.key(pki.Kubelet),
			"-client-ca-file=" + d.cert(pki.CA),
			"-machines=" + d.join(machinesFolder),
		}
	}
	panic("no flags for component " + component)
}

func (d Dir) apiServerFlags(p ports, options Options) []string {
	flags := []string{
		"--etcd-servers=" + components.EtcdURL,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", p.APIServer),
		"--service-cluster-ip-range=" + serviceCIDR,
		"--tls-cert-file=" + d.cert(pki.APIServer),
		"--tls-private-key-file=" + d.key(pki.APIServer),
		"--client-ca-file=" + d.cert(pki.CA),
		"--requestheader-client-ca-file=" + d.cert(pki.FrontProxyCA),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + d.cert(pki.FrontProxyClient),
		"--proxy-client-key-file=" + d.key(pki.FrontProxyClient),
		"--kubelet-certificate-authority=" + d.cert(pki.CA),
		"--kubelet-client-certificate=" + d.cert(pki.KubeletClient),
		"--kubelet-client-key=" + d.key(pki.KubeletClient),
		"--kubelet-preferred-address-types=InternalDNS,InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + d.join(pkiFolder, pki.ServiceAccount+".pub"),
		"--service-account-signing-key-file=" + d.key(pki.ServiceAccount),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
	}
	if options.Real.Nodes > 0 {
		flags = append(flags,
			"--advertise-address="+pki.RealNetworkAddress,
			"--egress-selector-config-file="+d.egressFile(),
		)
	} else {
		flags = append(flags,
			"--advertise-address="+advertised,
			"--endpoint-reconciler-type=none",
		)
	}
	if options.Audit {
		flags = append(flags,
			"--audit-policy-file="+d.auditPolicyFile(),
			"--audit-log-path="+d.AuditLog(),
			"--audit-log-format=json",
			"--audit-log-mode=blocking",
			"--audit-log-maxsize=1024",
		)
	}
	return flags
}

func (d Dir) controllerManagerFlags() []string {
	kubeconfig := d.componentKubeconfig(pki.ControllerManager)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--root-ca-file=" + d.cert(pki.CA),
		"--service-account-private-key-file=" + d.key(pki.ServiceAccount),
		"--cluster-signing-cert-file=" + d.cert(pki.CA),
		"--cluster-signing-key-file=" + d.key(pki.CA),
		"--allocate-node-cidrs",
		"--cluster-cidr=" + podCIDR,
		"--node-cidr-mask-size=24",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

func (d Dir) cert(name string) string { return pki.CertFile(d.join(pkiFolder), name) }

func (d Dir) key(name string) string { return pki.KeyFile(d.join(pkiFolder), name) }

func (d Dir) auditPolicyFile() string { return d.join(runFolder, "audit-policy.yaml") }

func (d Dir) egressFile() string { return d.join(runFolder, "egress.yaml") }

func (d Dir) componentKubeconfig(identity string) string {
	return d.join(runFolder, identity+".kubeconfig")
}

func (p ports) url() string { return fmt.Sprintf("https://127.0.0.1:%d", p.APIServer) }

// writeConfig writes every file that the components read, which is all anew in
// each run because the ports may have changed.
func (d Dir) writeConfig(p ports) error {
	files := map[string]string{d.Kubeconfig(): pki.Admin}
	for _, identity := range []string{pki.ControllerManager, pki.Scheduler, pki.Simulator} {
		files[d.componentKubeconfig(identity)] = identity
	}
	for path, identity := range files {
		data, err := pki.Kubeconfig(d.join(pkiFolder), identity, p.url())
		if err != nil {
			return err
		}
		if err := writeFile(path, data); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(path), err)
		}
	}
	for path, content := range map[string]string{
		d.auditPolicyFile(): auditPolicy,
		d.egressFile():      egressConfig,
	} {
		if err := writeFile(path, []byte(content)); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}
