package removal

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// lostData looks for data that was deleted with an object, or that stays behind under another
// name.
func lostData(inv *inventory.Inventory, outcomes []*outcome.Outcome) []plans.Loss {
	f := lossFinder{inv: inv, outcomes: outcomes}
	for _, o := range outcomes {
		if o.Action.Verb != plans.Create {
			continue
		}
		if wasDeleted(o) {
			f.findOf(o)
		}
		if inventory.OwnVolumes(o.Object.Manifest) != "" {
			f.findVolumes(o)
		}
	}
	for i := range f.losses {
		f.losses[i].Later = inv.Input.RefreshOnly
	}
	slices.SortFunc(f.losses, func(a, b plans.Loss) int { return a.Address.Compare(b.Address) })
	return f.losses
}

// lossFinder collects losses.
type lossFinder struct {
	inv      *inventory.Inventory
	outcomes []*outcome.Outcome
	losses   []plans.Loss
}

// wasDeleted reports whether the object was in the cluster and kolla made it.
func wasDeleted(o *outcome.Outcome) bool {
	return o.Action.Has(plans.ReasonGone, plans.ReasonUnfinished)
}

// findOf finds the data of a deleted object.
func (f *lossFinder) findOf(o *outcome.Outcome) {
	if o.Action.RunsPodsContinuously() {
		return // it runs again, and findVolumes looks for the volumes of a StatefulSet
	}
	loss := plans.Loss{
		Address: o.Object.Address, Refs: []providers.Ref{o.Action.Ref},
		Holds: inventory.Holds(o.Object.Manifest, o.Object.Holds), Means: o.Object.Loss,
	}
	if o.Action.Ref.GVK == inventory.Claims {
		loss.Jobs = f.ranFor(o.Object.Address)
	}
	if loss.Holds != "" {
		f.losses = append(f.losses, loss)
	}
}

// findVolumes finds the volumes that a new StatefulSet starts without: deleted volumes, and
// volumes that belong to its former name.
func (f *lossFinder) findVolumes(o *outcome.Outcome) {
	if f.inv.Unread(providers.Ref{GVK: inventory.Claims, Namespace: o.Action.Ref.Namespace}) != nil {
		return // it is not known whether they exist
	}
	snapshot := f.inv.Input.Snapshot
	if left := formerVolumes(f.inv, o); len(left) > 0 && !f.inv.Input.RefreshOnly && len(inventory.VolumesOf(snapshot, o.Object.Manifest)) == 0 {
		f.losses = append(f.losses, plans.Loss{
			Address: o.Object.Address, Refs: left, Kept: true, Holds: "the data on its volumes", Jobs: f.ranFor(o.Object.Address),
		})
		return
	}
	jobs := f.ranFor(o.Object.Address)
	forgotten := outlived(f.inv, o) && len(jobs) > 0
	if !wasDeleted(o) && !forgotten {
		return
	}
	expected := expectedVolumes(o.Object.Manifest)
	missing := slices.DeleteFunc(slices.Clone(expected), func(ref providers.Ref) bool { return snapshot.Get(ref) != nil })
	// If the declaration changed too, replicas that never existed have lost nothing.
	if len(missing) == 0 || len(missing) < len(expected) && (forgotten || o.Record.State.DesiredDigest != o.Object.Digest()) {
		return
	}
	f.losses = append(f.losses, plans.Loss{
		Address: o.Object.Address, Refs: missing, Holds: "the data on its volumes", Jobs: jobs,
	})
}

// outlived reports whether the state lacks the object but has objects that were applied
// after it: the object existed, and a refresh forgot it after its deletion.
func outlived(inv *inventory.Inventory, o *outcome.Outcome) bool {
	return o.Record == nil && slices.ContainsFunc(inv.Records, func(r inventory.Record) bool {
		return slices.Contains(r.State.DependsOn, o.Object.Address.String())
	})
}

// expectedVolumes returns the claims of all replicas of a StatefulSet.
func expectedVolumes(set *unstructured.Unstructured) []providers.Ref {
	n, _ := inventory.Replicas(set)
	var refs []providers.Ref
	for _, template := range inventory.ClaimNames(set) {
		for i := range n {
			refs = append(refs, providers.Ref{GVK: inventory.Claims, Namespace: set.GetNamespace(), Name: fmt.Sprintf("%s-%s-%d", template, set.GetName(), i)})
		}
	}
	return refs
}

// formerVolumes returns the volumes that a StatefulSet had before its service got another
// name.
func formerVolumes(inv *inventory.Inventory, o *outcome.Outcome) []providers.Ref {
	for i := range inv.Records {
		r := &inv.Records[i]
		live := inv.Input.Snapshot.Get(r.Ref)
		if live == nil || r.Ref.GVK != o.Action.Ref.GVK || r.Ref == o.Action.Ref {
			continue
		}
		was, ok := inventory.PartOf(r.Address.Block, live)
		is, _ := inventory.PartOf(o.Object.Address.Block, o.Object.Manifest)
		if ok && was == is {
			return inventory.VolumesOf(inv.Input.Snapshot, live)
		}
	}
	return nil
}

// ranFor returns the completed Jobs that depend on the object, directly or not.
func (f *lossFinder) ranFor(on addrs.Object) []addrs.Object {
	dependants := map[addrs.Object][]*outcome.Outcome{}
	for _, o := range f.outcomes {
		for _, dependency := range o.Object.DependsOn {
			dependants[dependency] = append(dependants[dependency], o)
		}
	}
	seen := map[addrs.Object]bool{on: true}
	var jobs []addrs.Object
	for queue := []addrs.Object{on}; len(queue) > 0; queue = queue[1:] {
		for _, o := range dependants[queue[0]] {
			if seen[o.Object.Address] {
				continue
			}
			seen[o.Object.Address] = true
			queue = append(queue, o.Object.Address)
			if o.Finished() && o.Action.Verb == plans.None {
				jobs = append(jobs, o.Lasting())
			}
		}
	}
	slices.SortFunc(jobs, addrs.Object.Compare)
	return jobs
}
