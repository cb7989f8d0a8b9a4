package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/secrets"
	"kolla.openstack.org/kolla/state"
)

// factsOf returns the facts about the live cluster that rendering needs.
func factsOf(ctx context.Context, cluster *Cluster, source *Source, config *configs.Config, st *state.State, r RenderOptions) openstack.Facts {
	snapshot := cluster.Snapshot()
	ours := ownSecrets(snapshot, config, st, r)
	values := snapshot.SecretValues
	return openstack.Facts{
		Ours:  ours,
		Nodes: nodes(ctx, snapshot, config.Cloud.Namespace, st),
		Revision: func(address addrs.Object, namespace, name string, given map[string]string) string {
			live := snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name})
			if live != nil && ours(address, namespace, name) {
				return secrets.RevisionOf(live, given, values)
			}
			return secrets.FirstRevision(address, before(st, address))
		},
		Values: values,
		Made:   made(config, st, r.Adopt),
		Given:  source.given,
		Age:    func(namespace, name string) secrets.Age { return ageOf(snapshot, namespace, name) },
		Rotate: func(address addrs.Object) bool { return slices.Contains(r.Rotate, address.String()) },
		Ran:    func(job addrs.Object) bool { return ran(ctx, snapshot, config, st, job) },
		Now:    time.Now(),
		Namespaced: func(kind schema.GroupVersionKind) (bool, bool) {
			namespaced, err := cluster.client.Namespaced(ctx, kind)
			return namespaced, err == nil
		},
		Live: func(ref providers.Ref) *unstructured.Unstructured {
			if !listed(ctx, snapshot, providers.Scope{GVK: ref.GVK, Namespace: ref.Namespace}) {
				return nil
			}
			return snapshot.Get(ref)
		},
		List: func(scope providers.Scope) ([]*unstructured.Unstructured, error) { return list(ctx, snapshot, scope) },
	}
}

// ran reports whether a Job has succeeded. The state knows it, unless the apply that waited for the Job was killed, or
// the state was lost.
func ran(ctx context.Context, snapshot *providers.Snapshot, config *configs.Config, st *state.State, job addrs.Object) bool {
	for i := range st.Objects {
		a, err := addrs.ParseObject(st.Objects[i].Address)
		if err == nil && st.Objects[i].Ready && addrs.ApplyMoves(config.Moves, a) == job {
			return true
		}
	}
	jobs := providers.Scope{GVK: kinds.Job.WithVersion("v1"), Namespace: config.Cloud.Namespace}
	if !listed(ctx, snapshot, jobs) {
		return false
	}
	live := snapshot.Get(providers.Ref{GVK: jobs.GVK, Namespace: jobs.Namespace, Name: job.Name})
	if live == nil {
		return false
	}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == string(batchv1.JobComplete) && condition["status"] == "True"
	})
}

// ageOf returns the age of the keys of a live Secret.
func ageOf(snapshot *providers.Snapshot, namespace, name string) secrets.Age {
	live := snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name})
	if live == nil {
		return secrets.Age{}
	}
	return secrets.Age{Created: live.GetCreationTimestamp().Time, Rotated: live.GetAnnotations()[providers.AnnotationRotated]}
}

// list lists a scope. The error satisfies meta.IsNoMatchError if the cluster does not have the kind.
func list(ctx context.Context, snapshot *providers.Snapshot, scope providers.Scope) ([]*unstructured.Unstructured, error) {
	if err := snapshot.Try(ctx, scope); err != nil {
		return nil, err
	}
	return snapshot.Listed(scope)
}

// ownSecrets returns a function that reports whether a Secret was made by kolla, or is
// taken over by the operator. Values of other Secrets with these names are not read.
func ownSecrets(snapshot *providers.Snapshot, config *configs.Config, st *state.State, r RenderOptions) func(address addrs.Object, namespace, name string) bool {
	type place struct{ namespace, name string }
	known := map[place]*state.Object{}
	for i := range st.Objects {
		if o := &st.Objects[i]; o.Kind == secretKind.Kind && o.APIVersion == secretKind.Version {
			known[place{o.Namespace, o.Name}] = o
		}
	}
	return func(address addrs.Object, namespace, name string) bool {
		live := snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name})
		record := known[place{namespace, name}]
		if r.AcceptRecovered || trust.Same(record, live) || slices.Contains(r.Adopt, address.String()) {
			return true
		}
		imported := slices.ContainsFunc(config.Imports, func(i addrs.Import) bool { return i.To == address })
		return imported && (record == nil || record.UID == "")
	}
}

// before identifies the earlier values of a Secret: by its UID, or, if the state does not
// have the UID, by the state. It is empty if nothing was ever applied. New values get
// another revision than all earlier ones.
func before(st *state.State, address addrs.Object) string {
	if known := st.Find(address.String()); known != nil && known.UID != "" {
		return known.UID
	}
	if st.Lineage == "" {
		return ""
	}
	return fmt.Sprintf("%s %d", st.Lineage, st.Serial)
}

// nodes returns the nodes of the cluster. It lists their pods and the workloads only on request.
func nodes(ctx context.Context, snapshot *providers.Snapshot, namespace string, st *state.State) []openstack.Node {
	pods := sync.OnceValues(func() (map[string][]openstack.Pod, bool) { return podsByNode(ctx, snapshot, namespace) })
	selectors := sync.OnceValues(func() ([]map[string]string, bool) { return nodeSelectors(ctx, snapshot, namespace) })
	recorded := map[string]bool{}
	for i := range st.Objects {
		if o := &st.Objects[i]; o.Partial && o.Kind == nodeKind.Kind {
			recorded[o.Name] = true
		}
	}
	live := snapshot.All(nodeKind)
	out := make([]openstack.Node, 0, len(live))
	for _, u := range live {
		out = append(out, openstack.Node{
			Name: u.GetName(), Labels: u.GetLabels(), Addresses: addresses(u),
			Recorded: recorded[u.GetName()],
			Managers: func(named string) map[string][]string { return labelManagers(u, named) },
			Pods: func() ([]openstack.Pod, bool) {
				all, ok := pods()
				return slices.Clone(all[u.GetName()]), ok
			},
			Images:    sync.OnceValue(func() map[string][]string { return ImagesOn(u) }),
			Selectors: selectors,
		})
	}
	return out
}

// labelManagers returns the labels of a node by field manager, or only those of one manager if
// named is set, because the entries of a kubelet are large. Kolla applies and never updates nodes,
// so an update under the name of a manager that applies is by another client and gets another name.
func labelManagers(u *unstructured.Unstructured, named string) map[string][]string {
	out := map[string][]string{}
	for _, entry := range u.GetManagedFields() {
		owned := fieldpath.NewSet()
		if entry.Subresource != "" || named != "" && entry.Manager != named || entry.FieldsV1 == nil ||
			owned.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		manager := entry.Manager
		if entry.Operation != metav1.ManagedFieldsOperationApply {
			manager = "update by " + manager
		}
		if named != "" && manager != named {
			continue
		}
		owned.WithPrefix(metadata).WithPrefix(labels).Members.Iterate(func(label fieldpath.PathElement) {
			out[manager] = append(out[manager], *label.FieldName)
		})
	}
	return out
}

// The steps to the labels of an object.
var (
	metadata = fieldpath.MakePathOrDie("metadata")[0]
	labels   = fieldpath.MakePathOrDie("labels")[0]
)

// nodeSelectors lists the node selectors of the workloads in a namespace. ok is false if not all can
// be listed.
func nodeSelectors(ctx context.Context, snapshot *providers.Snapshot, namespace string) (out []map[string]string, ok bool) {
	ok = true
	for _, kind := range []schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet, kinds.CronJob} {
		gvk := kind.WithVersion("v1")
		ok = listed(ctx, snapshot, providers.Scope{GVK: gvk, Namespace: namespace}) && ok
		path, _ := kinds.Pods(kind)
		for _, u := range snapshot.All(gvk) {
			if selector, _, _ := unstructured.NestedStringMap(u.Object, append(slices.Clone(path), "spec", "nodeSelector")...); u.GetNamespace() == namespace && selector != nil {
				out = append(out, selector)
			}
		}
	}
	return out, ok
}

// listed lists a scope, and reports whether it could be read.
func listed(ctx context.Context, snapshot *providers.Snapshot, scope providers.Scope) bool {
	return snapshot.Try(ctx, scope) == nil && snapshot.Unread(scope) == nil
}

// podsByNode lists the pods in a namespace that have not ended, by their nodes. ok is false if they
// cannot be listed.
func podsByNode(ctx context.Context, snapshot *providers.Snapshot, namespace string) (out map[string][]openstack.Pod, ok bool) {
	if !listed(ctx, snapshot, providers.Scope{GVK: podKind, Namespace: namespace}) {
		return nil, false
	}
	out = map[string][]openstack.Pod{}
	for _, u := range snapshot.All(podKind) {
		node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		if node == "" || u.GetNamespace() != namespace || phase == "Succeeded" || phase == "Failed" {
			continue
		}
		selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "nodeSelector")
		owner := metav1.GetControllerOf(u)
		out[node] = append(out[node], openstack.Pod{
			Name: u.GetName(), NodeSelector: selector, DaemonSet: owner != nil && owner.Kind == kinds.DaemonSet.Kind,
		})
	}
	return out, true
}

// ImagesOn returns the digests of the images on a node by their references: "quay.io/kolla/keystone:1",
// and "quay.io/kolla/keystone@sha256:4f1c..." with that digest. An image may have several digests in one
// repository: its own, and that of a list of platforms.
func ImagesOn(node *unstructured.Unstructured) map[string][]string {
	out := map[string][]string{}
	found, _, _ := unstructured.NestedFieldNoCopy(node.Object, "status", "images")
	list, _ := found.([]any)
	for _, each := range list {
		image, _ := each.(map[string]any)
		names, _, _ := unstructured.NestedStringSlice(image, "names")
		digests := map[string][]string{} // by repository
		for _, name := range names {
			if r := providers.SplitImage(name); r.Digest != "" {
				digests[r.Repository] = append(digests[r.Repository], r.Digest)
				out[r.Pinned()] = []string{r.Digest}
			}
		}
		for _, name := range names {
			if r := providers.SplitImage(name); r.Digest == "" {
				out[name] = digests[r.Repository]
			}
		}
	}
	return out
}

// addresses returns the IP addresses of a node.
func addresses(node *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(node.Object, "status", "addresses")
	var out []string
	for _, each := range list {
		entry, _ := each.(map[string]any)
		if kind, _ := entry["type"].(string); kind == "InternalIP" || kind == "ExternalIP" {
			address, _ := entry["address"].(string)
			out = append(out, address)
		}
	}
	return out
}

// made returns a function that lists the jobs and workloads of a block that exist already,
// or are adopted by this plan. Jobs of an upgrade run only for a service that exists.
func made(config *configs.Config, st *state.State, adopt []string) func(block string) []addrs.Object {
	known := map[string][]addrs.Object{}
	add := func(a addrs.Object) {
		if slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Job"}, a.Kind) {
			known[a.Block] = append(known[a.Block], a)
		}
	}
	for i := range st.Objects {
		// Without a UID, an apply that was killed only announced the object.
		if a, err := addrs.ParseObject(st.Objects[i].Address); err == nil && !st.Objects[i].Left && st.Objects[i].UID != "" {
			add(addrs.ApplyMoves(config.Moves, a)) // as the planner does
		}
	}
	for _, text := range adopt {
		if a, err := addrs.ParseObject(text); err == nil {
			add(a)
		}
	}
	for _, i := range config.Imports {
		add(i.To)
	}
	return func(block string) []addrs.Object { return known[block] }
}
