// Package removal decides about the objects that kolla made and that are no longer declared:
// delete, release, forget, or keep. It deletes an object only if the state proves that the
// object is kolla's, and if nothing is lost that the operator did not name. Of the old versions
// of a ConfigMap or Secret it keeps the previous one (inventory.Versions.Previous). It keeps
// every existing version if the block has a workload with the strategy OnDelete, or if only a
// part of the block is selected. It examines no pod. lost.go finds data that is gone already.
package removal

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Result has the removals of a plan.
type Result struct {
	// Actions are those on declared objects and the removals.
	Actions []plans.Action
	Kept    []plans.Kept // objects with data that the plan does not delete
	// Losses are data that are gone already, or stay behind under another name.
	Losses   []plans.Loss
	Problems []plans.Problem
	// Removals counts the objects that exist and are to be deleted, released or forgotten.
	Removals int
	// AtRisk are objects with data that Actions delete. They prevent the plan; see Refusals.
	AtRisk []AtRisk
}

// AtRisk is an object that would be deleted although it holds data.
type AtRisk struct {
	Ref     providers.Ref
	Address addrs.Object
	Data    string // the data that would be lost
}

// remover collects a Result.
type remover struct {
	inv     *inventory.Inventory
	copied  map[providers.Ref]inventory.CopiedValues
	decided map[types.UID]addrs.Object // live objects with a removal
	// refused are the deletions of AtRisk. They become actions after the namespaces are decided:
	// a namespace must not go because of a deletion that is not permitted.
	refused []func()
	result  Result
}

func newRemover(inv *inventory.Inventory, copied map[providers.Ref]inventory.CopiedValues) *remover {
	return &remover{inv: inv, copied: copied, decided: map[types.UID]addrs.Object{}}
}

// Undeclared decides about the recorded objects without a declaration, and about old versions of
// declared objects. An object that is declared at another address is only forgotten at the old
// one. The previous version of an object stays until the next one comes. actions are those on the
// declared objects. A refresh-only plan only forgets the objects that no longer exist.
func Undeclared(inv *inventory.Inventory, set selection.Set, copied map[providers.Ref]inventory.CopiedValues, outcomes []*outcome.Outcome, actions []plans.Action) Result {
	m := newRemover(inv, copied)
	m.undeclared(set, outcomes)
	r := m.result
	r.Losses, r.Removals = lostData(inv, outcomes), r.removals()
	if inv.Input.RefreshOnly {
		return Result{Actions: slices.Concat(actions, gone(inv, set)), Losses: r.Losses, Removals: r.Removals}
	}
	r.Actions = append(r.Actions, actions...)
	r.Kept = append(r.Kept, KeptVolumes(inv, r.Actions, r.Losses)...)
	LinkDeletes(inv, r.Actions)
	r.Problems = append(r.Problems, orphans(inv)...)
	return r
}

// undeclared decides about the objects of Undeclared.
func (m *remover) undeclared(set selection.Set, outcomes []*outcome.Outcome) {
	inv := m.inv
	families := inv.Former.Families
	var undeclared []removable
	for i := range inv.Records {
		r := &inv.Records[i]
		if !set.Has(inv.Successor(r)) {
			continue
		}
		object := inv.DeclarationByRef(r.Ref)
		_, versioned := families[r.Family]
		switch {
		case object != nil && inv.Declared[r.RecordedAddress()] != nil: // the action on that object records this
		case object != nil:
			m.forget(removableOf(inv, r), plans.Reason{Kind: plans.ReasonMoved, Detail: object.Address.String()})
		case inv.Declared[r.RecordedAddress()] != nil: // OtherNamespace reports it
		case versioned:
		default:
			undeclared = append(undeclared, removableOf(inv, r))
		}
	}
	m.result.Problems = append(m.result.Problems, OtherNamespace(inv, set)...)
	blocks := blocksOf(outcomes)
	for _, o := range outcomes {
		if versions := families[o.Object.Family]; len(versions.Members) > 0 {
			of := blocks[o.Object.Address.Block]
			m.removeVersions(o, versions, of, of.keepsOldPods || !set.HasBlock(inv.Input.Objects, o.Object.Address.Block))
		}
	}
	m.removeAll(undeclared, plans.ReasonUndeclared)
}

// removals returns Removals.
func (r *Result) removals() int {
	n := 0
	for i := range r.Actions {
		switch a := &r.Actions[i]; {
		case a.MovedTo() != "": // the same object has another action
		case a.Has(plans.ReasonGone, plans.ReasonUnfinished):
		default:
			n++
		}
	}
	return n
}

// gone returns the actions of a refresh-only plan that forget undeclared objects which no
// longer exist.
func gone(inv *inventory.Inventory, set selection.Set) []plans.Action {
	m := newRemover(inv, nil)
	for i := range inv.Records {
		r := &inv.Records[i]
		if inv.DeclarationByRef(r.Ref) == nil && set.Has(inv.Successor(r)) && inv.Input.Snapshot.Get(r.Ref) == nil && inv.Unread(r.Ref) == nil {
			m.forget(removableOf(inv, r), plans.Reason{Kind: r.Absence()})
		}
	}
	return m.result.Actions
}

// removeAll decides about namespaces last, when all other permitted deletions are known.
func (m *remover) removeAll(candidates []removable, reason plans.ReasonKind) {
	for _, c := range candidates {
		if !c.namespace() {
			m.remove(c, reason)
		}
	}
	for _, c := range candidates {
		if c.namespace() {
			m.remove(c, reason)
		}
	}
	for _, plan := range m.refused {
		plan()
	}
	m.refused = nil
}

// remove decides about one object. It deletes the object only if state, label and UID agree
// that it is kolla's, and if nothing is lost that the operator did not name. An object of
// which kolla owns only some fields has no label.
func (m *remover) remove(c removable, reason plans.ReasonKind) {
	if err := m.inv.Unread(c.ref); err != nil {
		m.result.Problems = append(m.result.Problems, unread(c, err))
		return
	}
	if c.live == nil {
		m.forget(c, plans.Reason{Kind: c.absence})
		return
	}
	if twin, twice := m.decided[c.live.GetUID()]; twice {
		m.forget(c, plans.Reason{Kind: reason, Detail: fmt.Sprintf("the state has it a second time, as %s", twin)})
		return
	}
	m.decided[c.live.GetUID()] = c.address
	if by, ok := inventory.Released(m.inv.Input.Removals, c.address); ok && reason != plans.ReasonSuperseded {
		m.release(c, reason, by)
		return
	}
	if why := c.notOurs(m.inv.Input.Cloud); why != "" {
		m.forget(c, plans.Reason{Kind: reason, Detail: why})
		m.result.Problems = append(m.result.Problems, plans.Problem{
			Warning: true,
			Address: c.address,
			Summary: fmt.Sprintf("%s is left alone: %s", c.ref, why),
			Detail:  "kolla deletes an object only if the state, the label and the UID all show that kolla made it. The state forgets this object.",
		})
		return
	}
	if reason != plans.ReasonSuperseded {
		if problems := prevented(m.inv, c); len(problems) > 0 {
			m.result.Problems = append(m.result.Problems, problems...)
			return
		}
	}
	if data := m.dataAtRisk(c); data != "" {
		m.protect(c, data, reason)
		return
	}
	m.delete(c, reason)
}

// unread warns that an object stays in the state because it could not be read.
func unread(c removable, err error) plans.Problem {
	return plans.Problem{
		Warning: true,
		Address: c.address,
		Summary: fmt.Sprintf("%s is left alone: kolla cannot tell whether it exists", c.ref),
		Detail:  fmt.Sprintf("It should be deleted, but %v. It stays in the state. Plan again when kolla can read it.", err),
	}
}

// delete plans the deletion of an object.
func (m *remover) delete(c removable, reason plans.ReasonKind) {
	switch {
	case reason == plans.ReasonUndeclared && external(m.inv, cmp.Or(c.nowIn, c.address.Block)):
		reason = plans.ReasonExternal
	case reason == plans.ReasonUndeclared && c.nowIn != "":
		reason = plans.ReasonRenamed
	}
	detail := c.nowIn
	if detail == c.address.Block {
		detail = ""
	}
	if c.because != "" {
		detail = c.because
	}
	action := plans.Action{
		Address:  c.address,
		Verb:     plans.Delete,
		Removal:  plans.Removal{Partial: c.partial, Finished: c.finished},
		Ref:      c.ref,
		Prior:    providers.Precondition{UID: c.live.GetUID(), ResourceVersion: c.live.GetResourceVersion()},
		Reasons:  []plans.Reason{{Kind: reason, Detail: detail}},
		Evidence: plans.Evidence{Kind: plans.Recorded},
	}
	if copied, ok := m.copied[c.ref]; ok {
		if !copied.Anew {
			action.ValuesCopiedTo = copied.To
		}
		action.DependsOn = append(action.DependsOn, copied.To)
	} else if !c.partial {
		action.Holds = inventory.Holds(c.live, c.holds)
		if c.namespace() {
			if occupants := m.occupants(c.ref.Name); len(occupants) > 0 {
				action.Occupied = true
				action.Holds = "everything in it, with " + words.Few(occupants, 4)
			}
		}
	}
	if c.partial {
		action.Changes = givenUp(c.live, m.inv.Input.Cloud)
	}
	m.result.Actions = append(m.result.Actions, action)
}

// givenUp returns the fields that disappear when kolla gives up its own: those without
// another owner. An object that cannot be compared has none.
func givenUp(live *unstructured.Unstructured, cloud string) []plans.Change {
	after, err := WithoutOurs(live, cloud)
	if err != nil {
		return nil
	}
	differences, err := fields.Compare(live, after)
	if err != nil {
		return nil
	}
	return fields.Changes(differences)
}

// WithoutOurs returns the object after kolla has given up its fields.
func WithoutOurs(live *unstructured.Unstructured, cloud string) (*unstructured.Unstructured, error) {
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(live.GroupVersionKind())
	bare.SetName(live.GetName())
	bare.SetNamespace(live.GetNamespace())
	return dryrun.Predict(live, nil, bare, providers.ManagerOf(cloud, true))
}

func (m *remover) forget(c removable, reason plans.Reason) {
	m.result.Actions = append(m.result.Actions, plans.Action{
		Address:  c.address,
		Verb:     plans.Forget,
		Ref:      c.ref,
		Reasons:  []plans.Reason{reason},
		Evidence: plans.Evidence{Kind: plans.Recorded},
	})
}

// release leaves an object in the cluster because of a removed block, with the volumes of a
// StatefulSet. It removes kolla's marks, so that no later plan takes the object for its own.
func (m *remover) release(c removable, reason plans.ReasonKind, by addrs.Removal) {
	m.forget(c, plans.Reason{Kind: reason, Detail: fmt.Sprintf("a removed block (%s) leaves it in the cluster", inventory.Place(by.Range))})
	a := &m.result.Actions[len(m.result.Actions)-1]
	if why := c.notOurs(m.inv.Input.Cloud); why != "" {
		a.Reasons[0].Detail += " as it is: " + why
		return
	}
	a.Releases, a.Partial = true, c.partial
	a.Prior = providers.Precondition{UID: c.live.GetUID()}
	a.Reasons[0].Detail += ", and kolla's labels and annotations are taken off it"
	if c.ref.GVK.GroupKind() != kinds.StatefulSet {
		return
	}
	snapshot := m.inv.Input.Snapshot
	for _, ref := range inventory.VolumesOf(snapshot, c.live) {
		if claim := snapshot.Get(ref); m.inv.RecordByRef(ref) == nil && inventory.Labelled(claim, m.inv.Input.Cloud) {
			m.release(removable{ours: true, address: m.inv.AddressFor(ref, claim.GetAnnotations(), claim.GetLabels()), ref: ref, live: claim}, reason, by)
		}
	}
}
