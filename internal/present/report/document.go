// Package report turns a plan into a document: sections, rows, actions, fields and text
// diffs, each with its meaning, and the sentences about them. The document has no widths and
// no colours. Renderers for a terminal and for other formats read the same document.
//
// Of reads a plan and never changes it. The package also has the words for the progress and
// the result of an apply.
package report

import (
	"time"

	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Similar is the largest number of similar things that people count at a glance. Renderers
// summarize more of them.
const Similar = 5

// Plan is a plan as a document. The fields are in the order of reading: dangers come first,
// the summary comes last. A nil section has no content.
type Plan struct {
	ID        string
	Made      string // "2026-11-21 03:01 UTC, 17 min ago"
	Tool      string // the version of kolla that made the plan
	Cloud     string
	Namespace string
	// Elsewhere counts the changed objects outside of the cloud's namespace; may be empty.
	Elsewhere   string
	Destroy     bool
	RefreshOnly bool
	// Rendered: the document compares two versions of the configuration, and no cluster.
	Rendered bool

	Compared  Comparison
	Scope     []string   // sentences about restrictions of the plan
	Upgrade   *Upgrade   // change of the OpenStack release
	Policies  *Policies  // results of the policies
	Losses    []Table    // data that is gone, or that no object uses any more
	Jobs      *Table     // jobs that may have to run again
	Destroyed *Destroyed // objects that will be deleted, or deleted and made again
	Forced    *Note      // objects with fields that kolla takes from other managers
	Drift     *Outside   // changes by others, which an apply reverts
	Replaced  *Outside   // generated values that others replaced, and that kolla keeps
	Yielded   *Outside   // declared values that are left to controllers: Before is the live value
	Foreign   []Outside  // fields that others added
	// Actions are all actions of the plan that change something, in the order of the plan.
	Actions    []*Action
	Kept       *Table    // objects that are not deleted because they hold data
	Impact     []Impact  // by block
	Services   []Service // the picture of the cloud
	Outputs    []Output  // outputs that change
	OutputNote string    // for a plan that changes nothing but outputs
	Unverified []Note    // actions that the server did not check, by cause
	Pending    *Note     // unchanged objects that are not ready
	Warnings   []Message
	// Errors are the reasons for which the plan cannot be applied. A terminal shows them below
	// the plan.
	Errors  []Message
	Summary string // "Plan: 1 to add, 0 to change, 0 to destroy."
	Counts  plans.Counts
	// OutputCount is a sentence after the summary: " 2 outputs change."; may be empty.
	OutputCount string

	plan  *plans.Plan
	names *names
}

// Comparison says how many objects were compared, and with which result.
type Comparison struct {
	What    string // "Compared 64 objects of cloud "prod" with https://10.0.0.10:6443 in 0.4 s:"
	Verdict string // "all unchanged."; may be empty
}

// Table lists objects with a text about each.
type Table struct {
	Title    string
	Rows     []Row
	Advice   string   // running text; may be empty
	Commands []string // to be copied
}

// Row is a line of a Table.
type Row struct {
	Address addrs.Object
	Text    string
}

// Upgrade says that the OpenStack release changes.
type Upgrade struct {
	Title string
	Grave bool     // it goes back
	Lines []string // sentences
}

// Policies are the results of policies.
type Policies struct {
	Title string   // "Policies: 2 passed, 1 denied."
	Unmet []Policy // denied ones first
}

// Policy is a policy that the plan does not meet.
type Policy struct {
	Name    string
	Source  string // "policies.hcl:3"
	Verdict string // "denied"
	Denies  bool
	Message string
}

// Note is a sentence about objects.
type Note struct {
	Text      string
	Addresses []addrs.Object
	Advice    string // running text; may be empty
}

// Outside lists fields that others changed.
type Outside struct {
	Title   string
	Objects []*Object
}

// Destroyed lists the objects that will be deleted, or deleted and made again.
type Destroyed struct {
	Title string
	// Actions are in the order of their risk: objects with data come first.
	Actions []*Action
	// Listed are the Actions without those that Folded counts: ConfigMaps and finished Jobs, if
	// there are many entries.
	Listed []*Action
	Folded string // "and 6 ConfigMaps, 1 finished Job"; may be empty
	// Kinds counts them by kind: "3 ConfigMap, 1 Secret". It is for a plan that destroys
	// everything, whose actions are this list.
	Kinds string
	// Renamed says, for each renamed block, why its objects are deleted.
	Renamed []string
	// Harmless counts deletions without a loss; may be empty.
	Harmless string
}

// Sign is the change of an object, a field or an output.
type Sign int

// The signs. Given marks a field of another manager that does not change.
const (
	NoSign Sign = iota
	Add
	Change
	Remove
	Replace
	Given
)

// Object is an object with the fields that a section is about.
type Object struct {
	Address addrs.Object
	// Family is the name of an object that has versions, without the version. It is also
	// the name of its only file.
	Family  string
	Gone    bool   // another client deleted the object
	Command string // to be copied; may be empty

	changes []plans.Change
	note    func(plans.Change) string
	fresh   bool // the whole object is new
	given   bool // the fields stay as they are
	whole   bool // the fields have no parts
}

// Action is the change of one object.
type Action struct {
	Object *Object
	Head   Head
	Sign   Sign
	Risk   Risk
	Todo   string // the group of the action in a short plan: "to create"
	// More distinguishes the object from others of its kind and name: " in namespace x".
	More string
	// Create: the object is new, and replaces no older version.
	Create bool
	// Comments are reasons and remarks, the most important first. Once is among them for a
	// job, and may be left out beside the facts about the job.
	Comments []string
	// Place names the version that the object replaces, or its place in the configuration.
	// PlaceOfMany replaces it in a text about several objects. Both may be empty.
	Place, PlaceOfMany string
	Within             string // the place of the block in the configuration; may be empty
	Holds              string // data that is lost with the object; may be empty
	Why                string // the reasons in a single line, without Holds; may be empty
	Evidence           string // how the plan knows the result; may be empty
	// Relocation is set if the object only moves, and keeps its kind and name.
	Relocation Relocation

	object *providers.Object // of a new object that has facts; nil: it has none
	names  *names
	own    []string
	minor  string // "ConfigMap": of little interest in a list of deletions; may be empty
}

// Head is the sentence about an action, before and after the address of the object. Danger
// is the end of the sentence if it is dangerous.
type Head struct{ Before, After, Danger string }

// Field is the change of a field. Before and After are JSON values; nil means that there is no
// value before or after the change.
type Field struct {
	Path          string
	File          string // the name, if the field is a file; otherwise empty
	Before, After any
	Sensitive     bool
	Lines         bool // Diff shows the change
	Sign          Sign
	Note          string // a remark; may be empty
	// Parts are the changes within the value. They replace the field if Split is set, or if
	// there is no room for the whole value.
	Parts []Field
	Split bool
}

// Output is the change of an output.
type Output struct {
	Name          string
	Sign          Sign
	Before, After string // depending on Sign, one of the texts may be empty
}

// Message is an error or a warning about a plan.
type Message struct {
	Warning         bool
	Summary, Detail string
	Places          []Place
}

// Place is an object, its place in the configuration, or both.
type Place struct {
	Address addrs.Object // zero: none
	Source  string       // "cloud.hcl:41"; may be empty
}

// Moment is the time at which a plan is read. Without Now it is the time of the plan,
// without a Zone it is local time.
type Moment struct {
	Now  time.Time
	Zone *time.Location
}

// Facts describe a new object in lines of about width columns.
func (a *Action) Facts(width int) []content.Line {
	if a.object == nil {
		return nil
	}
	return content.Of(a.object, width)
}

// Moves reports whether the action only moves an object, and has no remark.
func (a *Action) Moves() bool {
	return a.Relocation != (Relocation{}) && len(a.Comments) == 0 && len(a.Object.changes) == 0
}
