package report

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Tool returns the command behind the name of a field manager. kubectl has a manager for each
// subcommand. Any client can use kolla's names: a write that this kolla has no record of shows
// the name of its writer, and not who that was.
func Tool(manager string) string {
	switch {
	case manager == providers.FieldManager || strings.HasPrefix(manager, providers.FieldManager+":"):
		return "a client that calls itself " + foreign.Name(manager)
	case manager == "kubectl-client-side-apply":
		return "kubectl apply"
	case strings.HasPrefix(manager, "kubectl-") && foreign.Name(manager) == manager:
		return "kubectl " + strings.TrimPrefix(manager, "kubectl-")
	default:
		return foreign.Name(manager)
	}
}

// creates reports whether an action makes an object that replaces no older version.
func creates(a *plans.Action) bool {
	return (a.Verb == plans.Create || a.Verb == plans.Run) && a.Supersedes == (addrs.Object{})
}

// forces reports whether a change is a part of a field that cannot be changed in place.
func forces(a *plans.Action, c plans.Change) bool {
	return slices.ContainsFunc(a.Reasons, func(r plans.Reason) bool {
		rest, ok := strings.CutPrefix(c.Path, r.Path)
		return r.Kind == plans.ReasonImmutable && ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// because puts a reason into words. It is empty for a reason that the action itself shows.
func because(r plans.Reason) string {
	words := map[plans.ReasonKind]string{
		plans.ReasonGone:         "somebody deleted it in the cluster",
		plans.ReasonUnfinished:   "an earlier apply deleted it, and did not get further",
		plans.ReasonCleaned:      "an earlier apply was about to delete it: its pods may have cleaned their nodes already",
		plans.ReasonUndeclared:   "no longer in the configuration",
		plans.ReasonExternal:     "its service is external now",
		plans.ReasonRenamed:      renaming(r.Detail),
		plans.ReasonSuperseded:   "an older version that nothing uses any more",
		plans.ReasonImmutable:    r.Path + " cannot be changed in place",
		plans.ReasonFailedJob:    "the last run failed; it runs again",
		plans.ReasonRegistration: r.Detail + " does not have what it registered; it runs again",
		plans.ReasonIdle:         fmt.Sprintf("%s owns %s but no longer maintains it: kolla takes it back", Tool(r.Manager), r.Path),
		plans.ReasonReplaced:     "somebody replaced " + r.Path + ": the value is kept, and the objects that read it are renewed",
		plans.ReasonRenewed:      "made anew",
		plans.ReasonRotated:      "keys are rotated",
		plans.ReasonReuse:        "reuses existing volumes, with the data on them",
		plans.ReasonGrows:        fmt.Sprintf("the volume grows to the size that %s declares, and cannot shrink again", r.Detail),
		plans.ReasonTriggered:    r.TriggerWords(),
		plans.ReasonMoved:        "moved from " + r.Detail,
		plans.ReasonUnowned:      "imported: it exists already, and was not made by kolla",
		plans.ReasonDefinition:   "the definition of its kind changes",
		plans.ReasonUpgrade:      "neither the configuration nor the cluster changed: kolla or the server has new defaults",
		plans.ReasonUnexplained:  "it is not known whether somebody changed the object, or kolla or the server has new defaults",
	}[r.Kind]
	switch {
	case r.Detail == "", slices.Contains([]plans.ReasonKind{plans.ReasonRenamed, plans.ReasonMoved, plans.ReasonGrows, plans.ReasonRegistration}, r.Kind), r.Triggered():
		return words
	case words == "":
		return r.Detail
	default:
		return fmt.Sprintf("%s: %s", words, r.Detail)
	}
}

// takenAlong names the Secret that takes over the values of a deleted Secret.
func takenAlong(a *plans.Action) string {
	return "its values are copied to Secret " + a.ValuesCopiedTo.Name
}

// renaming says why the objects of a block have other names: the block moved, or its
// service has a new name.
func renaming(block string) string {
	if block == "" {
		return "has another name in the cluster now, and so have its objects"
	}
	return fmt.Sprintf("moved to %s, whose objects have other names", block)
}

// harmless reports whether an action deletes without a loss: an unused version, or a job that runs
// again.
func harmless(a *plans.Action) bool {
	return a.Prunes() || a.Has(plans.ReasonFailedJob, plans.ReasonRegistration) && a.Verb == plans.Replace
}

// Risk orders actions for a reviewer: the most dangerous first.
type Risk int

// The risks.
const (
	LosesData Risk = iota // data is lost
	Destroys              // the object is deleted, or deleted and made again
	Takes                 // fields are taken from other managers
	Changes               // an existing object changes
	Makes                 // the object is new
	CleansUp              // the object is deleted without a loss
	Leaves                // nothing happens
)

// riskOf returns the risk of an action.
func riskOf(a *plans.Action) Risk {
	deletes := a.Verb == plans.Replace && !a.KeepsPods || a.Verb == plans.Delete && !a.Partial
	switch {
	case a.Verb == plans.None || a.Verb == plans.Refresh || a.MovedTo() != "":
		return Leaves
	case harmless(a):
		return CleansUp
	case deletes && a.Holds != "":
		return LosesData
	case deletes:
		return Destroys
	case a.Force && len(a.Drift()) == 0:
		return Takes
	case creates(a):
		return Makes
	default:
		return Changes
	}
}

// Relocation is a move of the objects of one block to another block.
type Relocation struct{ From, To string }

// relocationOf returns the relocation of an object that only moves, and keeps its kind and name;
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
