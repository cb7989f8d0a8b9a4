// Package cluster has what the checks of package doctor share: the facts of a configuration and a cluster,
// and the findings.
package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// Facts are what the checks know of a configuration and a cluster.
type Facts struct {
	Config  *configs.Config
	Objects []providers.Object // of the configuration
	// Mistakes are the errors in the configuration that only the cluster shows.
	Mistakes hcl.Diagnostics
	// Unrendered says why the objects were made without the Secrets of the cluster; nil: they were
	// made as a plan makes them.
	Unrendered error
	// Roles have the rights that plan and apply need. Reading has those of a plan without dry runs.
	Roles, Reading []rights.Role
	// Resource returns the API's name for a kind, such as "configmaps".
	Resource func(schema.GroupVersionKind) string
	Cluster  providers.Identity
	Now      time.Time

	// Live has the objects that Read has listed.
	Live *providers.Snapshot
	// Unread maps each list that could not be read to the reason.
	Unread map[providers.Scope]error
	// Denied are the requests of Roles and Reading that the server does not allow. Unasked says why the
	// server could not be asked; nil: it was.
	Denied  []providers.Access
	Unasked error
	// Probed has the results of pods. Unprobed says why there were none.
	Probed   *Probed
	Unprobed error
	// running has the running pods by node, once podsOn has decoded them, and declared the workloads.
	running  map[string][]corev1.Pod
	declared []Workload
	// Reached has the problem with a connection to each published address; empty: it was accepted.
	Reached map[string]string
	// Resolved has the addresses that host names of published addresses lead to, as far as this machine
	// finds some.
	Resolved map[string][]string
}

// List returns the live objects of a kind, in a namespace or (empty) in all of them, by namespace
// and name. The error says why they could not be read.
func (f *Facts) List(kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	if err := f.Unread[providers.Scope{GVK: kind, Namespace: namespace}]; err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(f.Live.All(kind), func(u *unstructured.Unstructured) bool {
		return namespace != "" && u.GetNamespace() != namespace
	})
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found, nil
}

// Decode converts a live object to its type. It reports false for an object in a version that
// kolla does not know.
func Decode(u *unstructured.Unstructured, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into) == nil
}

// The kinds that several checks read.
var (
	NodeKind      = kinds.Node.WithVersion("v1")
	PodKind       = kinds.Pod.WithVersion("v1")
	ServiceKind   = kinds.Service.WithVersion("v1")
	NamespaceKind = kinds.Namespace.WithVersion("v1")
)

// Nodes returns the live nodes, with the labels and taints that an apply gives them.
func (f *Facts) Nodes() ([]corev1.Node, error) {
	live, err := f.List(NodeKind, "")
	if err != nil {
		return nil, err
	}
	declared := map[string]*unstructured.Unstructured{}
	for i := range f.Objects {
		if o := f.Objects[i].Manifest; o.GroupVersionKind().GroupKind() == kinds.Node {
			declared[o.GetName()] = o
		}
	}
	manager := providers.ManagerOf(f.Config.Cloud.Name, true)
	var out []corev1.Node
	for _, u := range live {
		if manifest := declared[u.GetName()]; manifest != nil {
			u = u.DeepCopy()
			u.SetLabels(labels.Merge(u.GetLabels(), manifest.GetLabels()))
			if taints, changed := providers.TaintingOf(u, manifest, manager).Add(u); changed {
				if unstructured.SetNestedSlice(u.Object, taints, "spec", "taints") != nil {
					continue
				}
			}
		}
		var node corev1.Node
		if Decode(u, &node) {
			out = append(out, node)
		}
	}
	return out, nil
}

// Ready reports whether a node takes new pods that tolerate its taints.
func Ready(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && Condition(node, corev1.NodeReady) == corev1.ConditionTrue
}

// Condition returns the status of a condition of a node; empty: it has none of that type.
func Condition(node *corev1.Node, of corev1.NodeConditionType) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == of {
			return c.Status
		}
	}
	return ""
}

// Workload is an object of the configuration with pods.
type Workload struct {
	Object   *providers.Object
	Pod      *corev1.PodSpec
	Replicas int  // wanted pods; one for a DaemonSet: on each of its nodes
	Daemon   bool // a DaemonSet
	Runs     bool // the pods run continuously
}

// Address returns the address of the object.
func (w *Workload) Address() string { return w.Object.Address.String() }

// Workloads returns the objects with pods. It leaves out Jobs that start no pod.
func (f *Facts) Workloads() []Workload {
	if f.declared != nil {
		return f.declared
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		pod, ok := scheduling.PodOf(o.Manifest)
		if !ok || o.Skipped() {
			continue
		}
		kind := o.Ref().GVK.GroupKind()
		w := Workload{Object: o, Pod: pod, Replicas: 1, Daemon: kind == kinds.DaemonSet, Runs: kinds.RunsPods(kind) && kind != kinds.Job}
		if n, found, _ := unstructured.NestedInt64(o.Manifest.Object, "spec", "replicas"); found {
			w.Replicas = int(n)
		}
		if w.Replicas > 0 {
			f.declared = append(f.declared, w)
		}
	}
	return f.declared
}

// Group is the workloads that choose their nodes by the same labels: those of a role, or all
// without a role.
type Group struct {
	Name      string // "role.control", "nodes with LABEL", "all nodes"
	Workloads []Workload
}

// Groups sorts workloads by the labels of their nodes, in the order of the first one.
func (f *Facts) Groups() []Group {
	var out []Group
	for _, w := range f.Workloads() {
		name := f.RoleOf(w.Pod.NodeSelector)
		i := slices.IndexFunc(out, func(g Group) bool { return g.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, Group{Name: name})
		}
		out[i].Workloads = append(out[i].Workloads, w)
	}
	return out
}

// RoleOf names the nodes with some labels.
func (f *Facts) RoleOf(selector map[string]string) string {
	if len(selector) == 0 {
		return "all nodes"
	}
	for _, role := range f.Config.Roles {
		if labels.Equals(role.Labels, selector) {
			return role.Block
		}
	}
	return "nodes with " + labels.FormatLabels(selector)
}

// Used returns the nodes on which pods of the configuration may run by their labels.
func (f *Facts) Used() ([]corev1.Node, error) {
	nodes, err := f.Nodes()
	workloads := f.Workloads()
	return slices.DeleteFunc(nodes, func(node corev1.Node) bool {
		return !slices.ContainsFunc(workloads, func(w Workload) bool { return scheduling.Chooses(w.Pod, &node) })
	}), err
}

// On returns the workloads whose pods may run on a node.
func (f *Facts) On(node *corev1.Node) []Workload {
	return slices.DeleteFunc(slices.Clone(f.Workloads()), func(w Workload) bool { return !scheduling.Chooses(w.Pod, node) })
}
