package report

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// risk orders actions by what a reviewer has to see first.
type Risk int

const (
	LosesData Risk = iota // something that cannot be made again
	Destroys              // deleted, or deleted and made again
	Takes                 // fields that others look after
	Changes               // all that is there and will be different
	Makes                 // what is new
	CleansUp              // nothing is lost with it
	Leaves                // nothing happens
)

func RiskOf(a *plans.Action) Risk {
	deletes := a.Verb == plans.Replace || a.Verb == plans.Delete && !a.Partial
	switch {
	case a.Verb == plans.None || a.Verb == plans.Refresh || a.MovedTo() != "":
		return Leaves
	case Harmless(a):
		return CleansUp
	case deletes && a.Holds != "":
		return LosesData
	case deletes:
		return Destroys
	case a.Force && !drifted(a):
		return Takes
	case Creates(a):
		return Makes
	default:
		return Changes
	}
}

// drifted reports whether somebody else changed or deleted an object.
func drifted(a *plans.Action) bool {
	return HasReason(a, plans.ReasonGone) || slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return c.Drift })
}

// relocation is that the objects of one block are those of another block now.
type Relocation struct{ From, To string }

// relocationOf is what happens to an object that only moves, and keeps its kind and name;
// ok is false for any other action.
func RelocationOf(a *plans.Action) (r Relocation, ok bool) {
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
