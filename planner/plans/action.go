package plans

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/ini"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Verb says what an action does. The zero value is invalid.
type Verb string

// The verbs.
const (
	None    Verb = "none"    // matches the declaration
	Create  Verb = "create"  // does not exist yet
	Update  Verb = "update"  // changed in place
	Replace Verb = "replace" // deleted and created again, because a field is immutable
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
	// Object is the desired object; nil for Delete and Forget, and for a claim that Grows.
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
	// Grows, of an Update of a claim that a StatefulSet created: the new size, "2Gi". There is no
	// Object then.
	Grows string `json:"grows,omitempty"`
	// KeepsPods, of the Replace of a StatefulSet: the pods keep running with their volumes, and the
	// new StatefulSet adopts them.
	KeepsPods bool `json:"keeps_pods,omitempty"`
	Removal
	// DependsOn are the actions of the plan that must be done, with their objects ready,
	// before this action starts. A Delete comes after the deletes of objects that use its
	// object, and after the changes that end such a use.
	DependsOn []addrs.Object `json:"depends_on,omitempty"`
	// Pending: the object matches, but the apply that wrote it did not see it ready. An
	// apply waits for it.
	Pending bool `json:"pending,omitempty"`
	// Fingerprint, of a None, lets later plans recognize the object as unchanged; zero if nothing
	// is certain enough.
	Fingerprint state.Fingerprint `json:"check,omitzero"`
}

// Removal is what only actions need that take something away. It is zero for others.
type Removal struct {
	// Holds, of a Delete or Replace: the data that is lost with the object. The operator allowed
	// it, or the plan has an error.
	Holds string `json:"holds,omitempty"`
	// ValuesCopiedTo, of the Delete of a Secret: the Secret of another name that takes over its
	// values.
	ValuesCopiedTo addrs.Object `json:"values_copied_to,omitzero"`
	// Occupied, of the Delete of a Namespace: the operator allowed to delete it with all
	// its contents.
	Occupied bool `json:"occupied,omitempty"`
	// Finished, of the Delete of a Job: the Job was complete at the last apply.
	Finished bool `json:"finished,omitempty"`
	// Partial, of a Delete: kolla gives up its fields, and the object stays. Of a Forget
	// that Releases: kolla owns only some of the fields.
	Partial bool `json:"partial,omitempty"`
	// Releases, of a Forget: the labels and annotations that mark the object as kolla's are
	// removed first, and kolla is removed from the owners of its fields. The object does
	// not change otherwise.
	Releases bool `json:"releases,omitempty"`
}

// Grown returns the manifest that makes a claim ask for a larger volume, and sets nothing else.
func Grown(claim providers.Ref, size string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}},
	}}
	u.SetGroupVersionKind(claim.GVK)
	u.SetNamespace(claim.Namespace)
	u.SetName(claim.Name)
	return u
}

// Family returns the address that all versions of the object share.
func (a *Action) Family() addrs.Object {
	if a.Object != nil && a.Object.Family != (addrs.Object{}) {
		return a.Object.Family
	}
	return a.Address
}

// Declared returns the place in the configuration of the values that an action changes:
// their lines in config files, or else the place of the object. It is empty for objects of
// the built-in catalogue.
func (a *Action) Declared() string {
	if a.Object == nil {
		return ""
	}
	var places []string
	for _, c := range a.Changes {
		before, _ := c.Before.(string)
		after, ok := c.After.(string)
		if !ok || len(a.Object.Places) == 0 {
			return a.Object.Source
		}
		for _, name := range ini.Changed(before, after) {
			place, ok := a.Object.Places[name]
			if !ok {
				return a.Object.Source
			}
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	if len(places) == 0 {
		return a.Object.Source
	}
	return words.Few(places, 2)
}

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

// Unchanged reports whether the object is as declared, or as kolla wrote it, and others
// added nothing to it.
func (a *Action) Unchanged() bool {
	return a.Verb == None && len(a.Changes) == 0 && !a.Reported && !a.replaced() && a.Evidence.Kind != Unverified
}

// replaced reports whether somebody replaced generated values of the object.
func (a *Action) replaced() bool {
	return a.Has(ReasonReplaced)
}

// NotCompared reports whether the object could not be compared.
func (a *Action) NotCompared() bool {
	return (a.Verb == None || a.Verb == Refresh) && len(a.Changes) == 0 && !a.Reported && a.Evidence.Kind == Unverified
}

// AllowsUnverified reports whether the configuration allows to write the object without a dry
// run.
func (a *Action) AllowsUnverified() bool { return a.Object != nil && a.Object.AllowsUnverified() }

// Deferred reports whether the action writes values that are not known yet. An apply plans
// it again when the data for these values was read. See Divide.
func (a *Action) Deferred() bool {
	return a.Object != nil && len(a.Object.Deferred) > 0 && a.Verb != None && a.Verb != Refresh
}

// Has reports whether the action has a reason of one of the kinds.
func (a *Action) Has(kinds ...ReasonKind) bool {
	return slices.ContainsFunc(a.Reasons, func(r Reason) bool { return slices.Contains(kinds, r.Kind) })
}

// Destroys reports whether the action deletes an object with something to lose. Jobs, old versions,
// and StatefulSets that are replaced while their pods keep running have nothing to lose.
func (a *Action) Destroys() bool {
	if a.Ref.GVK.GroupKind() == kinds.Job {
		return false
	}
	return a.Verb == Replace && !a.KeepsPods || a.Verb == Delete && !a.Partial && !a.Prunes()
}

// Prunes reports whether the action deletes an old version of an object that stays.
func (a *Action) Prunes() bool {
	return a.Verb == Delete && len(a.Reasons) == 1 && a.Reasons[0].Kind == ReasonSuperseded
}

// RunsPodsContinuously reports whether the object of the action runs pods all the time.
func (a *Action) RunsPodsContinuously() bool { return RunsPodsContinuously(a.Ref) }

// RunsPodsContinuously reports whether the object runs pods all the time: every workload but a Job.
func RunsPodsContinuously(ref providers.Ref) bool {
	kind := ref.GVK.GroupKind()
	return kinds.RunsPods(kind) && kind != kinds.Job
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

// OnlyMoves reports whether only the address of the object changes.
func (a *Action) OnlyMoves() bool {
	return a.MovedFrom() != "" && (a.Verb == Update || a.Verb == Adopt) &&
		!slices.ContainsFunc(a.Changes, func(c Change) bool { return !c.NotesMove() })
}

// AdoptsUnowned reports whether the action takes over an object that kolla did not create.
func (a *Action) AdoptsUnowned() bool {
	return a.Verb == Adopt && a.Has(ReasonUnowned)
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
	// Drift: Manager wrote the live value at Time, and kolla did not. If a Replace has a
	// Manager and no Drift, the Manager maintains the field, and sets it again in the new
	// object.
	Drift bool `json:"drift,omitempty"`
	// Edited, with Drift: the declaration of the object changed too. The old declaration is
	// not stored, so either may be the cause of the difference.
	Edited  bool      `json:"edited,omitempty"`
	Manager string    `json:"manager,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	// Registered: the field is one of an entry on the server of this product, "Keystone", which the Job
	// of the action registers, and not one of the Job. The server records no writer.
	Registered string `json:"registered,omitempty"`
}

// NotesMove reports whether the change only updates the address that the object carries as
// an annotation.
func (c Change) NotesMove() bool {
	return c.Path == `metadata.annotations["`+providers.AnnotationAddress+`"]`
}

// Evidence says how the planner knows the result of an action. The zero value is invalid.
type Evidence struct {
	Kind   EvidenceKind `json:"kind"`
	Detail string       `json:"detail,omitempty"` // Unverified: why; Surrogate and Schema: the source
	Advice string       `json:"advice,omitempty"` // Unverified: how to get an answer; may be empty
	// Forbidden, of Unverified: the user may not send dry runs, and so may not write.
	Forbidden bool `json:"forbidden,omitempty"`
	// Refused, of Unverified: the object has a Problem with DryRun.
	Refused bool `json:"refused,omitempty"`
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
	Rendered    EvidenceKind = "rendered"    // two renderings were compared; there is no cluster
)

// Yield is a declared field that an action leaves to somebody else. Neither dry runs nor
// writes send it, so that kolla does not own it.
type Yield struct {
	Path    string    `json:"path"`              // in the form of Change.Path
	Manager string    `json:"manager,omitempty"` // the owner of the field; empty: nobody
	Time    time.Time `json:"time,omitzero"`     // when the owner last wrote
	// Field is the same path as a set in the form of managedFields. Path is a string, and does not
	// show which fields form the key of an element.
	Field string `json:"field"`
	// Value is sent instead of the declared value if only kolla owns the field: without it,
	// the server would remove the field. It is the live value.
	Value any `json:"value,omitempty"`
	// Declared: a lifecycle block says so. Otherwise Manager is a controller.
	Declared bool `json:"declared,omitempty"`
	// Want is the declared value, which is not applied, and Live is the live value; nil:
	// there is none. Both are Masked for a secret value.
	Want any `json:"want,omitempty"`
	Live any `json:"live,omitempty"`
}

// Known returns the part of the yield that the state records.
func (y Yield) Known() state.Yield { return state.Yield{Path: y.Path, Manager: y.Manager} }

// Strings in place of a value that a plan does not contain.
const (
	// Masked is written for a value that must not be seen.
	Masked = "(sensitive value)"
	// Unknown is written for a value that only the apply makes.
	Unknown = configs.KnownAfterApply
)

// Values is the object of an action before and after it: the fields that kolla owns or
// changes. They are parts of the live object and of the server's answer; nothing is
// composed from paths. Secret values are masked.
type Values struct {
	// Before is part of the live object; nil: there is none.
	Before *extract.Part `json:"before,omitempty"`
	// After is part of the resulting object; nil: it is deleted or, with the verbs None and
	// Refresh, does not change.
	After *extract.Part `json:"after,omitempty"`
	// Written is Before without the changes that others made since kolla's last write; nil:
	// there are no such changes.
	Written *extract.Part `json:"written,omitempty"`
}
