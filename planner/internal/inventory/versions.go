package inventory

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Versions has the recorded members of one family that are no longer declared.
type Versions struct {
	// Members are sorted: those that workloads mount come first, then newer ones before older ones.
	Members []*Record
	// Previous is the first member that is still in the cluster and that the state proves to be
	// kolla's (trust.Same); nil: there is none. The declared member replaces it.
	Previous *Record
}

// Former has the former versions of declared objects.
type Former struct {
	Families map[addrs.Object]Versions // families with selected former members
	// Mounted has the ConfigMaps and Secrets that the live workloads mount into the pods
	// that they create now. It is nil without families.
	Mounted map[providers.Ref]bool
}

// formerVersions finds the former members of all families with a declared member.
func formerVersions(inv *Inventory, selected func(addrs.Object) bool) Former {
	members := map[addrs.Object][]*Record{}
	declared := map[addrs.Object]bool{}
	for i := range inv.Input.Objects {
		declared[inv.Input.Objects[i].Family] = true
	}
	for i := range inv.Records {
		r := &inv.Records[i]
		if r.Family != (addrs.Object{}) && declared[r.Family] && selected(inv.Successor(r)) && inv.DeclarationByRef(r.Ref) == nil && inv.Declared[r.RecordedAddress()] == nil {
			members[r.Family] = append(members[r.Family], r)
		}
	}
	if len(members) == 0 {
		return Former{}
	}
	used := mountedFiles(inv.Input.Snapshot)
	families := map[addrs.Object]Versions{}
	for family, list := range members {
		slices.SortFunc(list, func(a, b *Record) int {
			if used[a.Ref] != used[b.Ref] {
				return cmp.Compare(rank(used[a.Ref]), rank(used[b.Ref]))
			}
			return newerFirst(inv.Input.Snapshot, a, b)
		})
		v := Versions{Members: list}
		if i := slices.IndexFunc(list, func(r *Record) bool { return trust.Same(r.State, inv.Input.Snapshot.Get(r.Ref)) }); i >= 0 {
			v.Previous = list[i]
		}
		families[family] = v
	}
	return Former{Families: families, Mounted: used}
}

// rank sorts mounted members first.
func rank(used bool) int {
	if used {
		return 0
	}
	return 1
}

func mountedFiles(snapshot *providers.Snapshot) map[providers.Ref]bool {
	mounted := map[providers.Ref]bool{}
	for _, kind := range []schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet} {
		for _, workload := range snapshot.All(kind.WithVersion("v1")) {
			for _, ref := range FilesOf(workload).Refs {
				mounted[ref] = true
			}
		}
	}
	return mounted
}

// newerFirst compares members by their last apply, and then by their creation.
func newerFirst(snapshot *providers.Snapshot, a, b *Record) int {
	created := func(r *Record) time.Time {
		if live := snapshot.Get(r.Ref); live != nil {
			return live.GetCreationTimestamp().Time
		}
		return time.Time{}
	}
	return cmp.Or(
		b.State.Applied.Compare(a.State.Applied),
		created(b).Compare(created(a)),
		a.Address.Compare(b.Address),
	)
}
