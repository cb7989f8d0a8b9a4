package removal

import (
	"fmt"
	"slices"
	"strconv"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// external reports whether the block is a service that exists elsewhere and is not deployed.
func external(inv *inventory.Inventory, block string) bool {
	return slices.Contains(inv.Input.External, block)
}

// prevented refuses to destroy an object with prevent_destroy. The declaration decides, or,
// without one, the last apply. If all objects of a block are protected, each has the same
// problem, so that it is shown once.
func prevented(inv *inventory.Inventory, c removable) []plans.Problem {
	if object := inv.Declared[c.address]; object != nil {
		l := object.Lifecycle
		if l == nil || !l.PreventDestroy {
			return nil
		}
		what := c.ref.String()
		if wholeBlock(inv, c.address.Block, func(a addrs.Object, _ string) bool {
			other := inv.Declared[a]
			return other == nil || other.Lifecycle != nil && other.Lifecycle.PreventDestroy && other.Lifecycle.Source == l.Source
		}) {
			what = c.address.Block
		}
		return []plans.Problem{plans.ProblemOf(object, fmt.Sprintf("%s must not be destroyed", what),
			outcome.Prevention(c.address.Block, l.Source)+". Remove that first if the object should really be destroyed.")}
	}
	if c.preventedAt == "" {
		return nil
	}
	what, keep, from := c.ref.String(), "the object", strconv.Quote(c.address.String())
	if wholeBlock(inv, c.address.Block, func(a addrs.Object, preventedAt string) bool {
		return inv.Declared[a] == nil && preventedAt == c.preventedAt
	}) {
		what, keep, from = c.address.Block, "what it has", c.address.Block
	}
	is, back, away := "no longer declared", "put its declaration back", "remove the declaration"
	if external(inv, c.address.Block) {
		is, back, away = "no longer deployed, because its service is external now", "take external out of the service again", "make it external"
	}
	return []plans.Problem{{
		Address: c.address,
		Summary: fmt.Sprintf("%s is %s, and must not be destroyed", what, is),
		Detail: fmt.Sprintf("When it was last applied, %s. To keep it, %s. To delete it, set prevent_destroy = false, apply, and then %s.%s",
			outcome.Prevention(c.address.Block, c.preventedAt), back, away, leftWith(removedBlockFrom(from), keep)),
	}}
}

// wholeBlock reports whether a condition holds for all recorded objects of a block. preventedAt
// is where prevent_destroy was declared at the last apply.
func wholeBlock(inv *inventory.Inventory, block string, holds func(address addrs.Object, preventedAt string) bool) bool {
	return !slices.ContainsFunc(inv.Records, func(r inventory.Record) bool {
		was := r.RecordedAddress()
		return was.Block == block && !holds(was, r.State.Protected)
	})
}

// leftWith returns the advice to leave an object in the cluster with this removed block.
func leftWith(block, what string) string {
	return fmt.Sprintf(" To leave %s in the cluster without kolla, declare:\n\n%s", what, block)
}

// removedBlock returns the removed block that leaves an object in the cluster.
func removedBlock(address addrs.Object) string {
	return removedBlockFrom(strconv.Quote(address.String()))
}

func removedBlockFrom(from string) string {
	return fmt.Sprintf("  removed {\n    from = %s\n    lifecycle {\n      destroy = false\n    }\n  }", from)
}

// dataAtRisk returns the data that would be lost with an object; empty: none, or the operator named
// the object.
func (m *remover) dataAtRisk(c removable) string {
	if c.partial {
		return ""
	}
	if c.namespace() {
		// Objects of others may go only if the operator gave the address of the namespace.
		mayEmpty := func() bool {
			by, _ := inventory.RemovalOf(m.inv.Input.Removals, c.address)
			named := m.inv.DeleteData.Has(c.address.String()) || by.From.Object == c.address && by.Data == addrs.AllData
			return named && !m.keepsIn(c.ref.Name)
		}
		if occupants := m.occupants(c.ref.Name); len(occupants) > 0 && !mayEmpty() {
			return "what is not deleted with it: " + words.Few(occupants, 4)
		}
		if m.inv.Input.Destroy {
			return ""
		}
	}
	data := inventory.Holds(c.live, c.holds)
	if _, lives := m.copied[c.ref]; lives {
		data = ""
	}
	if data == "" || m.inv.DeleteData.Covers(c.address) || m.removedWithData(c) || m.stopped(c) {
		return ""
	}
	return data
}

// removedWithData reports whether a removed block permits to delete the object with its data.
func (m *remover) removedWithData(c removable) bool {
	by, _ := inventory.RemovalOf(m.inv.Input.Removals, c.address)
	generated := c.ref.GVK.GroupKind() == kinds.Secret && c.holds != ""
	return by.Data == addrs.AllData || by.Data == addrs.GeneratedData && generated
}

// stopped reports whether a destroy that keeps all data may stop the object: a workload that
// others need, whose own volumes stay.
func (m *remover) stopped(c removable) bool {
	return m.inv.Input.KeepData && neededByOthers(c) && !inventory.TakesVolumesAlong(c.live)
}

// neededByOthers reports whether the object is a workload with a declared loss.
func neededByOthers(c removable) bool { return plans.RunsPodsContinuously(c.ref) && c.holds != "" }

// protect keeps an object with data. A destroy reports it. Any other plan is refused, and so
// is the destroy of a workload that others need: then the plan has the deletion, and an error.
func (m *remover) protect(c removable, data string, reason plans.ReasonKind) {
	if in := m.inv.Input; in.Destroy && (in.KeepData || !neededByOthers(c)) {
		kept := plans.Kept{Address: c.address, Ref: c.ref, Holds: data, Alone: c.namespace() && m.inv.DeleteData.All()}
		if c.uid == "" && c.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim { // the state does not have it yet
			kept.UID = c.live.GetUID()
		}
		m.result.Kept = append(m.result.Kept, kept)
		return
	}
	g := AtRisk{Ref: c.ref, Address: c.address, Data: data}
	if !c.namespace() {
		m.result.AtRisk = append(m.result.AtRisk, g)
		m.refused = append(m.refused, func() { m.delete(c, reason) })
		return
	}
	problem := refusalOf(m.inv, c.address.Block, []AtRisk{g})
	if len(m.occupants(c.ref.Name)) > 0 {
		problem.Detail = occupiedRemedy(c, m.keepsIn(c.ref.Name))
	}
	m.result.Problems = append(m.result.Problems, problem)
}
