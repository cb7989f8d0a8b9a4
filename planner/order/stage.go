package order

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers/kinds"
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
	kinds.Namespace: stageNamespaces,

	kinds.PriorityClass:       stagePolicies,
	kinds.RuntimeClass:        stagePolicies,
	kinds.ResourceQuota:       stagePolicies,
	kinds.LimitRange:          stagePolicies,
	kinds.NetworkPolicy:       stagePolicies,
	kinds.PodDisruptionBudget: stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          stagePolicies,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   stagePolicies,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}:       stagePolicies,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       stagePolicies,

	kinds.ServiceAccount: stageAccounts,
	kinds.Secret:         stageSecrets,
	kinds.ConfigMap:      stageConfig,

	kinds.StorageClass:                                       stageStorage,
	kinds.PersistentVolume:                                   stageStorage,
	kinds.PersistentVolumeClaim:                              stageStorage,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:             stageStorage,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}: stageStorage,

	kinds.CustomResourceDefinition: stageDefinitions,

	kinds.ClusterRole:        stageRoles,
	kinds.Role:               stageRoles,
	kinds.ClusterRoleBinding: stageBindings,
	kinds.RoleBinding:        stageBindings,

	kinds.Service:   stageServices,
	kinds.Endpoints: stageServices,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: stageServices,

	kinds.Pod:                   stageWorkloads,
	kinds.ReplicationController: stageWorkloads,
	kinds.Deployment:            stageWorkloads,
	kinds.StatefulSet:           stageWorkloads,
	kinds.DaemonSet:             stageWorkloads,
	kinds.ReplicaSet:            stageWorkloads,
	kinds.Job:                   stageWorkloads,
	kinds.CronJob:               stageWorkloads,
	{Kind: "PodTemplate"}:       stageWorkloads,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: stageWorkloads,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:      stageExtensions,
	kinds.Ingress:                        stageExtensions,
	kinds.APIService:                     stageExtensions,
	kinds.MutatingWebhookConfiguration:   stageExtensions,
	kinds.ValidatingWebhookConfiguration: stageExtensions,
}
