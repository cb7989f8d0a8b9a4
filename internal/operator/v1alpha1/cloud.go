package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cloud is an OpenStack cloud that the operator keeps as a source declares it. The source is what
// `kolla plan` reads from a directory: HCL files.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kcloud,categories={kolla,all}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.plan.summary`
// +kubebuilder:printcolumn:name="Drift",type=string,JSONPath=`.status.conditions[?(@.type=="Drifted")].status`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.source.revision`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 53",message="the name of a Cloud has at most 53 characters: names of its plans begin with it"
type Cloud struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the cloud is made from, and who decides about changes.
	//
	// +required
	Spec CloudSpec `json:"spec"`
	// What the operator found and did last.
	//
	// +optional
	Status CloudStatus `json:"status,omitzero"`
}

// CloudList is a list of Clouds.
//
// +kubebuilder:object:root=true
type CloudList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cloud `json:"items"`
}

// CloudSpec says what the cloud is made from, and who decides about changes.
type CloudSpec struct {
	// Where the configuration comes from.
	//
	// +required
	Source Source `json:"source"`
	// The directory of the configuration in the source. Modules may be beside it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(p, p == '..')",message="the path is relative, and has no .."
	Path string `json:"path,omitempty"`
	// Values of variables of the configuration.
	//
	// +optional
	Variables map[string]apiextensionsv1.JSON `json:"variables,omitempty"`
	// ConfigMaps and Secrets whose keys are variables. Later ones win, and the field variables wins over
	// all of them. The configuration says which variables are sensitive.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=32
	VariablesFrom []VariablesSource `json:"variablesFrom,omitempty"`
	// The service account of this namespace whose rights plans and applies have. The operator acts in its
	// name, and needs no right in the cloud of its own. `kolla rbac` prints the rights.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName"`
	// Who decides whether a plan is applied. manual: a person, with approvedPlan. automatic: every plan is
	// applied that has no errors. drift: changes of others are put back at once, and a person decides about
	// everything else. within: as automatic while no policy warns and the limits hold, and as manual beyond.
	//
	// +optional
	// +kubebuilder:default=manual
	Approval Approval `json:"approval,omitempty"`
	// The digest of the plan that may be applied, as status.plan.digest has it. It permits this plan once,
	// and no other one.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ApprovedPlan string `json:"approvedPlan,omitempty"`
	// The most that approval "within" applies without a person.
	//
	// +optional
	Limits Limits `json:"limits,omitzero"`
	// Plans that delete more objects than this are refused; not set: more than half of them.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxDeletes *int32 `json:"maxDeletes,omitempty"`
	// Nothing is planned or applied. An apply that runs finishes its present writes and stops.
	//
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// How often the cluster is compared with the source, besides after changes of either.
	//
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s')",message="an interval is at least 10s"
	Interval metav1.Duration `json:"interval,omitzero"`
	// How long to wait after a failure before the next attempt.
	//
	// +optional
	// +kubebuilder:default="1m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="a retryInterval is at least 1s"
	RetryInterval metav1.Duration `json:"retryInterval,omitzero"`
	// How long an apply waits for each object to become ready.
	//
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="a timeout is at least 1s"
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// Addresses of objects that hold data and may be deleted, as plans show them: "service.mariadb/StatefulSet/mariadb".
	// Nothing else that holds data is deleted.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=256
	DeleteData []string `json:"deleteData,omitempty"`
	// Addresses of objects that exist already, and that plans take over, as `kolla plan -adopt` does:
	// "cloud.prod/Namespace/openstack".
	//
	// +optional
	// +kubebuilder:validation:MaxItems=256
	Adopt []string `json:"adopt,omitempty"`
	// What happens to the objects of the cloud when the Cloud is deleted. Destroy: a plan destroys them; it
	// waits for approval unless approval is automatic, and data stays unless deleteData names it. Workloads that
	// others need, such as hypervisors, stop after approval, or if deleteData names them. Orphan: they stay, and
	// kolla apply can go on with them.
	//
	// +optional
	// +kubebuilder:default=Destroy
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// How many plans are kept.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	History int32 `json:"history,omitempty"`
	// Secrets of this namespace with URLs of receivers of notifications, as `kolla drift -notify` takes
	// them, one in each key.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=8
	Notify []Reference `json:"notify,omitempty"`
}

// Source is the place of a configuration. Exactly one field is set.
//
// +kubebuilder:validation:XValidation:rule="(has(self.configMaps) ? 1 : 0) + (has(self.git) ? 1 : 0) + (has(self.oci) ? 1 : 0) == 1",message="a source is exactly one of configMaps, git and oci"
type Source struct {
	// ConfigMaps of this namespace. Each key is the name of a file.
	//
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	ConfigMaps []Reference `json:"configMaps,omitempty"`
	// A Git repository.
	//
	// +optional
	Git *Git `json:"git,omitempty"`
	// An artefact in a container registry: one layer with a tar archive, as `flux push artifact` and
	// `oras push` write it.
	//
	// +optional
	OCI *OCI `json:"oci,omitempty"`
}

// Reference names an object of the same namespace.
type Reference struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Git is a Git repository, at a branch, a tag or a commit.
//
// +kubebuilder:validation:XValidation:rule="(has(self.branch) ? 1 : 0) + (has(self.tag) ? 1 : 0) + (has(self.commit) ? 1 : 0) <= 1",message="a Git source names a branch, a tag or a commit"
type Git struct {
	// https://, http:// or ssh://. Credentials are in a Secret, and not in the URL.
	//
	// +required
	// +kubebuilder:validation:Pattern=`^(https?|ssh)://[^@]+$|^ssh://[^:@]+@[^@]+$`
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Branch string `json:"branch,omitempty"`
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Tag string `json:"tag,omitempty"`
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{40}$`
	Commit string `json:"commit,omitempty"`
	// A Secret with username and password, or bearerToken, or for ssh identity and known_hosts. caFile has
	// the certificates of the server's authority.
	//
	// +optional
	SecretRef *Reference `json:"secretRef,omitempty"`
}

// OCI is an artefact in a container registry, at a tag or a digest.
//
// +kubebuilder:validation:XValidation:rule="(has(self.tag) ? 1 : 0) + (has(self.digest) ? 1 : 0) <= 1",message="an OCI source names a tag or a digest"
type OCI struct {
	// +required
	// +kubebuilder:validation:Pattern=`^oci://[^@]+$`
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`
	// The tag; latest if neither it nor the digest is set.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Tag string `json:"tag,omitempty"`
	// +optional
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
	// A Secret of the type kubernetes.io/dockerconfigjson.
	//
	// +optional
	SecretRef *Reference `json:"secretRef,omitempty"`
	// The registry is asked over HTTP.
	//
	// +optional
	Insecure bool `json:"insecure,omitempty"`
}

// VariablesSource is a ConfigMap or a Secret of the same namespace.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="variablesFrom names a configMap or a secret"
type VariablesSource struct {
	// +optional
	ConfigMap *Reference `json:"configMap,omitempty"`
	// +optional
	Secret *Reference `json:"secret,omitempty"`
}

// Approval says who decides whether a plan is applied.
//
// +kubebuilder:validation:Enum=manual;automatic;drift;within
type Approval string

// The kinds of approval.
const (
	Manual    Approval = "manual"
	Automatic Approval = "automatic"
	Drift     Approval = "drift"
	Within    Approval = "within"
)

// Limits bound a plan. A field that is not set has no limit, but for deletes.
type Limits struct {
	// Objects that are deleted or replaced; not set: none.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Deletes int32 `json:"deletes,omitempty"`
	// Objects that are created or changed.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Changes *int32 `json:"changes,omitempty"`
	// Services whose pods restart or stop.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Restarts *int32 `json:"restarts,omitempty"`
}

// DeletionPolicy says what happens to the objects of a deleted Cloud.
//
// +kubebuilder:validation:Enum=Destroy;Orphan
type DeletionPolicy string

// The policies.
const (
	DestroyObjects DeletionPolicy = "Destroy"
	OrphanObjects  DeletionPolicy = "Orphan"
)

// CloudStatus is what the operator found and did last.
type CloudStatus struct {
	// The generation of the spec that the rest of the status is about.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Ready, Reconciling, Stalled, Planned and Drifted.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// The name of the cloud in its configuration.
	//
	// +optional
	Cloud string `json:"cloud,omitempty"`
	// The namespace of its objects.
	//
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	Source SourceStatus `json:"source,omitzero"`
	// The newest plan. It is not set if nothing is to be done.
	//
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`
	// Warnings of the configuration, the server and the newest plan, also if nothing is to be done.
	//
	// +optional
	Warnings []string `json:"warnings,omitempty"`
	// The number of the last plan.
	//
	// +optional
	Plans int64 `json:"plans,omitempty"`
	// +optional
	LastApply *ApplyStatus `json:"lastApply,omitempty"`
	// +optional
	Drift *DriftStatus `json:"drift,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=name
	Services []ServiceStatus `json:"services,omitempty"`
	// The value of the annotation kolla.openstack.org/reconcile that was handled last.
	//
	// +optional
	LastReconcile string `json:"lastReconcile,omitempty"`
	// The value of the annotation kolla.openstack.org/resume that was handled last.
	//
	// +optional
	LastResume string `json:"lastResume,omitempty"`
	// This Cloud has applied, and nobody took the cloud over since.
	//
	// +optional
	Managed bool `json:"managed,omitempty"`
	// The Cloud that applied before this one, and from which a person resumed here.
	//
	// +optional
	Follows string `json:"follows,omitempty"`
	// The number of applies in a row that failed.
	//
	// +optional
	Failures int32 `json:"failures,omitempty"`
}

// SourceStatus is the source of the newest plan.
type SourceStatus struct {
	// The revision: "main@sha1:0a1b...", "latest@sha256:...", "configmaps@sha256:...".
	//
	// +optional
	Revision string `json:"revision,omitempty"`
	// The revision that was applied last with success.
	//
	// +optional
	Applied string `json:"applied,omitempty"`
}

// PlanStatus is the summary of a plan.
type PlanStatus struct {
	// The CloudPlan with the whole of it.
	Name string `json:"name"`
	// What approvedPlan has to be for this plan.
	Digest string `json:"digest"`
	// The counts in words: "3 to add, 1 to change, 0 to destroy."
	Summary string `json:"summary"`
	// +optional
	Dangers []string `json:"dangers,omitempty"`
	// Services whose pods restart or stop.
	//
	// +optional
	Restarts []string `json:"restarts,omitempty"`
	// When it was made first.
	Made metav1.Time `json:"made"`
	// The plan destroys the cloud, because the Cloud is deleted.
	//
	// +optional
	Destroy bool `json:"destroy,omitempty"`
}

// ApplyStatus is the result of an apply.
type ApplyStatus struct {
	// The CloudPlan.
	//
	// +optional
	Plan string `json:"plan,omitempty"`
	// +optional
	Revision string      `json:"revision,omitempty"`
	Started  metav1.Time `json:"started"`
	Ended    metav1.Time `json:"ended"`
	// done, failed or interrupted.
	Result string `json:"result"`
	// What was done, or why it failed.
	Message string `json:"message"`
}

// DriftStatus counts the changes of others since the last apply.
type DriftStatus struct {
	Objects int32 `json:"objects"`
	Fields  int32 `json:"fields"`
	// One line for each object, at most ten.
	//
	// +optional
	What []string `json:"what,omitempty"`
}

// ServiceStatus is one service of the cloud.
type ServiceStatus struct {
	// The address in the configuration: "service.keystone".
	Name string `json:"name"`
	// Tags or digests of the images that run.
	//
	// +optional
	Version string `json:"version,omitempty"`
	Ready   bool   `json:"ready"`
	// Ready and desired pods: "3/3".
	//
	// +optional
	Pods string `json:"pods,omitempty"`
	// Why it is not ready.
	//
	// +optional
	WaitsFor string `json:"waitsFor,omitempty"`
}
