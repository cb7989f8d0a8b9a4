package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
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
		Nodes: nodes(snapshot.All(nodeKind)),
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
		Now:    time.Now(),
		Namespaced: func(kind schema.GroupVersionKind) (bool, bool) {
			namespaced, err := cluster.client.Namespaced(ctx, kind)
			return namespaced, err == nil
		},
	}
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

func nodes(live []*unstructured.Unstructured) []openstack.Node {
	out := make([]openstack.Node, 0, len(live))
	for _, u := range live {
		out = append(out, openstack.Node{Name: u.GetName(), Labels: u.GetLabels(), Addresses: addresses(u)})
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
		if a, err := addrs.ParseObject(st.Objects[i].Address); err == nil && !st.Objects[i].Left {
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
