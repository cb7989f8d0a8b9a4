package openstack

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

func (r *renderer) cloudBlock() string { return "cloud." + r.config.Cloud.Name }

func (r *renderer) namespaceAddress() addrs.Object {
	return addrs.Object{Block: r.cloudBlock(), Kind: "Namespace", Name: r.config.Cloud.Namespace}
}

// pods are everything in a service that runs.
func pods(s *configs.Service) iter.Seq[*configs.Pod] {
	return func(yield func(*configs.Pod) bool) {
		for i := range s.Jobs {
			if !yield(&s.Jobs[i].Pod) {
				return
			}
		}
		for i := range s.Workloads {
			if !yield(&s.Workloads[i].Pod) {
				return
			}
		}
	}
}

// labels are on everything that the cloud, or one service of it, makes.
func (r *renderer) labels(service string) map[string]string {
	out := map[string]string{
		"app.kubernetes.io/managed-by": "kolla",
		"app.kubernetes.io/part-of":    r.config.Cloud.Name,
		providers.LabelCloud:           r.config.Cloud.Name,
	}
	if service != "" {
		out["app.kubernetes.io/name"] = service
		out[providers.LabelService] = service
	}
	return out
}

func addressAnnotation(address addrs.Object) map[string]string {
	return map[string]string{providers.AnnotationAddress: address.String()}
}

func (r *renderer) nodeAddress(name string) addrs.Object {
	return addrs.Object{Block: r.cloudBlock(), Kind: "Node", Name: name}
}

// members are the nodes of a role, by name.
func (r *renderer) members(role configs.Role) []string {
	if r.facts.Nodes == nil {
		return role.Named()
	}
	var names, all []string
	for _, node := range r.facts.Nodes {
		all = append(all, node.Name)
		if role.Selects(node.Name, node.Labels) {
			names = append(names, node.Name)
		}
	}
	slices.Sort(all)
	slices.Sort(names)
	for _, name := range role.Nodes {
		if !slices.Contains(all, name) {
			r.error(role.Range, fmt.Sprintf("Role %q names a node that the cluster does not have", role.Name),
				fmt.Sprintf("There is no node %q.%s The cluster's nodes are: %s. If it was taken out of the cluster for good, take it out of nodes here: what ran on it moves to the nodes that are left. If it is to come back, it has to join the cluster first.", name, words.DidYouMean(name, all), upToTen(all)))
		}
	}
	if role.Match != nil && len(names) == 0 {
		r.error(role.Range, fmt.Sprintf("Role %q matches no node", role.Name),
			fmt.Sprintf("No node has the labels %s. The cluster's nodes are: %s. `kubectl get nodes --show-labels` shows what they carry; label one, or change `match`.",
				formatLabels(role.Match), upToTen(all)))
	}
	return names
}

// upToTen names at most ten things.
func upToTen(names []string) string { return cmp.Or(words.Few(names, 10), "none") }

func formatLabels(labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, ",")
}
