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

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Plan has the actions that change the cluster to the desired state, in order. It contains
// no secret values.
type Plan struct {
	Format  int       `json:"format"` // version of this structure
	ID      string    `json:"id"`     // unique; a plan is applied once
	Tool    string    `json:"tool"`   // version of kolla that made it
	Created time.Time `json:"created"`
	Cloud   string    `json:"cloud"`
	Config  string    `json:"config"` // configs.Config.Digest
	// Namespace is the namespace of the cloud. Objects of manifests may be in others.
	Namespace string `json:"namespace,omitempty"`
	Destroy   bool   `json:"destroy,omitempty"`
	// Variables are configs.Config.Variables: the values with which the same configuration is
	// evaluated again when a saved plan is applied. None of them is sensitive.
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
	Cluster   providers.Identity         `json:"cluster"`
	State     StateRef                   `json:"state"`
	// RefreshOnly: the plan only updates the state. It does not change the cluster. See
	// planner.Input.RefreshOnly.
	RefreshOnly bool `json:"refresh_only,omitempty"`
	// Options are the options that allow the plan more than the configuration alone, as
	// they are written on the command line: "-adopt". The apply of a saved plan needs them
	// again: a file gives no permission.
	Options []string `json:"options,omitempty"`
	// Selection is the part of the cloud that the plan is restricted to. Other objects were
	// not compared and have no action.
	Selection Selection `json:"selection,omitzero"`

	// Values: the actions carry the values of their objects. See planner.Input.Values.
	Values bool `json:"values,omitempty"`

	// Resume has the options for the part of the plan that is planned during the apply;
	// nil: there is no such part. See Divide.
	Resume *Resume `json:"resume,omitempty"`

	// Actions are in an order in which they could be executed one by one: an action comes
	// after all its dependencies.
	Actions []Action `json:"actions"`
	// Outputs are all declared and recorded outputs, by name, including those that do not
	// change; nil for a restricted plan.
	Outputs []output.Change `json:"outputs,omitempty"`
	// Checks are the results of the checks of the configuration, by address.
	Checks []state.CheckResult `json:"checks,omitempty"`
	// Losses are data that is gone already, or that no object uses any more.
	Losses []Loss `json:"losses,omitempty"`
	// Kept are objects with data that stay when their owners are deleted.
	Kept []Kept `json:"kept,omitempty"`
	// Foreign are the fields that others have added to kolla's objects and that stay there.
	Foreign []Foreign `json:"foreign,omitempty"`
	// ForeignPolicy says what happens to other fields that others have added; empty:
	// RevertForeign.
	ForeignPolicy ForeignPolicy `json:"foreign_policy,omitempty"`
	// Warnings are the warnings of the server and of the planner.
	Warnings []Notice `json:"warnings,omitempty"`
	// Impact says what the actions disturb, service by service.
	Impact  []Impact      `json:"impact,omitempty"`
	Elapsed time.Duration `json:"elapsed"` // how long the comparison took
}

// Resume has the options of a plan that also count for the part that is planned when the
// data for it was read.
type Resume struct {
	Selection      Selection `json:"selection,omitzero"`
	DeleteData     []string  `json:"delete_data,omitempty"`
	Adopt          []string  `json:"adopted,omitempty"`
	ForceConflicts bool      `json:"force_conflicts,omitempty"`
	VerifyAll      bool      `json:"verify_all,omitempty"`
}

// StateRef identifies the state that a plan was made against.
type StateRef struct {
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
}

// Verb says what an action does. The zero value is invalid.
type Verb string

// The verbs.
const (
	None    Verb = "none"    // matches already
	Create  Verb = "create"  // not there yet
	Update  Verb = "update"  // changed in place
	Replace Verb = "replace" // deleted and made again, because a field cannot change
	Delete  Verb = "delete"  // no longer declared; for a Partial object, kolla gives up its fields
	Run     Verb = "run"     // a Job that has not run for these inputs
	Adopt   Verb = "adopt"   // exists, and is taken over or only recorded, with or without changes
	Forget  Verb = "forget"  // dropped from the state; the cluster does not change, unless Releases is set
	Refresh Verb = "refresh" // UID and readiness are recorded; the cluster does not change
)

// Action is one step of a plan.
type Action struct {
	Address addrs.Object `json:"address"`
	Verb    Verb         `json:"verb"`
	// Object is the desired object; nil for Delete and Forget.
	Object *providers.Object `json:"object,omitempty"`
	// Ref is the object in the cluster.
	Ref providers.Ref `json:"ref"`
	// Prior binds the action to the live object of the plan. It is zero for Create and Run,
	// which require that there is no object. Delete and Replace are bound to the UID alone,
	// and so are parts of objects that are not taken by force.
	Prior providers.Precondition `json:"prior,omitzero"`
	// Token is the token that the live object has since its creation. Every write sends it.
	// See trust.Token.
	Token string `json:"token,omitempty"`
	// Force takes the fields named in Changes from the managers named there.
	Force bool `json:"force,omitempty"`
	// Removes are the fields of others that the action removes, as a set in the form of
	// managedFields. Changes has the effects.
	Removes string `json:"removes,omitempty"`
	// Seen is the fingerprint of the live object of the plan; empty: there is none.
	Seen string `json:"seen,omitempty"`
	// Scaled: an autoscaler targets the object, so kolla does not set its replicas.
	Scaled bool `json:"scaled,omitempty"`
	// Reported: others added fields that stay there; see Foreign.Reported. Later plans have
	// to look at the object again.
	Reported bool `json:"reported,omitempty"`
	// Yields are declared fields that are left to others and not sent; see fields.Trim.
	Yields   []Yield  `json:"yields,omitempty"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Evidence Evidence `json:"evidence"`
	// Changes are the differences between the live object and the result that the server
	// gives for the action, sorted by path; see fields.Diff. For a Create: the declared
	// fields and, with Schema evidence, the defaults. For a Replace: the fields that kolla
	// declares, or declared. In a RefreshOnly plan: the changes of others, from the value
	// that kolla wrote to the live value.
	Changes []Change `json:"changes,omitempty"`
	// Values are the object before and after the action; nil: they were not requested. See
	// Plan.Values.
	Values *Values `json:"values,omitempty"`
	// Supersedes is the member of the same family that this object replaces. Changes are
	// then relative to that member. With None, this object exists already and is used
	// again.
	Supersedes addrs.Object `json:"supersedes,omitzero"`
	// Holds, of a Delete or Replace: the data that is lost with the object, as the operator
	// allowed.
	Holds string `json:"holds,omitempty"`
	// Heir, of the Delete of a Secret: the Secret of another name that takes over its
	// values.
	Heir addrs.Object `json:"heir,omitzero"`
	// Occupied, of the Delete of a Namespace: the operator allowed to delete it with all
	// its contents.
	Occupied bool `json:"occupied,omitempty"`
	// Partial, of a Delete: kolla gives up its fields, and the object stays. Of a Forget
	// that Releases: kolla owns only some of the fields.
	Partial bool `json:"partial,omitempty"`
	// Releases, of a Forget: the labels and annotations that mark the object as kolla's are
	// removed first, and kolla is removed from the owners of its fields. The object does
	// not change otherwise.
	Releases bool `json:"releases,omitempty"`
	// DependsOn are the actions of the plan that must be done, with their objects ready,
	// before this action starts. A Delete comes after the deletes of objects that use its
	// object, and after the changes that end such a use.
	DependsOn []addrs.Object `json:"depends_on,omitempty"`
	// Triggers are the objects that have to be replaced because of this action, selected or
	// not, by their addresses in the state.
	Triggers []string `json:"triggers,omitempty"`
	// Owed are the objects of replace_triggered_by whose changes should have replaced this
	// object, and did not. Versioned objects are named by the address of their family. A
	// later plan makes up for it.
	Owed []addrs.Object `json:"owed,omitempty"`
	// Pending: the object matches, but the apply that wrote it did not see it ready. An
	// apply waits for it.
	Pending bool `json:"pending,omitempty"`
	// Check, of a None, lets later plans recognize the object as unchanged; zero if nothing
	// is certain enough.
	Check state.Check `json:"check,omitzero"`
}

// Family returns the address that all versions of the object share.
func (a *Action) Family() addrs.Object {
	if a.Object != nil && a.Object.Family != (addrs.Object{}) {
		return a.Object.Family
	}
	return a.Address
}

// Prunes reports whether the action deletes an old version of an object that stays.
func (a *Action) Prunes() bool {
	return a.Verb == Delete && len(a.Reasons) == 1 && a.Reasons[0].Kind == ReasonSuperseded
}

// ReasonKind classifies the reason of an action. The zero value is invalid.
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

// Reason says why an action is necessary.
type Reason struct {
	Kind    ReasonKind `json:"kind"`
	Path    string     `json:"path,omitempty"`
	Manager string     `json:"manager,omitempty"` // who, for drift: the field manager
	Time    time.Time  `json:"time,omitzero"`     // when, for drift
	Detail  string     `json:"detail,omitempty"`
}

// Evidence says how the planner knows the result of an action. The zero value is invalid.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Detail string       `json:"detail,omitempty"` // Unverified: why; Surrogate and Schema: the source
	Advice string       `json:"advice,omitempty"` // Unverified: how to get an answer; may be empty
	// Forbidden, of Unverified: the user may not send dry runs, and so may not write.
	Forbidden bool `json:"forbidden,omitempty"`
}

// EvidenceKind names the step that gave the result.
type EvidenceKind string

// The kinds of evidence.
const (
	Fingerprint EvidenceKind = "fingerprint" // the hashes of the last check are still right
	Ownership   EvidenceKind = "ownership"   // every owned field has the desired value
	DryRun      EvidenceKind = "dry-run"     // the server said so
	Surrogate   EvidenceKind = "surrogate"   // the server said so, for an object with a throw-away name
	Schema      EvidenceKind = "schema"      // a CustomResourceDefinition of this plan says so, which the server does not have yet
	Recorded    EvidenceKind = "recorded"    // the state says so (finished jobs, deletions)
	Unverified  EvidenceKind = "unverified"  // the server could not be asked
)

// Change is one difference. If a field is added or removed, exactly one of Before and After
// is nil. A sensitive change has Masked or Unknown instead of values.
type Change struct {
	// Path has the form `spec.template.spec.containers["api"].image`: an element of a list is
	// identified by its merge key, or else by its index.
	Path      string `json:"path"`
	Before    any    `json:"before,omitempty"`
	After     any    `json:"after,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
	// Text: Before and After are the contents of a file, to be shown as a diff.
	Text bool `json:"text,omitempty"`
	// Drift: the live value is not the one that kolla wrote; Manager wrote it, at Time. If
	// a Replace has a Manager and no Drift, the Manager maintains the field, and sets it again
	// in the new object.
	Drift bool `json:"drift,omitempty"`
	// Edited, with Drift: the declaration of the object changed too. The old declaration is
	// not stored, so either may be the cause of the difference.
	Edited  bool      `json:"edited,omitempty"`
	Manager string    `json:"manager,omitempty"`
	Time    time.Time `json:"time,omitzero"`
}

// Kept is an object with data that stays.
type Kept struct {
	Address addrs.Object  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	Holds   string        `json:"holds"`
	// Alone: a destroy deletes it only if its own address is given; "*" is not enough.
	Alone bool `json:"alone,omitempty"`
	// UID, of a volume claim of one of kolla's StatefulSets: an apply records it, so that a
	// later destroy recognizes the claim. Empty for other objects.
	UID types.UID `json:"uid,omitempty"`
}

// MovedFrom returns the previous address of the object; empty: it did not move.
func (a *Action) MovedFrom() string {
	for _, r := range a.Reasons {
		if r.Kind == ReasonMoved && a.Verb != Forget {
			return r.Detail
		}
	}
	return ""
}

// MovedTo returns the new address of an object that is forgotten here and has another
// action; empty: it did not move.
func (a *Action) MovedTo() string {
	for _, r := range a.Reasons {
		if r.Kind == ReasonMoved && a.Verb == Forget {
			return r.Detail
		}
	}
	return ""
}

// NotesMove reports whether the change only updates the address that the object carries as
// an annotation.
func (c Change) NotesMove() bool {
	return c.Path == `metadata.annotations["`+providers.AnnotationAddress+`"]`
}

// OnlyMoves reports whether only the address of the object changes.
func (a *Action) OnlyMoves() bool {
	return a.MovedFrom() != "" && (a.Verb == Update || a.Verb == Adopt) &&
		!slices.ContainsFunc(a.Changes, func(c Change) bool { return !c.NotesMove() })
}

// TakesKnownValues reports whether the action takes over a Secret whose values kolla would
// have generated: the creator of the Secret knows them.
func (a *Action) TakesKnownValues() bool {
	return a.Verb == Adopt && a.MovedFrom() == "" && a.Object != nil && a.Object.Generated()
}

// ChangesValues reports whether the action does more than mark the object as kolla's.
// Taking over a Secret whose values others know is more.
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

// Counts are the numbers of the summary line. A replacement counts as one to add and one to
// destroy, a run as one to add, an import with changes as one to import and one to change,
// and a partial delete as one to change. An object that moves is counted once.
type Counts struct {
	Add, Change, Destroy, Import, Forget int
	// Move counts the objects that only move. No other number includes them.
	Move int
	// Deferred counts the actions with values that are not known yet. Other numbers include
	// them.
	Deferred int
	// Prune counts the old versions that are deleted. No other number includes them.
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

// Tally counts the results of the comparison. Each object is counted once.
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

// Unchanged reports whether the object is as declared, or as kolla wrote it, and others
// added nothing to it.
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

// Forbidden returns the actions for which the user may not even send a dry run.
func (p *Plan) Forbidden() []*Action {
	var out []*Action
	for i := range p.Actions {
		if p.Actions[i].Evidence.Forbidden {
			out = append(out, &p.Actions[i])
		}
	}
	return out
}

// Drifted reports whether others changed or deleted an object since kolla wrote it.
func (p *Plan) Drifted() bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool {
		return a.Reported || a.replaced() || slices.ContainsFunc(a.Changes, func(c Change) bool { return c.Drift }) ||
			slices.ContainsFunc(a.Reasons, func(r Reason) bool { return r.Kind == ReasonGone })
	})
}

// Changes reports whether an apply of the plan would write to the cluster or to the state.
// A plan that only waits for objects to become ready changes nothing.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Verb != None }) || output.Changes(p.Outputs)
}

// Empty reports whether an apply of the plan would write nothing and wait for nothing.
func (p *Plan) Empty() bool {
	for _, a := range p.Actions {
		if a.Verb != None || a.Pending {
			return false
		}
	}
	return !output.Changes(p.Outputs)
}
