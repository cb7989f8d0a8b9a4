package plans

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Counts are the numbers of the summary line. A replacement counts as one to add and one to
// destroy, a run as one to add, an import with changes as one to import and one to change,
// and a partial delete as one to change. An object that moves is counted once.
type Counts struct {
	Add     int `json:"add"`
	Change  int `json:"change"`
	Destroy int `json:"destroy"`
	Import  int `json:"import"`
	Forget  int `json:"forget"`
	// Move counts the objects that only move. No other number includes them.
	Move int `json:"move,omitempty"`
	// Deferred counts the actions with values that are not known yet. Other numbers include
	// them.
	Deferred int `json:"deferred,omitempty"`
	// Prune counts the old versions that are deleted. No other number includes them.
	Prune int `json:"prune,omitempty"`
}

// Counts counts the actions.
func (p *Plan) Counts() Counts {
	var c Counts
	for _, a := range p.Actions {
		if a.Deferred() {
			c.Deferred++
		}
		switch a.Verb {
		case Create, Run:
			c.Add++
		case Update:
			if a.OnlyMoves() {
				c.Move++
			} else {
				c.Change++
			}
		case Replace:
			c.Add++
			c.Destroy++
		case Delete:
			switch {
			case a.Partial:
				c.Change++
			case a.Prunes():
				c.Prune++
			default:
				c.Destroy++
			}
		case Adopt:
			switch {
			case a.OnlyMoves():
				c.Move++
			case a.MovedFrom() != "":
				c.Change++
			default:
				c.Import++
				if a.ChangesValues() {
					c.Change++
				}
			}
		case Forget:
			if a.MovedTo() == "" {
				c.Forget++
			}
		}
	}
	return c
}

// Tally counts the results of the comparison. Each object is counted once.
type Tally struct {
	Unchanged int `json:"unchanged"`
	Changed   int `json:"changed"`
	// NotCompared counts the objects that could not be compared.
	NotCompared int `json:"not_compared"`
}

// All returns the number of all objects.
func (t Tally) All() int { return t.Unchanged + t.Changed + t.NotCompared }

// Tally counts the objects of the plan.
func (p *Plan) Tally() Tally {
	var t Tally
	for i := range p.Actions {
		switch a := &p.Actions[i]; {
		case a.MovedTo() != "": // the same object has another action
		case a.NotCompared():
			t.NotCompared++
		case a.Unchanged():
			t.Unchanged++
		default:
			t.Changed++
		}
	}
	return t
}

// Uncompared counts the objects that could not be compared, without those for which the
// configuration allows it.
func (p *Plan) Uncompared() int {
	n := 0
	for i := range p.Actions {
		if a := &p.Actions[i]; a.MovedTo() == "" && a.NotCompared() && !a.AllowsUnverified() {
			n++
		}
	}
	return n
}

// Going returns the UIDs of the objects that the actions delete.
func Going(actions []Action) map[types.UID]bool {
	going := map[types.UID]bool{}
	for i := range actions {
		if a := &actions[i]; a.Verb == Delete && !a.Partial {
			going[a.Prior.UID] = true
		}
	}
	return going
}

// Unlisted names the kinds in a namespace that could not be listed. It leaves out kinds
// whose APIService the actions delete, because these objects are not stored in the cluster.
func Unlisted(contents providers.Contents, actions []Action) []string {
	var what []string
	for _, u := range contents.Unread {
		if !slices.ContainsFunc(actions, func(a Action) bool {
			return a.Verb == Delete && a.Ref.GVK.GroupKind() == kinds.APIService && a.Ref.Name == u.Version.Version+"."+u.Version.Group
		}) {
			what = append(what, u.What)
		}
	}
	return what
}
