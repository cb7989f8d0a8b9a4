package state

import (
	"slices"
	"time"
)

// Apply is an entry of the history: one apply or destroy that began to write. It has no values.
type Apply struct {
	ID        string `json:"id"`        // of the lock that it held
	Operation string `json:"operation"` // "apply", "destroy", "refresh"
	Who       string `json:"who"`       // user@host
	// Operator is the Cloud of the operator that did it, "NAMESPACE/NAME"; empty: a person or a job
	// with the command line did. The last entry of the history says in whose hands the cloud is.
	Operator string    `json:"operator,omitempty"`
	Tool     string    `json:"tool"` // version of kolla
	Began    time.Time `json:"began"`
	// Commit is the commit of git that was checked out around the configuration; empty: none.
	// Changed: files of the configuration differed from it.
	Commit  string `json:"commit,omitempty"`
	Changed bool   `json:"uncommitted,omitempty"`
	// The other fields are set at the end of the apply. Without a Result, it is still running, or
	// was killed.
	Result    Result    `json:"result,omitempty"`
	Ended     time.Time `json:"ended,omitzero"`
	Added     int       `json:"added,omitempty"`
	Updated   int       `json:"changed,omitempty"`
	Destroyed int       `json:"destroyed,omitempty"`
	// Blocks are the addresses of the services and other blocks with changed objects, sorted.
	Blocks []string `json:"blocks,omitempty"`
}

// Operator returns the Cloud of the operator in whose hands the state is; empty: in those of the command
// line.
func (s *State) Operator() string {
	if len(s.History) == 0 {
		return ""
	}
	return s.History[len(s.History)-1].Operator
}

// Result says how an apply ended.
type Result string

// The results.
const (
	Done        Result = "done"
	Failed      Result = "failed" // at least one object failed, or was not reached
	Interrupted Result = "interrupted"
)

// maxHistory is the number of applies that a state remembers.
const maxHistory = 100

// note adds an apply to the history, or replaces its earlier entry.
func (l *ledger) note(a Apply) {
	history := slices.Clone(l.head.History)
	a.Began, a.Ended, a.Blocks = a.Began.UTC(), a.Ended.UTC(), slices.Clone(a.Blocks)
	if n := len(history); n > 0 && history[n-1].ID == a.ID {
		history = history[:n-1]
	}
	history = append(history, a)
	l.head.History = history[max(0, len(history)-maxHistory):]
}

// Ended records how an apply ended that Begin has recorded.
func (s *Session) Ended(a Apply) error {
	return s.note(nil, false, entry{Ended: &a})
}
