package report

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Risk orders actions for a reviewer: the most dangerous first.
type Risk int

const (
	LosesData Risk = iota // data is lost
	Destroys              // the object is deleted, or deleted and made again
	Takes                 // fields are taken from other managers
	Changes               // an existing object changes
	Makes                 // the object is new
	CleansUp              // the object is deleted without a loss
	Leaves                // nothing happens
)

// riskOf is the risk of an action.
func riskOf(a *plans.Action) Risk {
	deletes := a.Verb == plans.Replace || a.Verb == plans.Delete && !a.Partial
	switch {
	case a.Verb == plans.None || a.Verb == plans.Refresh || a.MovedTo() != "":
		return Leaves
	case harmless(a):
		return CleansUp
	case deletes && a.Holds != "":
		return LosesData
	case deletes:
		return Destroys
	case a.Force && !drifted(a):
		return Takes
	case creates(a):
		return Makes
	default:
		return Changes
	}
}

// drifted reports whether somebody else changed or deleted an object.
func drifted(a *plans.Action) bool {
	return HasReason(a, plans.ReasonGone) || slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return c.Drift })
}

// Relocation means that the objects of one block are now those of another block.
type Relocation struct{ From, To string }

// relocationOf is the relocation of an object that only moves, and keeps its kind and name;
// ok is false for any other action.
func relocationOf(a *plans.Action) (r Relocation, ok bool) {
	if !a.OnlyMoves() {
		return r, false
	}
	from, err := addrs.ParseObject(a.MovedFrom())
	to := a.Address
	if err != nil || from.Kind != to.Kind || from.Name != to.Name || from.Namespace != to.Namespace {
		return r, false
	}
	return Relocation{from.Block, to.Block}, true
}
