// Package providers has the types between the planner and a cluster. Nothing here talks to a
// cluster: providers/openstack makes objects, providers/secrets makes the values of Secrets, and
// providers/kubernetes reaches the cluster.
//
// An [Object] is one declared object. A [Reader] reads the cluster and sends dry runs, and a
// [Writer] changes the cluster. A plan gets a Reader and no Writer, so it cannot write. A [Shell]
// runs commands in pods.
//
// A [Snapshot] has the live objects that were read through a Reader. First load a [Scope], then
// get its objects:
//
//	client, err := kubernetes.Connect(kubernetes.Options{}) // a Reader
//	if err != nil {
//		return err
//	}
//	snapshot := providers.NewSnapshot(client)
//	scope := providers.Scope{GVK: object.Ref().GVK, Namespace: object.Ref().Namespace}
//	if err := snapshot.Load(ctx, scope); err != nil {
//		return err
//	}
//	live := snapshot.Get(object.Ref()) // nil: the object does not exist
//
// Mistakes to avoid:
//
//   - Calling [Snapshot.Get] before [Snapshot.Load]. Get asks no server. It returns nil for every
//     object of a scope that was not loaded.
//   - Keeping a Snapshot when the cluster has changed. It lists each scope only once.
//   - Changing an object of a Snapshot. All callers share it: change a DeepCopy.
//   - Creating an object after any error of Reader.Get. Only an error that satisfies
//     apierrors.IsNotFound says that the object does not exist.
//   - Writing with a zero [Precondition]. It sets no condition, so the write may change another
//     object than the planned one. To create an object, set New in [ApplyOptions].
package providers

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers/kinds"
)

// FieldManager is the field manager of the objects that kolla makes.
const FieldManager = "kolla"

// ManagerOf returns the field manager for an object of a cloud. Several clouds may own fields
// of one partial object. Each cloud needs its own manager there, because an apply replaces the
// earlier apply of the same manager.
func ManagerOf(cloud string, partial bool) string {
	if partial {
		return FieldManager + ":" + cloud
	}
	return FieldManager
}

// UnknownVersion replaces a hash in a name while the hash is not known. No server accepts such
// a name.
const UnknownVersion = "(known-after-apply)"

// Labels and annotations that kolla adds to the objects that it makes.
const (
	LabelCloud   = "kolla.openstack.org/cloud"   // name of the cloud block
	LabelService = "kolla.openstack.org/service" // name of the service block

	// AnnotationAddress contains the object's address, so that a lost state can be rebuilt from
	// the cluster.
	AnnotationAddress = "kolla.openstack.org/address"
	// AnnotationRelease is on the cloud's namespace: the OpenStack release and the distribution of
	// the images, "2025.1-rocky-9". The namespace lasts as long as the data of the services.
	AnnotationRelease = "kolla.openstack.org/release"
	// AnnotationPublic is on the objects of an exposure: the address that clients outside of the
	// cluster use. On Services it is the host, "cloud.example.org (192.0.2.10)"; on Ingresses and
	// routes it is the URLs. A plan shows when it changes.
	AnnotationPublic = "kolla.openstack.org/public"
	// AnnotationPublicPorts is on Services whose ports have other numbers for clients outside:
	// "api=80,vnc=6081".
	AnnotationPublicPorts = "kolla.openstack.org/public-ports"
	// AnnotationAwaitsAddress is on Ingresses for whose address an apply waits.
	AnnotationAwaitsAddress = "kolla.openstack.org/awaits-address"
	// AnnotationRedirects is on HTTPRoutes that send clients from plain HTTP to public URLs: these
	// URLs.
	AnnotationRedirects = "kolla.openstack.org/redirects"
	// AnnotationIntent contains the random token of the journal line that announced the
	// creation of the object. The object has it from the beginning, so that kolla recognises
	// the object after an apply was killed. Once the state has the UID, the token proves
	// nothing.
	AnnotationIntent = "kolla.openstack.org/intent"
	// AnnotationInputs is on Jobs of services. It is a hash of the whole declaration of the Job. If
	// the hash has changed, an unfinished run is outdated.
	AnnotationInputs = "kolla.openstack.org/inputs"
	// AnnotationMaxUnavailable is on workloads whose pods are replaced on request. It says how
	// many pods may be missing then: a number, or a share such as "25%".
	AnnotationMaxUnavailable = "kolla.openstack.org/max-unavailable"
	// AnnotationCarries and AnnotationLeave are on workloads. They contain commands to run in
	// the pods before these are removed: a PodCommand in JSON.
	AnnotationCarries = "kolla.openstack.org/carries"
	AnnotationLeave   = "kolla.openstack.org/leave"
	// AnnotationBackup is on StatefulSets. It contains the commands that save their data and bring
	// them back: a Backup in JSON.
	AnnotationBackup = "kolla.openstack.org/backup"
	// AnnotationDataVersion is on workloads whose program converts its data when it starts; see
	// DataVersion.
	AnnotationDataVersion = "kolla.openstack.org/data-version"
	// AnnotationRolloutFirst is on workloads whose pods a rollout replaces before those of others.
	AnnotationRolloutFirst = "kolla.openstack.org/rollout-first"
	// AnnotationFollows is on pods that follow other pods. It contains the releases of the other pods' images. When all
	// other pods run a new release, the annotation changes, and the followers restart.
	AnnotationFollows = "kolla.openstack.org/follows"
	// AnnotationRevision is on Secrets from which other Secrets are derived. It names their
	// current values without revealing them. The names of the derived Secrets depend on it.
	AnnotationRevision = "kolla.openstack.org/revision"
	// AnnotationSecret, followed by the name of a Secret, is on pods that mount the Secret. It
	// contains the revision of the values, because the name of the Secret does not change with
	// them.
	AnnotationSecret = "kolla.openstack.org/secret-"
	// AnnotationChecksum is on Secrets with AnnotationRevision. It shows whether the values have
	// been replaced since the revision was recorded.
	AnnotationChecksum = "kolla.openstack.org/checksum"
	// AnnotationRotated is on Secrets whose keys were rotated: the time of the last rotation, in
	// the format of RFC 3339.
	AnnotationRotated = "kolla.openstack.org/rotated"
	// AnnotationNotAfter is on Secrets with a certificate: the end of its validity, in the
	// format of RFC 3339.
	AnnotationNotAfter = "kolla.openstack.org/not-after"
)

// Object is one desired object of the cluster.
type Object struct {
	Address addrs.Object `json:"address"`
	// Manifest has exactly the fields that kolla wants to own: no defaults and no nulls. For a
	// Secret it has no values: Data has them.
	Manifest *unstructured.Unstructured `json:"manifest"`
	// Data describes how the values of a Secret are made, by key.
	Data map[string]SecretData `json:"data,omitempty"`
	// Family is the address without the hash, for objects whose name has a hash of their
	// content. A change creates a new member of the family, and the old member is kept for a
	// while. For other objects Family is zero.
	Family addrs.Object `json:"family,omitzero"`
	// DependsOn are the objects that must be ready before this one is written.
	DependsOn []addrs.Object `json:"depends_on,omitempty"`
	// Stage is the part of an upgrade in which the object changes, one of configs.Stages; empty: it changes as soon as
	// anything needs it. While a Job of the stage "checks" has to run, a plan changes nothing before it but what the Job
	// itself needs.
	Stage string `json:"stage,omitempty"`
	// Partial: kolla owns some fields of an object that it did not make, such as the labels of
	// a Node. It never creates or deletes the object. A delete action only gives up the fields.
	Partial bool `json:"partial,omitempty"`
	// Unwanted are labels of a partial object that others set and that an apply removes.
	Unwanted []string `json:"unwanted,omitempty"`
	// Holds describes the data that is lost with the object ("generated values", "everything in
	// it"). It is empty if an apply would restore everything.
	Holds string `json:"holds,omitempty"`
	// Loss is the consequence if the data is lost, or while no pod runs: "tokens become
	// invalid". It is empty if there are no further consequences.
	Loss string `json:"loss,omitempty"`
	// ScaleDown explains how to remove pods of a StatefulSet, if an apply must not do it;
	// empty: an apply removes them.
	ScaleDown string `json:"scale_down,omitempty"`
	// Timeout is the time in seconds that an apply waits for the object to become ready; 0: the
	// default. Digest leaves it out.
	Timeout int `json:"timeout,omitempty"`
	// Lifecycle has the rules of a lifecycle block; nil: there are none.
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
	// Deferred are the data that must be read before the whole object is known. Until then the
	// unknown parts are configs.KnownAfterApply, and an unknown hash at the end of a name is
	// UnknownVersion.
	Deferred []string `json:"deferred,omitempty"`
	// Source is the place of the declaration, "cloud.hcl:41". It is empty if only the built-in
	// catalogue declares the object.
	Source string `json:"source,omitempty"`
	// Within is the place of the block that contains Source, if Source is a part of a block,
	// such as a config file of a service. It is empty if Source is the block.
	Within string `json:"within,omitempty"`
	// Places are the places of the values of a config file, "config/keystone.conf:3", by
	// "[section] key" or "key", and of the sizes of the claims of a StatefulSet, by ClaimPlace.
	// Values of the built-in catalogue have none.
	Places map[string]string `json:"places,omitempty"`
	// Causes are reasons for the values of fields, for people, by path as in a planner.Change:
	// "workload \"agent\" of service.node".
	Causes map[string]string `json:"causes,omitempty"`
	// Registers is what the Job registers on servers. A plan compares it with what they have; nil:
	// there is nothing to compare.
	Registers *Registration `json:"registers,omitempty"`
}

// OnlyRemoves reports whether kolla owns no field of a partial object, and an apply only removes
// labels of other programs. After the apply, the object has no declaration.
func (o *Object) OnlyRemoves() bool {
	return len(o.Unwanted) > 0 && len(o.Manifest.GetLabels())+len(o.Manifest.GetAnnotations()) == 0
}

// From sets Source. The previous Source becomes Within: the block that contains the new one.
func (o *Object) From(source string) {
	if o.Within == "" && o.Source != source {
		o.Within = o.Source
	}
	o.Source = source
}

// Lifecycle has the rules of a lifecycle block for an object. Digest leaves it out.
type Lifecycle struct {
	PreventDestroy bool `json:"prevent_destroy,omitempty"`
	// IgnoreFields and ForceFields are paths for addrs.ParseFieldPath.
	IgnoreFields   []string `json:"ignore_fields,omitempty"`
	YieldTo        []string `json:"yield_to,omitempty"` // field managers; see addrs.MatchesStar
	ForceConflicts bool     `json:"force_conflicts,omitempty"`
	ForceFields    []string `json:"force_fields,omitempty"`
	ForceManagers  []string `json:"force_managers,omitempty"` // see addrs.MatchesStar
	Source         string   `json:"source,omitempty"`         // "cloud.hcl:12"
	// ReplaceTriggeredBy are the addresses of blocks and objects, for addrs.ParseTarget. If one
	// of them changes, the object is deleted and created again.
	ReplaceTriggeredBy []string `json:"replace_triggered_by,omitempty"`
	// AllowUnverified: write the object without a dry run if admission denies dry runs.
	AllowUnverified bool `json:"allow_unverified,omitempty"`
}

// AllowsUnverified reports whether the lifecycle of the object has AllowUnverified.
func (o *Object) AllowsUnverified() bool { return o.Lifecycle != nil && o.Lifecycle.AllowUnverified }

// Ref identifies a live object.
type Ref struct {
	GVK       schema.GroupVersionKind `json:"gvk"`
	Namespace string                  `json:"namespace,omitempty"`
	Name      string                  `json:"name"`
}

// RefOf returns the reference of a manifest.
func RefOf(u *unstructured.Unstructured) Ref {
	return Ref{GVK: u.GroupVersionKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// Ref returns the reference of the object.
func (o *Object) Ref() Ref { return RefOf(o.Manifest) }

// String returns, for example, "Deployment openstack/keystone-api".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.GVK.Kind + " " + r.Name
	}
	return r.GVK.Kind + " " + r.Namespace + "/" + r.Name
}

// IsJob reports whether the object is a Job.
func (o *Object) IsJob() bool { return o.Manifest.GroupVersionKind().GroupKind() == kinds.Job }

// Skipped reports whether the object is a Job that starts no pod. It is complete at once, and
// counts as run.
func (o *Object) Skipped() bool {
	completions, found, _ := unstructured.NestedInt64(o.Manifest.Object, "spec", "completions")
	return o.IsJob() && found && completions == 0
}

// Identity identifies a cluster.
type Identity struct {
	UID     string `json:"uid"`     // of the namespace kube-system; never changes
	Server  string `json:"server"`  // URL; may change
	Version string `json:"version"` // "v1.37.1"
	// Emulates is the version of the API that the server emulates, such as "1.36"; empty: its
	// own version.
	Emulates string `json:"emulates,omitempty"`
}

// Precondition limits a write to the object that the plan was made for. The zero value sets no
// condition.
type Precondition struct {
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resource_version,omitempty"`
}

// ConflictError reports fields that the apply would change, that other field managers own, and
// that the apply may not take.
type ConflictError struct {
	Ref       Ref
	Conflicts []Conflict
}

// Conflict is one field that another field manager owns.
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
