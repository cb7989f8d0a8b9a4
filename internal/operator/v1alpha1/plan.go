package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CloudPlan is a plan that waits for approval, or was applied. The operator makes it, and deletes the
// oldest ones. It contains no value of a Secret.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kplan,categories=kolla
// +kubebuilder:printcolumn:name="Cloud",type=string,JSONPath=`.spec.cloud`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.spec.summary`
// +kubebuilder:printcolumn:name="Dangers",type=integer,JSONPath=`.spec.dangerCount`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.spec.revision`,priority=1
// +kubebuilder:printcolumn:name="Digest",type=string,JSONPath=`.spec.digest`,priority=1
// +kubebuilder:printcolumn:name="Outcome",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CloudPlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the plan does.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a plan does not change"
	Spec CloudPlanSpec `json:"spec"`
	// What became of it.
	//
	// +optional
	Status CloudPlanStatus `json:"status,omitzero"`
}

// CloudPlanList is a list of CloudPlans.
//
// +kubebuilder:object:root=true
type CloudPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CloudPlan `json:"items"`
}

// CloudPlanSpec is what a plan does.
type CloudPlanSpec struct {
	// The Cloud in this namespace.
	Cloud string `json:"cloud"`
	// Plans of a Cloud are numbered from 1.
	Number int64 `json:"number"`
	// The digest that approves the plan.
	Digest string `json:"digest"`
	// The revision of the source.
	Revision string `json:"revision"`
	// The counts in words.
	Summary string `json:"summary"`
	// +optional
	Dangers     []string `json:"dangers,omitempty"`
	DangerCount int32    `json:"dangerCount"`
	// Warnings of the configuration, the server and the plan.
	//
	// +optional
	Warnings []string `json:"warnings,omitempty"`
	// Services whose pods restart or stop.
	//
	// +optional
	Restarts []string `json:"restarts,omitempty"`
	// The plan destroys the cloud.
	//
	// +optional
	Destroy bool `json:"destroy,omitempty"`
	// The whole plan as Markdown, shortened if it is long.
	Page string `json:"page"`
	// The Secret with the whole page in page.md, and with the plan file in plan, for kolla show. A large
	// one has more parts: SECRET.part1, SECRET.part2.
	Secret string `json:"secret"`
	Parts  int32  `json:"parts"`
}

// Phase says what became of a plan.
//
// +kubebuilder:validation:Enum=Waiting;Applying;Applied;Failed;Superseded;Refused
type Phase string

// The phases.
const (
	Waiting    Phase = "Waiting"    // for approval
	Applying   Phase = "Applying"   // or its apply was killed
	Applied    Phase = "Applied"    // all of it
	Failed     Phase = "Failed"     // a part of it may be applied
	Superseded Phase = "Superseded" // a later plan took its place
	Refused    Phase = "Refused"    // it has errors, or a policy denies it
)

// CloudPlanStatus is what became of a plan.
type CloudPlanStatus struct {
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// Who allowed it: a field manager of the Cloud for approvedPlan, or the kind of approval.
	//
	// +optional
	Approved string `json:"approved,omitempty"`
	// +optional
	Started *metav1.Time `json:"started,omitempty"`
	// +optional
	Ended *metav1.Time `json:"ended,omitempty"`
	// What was done, or why not.
	//
	// +optional
	Message string `json:"message,omitempty"`
}
