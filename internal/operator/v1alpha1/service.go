package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CloudService shows a service of a Cloud. The operator makes it. Only spec.hold is for people.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kservice,categories=kolla
// +kubebuilder:printcolumn:name="Cloud",type=string,JSONPath=`.spec.cloud`
// +kubebuilder:printcolumn:name="Service",type=string,JSONPath=`.spec.service`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Pods",type=string,JSONPath=`.status.pods`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Hold",type=boolean,JSONPath=`.spec.hold`
// +kubebuilder:printcolumn:name="Waits for",type=string,JSONPath=`.status.waitsFor`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CloudService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec CloudServiceSpec `json:"spec"`
	// +optional
	Status CloudServiceStatus `json:"status,omitzero"`
}

// CloudServiceList is a list of CloudServices.
//
// +kubebuilder:object:root=true
type CloudServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CloudService `json:"items"`
}

// CloudServiceSpec names a service.
type CloudServiceSpec struct {
	// The Cloud in this namespace.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the Cloud of a CloudService does not change"
	Cloud string `json:"cloud"`
	// The address in the configuration: "service.keystone".
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the service of a CloudService does not change"
	Service string `json:"service"`
	// Plans leave the service out, and what depends on it, as `kolla plan -exclude` does.
	//
	// +optional
	Hold bool `json:"hold,omitempty"`
}

// CloudServiceStatus is the state of a service.
type CloudServiceStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Ready and Held.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Ready and desired pods: "3/3".
	//
	// +optional
	Pods string `json:"pods,omitempty"`
	// Tags or digests of the images that run.
	//
	// +optional
	Version string `json:"version,omitempty"`
	// The images that run.
	//
	// +optional
	Images []string `json:"images,omitempty"`
	// The OpenStack release of the cloud.
	//
	// +optional
	Release string `json:"release,omitempty"`
	// Addresses for clients outside of the cluster.
	//
	// +optional
	Public []string `json:"public,omitempty"`
	// Why it is not ready.
	//
	// +optional
	WaitsFor string `json:"waitsFor,omitempty"`
	// What the newest plan does to its pods: "keystone-api: 2 pods restart, 1 at a time".
	//
	// +optional
	Planned []string `json:"planned,omitempty"`
	// When an apply wrote it last.
	//
	// +optional
	LastChange *metav1.Time `json:"lastChange,omitempty"`
}
