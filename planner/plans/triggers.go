package plans

import (
	"slices"
	"strings"
)

// Alters reports whether the action creates the object or changes a field other than the
// annotation of its address.
func (a *Action) Alters() bool {
	switch a.Verb {
	case Create, Run, Replace:
		return true
	case Update, Adopt:
		return slices.ContainsFunc(a.Changes, func(c Change) bool { return !c.NotesMove() })
	}
	return false
}

// Triggered reports whether an object is replaced because of its replace_triggered_by.
func (r Reason) Triggered() bool { return r.Kind == ReasonTriggered || r.Kind == ReasonOwed }

// TriggerWords returns the reason of a triggered replacement in the words of the
// declaration.
func (r Reason) TriggerWords() string {
	words := strings.TrimSpace("replace_triggered_by " + r.Detail)
	if r.Kind == ReasonOwed {
		words += ", which an earlier apply changed"
	}
	return words
}
