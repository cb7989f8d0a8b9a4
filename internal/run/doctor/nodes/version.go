package nodes

import (
	"cmp"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers"
)

// The minor versions of Kubernetes 1 that kolla supports. The oldest one is the first that has hooks which only
// wait (preStop.sleep) and ValidatingAdmissionPolicies without a feature gate; services of the catalogue have
// both. The newest one is that of the client libraries, with which all tests run.
const (
	oldestMinor = 30
	newestMinor = 37
)

// maxSkew is how many minor versions a kubelet may be older than the API server, by the version skew
// policy of Kubernetes.
const maxSkew = 3

// Version checks the version of the API server.
func Version(f *cluster.Facts) ([]cluster.Finding, error) {
	server, err := version.ParseGeneric(cmp.Or(f.Cluster.Emulates, f.Cluster.Version))
	if err != nil {
		return nil, errors.New("the server does not tell its version")
	}
	finding := cluster.Finding{Subject: "API server " + f.Cluster.Version}
	if f.Cluster.Emulates != "" {
		finding.Subject += ", which emulates " + f.Cluster.Emulates
	}
	switch {
	case server.Major() != 1 || server.Minor() < oldestMinor:
		finding.Severity = cluster.Error
		finding.Problem = fmt.Sprintf("is older than Kubernetes 1.%d", oldestMinor)
		finding.Reason = "The pods of some services have containers beside the main one, which older versions refuse or never start."
		finding.Next = fmt.Sprintf("Update the cluster to a version from 1.%d to 1.%d.", oldestMinor, newestMinor)
	case server.Minor() > newestMinor:
		finding.Severity = cluster.Warning
		finding.Problem = fmt.Sprintf("is newer than Kubernetes 1.%d, the newest version that this kolla was tested with", newestMinor)
		finding.Reason = "A newer version may have dropped an API that kolla uses, or have defaults that kolla does not know."
		finding.Next = "Look for a newer version of kolla, and read the plan carefully."
	default:
		return nil, nil
	}
	return []cluster.Finding{finding}, nil
}

// findKubelets checks the versions of the kubelets against that of the API server.
func findKubelets(server providers.Identity, nodes []corev1.Node) []cluster.Finding {
	api, err := version.ParseGeneric(cmp.Or(server.Emulates, server.Version))
	if err != nil {
		return nil // the check of the version says so
	}
	var found cluster.Grouped[string] // of nodes, by the version
	for _, node := range nodes {
		kubelet := node.Status.NodeInfo.KubeletVersion
		parsed, err := version.ParseGeneric(kubelet)
		if err == nil && (parsed.Minor() > api.Minor() || parsed.Minor()+maxSkew < api.Minor()) {
			found.Add(kubelet, node.Name)
		}
	}
	var out []cluster.Finding
	for _, kubelet := range found.Keys {
		out = append(out, cluster.Finding{
			Severity: cluster.Warning, Subject: cluster.Subject(found.Of[kubelet]),
			Problem: fmt.Sprintf("%s kubelet %s with an API server %s", words.Plural(len(found.Of[kubelet]), "runs", "run"), kubelet, server.Version),
			Reason:  fmt.Sprintf("Kubernetes supports kubelets that are at most %d minor versions older than the API server, and none that are newer.", maxSkew),
			Next:    "Update the kubelets, or finish the update of the control plane.",
		})
	}
	return out
}
