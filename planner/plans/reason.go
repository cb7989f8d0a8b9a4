package plans

import (
	"strings"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
)

// ReasonKind classifies the reason of an action. The zero value is invalid.
type ReasonKind string

// The kinds of reason.
const (
	ReasonNew          ReasonKind = "new"          // declared, not in the cluster
	ReasonConfig       ReasonKind = "config"       // the configuration changed
	ReasonDrift        ReasonKind = "drift"        // another client changed the object in the cluster
	ReasonGone         ReasonKind = "gone"         // kolla created it, another client deleted it
	ReasonUnfinished   ReasonKind = "unfinished"   // an apply deleted it, and did not get further
	ReasonCleaned      ReasonKind = "cleaned"      // its pods cleaned their nodes, but the apply did not delete it
	ReasonUndeclared   ReasonKind = "undeclared"   // no longer in the configuration
	ReasonExternal     ReasonKind = "external"     // of a Delete: its service is external now
	ReasonRenamed      ReasonKind = "renamed"      // of a Delete: its block, or without Detail its service, has the other name Detail
	ReasonSuperseded   ReasonKind = "superseded"   // an older member of a family, no longer needed
	ReasonImmutable    ReasonKind = "immutable"    // Path cannot be changed in place
	ReasonFailedJob    ReasonKind = "failed-job"   // the run failed, and starts again
	ReasonRegistration ReasonKind = "registration" // the server Detail, "Keystone", lacks what the Job registered, as Changes say; it runs again
	ReasonIdle         ReasonKind = "idle"         // Manager owns Path, but no longer maintains it
	ReasonReplaced     ReasonKind = "replaced"     // Manager replaced the generated value at Path, which is kept
	ReasonRenewed      ReasonKind = "renewed"      // new values are generated, because of Detail
	ReasonRotated      ReasonKind = "rotated"      // the keys of a repository move on, because of Detail
	ReasonReuse        ReasonKind = "reuse"        // it uses the volumes Detail, which exist already
	ReasonGrows        ReasonKind = "grows"        // of a claim: its StatefulSet, Detail, declares a larger volume
	ReasonUnowned      ReasonKind = "unowned"      // exists, created by another client
	ReasonMoved        ReasonKind = "moved"        // declared under the address Detail before; of a Forget: declared there now
	ReasonDefinition   ReasonKind = "definition"   // the definition of its kind, Detail, changes by this plan
	ReasonUpgrade      ReasonKind = "defaults"     // neither HCL nor cluster changed: a newer kolla or server wants it
	ReasonUnexplained  ReasonKind = "unexplained"  // nothing shows whether somebody wrote to the object, or the defaults are new
	ReasonDestroy      ReasonKind = "destroy"      // the cloud is being destroyed
	ReasonRequested    ReasonKind = "requested"    // the operator named it with -replace
	ReasonTriggered    ReasonKind = "triggered"    // of a Replace or Run: Detail, an entry of its replace_triggered_by, changes
)

// Reason says why an action is necessary.
type Reason struct {
	Kind    ReasonKind `json:"kind"`
	Path    string     `json:"path,omitempty"`
	Manager string     `json:"manager,omitempty"` // who, for drift: the field manager
	Time    time.Time  `json:"time,omitzero"`     // when, for drift
	Detail  string     `json:"detail,omitempty"`
}

// Triggered reports whether an object is replaced because of its replace_triggered_by.
func (r Reason) Triggered() bool { return r.Kind == ReasonTriggered }

// TriggerWords returns the reason of a triggered replacement in the words of the
// declaration.
func (r Reason) TriggerWords() string {
	return strings.TrimSpace("replace_triggered_by " + r.Detail)
}

// Triggered returns the actions that replace an object because of its replace_triggered_by:
// for the family of each object, the entry that names its trigger.
func Triggered(actions []*Action) map[addrs.Object]string {
	out := map[addrs.Object]string{}
	for _, a := range actions {
		for _, r := range a.Reasons {
			if r.Triggered() {
				out[a.Family()] = r.Detail
			}
		}
	}
	return out
}
