package report

import "kolla.openstack.org/kolla/planner/plans"

// concerns reports whether an apply has anything to do about an action. An object
// that the plan leaves as it is can still have to be waited for, when others
// depend on it: that is mentioned only where it takes its time.
//
// What has moved has its action where it is now: that the old address is forgotten is no
// news.
func Concerns(a *plans.Action) bool {
	return (a.Verb != plans.None || a.Pending) && a.MovedTo() == ""
}

// done says what has been reached. What was waited for is more than written.
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

// doing says what is being done.
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
