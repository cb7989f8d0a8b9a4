package inventory

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/providers"
)

// keys matches the keys in the address of a block.
var keys = regexp.MustCompile(`\[("(\\.|[^"\\])*"|\d+)\]`)

// isUndecided reports whether the block depends on values that are known only after the
// apply; see Input.Undecided.
func isUndecided(in *Input, block string) bool {
	if len(in.Undecided) == 0 {
		return false
	}
	bare := keys.ReplaceAllString(block, "")
	return slices.ContainsFunc(in.Undecided, func(u string) bool {
		module, all := strings.CutSuffix(u, "*")
		return bare == u || all && strings.HasPrefix(bare, module)
	})
}

// Undecided returns the candidates that a restricted plan leaves out. A destroy leaves out
// none, because the declarations do not matter to it.
func Undecided(inv *Inventory, candidates []Candidate) []addrs.Object {
	if inv.Input.Destroy {
		return nil
	}
	var out []addrs.Object
	open := undecidedRoles(&inv.Input)
	for _, c := range candidates {
		if isUndecided(&inv.Input, c.Address.Block) || open && inv.Declared[c.Address] == nil && isLabelledNode(c.Address) {
			out = append(out, c.Address)
		}
	}
	return out
}

// undecidedRoles reports whether roles may exist whose nodes and labels are not known yet.
func undecidedRoles(in *Input) bool {
	return slices.ContainsFunc(in.Undecided, func(u string) bool {
		return strings.HasSuffix(u, "*") || addrs.SplitBlock(u).Type == "role"
	})
}

// isLabelledNode reports whether the address is that of a node with the labels of all its
// roles. Such an object belongs to the cloud block, not to a role.
func isLabelledNode(address addrs.Object) bool {
	return address.Kind == Nodes.Kind && addrs.SplitBlock(address.Block).Type == "cloud"
}

// keepRoles adds the live role labels and taints of nodes to the declarations while roles
// are undecided, because the nodes may have these roles. New labels are still added: the
// apply may have to wait for pods on them.
func keepRoles(inv *Inventory) {
	in := &inv.Input
	if in.Destroy || !in.Selection.Restricts() || !undecidedRoles(in) {
		return
	}
	manager := providers.ManagerOf(in.Cloud, true)
	for i := range in.Objects {
		o := &in.Objects[i]
		live := in.Snapshot.Get(o.Ref())
		if live == nil || !o.Partial || !isLabelledNode(o.Address) {
			continue
		}
		o.Manifest = o.Manifest.DeepCopy()
		labels, owned := o.Manifest.GetLabels(), fields.OwnersOf(live, manager).Own
		if labels == nil {
			labels = map[string]string{}
		}
		for key, value := range live.GetLabels() {
			if _, declared := labels[key]; !declared && owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) {
				labels[key] = value
			}
		}
		o.Manifest.SetLabels(labels)
		providers.KeepTaints(o.Manifest, live, in.Cloud)
	}
}
