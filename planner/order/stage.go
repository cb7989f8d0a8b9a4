package order

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// Stage returns the place of a kind in the order that users of Helm, kapp and kubectl rely
// on when no dependency decides. The objects of a manifest start in the order of their
// stages; see dag.Graph.Line.
func Stage(kind schema.GroupKind) int {
	if stage, ok := stages[kind]; ok {
		return stage
	}
	return last
}

// The stages. The last one is for objects of custom kinds: their definitions and webhooks
// come before them.
const (
	stageNamespaces = iota
	stagePolicies
	stageAccounts
	stageSecrets
	stageConfig
	stageStorage
	stageDefinitions
	stageRoles
	stageBindings
	stageServices
	stageWorkloads
	stageExtensions
	last
)

var stages = map[schema.GroupKind]int{
	providers.NamespaceKind: stageNamespaces,

	priorityClassKind:       stagePolicies,
	runtimeClassKind:        stagePolicies,
	{Kind: "ResourceQuota"}: stagePolicies,
	{Kind: "LimitRange"}:    stagePolicies,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                               stagePolicies,
	{Group: "policy", Kind: "PodDisruptionBudget"}:                                    stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   stagePolicies,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}:       stagePolicies,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       stagePolicies,

	serviceAccountKind:      stageAccounts,
	providers.SecretKind:    stageSecrets,
	providers.ConfigMapKind: stageConfig,

	storageClassKind:    stageStorage,
	volumeKind:          stageStorage,
	providers.ClaimKind: stageStorage,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:             stageStorage,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}: stageStorage,

	definitionKind: stageDefinitions,

	{Group: rbac, Kind: "ClusterRole"}: stageRoles,
	{Group: rbac, Kind: "Role"}:        stageRoles,
	clusterBindingKind:                 stageBindings,
	roleBindingKind:                    stageBindings,

	serviceKind:         stageServices,
	{Kind: "Endpoints"}: stageServices,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: stageServices,

	podKind:               stageWorkloads,
	controllerKind:        stageWorkloads,
	deploymentKind:        stageWorkloads,
	statefulSetKind:       stageWorkloads,
	daemonSetKind:         stageWorkloads,
	replicaSetKind:        stageWorkloads,
	providers.JobKind:     stageWorkloads,
	cronJobKind:           stageWorkloads,
	{Kind: "PodTemplate"}: stageWorkloads,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: stageWorkloads,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:      stageExtensions,
	{Group: "networking.k8s.io", Kind: "Ingress"}:           stageExtensions,
	apiServiceKind: stageExtensions,
	mutatingKind:   stageExtensions,
	validatingKind: stageExtensions,
}
