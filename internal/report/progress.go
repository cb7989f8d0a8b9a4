package report

import "kolla.openstack.org/kolla/planner/plans"

// Concerns reports whether an apply works on an action. An apply may also wait for an
// unchanged object that others need: this does not count. An object that moved has its
// action at its new address.
func Concerns(a *plans.Action) bool {
	return (a.Verb != plans.None || a.Pending) && a.MovedTo() == ""
}

// Done says what an action has reached. An object that was waited for is also ready.
func Done(e plans.Event) string {
	a, ready := e.Action, ""
	if e.Ready {
		ready = ", ready"
	}
	if a.OnlyMoves() {
		return "moved from " + a.MovedFrom() + ready
	}
	switch a.Verb {
	case plans.Create:
		return "created" + ready
	case plans.Update:
		return "updated" + ready
	case plans.Replace:
		return "replaced" + ready
	case plans.Delete:
		if a.Partial {
			return "released"
		}
		if a.Prunes() {
			return "pruned"
		}
		return "destroyed"
	case plans.Run:
		return "completed"
	case plans.Adopt:
		return "imported" + ready
	case plans.Forget:
		return "forgotten"
	case plans.Refresh:
		return "taken into the state"
	default:
		return "ready"
	}
}

// Doing says what an action does.
func Doing(a *plans.Action) string {
	if a.OnlyMoves() {
		return "moving"
	}
	switch a.Verb {
	case plans.Create:
		return "creating"
	case plans.Update:
		return "updating"
	case plans.Replace:
		return "replacing"
	case plans.Delete:
		if a.Prunes() {
			return "pruning"
		}
		return "destroying"
	case plans.Run:
		return "running"
	case plans.Adopt:
		return "importing"
	case plans.Forget:
		return "forgetting"
	case plans.Refresh:
		return "reading"
	default:
		return "waiting"
	}
}
