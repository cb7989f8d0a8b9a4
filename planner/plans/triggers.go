package plans

import (
	"slices"
	"strings"
)

// Alters reports whether the object is another one after the action, or has other
// fields, besides the note of its address.
func (a *Action) Alters() bool {
	switch a.Verb {
	case Create, Run, Replace:
		return true
	case Update, Adopt:
		return slices.ContainsFunc(a.Changes, func(c Change) bool { return !c.NotesMove() })
	}
	return false
}

// Triggered reports whether something is replaced because of its replace_triggered_by.
func (r Reason) Triggered() bool { return r.Kind == ReasonTriggered || r.Kind == ReasonOwed }

// TriggerWords is why something is replaced, in the words of its declaration.
func (r Reason) TriggerWords() string {
	words := strings.TrimSpace("replace_triggered_by " + r.Detail)
	if r.Kind == ReasonOwed {
		words += ", which an earlier apply changed"
	}
	return words
}
