package state

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// NewerFormatError reports a file with a structure that this version of kolla does not know.
type NewerFormatError struct {
	File   string
	Format int
	Tool   string // version of the kolla that wrote it; may be empty
}

func (e *NewerFormatError) Error() string {
	tool := cmp.Or(e.Tool, "unknown version")
	return fmt.Sprintf("%s was written by a newer kolla (%s): it has format %d, and this kolla reads formats up to %d; use that version, or a later one",
		e.File, tool, e.Format, Format)
}

// Explain implements failure.Explained.
func (e *NewerFormatError) Explain() (summary, detail string) {
	return "The state is newer than this kolla", failure.Sentence(e.Error())
}

// DamagedError reports a file of the state that differs from what kolla wrote: it was
// truncated or edited, or it does not belong to the file beside it.
type DamagedError struct {
	File    string
	Problem string // what is wrong with it
	Journal bool   // the file is the journal of an unfinished apply
	Missing bool   // the file does not exist, but backups of it do
	// Backups are the usable backups, newest first; none if the state does not come from
	// a file.
	Backups []Backup
}

func (e *DamagedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s cannot be used: %s", e.File, e.Problem)
	switch {
	case e.Journal:
		b.WriteString("\nIt records what an apply that did not end has written. `kolla state rebuild` goes on without it, and looks for those objects in the cluster.")
	case len(e.Backups) == 0:
		b.WriteString("\nThere is no backup. `kolla state rebuild` begins an empty state, and looks in the cluster for what kolla made.")
	default:
		fmt.Fprintf(&b, "\nTo go on from the newest backup, and from what the journal says beyond it:\n  kolla state rebuild\nUsable backups:")
		for _, backup := range e.Backups {
			fmt.Fprintf(&b, "\n  serial %d, %s, %s", backup.Serial, backup.Written.Format(time.RFC3339), backup.Path)
		}
		if e.Backups[0].File {
			fmt.Fprintf(&b, "\nOr, without what was applied after it:\n  cp '%s' '%s'", e.Backups[0].Path, e.File)
		}
	}
	return b.String()
}

// Explain implements failure.Explained.
func (e *DamagedError) Explain() (summary, detail string) {
	return "The state cannot be used", failure.Sentence(e.Error())
}

// LinkError reports that a file of the state is a link. kolla would read or write the
// target of the link.
type LinkError struct {
	File   string
	Target string // target of the link; may be empty
	State  bool   // it is the state file itself
	err    error
}

func (e *LinkError) Unwrap() error { return e.err }

func (e *LinkError) Error() string {
	if e.State && e.Target != "" {
		return fmt.Sprintf("%s is a symbolic link to another directory, %s\nThe lock and the backups of a state are beside it. If that is the state, give -state='%s'.", e.File, e.Target, e.Target)
	}
	return fmt.Sprintf("%s is a symbolic link or is reached through one; kolla's own files never are\nAnybody who can write to the directory can create a link and make kolla write to another file. Remove the link.", e.File)
}

// Explain implements failure.Explained.
func (e *LinkError) Explain() (summary, detail string) {
	return "A file of the state is a link", failure.Sentence(e.Error())
}

// ClusterError reports that a state or plan belongs to another cluster than the cluster that
// kolla is connected to. The first line of its text names the mistake, the second the
// remedy.
type ClusterError struct {
	What      string // "state", "plan"
	Owner     Cluster
	Connected Cluster
}

func (e *ClusterError) Error() string {
	return fmt.Sprintf("the %s belongs to the cluster at %s (UID %s), and kolla is connected to %s (UID %s)\nConnect to that cluster (-kubeconfig, -context), or use another %s for this one.",
		e.What, e.Owner.Server, e.Owner.UID, e.Connected.Server, e.Connected.UID, e.What)
}

// Explain implements failure.Explained.
func (e *ClusterError) Explain() (summary, detail string) {
	return "The " + e.What + " belongs to another cluster", failure.Sentence(e.Error())
}

// CloudError reports that a state belongs to another cloud than the configuration. Its
// text has the same form as that of ClusterError.
type CloudError struct{ State, Configured string }

func (e *CloudError) Error() string {
	return fmt.Sprintf("the state belongs to cloud %q, and the configuration describes cloud %q\nA cloud cannot be renamed: its name is in the labels of its objects. Give it its old name back, or use another state (-state) for the new one.",
		e.State, e.Configured)
}

// Explain implements failure.Explained.
func (e *CloudError) Explain() (summary, detail string) {
	return "The state belongs to another cloud", failure.Sentence(e.Error())
}

// StaleError reports that the state has changed since the plan was made.
type StaleError struct {
	PlanLineage, Lineage string
	PlanSerial, Serial   uint64
}

func (e *StaleError) Error() string {
	if e.PlanLineage != e.Lineage {
		return fmt.Sprintf("the plan was made with another state: lineage %q, while this one has %q; make a new plan", e.PlanLineage, e.Lineage)
	}
	return fmt.Sprintf("the state has changed since the plan was made: the plan has serial %d, the state is at %d; make a new plan", e.PlanSerial, e.Serial)
}

// Explain implements failure.Explained.
func (e *StaleError) Explain() (summary, detail string) {
	return "The plan is stale", failure.Sentence(e.Error())
}

// AppliedError reports that a plan was applied before.
type AppliedError struct{ Plan string }

func (e *AppliedError) Error() string {
	return fmt.Sprintf("plan %s was used already, and a plan is applied once, even if some of it failed; make a new plan for the rest", e.Plan)
}

// Explain implements failure.Explained.
func (e *AppliedError) Explain() (summary, detail string) {
	return "The plan was used already", failure.Sentence(e.Error())
}

// LockedError reports that another process holds the lock of the state.
type LockedError struct {
	File string   // the lock file, or the Lease
	Info LockInfo // zero if the holder has not written its name yet
	// Lasts is how long the lock outlives a holder that was killed; zero: not at all.
	Lasts time.Duration
	// Doubtful is the time until it is certain that a holder that looks dead is dead; zero: it
	// does not look dead.
	Doubtful time.Duration
}

func (e *LockedError) Error() string {
	if e.Info.ID == "" {
		return fmt.Sprintf("the state is locked, and the lock file %s does not name the process yet; try again", e.File)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the state is locked by %s\n", e.Info.Who)
	fmt.Fprintf(&b, "  ID:        %s\n", e.Info.ID)
	fmt.Fprintf(&b, "  Operation: %s\n", e.Info.Operation)
	fmt.Fprintf(&b, "  Since:     %s (%s ago)\n", e.Info.Created.Format(time.RFC3339), time.Since(e.Info.Created).Round(time.Second))
	fmt.Fprintf(&b, "  Process:   %d, started %s\n", e.Info.PID, e.Info.ProcessStarted.Format(time.RFC3339))
	fmt.Fprintf(&b, "  Version:   %s\n", e.Info.Version)
	b.WriteString("Wait for it with -lock-timeout=10m.")
	switch {
	case e.Lasts > 0:
		fmt.Fprintf(&b, " If the process was killed, the lock ends %s after that by itself.", e.Lasts)
	case e.Info.Local():
		fmt.Fprintf(&b, " The process runs on this machine. If it hangs, end it: that releases the lock.")
	}
	fmt.Fprintf(&b, " If you are sure that it is no longer running: kolla force-unlock %s", e.Info.ID)
	return b.String()
}

// Explain implements failure.Explained.
func (e *LockedError) Explain() (summary, detail string) {
	return "The state is locked", failure.Sentence(e.Error())
}

// LockLostError reports that a session has lost the lock: force-unlock took it away, or it
// was not renewed in time. The session writes nothing more.
type LockLostError struct {
	ID string
	By LockInfo // the present holder; zero: nobody, or unknown
}

func (e *LockLostError) Error() string {
	if e.By.ID != "" {
		return fmt.Sprintf("lock %s of the state is lost: %s holds it now, for %s; nothing more is written", e.ID, e.By.Who, e.By.Operation)
	}
	return fmt.Sprintf("lock %s of the state is lost: force-unlock took it away, or it expired; nothing more is written", e.ID)
}

// Explain implements failure.Explained.
func (e *LockLostError) Explain() (summary, detail string) {
	return "The lock was lost", failure.Sentence(e.Error()) + "."
}

// MovedError reports that a state was moved to another backend.
type MovedError struct {
	Place string // the former place of the state
	To    string // its present place
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("the state has moved from %s to %s\nThe configuration there has another backend block. Get that configuration, or move the state back from there with `kolla init -migrate-state`.", e.Place, e.To)
}

// Explain implements failure.Explained.
func (e *MovedError) Explain() (summary, detail string) {
	return "The state has moved", failure.Sentence(e.Error())
}

// OtherStateError reports that the place of a state has another state, or a version of the
// state that is not older.
type OtherStateError struct {
	Place  string
	Source string // place of the state that was to replace it; empty: the command line
	// Lineage and Serial belong to the existing state. OtherLineage and OtherSerial belong to the
	// state that was to replace it.
	Lineage, OtherLineage string
	Serial, OtherSerial   uint64
}

func (e *OtherStateError) Error() string {
	incoming, advice := "the new one", ""
	if e.Source != "" {
		incoming = "the one in " + e.Source
		advice = "\nBoth stay as they are. Find out which of them knows what is in the cluster, and take the other one away: docs/state.md shows how."
	}
	switch {
	case e.Lineage != e.OtherLineage:
		return fmt.Sprintf("%s has another state: its lineage is %s, and that of %s is %s%s", e.Place, e.Lineage, incoming, e.OtherLineage, advice)
	case e.Serial == e.OtherSerial:
		return fmt.Sprintf("%s has another version of the state: its serial is %d, as that of %s, and their contents differ%s", e.Place, e.Serial, incoming, advice)
	}
	return fmt.Sprintf("%s has a newer state: its serial is %d, and that of %s is %d%s", e.Place, e.Serial, incoming, e.OtherSerial, advice)
}

// Explain implements failure.Explained.
func (e *OtherStateError) Explain() (summary, detail string) {
	return "A different state exists", failure.Sentence(e.Error())
}

// UnlockError reports that force-unlock got an ID that is not the ID of the lock.
type UnlockError struct {
	ID     string
	Holder *LockInfo // nil: nobody holds the lock
}

func (e *UnlockError) Error() string {
	if e.Holder == nil {
		return fmt.Sprintf("no lock %s to take away: the state is not locked", e.ID)
	}
	return fmt.Sprintf("lock %s is not the one that holds the state: that is %s, of %s for %s", e.ID, e.Holder.ID, e.Holder.Who, e.Holder.Operation)
}

// Explain implements failure.Explained.
func (e *UnlockError) Explain() (summary, detail string) {
	return "Cannot unlock", failure.Sentence(e.Error())
}
