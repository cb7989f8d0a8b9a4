// Package applied has the words of an apply: what each action does and has reached, and the
// result of all of them.
package applied

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Result is the result of an apply.
type Result struct {
	// The numbers of actions that were carried out, counted as in the summary of a plan.
	Added, Changed, Destroyed, Imported, Forgotten, Moved, Pruned int
	// Destroy: the plan was to destroy everything.
	Destroy bool
	// Interrupted: the operator stopped it.
	Interrupted bool
	// Saved: the plan came from a file, and cannot be applied again.
	Saved bool
	// Messages are warnings that jobs gave which succeeded.
	Messages []plans.Problem
	Failed   []Failed
	Skipped  []Skipped
	Took     time.Duration
	// Options are those of the plan, for the command that goes on: "-force-release=2026.2 -until=data".
	Options string
	// Upgrade has sentences about an upgrade that is not complete: what is old, what is new, and the way back.
	Upgrade []string
}

// longOptions is the length of options that advice no longer repeats.
const longOptions = 200

// Failed is an action that began and failed.
type Failed struct {
	Address addrs.Object
	Source  string   // where the object is declared, "cloud.hcl:41"; may be empty
	Reason  string   // one line
	Detail  []string // events and the last lines of logs, unchanged
	Advice  string   // running text: how to correct it; may be empty
	After   time.Duration
	// Others failed for the same reason.
	Others []addrs.Object
}

// Skipped is an action that did not begin.
type Skipped struct {
	Address addrs.Object
	// Because is the failed action that it depends on. Without one, the apply was
	// interrupted before.
	Because addrs.Object
	// Data are the data blocks that it waited for in vain; nil: it waited for none.
	Data []string
}

// Advice says how to go on after an apply that is not complete.
func (a Result) Advice() string {
	again := "kolla apply"
	if a.Destroy {
		again = "kolla destroy"
	}
	same := ""
	if len(a.Options) > longOptions {
		same = " with the same options"
	} else if a.Options != "" {
		again += " " + a.Options
	}
	switch {
	case a.Saved && len(a.Failed) > 0:
		return "Fix what failed and make a new plan: this one is used up."
	case a.Saved:
		return "Make a new plan for the rest: this one is used up."
	case a.Interrupted:
		return fmt.Sprintf("Run \"%s\" again%s: it goes on from here.", again, same)
	}
	return fmt.Sprintf("Fix what failed and run \"%s\" again%s: it goes on from here.", again, same)
}

// Complete reports whether every action was carried out.
func (a Result) Complete() bool { return len(a.Failed) == 0 && len(a.Skipped) == 0 && !a.Interrupted }

// failures returns the number of actions that failed.
func (a Result) failures() int {
	n := len(a.Failed)
	for _, f := range a.Failed {
		n += len(f.Others)
	}
	return n
}

// Verdict says whether the apply is complete ("Apply complete!"), and counts its actions.
func (a Result) Verdict() (verdict, rest string) {
	verb := "Apply"
	resources := fmt.Sprintf("%d added, %d changed, %d destroyed", a.Added, a.Changed, a.Destroyed)
	if a.Imported > 0 {
		resources = fmt.Sprintf("%d imported, %s", a.Imported, resources)
	}
	if a.Forgotten > 0 {
		resources += fmt.Sprintf(", %d forgotten", a.Forgotten)
	}
	if a.Moved > 0 {
		resources += fmt.Sprintf(", %d moved", a.Moved)
	}
	if a.Pruned > 0 {
		resources += fmt.Sprintf(", %d pruned", a.Pruned)
	}
	if a.Destroy {
		verb = "Destroy"
		resources = fmt.Sprintf("%d destroyed", a.Destroyed)
		if a.Changed > 0 { // their fields were removed
			resources += fmt.Sprintf(", %d changed", a.Changed)
		}
		if a.Forgotten > 0 {
			resources += fmt.Sprintf(", %d forgotten", a.Forgotten)
		}
	}
	if a.Complete() {
		return verb + " complete!", " Resources: " + resources + "."
	}
	return verb + " incomplete:", " " + resources + "; " + a.shortfall() + "."
}

// shortfall counts the actions that were not carried out: "1 failed, 2 skipped".
func (a Result) shortfall() string {
	var parts []string
	missing := "skipped"
	if a.Interrupted {
		parts = append(parts, "interrupted")
		missing = "not begun"
	}
	if n := a.failures(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := len(a.Skipped); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, missing))
	}
	return strings.Join(parts, ", ")
}

// Concerns reports whether an apply works on an action. An apply may also wait for an
// unchanged object that others need: this does not count. An object that moved has its
// action at its new address.
func Concerns(a *plans.Action) bool {
	return (a.Verb != plans.None || a.Pending) && a.MovedTo() == ""
}

// words are the words of a verb: of an action that runs, and of one that is done.
type words struct{ doing, done string }

var wordsOf = map[plans.Verb]words{
	plans.Create:  {"creating", "created"},
	plans.Update:  {"updating", "updated"},
	plans.Replace: {"replacing", "replaced"},
	plans.Delete:  {"destroying", "destroyed"},
	plans.Run:     {"running", "completed"},
	plans.Adopt:   {"importing", "imported"},
	plans.Forget:  {"forgetting", "forgotten"},
	plans.Refresh: {"reading", "taken into the state"},
}

// Done says what an action has reached. An object that was waited for is also ready.
func Done(e plans.Event) string {
	a, ready := e.Action, ""
	if e.Ready {
		ready = ", ready"
	}
	switch {
	case a.OnlyMoves():
		return "moved from " + a.MovedFrom() + ready
	case a.Verb == plans.Delete && a.Partial:
		return "released"
	case a.Verb == plans.Delete && a.Prunes():
		return "pruned"
	case slices.Contains([]plans.Verb{plans.Create, plans.Update, plans.Replace, plans.Adopt}, a.Verb):
		return wordsOf[a.Verb].done + ready
	}
	return cmp.Or(wordsOf[a.Verb].done, "ready")
}

// Doing says what an action does.
func Doing(a *plans.Action) string {
	switch {
	case a.OnlyMoves():
		return "moving"
	case a.Verb == plans.Delete && a.Prunes():
		return "pruning"
	}
	return cmp.Or(wordsOf[a.Verb].doing, "waiting")
}
