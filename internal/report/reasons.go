package report

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// tool is the command behind a field manager's name. kubectl has one manager a
// subcommand.
func Tool(manager string) string {
	switch {
	case manager == "kubectl-client-side-apply":
		return "kubectl apply"
	case strings.HasPrefix(manager, "kubectl-") && foreign.Name(manager) == manager:
		return "kubectl " + strings.TrimPrefix(manager, "kubectl-")
	default:
		return foreign.Name(manager)
	}
}

// fresh reports whether an action makes something that has no predecessor.
func Creates(a *plans.Action) bool {
	return (a.Verb == plans.Create || a.Verb == plans.Run) && a.Supersedes == (addrs.Object{})
}

// forces reports whether a change is, or is part of, what cannot be changed in place.
func Forces(a *plans.Action, c plans.Change) bool {
	return slices.ContainsFunc(a.Reasons, func(r plans.Reason) bool {
		rest, ok := strings.CutPrefix(c.Path, r.Path)
		return r.Kind == plans.ReasonImmutable && ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// because puts a reason into words; empty where the action speaks for itself.
func Because(r plans.Reason) string {
	words := map[plans.ReasonKind]string{
		plans.ReasonGone:       "somebody deleted it in the cluster",
		plans.ReasonUnfinished: "an earlier apply deleted it, and did not get further",
		plans.ReasonCleaned:    "an earlier apply was about to delete it: its pods may have cleaned their nodes already",
		plans.ReasonUndeclared: "no longer in the configuration",
		plans.ReasonExternal:   "its service is external now",
		plans.ReasonRenamed:    renaming(r.Detail),
		plans.ReasonSuperseded: "an older version that nothing uses any more",
		plans.ReasonImmutable:  r.Path + " cannot be changed in place",
		plans.ReasonFailedJob:  "the last run failed; it runs again",
		plans.ReasonIdle:       fmt.Sprintf("%s has %s, and does not look after it any more: taken back", Tool(r.Manager), r.Path),
		plans.ReasonReplaced:   "somebody replaced " + r.Path + ": the value is kept, and the objects that read it are renewed",
		plans.ReasonRenewed:    "made anew",
		plans.ReasonReuse:      "reuses existing volumes, with the data on them",
		plans.ReasonTriggered:  r.TriggerWords(),
		plans.ReasonOwed:       r.TriggerWords(),
		plans.ReasonMoved:      "moved from " + r.Detail,
		plans.ReasonUnowned:    "imported: it exists already, and was not made by kolla",
		plans.ReasonDefinition: "the definition of its kind changes",
		plans.ReasonUpgrade:    "neither the configuration nor the cluster changed: kolla or the server has new defaults",
	}[r.Kind]
	switch {
	case r.Detail == "", r.Kind == plans.ReasonRenamed, r.Kind == plans.ReasonMoved, r.Triggered():
		return words
	case words == "":
		return r.Detail
	default:
		return fmt.Sprintf("%s: %s", words, r.Detail)
	}
}

// takenAlong says where the values go on of a Secret that goes.
func TakenAlong(a *plans.Action) string {
	return "its values are copied to Secret " + a.Heir.Name
}

// renaming says of a block why its objects have other names: it moved, or its service is
// called something else.
func renaming(block string) string {
	if block == "" {
		return "has another name in the cluster now, and so have its objects"
	}
	return fmt.Sprintf("moved to %s, whose objects have other names", block)
}

// harmless reports whether nothing is lost with what an action deletes: versions
// that nothing uses any more, jobs that failed.
func Harmless(a *plans.Action) bool {
	return a.Prunes() || HasReason(a, plans.ReasonFailedJob)
}

// family is the name of an object of which there are versions, without the version.
func Family(a *plans.Action) string {
	if a.Object == nil {
		return ""
	}
	return a.Object.Family.Name
}

func HasReason(a *plans.Action, kind plans.ReasonKind) bool {
	return slices.ContainsFunc(a.Reasons, func(r plans.Reason) bool { return r.Kind == kind })
}
