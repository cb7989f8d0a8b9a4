package nodes

import (
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers"
)

var leaseKind = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}

// maxClockSkew is the difference of two clocks that is reported. Both times have a precision of a
// second, and a request takes time; OpenStack's own limits are tens of seconds.
const maxClockSkew = 5 * time.Second

// ReadConditions are the objects that Conditions reads.
func ReadConditions(*cluster.Facts) []providers.Scope {
	return []providers.Scope{{GVK: cluster.NodeKind}, {GVK: leaseKind, Namespace: corev1.NamespaceNodeLease}}
}

// Conditions checks the nodes on which pods of the configuration may run.
func Conditions(f *cluster.Facts) ([]cluster.Finding, error) {
	nodes, err := f.Used()
	if err != nil {
		return nil, err
	}
	var out []cluster.Finding
	for i := range nodes {
		out = append(out, findTrouble(&nodes[i])...)
	}
	out = append(out, findKubelets(f.Cluster, nodes)...)
	clocks, err := findClocks(f, nodes)
	return append(out, clocks...), err
}

// trouble are the conditions of a node that are bad if they are true.
var trouble = []struct {
	condition      corev1.NodeConditionType
	problem, after string
}{
	{corev1.NodeMemoryPressure, "has too little memory", "The kubelet evicts pods, and takes none without requests."},
	{corev1.NodeDiskPressure, "has too little disk space", "The kubelet evicts pods, removes images, and takes no new pods."},
	{corev1.NodePIDPressure, "has too many processes", "The kubelet evicts pods, and takes no new ones."},
	{corev1.NodeNetworkUnavailable, "has no pod network", "Pods there cannot reach other pods."},
}

// findTrouble reports the conditions of a node.
func findTrouble(node *corev1.Node) []cluster.Finding {
	subject := "Node " + node.Name
	if status := cluster.Condition(node, corev1.NodeReady); status != corev1.ConditionTrue {
		problem := "is not ready"
		if status == corev1.ConditionUnknown {
			problem = "does not report"
		}
		return []cluster.Finding{{
			Severity: cluster.Error, Subject: subject, Problem: problem,
			Reason: "No pod starts there, and the state of pods there is not known.",
			Next:   "Look at the node and its kubelet: kubectl describe node " + node.Name,
		}}
	}
	var out []cluster.Finding
	for _, t := range trouble {
		if cluster.Condition(node, t.condition) == corev1.ConditionTrue {
			out = append(out, cluster.Finding{
				Severity: cluster.Error, Subject: subject, Problem: t.problem + " (" + string(t.condition) + ")",
				Reason: t.after, Next: "kubectl describe node " + node.Name,
			})
		}
	}
	return out
}

// findClocks compares the clocks of nodes with that of the API server. A kubelet writes the time of
// its clock into the Lease of its node, and the API server records the time of its own clock with
// that write. A node without such a record is left out.
func findClocks(f *cluster.Facts, nodes []corev1.Node) ([]cluster.Finding, error) {
	leases, err := f.List(leaseKind, corev1.NamespaceNodeLease)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for i := range nodes {
		used[nodes[i].Name] = true
	}
	var out []cluster.Finding
	for _, u := range leases {
		var lease coordinationv1.Lease
		if !used[u.GetName()] || !cluster.Decode(u, &lease) {
			continue
		}
		skew, known := clockSkew(&lease)
		if !known || skew.Abs() <= maxClockSkew {
			continue
		}
		side := "ahead of"
		if skew < 0 {
			side = "behind"
		}
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: "Node " + u.GetName(),
			Problem: fmt.Sprintf("has a clock that is %s %s that of the API server", words.Duration(skew.Abs()), side),
			Reason:  "Services count others as down if their reports seem old, tokens seem to be expired or from the future, and logs mislead.",
			Next:    "Synchronize the clocks of all nodes, for example with chrony.",
		})
	}
	return out, nil
}

// clockSkew returns by how much the clock that renewed a Lease is ahead of that of the API server.
func clockSkew(lease *coordinationv1.Lease) (skew time.Duration, known bool) {
	if lease.Spec.RenewTime == nil {
		return 0, false
	}
	var written *metav1.Time
	for _, entry := range lease.ManagedFields {
		if entry.Time == nil || entry.FieldsV1 == nil || !renews(entry.FieldsV1.GetRawBytes()) {
			continue
		}
		if written == nil || written.Before(entry.Time) {
			written = entry.Time
		}
	}
	if written == nil {
		return 0, false
	}
	return lease.Spec.RenewTime.Sub(written.Time), true
}

// renews reports whether a set of fields has the time at which a Lease was renewed.
func renews(fields []byte) bool {
	var set struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if json.Unmarshal(fields, &set) != nil {
		return false
	}
	_, has := set.Spec["f:renewTime"]
	return has
}
