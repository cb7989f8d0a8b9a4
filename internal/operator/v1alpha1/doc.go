// Package v1alpha1 has the objects of the operator: a Cloud, the plans that were made for it, and its
// services. controller-gen makes the CustomResourceDefinitions in config from the comments here, so
// these are what kubectl explain shows.
//
// +kubebuilder:object:generate=true
// +groupName=kolla.openstack.org
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group of the objects, and the version.
var GroupVersion = schema.GroupVersion{Group: "kolla.openstack.org", Version: "v1alpha1"}

// AddToScheme registers the types.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Cloud{}, &CloudList{}, &CloudPlan{}, &CloudPlanList{}, &CloudService{}, &CloudServiceList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Annotations and labels of the objects.
const (
	// AnnotationReconcile asks for a plan at once. Its value is a time, or any other text that
	// differs from the last one.
	AnnotationReconcile = "kolla.openstack.org/reconcile"
	// AnnotationResume gives a cloud back to the operator after `kolla apply -take-over`, in the same
	// way.
	AnnotationResume = "kolla.openstack.org/resume"
	// LabelCloud is the name of the Cloud of a CloudPlan, a CloudService or a Secret.
	LabelCloud = "kolla.openstack.org/of-cloud"
)

// Finalizer keeps a Cloud until its objects are destroyed, or left alone.
const Finalizer = "kolla.openstack.org/cloud"

// Types of conditions of a Cloud. Reconciling and Stalled exist only while they are true, as tools
// that know kstatus expect.
const (
	// Ready: the cluster is as the source declares it, and all services are ready.
	Ready = "Ready"
	// Reconciling: a plan is made or applied.
	Reconciling = "Reconciling"
	// Stalled: nothing goes on until a person changes something.
	Stalled = "Stalled"
	// Planned: the newest plan could be made. The message is its summary, or the error.
	Planned = "Planned"
	// Drifted: others changed objects since the last apply.
	Drifted = "Drifted"
	// Held, of a CloudService: applies leave it out.
	Held = "Held"
)

// Reasons of conditions.
const (
	ReasonAsDeclared       = "AsDeclared"
	ReasonProgressing      = "Progressing"
	ReasonAwaitsApproval   = "PlanAwaitsApproval"
	ReasonOtherPlan        = "ApprovedPlanIsNotTheNewest"
	ReasonPlanned          = "Planned"
	ReasonNoChanges        = "NoChanges"
	ReasonPlanFailed       = "PlanFailed"
	ReasonRefused          = "PlanRefused"
	ReasonApplying         = "Applying"
	ReasonApplyFailed      = "ApplyFailed"
	ReasonInterrupted      = "Interrupted"
	ReasonNotReady         = "ServicesNotReady"
	ReasonDrift            = "ChangedByOthers"
	ReasonNoDrift          = "NoDrift"
	ReasonSourceFailed     = "SourceFailed"
	ReasonInvalidSource    = "InvalidConfiguration"
	ReasonInvalidVariables = "InvalidVariables"
	ReasonNotShared        = "StateNotInCluster"
	ReasonConflict         = "AnotherCloud"
	ReasonLocked           = "StateLocked"
	ReasonTakenOver        = "TakenOver"
	ReasonSuspended        = "Suspended"
	ReasonUnreachable      = "ClusterUnreachable"
	ReasonHeld             = "Held"
)
