// Package providers holds the types between the planner and a cluster: Object, Reader, Writer,
// Snapshot. Nothing in it talks to a cluster. providers/openstack makes objects,
// providers/secrets makes the values of Secrets, and providers/kubernetes reaches the cluster.
package providers

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers/kinds"
)

// FieldManager is the name under which kolla owns the fields of what it makes.
const FieldManager = "kolla"

// ManagerOf is the field manager for an object of a cloud. Partial objects belong
// to the cluster, so that several clouds may own fields of one; and what a manager
// applies replaces what it applied before, so that each cloud needs its own.
func ManagerOf(cloud string, partial bool) string {
	if partial {
		return FieldManager + ":" + cloud
	}
	return FieldManager
}

// UnknownVersion stands in a name for a hash that is known only after the apply. No
// server would take it.
const UnknownVersion = "(known-after-apply)"

// Labels and annotations that kolla puts on what it makes.
const (
	LabelCloud   = "kolla.openstack.org/cloud"   // name of the cloud block
	LabelService = "kolla.openstack.org/service" // name of the service block

	// AnnotationAddress holds the object's address, so that a lost state can be
	// rebuilt from the cluster.
	AnnotationAddress = "kolla.openstack.org/address"
	// AnnotationIntent holds the random token of the journal line that announced the
	// creation of the object. It is on the object from the moment that it exists, so
	// that an apply that was killed knows what it has created. Once the state has the
	// UID, the token proves nothing.
	AnnotationIntent = "kolla.openstack.org/intent"
	// AnnotationInputs is on Jobs that do not run again for every change of an input: a hash
	// of all inputs. It shows that a run that has not ended is outdated.
	AnnotationInputs = "kolla.openstack.org/inputs"
	// AnnotationMaxUnavailable is on workloads whose pods are replaced on request: how many
	// of them may be missing then, a number or a share such as "25%".
	AnnotationMaxUnavailable = "kolla.openstack.org/max-unavailable"
	// AnnotationCarries and AnnotationLeave are on workloads: commands to run in their pods
	// before they go, a PodCommand in JSON.
	AnnotationCarries = "kolla.openstack.org/carries"
	AnnotationLeave   = "kolla.openstack.org/leave"
	// AnnotationRevision is on Secrets that others are derived from: a name for
	// their present values that says nothing about them. Whatever is derived from
	// the values carries it in its own name.
	AnnotationRevision = "kolla.openstack.org/revision"
	// AnnotationChecksum is on the same Secrets: it tells whether somebody replaced
	// the values since the revision was given.
	AnnotationChecksum = "kolla.openstack.org/checksum"
	// AnnotationNotAfter is on Secrets with a certificate: when that ends, as RFC 3339
	// has it.
	AnnotationNotAfter = "kolla.openstack.org/not-after"
)

// Object is one desired thing in the cluster.
type Object struct {
	Address addrs.Object `json:"address"`
	// Manifest is exactly what kolla wants to own: no defaults, no nulls, and for
	// a Secret no values (they are in Data).
	Manifest *unstructured.Unstructured `json:"manifest"`
	// Data is how the values of a Secret come about, by key.
	Data map[string]SecretData `json:"data,omitempty"`
	// Family is the address without the hash, for objects whose name carries a
	// hash of their content: a change makes a new member of the family, and the
	// old one is kept for a while. Otherwise zero.
	Family addrs.Object `json:"family,omitzero"`
	// DependsOn are the objects that must be ready before this one is written.
	DependsOn []addrs.Object `json:"depends_on,omitempty"`
	// Partial: kolla owns some fields of an object that somebody else made (the
	// labels of a Node). It is never created or deleted; to delete it is to give
	// the fields up.
	Partial bool `json:"partial,omitempty"`
	// Holds says what would be lost with the object ("generated values",
	// "everything in it"); empty: nothing that apply would not make again.
	Holds string `json:"holds,omitempty"`
	// Loss says what follows where what it holds is lost, or while nothing of it runs:
	// "tokens become invalid"; empty: nothing beyond that.
	Loss string `json:"loss,omitempty"`
	// ScaleDown says how pods of a StatefulSet are taken away where an apply must not do
	// it; empty: an apply does.
	ScaleDown string `json:"scale_down,omitempty"`
	// Timeout is how many seconds an apply waits until the object is ready; 0: as long as
	// for any other. It is no part of what is desired.
	Timeout int `json:"timeout,omitempty"`
	// Lifecycle says how the object is treated; nil: as any other.
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
	// Deferred are the data that have to be read before all of the object is known:
	// until then configs.KnownAfterApply stands in it for what is not, and UnknownVersion at
	// the end of a name for the hash.
	Deferred []string `json:"deferred,omitempty"`
	// Source is where the object is declared, "cloud.hcl:41"; empty when in the
	// built-in catalogue only.
	Source string `json:"source,omitempty"`
	// Within is where the block is declared whose part is at Source, such as a config
	// file of a service; empty: Source is that block.
	Within string `json:"within,omitempty"`
	// Places are where the values of a config file stand, "config/keystone.conf:3", by
	// "[section] key" or "key"; not those of the built-in catalogue.
	Places map[string]string `json:"places,omitempty"`
	// Causes say for people why fields have their values, by path as in a planner.Change:
	// "workload \"agent\" of service.node".
	Causes map[string]string `json:"causes,omitempty"`
}

// From has the object be declared at source, in the block that it was declared at so
// far.
func (o *Object) From(source string) {
	if o.Within == "" && o.Source != source {
		o.Within = o.Source
	}
	o.Source = source
}

// Lifecycle is what a lifecycle block says of an object. It is no part of what is
// desired: Digest leaves it out.
type Lifecycle struct {
	PreventDestroy bool `json:"prevent_destroy,omitempty"`
	// IgnoreFields and ForceFields are paths that addrs.ParseFieldPath reads.
	IgnoreFields   []string `json:"ignore_fields,omitempty"`
	YieldTo        []string `json:"yield_to,omitempty"` // field managers; see addrs.MatchesStar
	ForceConflicts bool     `json:"force_conflicts,omitempty"`
	ForceFields    []string `json:"force_fields,omitempty"`
	ForceManagers  []string `json:"force_managers,omitempty"` // see addrs.MatchesStar
	Source         string   `json:"source,omitempty"`         // "cloud.hcl:12"
	// ReplaceTriggeredBy are the addresses of blocks and objects that addrs.ParseTarget
	// reads: where one of them changes, what runs is deleted and made again.
	ReplaceTriggeredBy []string `json:"replace_triggered_by,omitempty"`
}

// Ref names a live object.
type Ref struct {
	GVK       schema.GroupVersionKind `json:"gvk"`
	Namespace string                  `json:"namespace,omitempty"`
	Name      string                  `json:"name"`
}

// RefOf is the reference of a manifest.
func RefOf(u *unstructured.Unstructured) Ref {
	return Ref{GVK: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// Ref is the reference of the object.
func (o *Object) Ref() Ref { return RefOf(o.Manifest) }

// String gives "Deployment openstack/keystone-api".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.GVK.Kind + " " + r.Name
	}
	return r.GVK.Kind + " " + r.Namespace + "/" + r.Name
}

// Run reports whether the object is something that runs once.
func (o *Object) Run() bool { return o.Manifest.GroupVersionKind().GroupKind() == kinds.Job }

// Skipped reports whether the object is a Job that runs nothing: it is complete at once,
// and counts as run.
func (o *Object) Skipped() bool {
	completions, found, _ := unstructured.NestedInt64(o.Manifest.Object, "spec", "completions")
	return o.Run() && found && completions == 0
}

// Identity says which cluster this is.
type Identity struct {
	UID     string `json:"uid"`     // of the namespace kube-system; never changes
	Server  string `json:"server"`  // URL; may change
	Version string `json:"version"` // "v1.37.1"
	// Emulates is the version whose API the server shows, such as "1.36"; empty: its
	// own.
	Emulates string `json:"emulates,omitempty"`
}

// Precondition binds a write to the object that was planned against. A zero
// value binds nothing.
type Precondition struct {
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resource_version,omitempty"`
}

// ConflictError says that other field managers own fields that the apply would
// change, and that it was not told to take them.
type ConflictError struct {
	Ref       Ref
	Conflicts []Conflict
}

// Conflict is one field that somebody else owns.
type Conflict struct {
	Manager string
	Path    string // ".spec.replicas"
}

func (e *ConflictError) Error() string {
	var b strings.Builder
	b.WriteString(e.Ref.String())
	b.WriteString(": fields are owned by others: ")
	for i, c := range e.Conflicts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Path + " by " + c.Manager)
	}
	return b.String()
}
