package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Pod is a pod in the namespace of the cloud that has not ended.
type Pod struct {
	Name         string
	NodeSelector map[string]string
	// DaemonSet: a DaemonSet made the pod. Its controller deletes the pod if the labels of the
	// node no longer match.
	DaemonSet bool
}

// managers returns the sorted field managers that own a label.
func (n *Node) managers(label string) []string {
	if n.Managers == nil {
		return nil
	}
	owners := n.Managers("")
	return slices.DeleteFunc(slices.Sorted(maps.Keys(owners)), func(m string) bool { return !slices.Contains(owners[m], label) })
}

// ownedBy returns the sorted labels that a field manager owns and the node has.
func (n *Node) ownedBy(manager string) []string {
	if n.Managers == nil {
		return nil
	}
	var out []string
	for _, label := range n.Managers(manager)[manager] {
		if _, has := n.Labels[label]; has {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// selecting returns the pods on the node that select a label with its value.
func (n *Node) selecting(label string) []Pod {
	if n.Pods == nil {
		return nil
	}
	pods, _ := n.Pods()
	return slices.DeleteFunc(pods, func(p Pod) bool {
		value, selects := p.NodeSelector[label]
		return !selects || value != n.Labels[label]
	})
}

// inUse reports whether pods on the node or live workloads select a label with its value. known is
// false if the answer is uncertain, because pods or workloads cannot be listed.
func (n *Node) inUse(label string) (used, known bool) {
	known = true
	if n.Selectors != nil {
		selectors, ok := n.Selectors()
		if slices.ContainsFunc(selectors, func(s map[string]string) bool {
			value, selects := s[label]
			return selects && value == n.Labels[label]
		}) {
			return true, true
		}
		known = ok
	}
	if n.Pods != nil {
		_, ok := n.Pods()
		known = known && ok
	}
	return len(n.selecting(label)) > 0, known
}

// labelling finds labels on the live nodes that the roles do not give them.
type labelling struct {
	cloud object.Cloud
	roles []configs.Role
	// decided: roles has all roles.
	decided bool
	all     map[string]*marks // of the nodes with roles
	alike   []*alike
}

// alike is one warning about several nodes.
type alike struct {
	at        hcl.Range
	one, many string // the predicate for one node and for several: "keeps a former label"
	detail    string
	nodes     []string
}

// warn adds a warning about a node. Equal warnings about several nodes become one warning.
func (l *labelling) warn(node *Node, w alike) {
	i := slices.IndexFunc(l.alike, func(other *alike) bool { return other.one == w.one && other.detail == w.detail })
	if i < 0 {
		i = len(l.alike)
		l.alike = append(l.alike, &w)
	}
	l.alike[i].nodes = append(l.alike[i].nodes, node.Name)
}

// warnings returns the warnings that warn has added.
func (l *labelling) warnings() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, w := range l.alike {
		n := len(w.nodes)
		diags = append(diags, object.Warning(w.at, fmt.Sprintf("%s %s %s", words.Plural(n, "Node", "Nodes"), words.Few(w.nodes, 5), words.Plural(n, w.one, w.many)), w.detail))
	}
	return diags
}

// otherValues refuses a new value for a label of a role while live workloads select the old value.
// A node has only one value of a label, so the cluster would delete the pods of DaemonSets before
// these select the new value. It accepts that a node loses such pods if it moves to another role,
// or if another program set the old value.
func (l *labelling) otherValues(cluster []Node) hcl.Diagnostics {
	var diags hcl.Diagnostics
	told := map[string]bool{}
	for i := range cluster {
		node := &cluster[i]
		m := l.all[node.Name]
		if m == nil {
			continue
		}
		for _, label := range slices.Sorted(maps.Keys(m.labels)) {
			old, has := node.Labels[label]
			if !has || old == m.labels[label] || told[label] || l.isOfRole(label, old) || !slices.Contains(node.ownedBy(l.manager()), label) {
				continue
			}
			if used, _ := node.inUse(label); !used {
				continue
			}
			told[label] = true
			role := l.roles[slices.IndexFunc(l.roles, func(r configs.Role) bool { return r.Name == m.givenBy[label] })]
			diags = append(diags, object.Error(role.Range, fmt.Sprintf("Role %q changes the value of a label in use", role.Name),
				fmt.Sprintf("Node %s has %s=%s, and live workloads select it. With %s=%s the cluster would delete the pods of DaemonSets there. Use another key: kolla then keeps the former label until no pod selects it.", node.Name, label, old, label, m.labels[label])))
		}
	}
	return diags
}

// keep keeps the former labels of roles on a node while pods there or live workloads select them,
// or may select them. The labels of a role can change, and kolla labels the nodes before it changes
// the workloads. Without the former label, the cluster would delete the pods of DaemonSets in
// between, and a kubelet that restarts would reject pods that were not replaced yet.
func (l *labelling) keep(node *Node) {
	m := l.all[node.Name]
	if m == nil {
		return
	}
	var kept, unknown []string
	for _, label := range node.ownedBy(l.manager()) {
		if _, given := m.labels[label]; given {
			continue
		}
		if !l.decided {
			m.labels[label] = node.Labels[label]
			continue
		}
		if l.isOfRole(label, node.Labels[label]) {
			continue
		}
		switch used, known := node.inUse(label); {
		case used:
			kept = append(kept, label)
		case !known:
			unknown = append(unknown, label)
		default:
			continue
		}
		m.labels[label] = node.Labels[label]
	}
	former := alike{at: m.at, one: "keeps a former label", many: "keep a former label"}
	if len(unknown) > 0 {
		former.detail = fmt.Sprintf("No role gives them %s any more. Pods there may still select it: the pods and workloads of namespace %s cannot be listed. The label goes with an apply of a user who may list them.", strings.Join(unknown, ", "), l.cloud.Decl.Namespace)
		l.warn(node, former)
	}
	if len(kept) > 0 {
		former.detail = fmt.Sprintf("No role gives them %s any more, but live workloads or pods there still select it. The label goes with the first apply after these pods were replaced. kolla rollout replaces pods of workloads with update = \"on-delete\".", strings.Join(kept, ", "))
		l.warn(node, former)
	}
}

// isOfRole reports whether a role has the label with the value.
func (l *labelling) isOfRole(label, value string) bool {
	return slices.ContainsFunc(l.roles, func(r configs.Role) bool {
		of, has := r.Labels[label]
		return has && of == value
	})
}

func (l *labelling) manager() string { return providers.ManagerOf(l.cloud.Decl.Name, true) }

// strays returns the labels that an apply removes from a node, because with them the node matches
// the workloads of roles that it does not have.
func (l *labelling) strays(node *Node) (unwanted []string, diags hcl.Diagnostics) {
	for i := range l.roles {
		role := &l.roles[i]
		if len(role.Labels) == 0 || !labels.SelectorFromSet(role.Labels).Matches(labels.Set(node.Labels)) || role.Selects(node.Name, node.Labels) {
			continue
		}
		var found []string
		for _, label := range slices.Sorted(maps.Keys(role.Labels)) {
			if l.removable(node, label, role) && !slices.Contains(unwanted, label) {
				found = append(found, label)
			}
		}
		if len(found) > 0 {
			unwanted = append(unwanted, found...)
			diags = append(diags, l.warnOfPods(node, found, role)...)
		}
	}
	return unwanted, diags
}

// removable reports whether an apply removes a label of a role that the node does not have.
func (l *labelling) removable(node *Node, label string, role *configs.Role) bool {
	managers, own := node.managers(label), []string{l.manager()}
	other := slices.IndexFunc(managers, func(m string) bool {
		return strings.HasPrefix(m, providers.ManagerOf("", true)) && m != l.manager()
	})
	switch {
	case l.gives(node.Name, label), (l.all[node.Name] != nil || node.Recorded) && slices.Equal(managers, own):
		// Another role of the node has the label, or the apply removes it by no longer declaring
		// it.
	case other >= 0:
		cloud := strings.TrimPrefix(managers[other], providers.ManagerOf("", true))
		l.warn(node, alike{
			role.Range, fmt.Sprintf("has the label of role %q from another cloud", role.Name), fmt.Sprintf("have the label of role %q from another cloud", role.Name),
			fmt.Sprintf("Cloud %q gives them the label %s, and pods of this role may run there. Give the role other `labels`.", cloud, label), nil,
		})
	case ofKubernetes(label):
		l.warn(node, alike{
			role.Range, fmt.Sprintf("has the label of role %q, and not the role", role.Name), fmt.Sprintf("have the label of role %q, and not the role", role.Name),
			fmt.Sprintf("Pods of the role may run there. kolla does not remove %s, because the label belongs to Kubernetes. Give the role other `labels`; `match` selects nodes by labels that they have already.", label), nil,
		})
	default:
		return true
	}
	return false
}

// gives reports whether a role gives the node the label.
func (l *labelling) gives(node, label string) bool {
	m := l.all[node]
	if m == nil {
		return false
	}
	_, given := m.labels[label]
	return given
}

// warnOfPods warns of pods that run on a node because of labels that the apply removes.
func (l *labelling) warnOfPods(node *Node, removed []string, role *configs.Role) hcl.Diagnostics {
	var all, stay []string
	for _, pod := range node.selecting(removed[0]) {
		all = append(all, pod.Name)
		if !pod.DaemonSet {
			stay = append(stay, pod.Name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	detail := fmt.Sprintf("Node %s has the labels of role %q (%s), and not the role. So these pods run there, with their passwords: %s.", node.Name, role.Name, strings.Join(removed, ", "), words.Few(all, 10))
	if l.cloud.Decl.Foreign == "report" {
		detail += " The labels stay, because the cloud block leaves additions of others in place (foreign)."
		return hcl.Diagnostics{object.Warning(role.Range, podsElsewhere, detail)}
	}
	detail += " The apply removes the labels."
	if len(stay) < len(all) {
		detail += " Then the cluster deletes the pods of DaemonSets there."
	}
	if len(stay) > 0 {
		detail += fmt.Sprintf(" The other pods stay until they are deleted, after the apply:\n\n  kubectl delete pods --namespace %s %s", l.cloud.Decl.Namespace, strings.Join(stay, " "))
	}
	return hcl.Diagnostics{object.Warning(role.Range, podsElsewhere, detail)}
}

const podsElsewhere = "Pods run on a node that does not have their role"

// restricted is the domain of labels that a kubelet may not set on its node. This includes the
// labels of its subdomains.
const restricted = "node-restriction.kubernetes.io"

// ofKubernetes reports whether a label is in a domain of Kubernetes. Restricted labels do not
// count, because everybody is free to use them.
func ofKubernetes(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	in := func(parent string) bool { return domain == parent || strings.HasSuffix(domain, "."+parent) }
	return ok && (in("kubernetes.io") || in("k8s.io")) && !in(restricted)
}
