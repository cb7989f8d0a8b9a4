// Package plans is the plan as data. It knows neither terminals nor clusters, and it makes
// no decisions about objects.
//
//   - Plan has the actions in the order of their execution, and the notes that belong to
//     the whole plan: Loss, Kept, Foreign, Notice, Impact.
//   - Action is one step: its Verb, its Reasons, its Evidence and its Changes. A Yield is a
//     declared field that the action leaves to somebody else.
//   - Problem says why no plan can be made for an object, or warns of something.
//   - Event is a step in the execution of an action.
//
// Save writes a plan file, and Load reads it. Plan.Divide splits a plan into the part that
// can be executed now and the part that has to wait for data.
package plans

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Plan is the ordered set of actions between the live cluster and the desired
// objects. It holds no secret values.
type Plan struct {
	Format  int       `json:"format"` // version of this structure
	ID      string    `json:"id"`     // unique; a plan is applied once
	Tool    string    `json:"tool"`   // version of kolla that made it
	Created time.Time `json:"created"`
	Cloud   string    `json:"cloud"`
	Config  string    `json:"config"` // lang.Config.Digest
	// Namespace is that of the cloud. Objects of manifests may be in others.
	Namespace string `json:"namespace,omitempty"`
	Destroy   bool   `json:"destroy,omitempty"`
	// Variables are lang.Config.Variables: the values by which the same configuration is
	// found again when a saved plan is applied. None of them is sensitive.
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
	Cluster   providers.Identity         `json:"cluster"`
	State     StateRef                   `json:"state"`
	// RefreshOnly: the plan only takes into the state what is so in the cluster,
	// which it does not touch. See Input.RefreshOnly.
	RefreshOnly bool `json:"refresh_only,omitempty"`
	// Options are the options that let the plan do more than the configuration alone
	// would, as they are written on the command line: "-adopt". An apply of the saved
	// plan needs them again: a file gives no power.
	Options []string `json:"options,omitempty"`
	// Selection is what the plan is restricted to. Objects outside of it were not
	// compared and have no action.
	Selection Selection `json:"selection,omitzero"`

	// Values: the actions carry the values of their objects. See Input.Values.
	Values bool `json:"values,omitempty"`

	// Resume is how the rest of the plan is made, in the course of its apply; nil: there
	// is no rest. See Divide.
	Resume *Resume `json:"resume,omitempty"`

	// Actions are in an order in which they could be carried out one by one: an
	// action comes after all that it depends on.
	Actions []Action `json:"actions"`
	// Outputs are those that are declared or recorded, by name, also where nothing about
	// them changes; nil of a restricted plan, which does not tell.
	Outputs []output.Change `json:"outputs,omitempty"`
	// Checks are what came of the checks of the configuration, by address.
	Checks []state.CheckResult `json:"checks,omitempty"`
	// Losses are data that is gone already, or that nothing takes up any more.
	Losses []Loss `json:"losses,omitempty"`
	// Kept are data-bearing objects that stay when what they belong to goes.
	Kept []Kept `json:"kept,omitempty"`
	// Foreign is what others have added to kolla's objects, and what stays there.
	Foreign []Foreign `json:"foreign,omitempty"`
	// ForeignPolicy is what becomes of the rest of it; empty: RevertForeign.
	ForeignPolicy ForeignPolicy `json:"foreign_policy,omitempty"`
	// Warnings are what the server and the planner had to say while it was made.
	Warnings []Notice `json:"warnings,omitempty"`
	// Impact is what the actions disturb, service by service.
	Impact  []Impact      `json:"impact,omitempty"`
	Elapsed time.Duration `json:"elapsed"` // how long the comparison took
}

// Resume are the options of a plan that count as well for what is planned when data
// that it waits for were read.
type Resume struct {
	Selection      Selection `json:"selection,omitzero"`
	DeleteData     []string  `json:"delete_data,omitempty"`
	Adopt          []string  `json:"adopted,omitempty"`
	ForceConflicts bool      `json:"force_conflicts,omitempty"`
	VerifyAll      bool      `json:"verify_all,omitempty"`
}

// StateRef is the state that a plan was made against.
type StateRef struct {
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
}

// Verb is what an action does. The zero value is invalid.
type Verb string

// The verbs.
const (
	None    Verb = "none"    // matches already
	Create  Verb = "create"  // not there yet
	Update  Verb = "update"  // changed in place
	Replace Verb = "replace" // deleted and made again, because a field cannot change
	Delete  Verb = "delete"  // no longer declared; of a Partial object: its fields are given up
	Run     Verb = "run"     // a Job that has not run for these inputs
	Adopt   Verb = "adopt"   // exists and is taken over, or into the state, with or without changes
	Forget  Verb = "forget"  // dropped from the state; the cluster is not touched, unless it Releases
	Refresh Verb = "refresh" // the state takes over UID and readiness; the cluster is not touched
)

// Action is one step of a plan.
type Action struct {
	Address lang.Address `json:"address"`
	Verb    Verb         `json:"verb"`
	// Object is what is wanted; nil for Delete and Forget.
	Object *providers.Object `json:"object,omitempty"`
	// Ref is the object in the cluster.
	Ref providers.Ref `json:"ref"`
	// Prior binds the action to the live object it was planned against; zero for
	// Create and Run, which are bound to there being none. What is deleted or replaced,
	// and parts that are not taken by force, are bound to the UID alone.
	Prior providers.Precondition `json:"prior,omitzero"`
	// Token is the one that the live object carries since its creation, and that is sent
	// with every write to it. See trust.Token.
	Token string `json:"token,omitempty"`
	// Force takes the fields named in Changes from the managers named there.
	Force bool `json:"force,omitempty"`
	// Removes are the fields that others added and that are taken out, as a set in the
	// form of managedFields. Changes has what comes of that.
	Removes string `json:"removes,omitempty"`
	// Seen is the fingerprint of the live object that the action was planned against;
	// empty: there is none.
	Seen string `json:"seen,omitempty"`
	// Scaled: an autoscaler targets the object, so that its replicas are left to it.
	Scaled bool `json:"scaled,omitempty"`
	// Reported: others added fields that stay there, see Foreign.Reported, so that later
	// plans have to look at the object again.
	Reported bool `json:"reported,omitempty"`
	// Yields are declared fields that are left to others, and not sent; see Trim.
	Yields   []Yield  `json:"yields,omitempty"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Evidence Evidence `json:"evidence"`
	// Changes are the differences between the live object and what the server says
	// that it would become, in path order; see Diff. For a Create: the declared
	// fields, and by Schema evidence the defaults too. For a
	// Replace: those that kolla declares, or did. In a RefreshOnly plan: what others
	// changed, from what kolla wrote to what is live.
	Changes []Change `json:"changes,omitempty"`
	// Values are the object before and after the action; nil: they were not asked for.
	// See Plan.Values.
	Values *Values `json:"values,omitempty"`
	// Supersedes is the member of the same family that this one takes the place
	// of; Changes are then relative to it. With None: this one is there already, and
	// comes into use again.
	Supersedes lang.Address `json:"supersedes,omitzero"`
	// Holds, of a Delete or Replace: what is lost with the object, which the operator
	// allowed.
	Holds string `json:"holds,omitempty"`
	// Heir, of the Delete of a Secret: what takes its values along, under another name.
	Heir lang.Address `json:"heir,omitzero"`
	// Occupied, of the Delete of a Namespace: the operator named it to be deleted with
	// whatever is in it.
	Occupied bool `json:"occupied,omitempty"`
	// Partial, of a Delete: kolla gives its fields up, and the object stays. Of a Forget
	// that Releases: it owns only some of them.
	Partial bool `json:"partial,omitempty"`
	// Releases, of a Forget: what marks the object as kolla's is taken off it first, and
	// kolla's name from the owners of its fields. Nothing else of it changes.
	Releases bool `json:"releases,omitempty"`
	// DependsOn are the actions that must be done, and their objects ready,
	// before this one starts. For a Delete: what must be deleted, or be changed to
	// do without it, before it. All of them are actions of the same plan.
	DependsOn []lang.Address `json:"depends_on,omitempty"`
	// Triggers are the objects that are to be replaced because of this action, selected
	// or not, by the addresses that the state has for them.
	Triggers []string `json:"triggers,omitempty"`
	// Owed is what the object was to be replaced with, and is not by this action, each by
	// its address or, of a versioned object, that of its family: a later plan makes up for it.
	Owed []lang.Address `json:"owed,omitempty"`
	// Pending: the object matches, but was not seen ready by the apply that wrote
	// it; an apply waits for it.
	Pending bool `json:"pending,omitempty"`
	// Check, of a None, is what later plans may know the object to be unchanged by;
	// zero where nothing is certain enough.
	Check state.Check `json:"check,omitzero"`
}

// Family is what all versions of the object have as their address.
func (a *Action) Family() lang.Address {
	if a.Object != nil && a.Object.Family != (lang.Address{}) {
		return a.Object.Family
	}
	return a.Address
}

// Prunes reports whether the action deletes an old version of something that stays.
func (a *Action) Prunes() bool {
	return a.Verb == Delete && len(a.Reasons) == 1 && a.Reasons[0].Kind == ReasonSuperseded
}

// ReasonKind classifies why an action is there. The zero value is invalid.
type ReasonKind string

// The kinds of reason.
const (
	ReasonNew        ReasonKind = "new"        // declared, not in the cluster
	ReasonConfig     ReasonKind = "config"     // the configuration changed
	ReasonDrift      ReasonKind = "drift"      // somebody changed the object in the cluster
	ReasonGone       ReasonKind = "gone"       // kolla made it, somebody deleted it
	ReasonUnfinished ReasonKind = "unfinished" // an apply deleted it, and did not get further
	ReasonCleaned    ReasonKind = "cleaned"    // an apply had its pods clean their nodes, and then did not delete it
	ReasonUndeclared ReasonKind = "undeclared" // no longer in the configuration
	ReasonExternal   ReasonKind = "external"   // of a Delete: its service is external now
	ReasonRenamed    ReasonKind = "renamed"    // of a Delete: a moved block gave its block the name Detail, and with it other names to its objects; without Detail: its service has another name in the cluster
	ReasonSuperseded ReasonKind = "superseded" // an older member of a family, no longer needed
	ReasonImmutable  ReasonKind = "immutable"  // Path cannot be changed in place
	ReasonFailedJob  ReasonKind = "failed-job" // the run failed and is made again
	ReasonIdle       ReasonKind = "idle"       // Manager took Path, and does not look after it any more
	ReasonReplaced   ReasonKind = "replaced"   // Manager replaced the generated value at Path, which is kept
	ReasonRenewed    ReasonKind = "renewed"    // generated values are made anew, because of Detail
	ReasonReuse      ReasonKind = "reuse"      // there are volumes of the name already, Detail; it takes them up
	ReasonUnowned    ReasonKind = "unowned"    // exists, made by somebody else
	ReasonMoved      ReasonKind = "moved"      // kolla's, declared under another address before; Detail is that or, of a Forget, the new one
	ReasonDefinition ReasonKind = "definition" // the definition of its kind, Detail, changes by this plan
	ReasonUpgrade    ReasonKind = "defaults"   // neither HCL nor cluster changed: a newer kolla or server wants it
	ReasonDestroy    ReasonKind = "destroy"    // the cloud is being destroyed
	ReasonRequested  ReasonKind = "requested"  // the operator named it with -replace
	ReasonTriggered  ReasonKind = "triggered"  // of a Replace or Run: Detail, which its replace_triggered_by names, changes by this plan
	ReasonOwed       ReasonKind = "owed"       // of a Replace or Run: Detail, which its replace_triggered_by names, was changed by an apply that did not come to it
)

// Reason says why an action is there.
type Reason struct {
	Kind    ReasonKind `json:"kind"`
	Path    string     `json:"path,omitempty"`
	Manager string     `json:"manager,omitempty"` // who, for drift: the field manager
	Time    time.Time  `json:"time,omitzero"`     // when, for drift
	Detail  string     `json:"detail,omitempty"`
}

// Evidence says how a verdict is known. The zero value is invalid.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Detail string       `json:"detail,omitempty"` // for Unverified: why; for Surrogate and Schema: by what
	Advice string       `json:"advice,omitempty"` // for Unverified: how somebody could be asked; may be empty
	// Forbidden, of Unverified: the user lacks the right to ask, and so that to write.
	Forbidden bool `json:"forbidden,omitempty"`
}

// EvidenceKind names the step that proved a verdict.
type EvidenceKind string

// The kinds of evidence.
const (
	Fingerprint EvidenceKind = "fingerprint" // hashes recorded at the last check still hold
	Ownership   EvidenceKind = "ownership"   // every owned value equals the desired one
	DryRun      EvidenceKind = "dry-run"     // the server said so
	Surrogate   EvidenceKind = "surrogate"   // the server said so, under a throw-away name
	Schema      EvidenceKind = "schema"      // a definition in this plan says so, which the server does not have yet
	Recorded    EvidenceKind = "recorded"    // the state says so (finished jobs, deletions)
	Unverified  EvidenceKind = "unverified"  // nobody could be asked
)

// Change is one difference. Exactly one of Before and After is nil where a field
// is added or removed. The values of a sensitive change are never kept: Masked or
// Unknown stand for them.
type Change struct {
	// Path in the form `spec.template.spec.containers["api"].image`: list
	// elements by their merge key, else by index.
	Path      string `json:"path"`
	Before    any    `json:"before,omitempty"`
	After     any    `json:"after,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
	// Text: Before and After are the contents of a file, to be shown as a diff.
	Text bool `json:"text,omitempty"`
	// Drift: the live value is not what kolla wrote, but what Manager did, at Time.
	// A Manager without Drift, of a Replace: who looks after the field, and sets it
	// again.
	Drift bool `json:"drift,omitempty"`
	// Edited, with Drift: the declaration of the object changed as well. What was
	// declared before is not kept, so the difference may be due to both.
	Edited  bool      `json:"edited,omitempty"`
	Manager string    `json:"manager,omitempty"`
	Time    time.Time `json:"time,omitzero"`
}

// Kept is an object that holds data and stays.
type Kept struct {
	Address lang.Address  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	Holds   string        `json:"holds"`
	// Alone: only its own address lets a destroy delete it, and "*" does not.
	Alone bool `json:"alone,omitempty"`
	// UID, of a volume that a StatefulSet of kolla's asked for: an apply writes it down, so
	// that a later destroy knows the volume. Empty of all else.
	UID types.UID `json:"uid,omitempty"`
}

// MovedFrom is the address that the object of the action was declared under before;
// empty: it is not declared elsewhere than it was.
func (a *Action) MovedFrom() string {
	for _, r := range a.Reasons {
		if r.Kind == ReasonMoved && a.Verb != Forget {
			return r.Detail
		}
	}
	return ""
}

// MovedTo is, of a Forget, where what is forgotten is declared now, and has another
// action; empty: nowhere.
func (a *Action) MovedTo() string {
	for _, r := range a.Reasons {
		if r.Kind == ReasonMoved && a.Verb == Forget {
			return r.Detail
		}
	}
	return ""
}

// NotesMove reports whether a change only notes in the object which address it has.
func (c Change) NotesMove() bool {
	return c.Path == `metadata.annotations["`+providers.AnnotationAddress+`"]`
}

// OnlyMoves reports whether nothing happens to the object but that it has another
// address.
func (a *Action) OnlyMoves() bool {
	return a.MovedFrom() != "" && (a.Verb == Update || a.Verb == Adopt) &&
		!slices.ContainsFunc(a.Changes, func(c Change) bool { return !c.NotesMove() })
}

// TakesKnownValues reports whether the action takes over a Secret whose values kolla would
// have made: whoever made the Secret knows them.
func (a *Action) TakesKnownValues() bool {
	return a.Verb == Adopt && a.MovedFrom() == "" && a.Object != nil && a.Object.Generated()
}

// ChangesValues reports whether the action does more to the object than to mark it as
// kolla's. To make a Secret kolla's whose values others know is more.
func (a *Action) ChangesValues() bool {
	return a.TakesKnownValues() || slices.ContainsFunc(a.Changes, func(c Change) bool {
		for _, at := range []string{"metadata.labels", "metadata.annotations"} {
			key, ok := strings.CutPrefix(c.Path, at+`["`)
			if ok && c.Before == nil && (strings.HasPrefix(key, "kolla.openstack.org/") || strings.HasPrefix(key, "app.kubernetes.io/")) {
				return false
			}
		}
		return true
	})
}

// Counts are the numbers of the summary line. A replace counts as one to add and
// one to destroy, a run as one to add, what is imported and changed as one of each, a
// partial delete as one to change. An object that has another
// address is counted once.
type Counts struct {
	Add, Change, Destroy, Import, Forget int
	// Move are those that only have another address, and are counted nowhere else.
	Move int
	// Deferred are those of them of which not all is known yet.
	Deferred int
	// Prune are the old versions of what stays that are deleted, and are counted nowhere
	// else.
	Prune int
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

// Tally says how the comparison of the objects of a plan ended. Each is counted once.
type Tally struct {
	Unchanged int `json:"unchanged"`
	Changed   int `json:"changed"`
	// NotCompared counts the objects that could not be compared.
	NotCompared int `json:"not_compared"`
}

// All is the number of all objects.
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

// Unchanged reports whether the object is as declared, or as kolla wrote it, and nobody
// added anything to it.
func (a *Action) Unchanged() bool {
	return a.Verb == None && len(a.Changes) == 0 && !a.Reported && !a.replaced() && a.Evidence.Kind != Unverified
}

// replaced reports whether somebody replaced generated values of the object.
func (a *Action) replaced() bool {
	return slices.ContainsFunc(a.Reasons, func(r Reason) bool { return r.Kind == ReasonReplaced })
}

// NotCompared reports whether the object could not be compared.
func (a *Action) NotCompared() bool {
	return (a.Verb == None || a.Verb == Refresh) && len(a.Changes) == 0 && !a.Reported && a.Evidence.Kind == Unverified
}

// Forbidden are the actions about which the user may not even ask.
func (p *Plan) Forbidden() []*Action {
	var out []*Action
	for i := range p.Actions {
		if p.Actions[i].Evidence.Forbidden {
			out = append(out, &p.Actions[i])
		}
	}
	return out
}

// Drifted reports whether somebody else changed an object since kolla wrote it,
// or deleted it.
func (p *Plan) Drifted() bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool {
		return a.Reported || a.replaced() || slices.ContainsFunc(a.Changes, func(c Change) bool { return c.Drift }) ||
			slices.ContainsFunc(a.Reasons, func(r Reason) bool { return r.Kind == ReasonGone })
	})
}

// Changes reports whether an apply of the plan would write anything, to the cluster
// or to the state. That something is not ready yet is no difference between what is
// declared and what is there: a plan that only waits for it changes nothing.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Verb != None }) || output.Changes(p.Outputs)
}

// Empty reports whether an apply of the plan would have nothing to write and
// nothing to wait for.
func (p *Plan) Empty() bool {
	for _, a := range p.Actions {
		if a.Verb != None || a.Pending {
			return false
		}
	}
	return !output.Changes(p.Outputs)
}
