package order

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers/kinds"
)

// Stage returns the place of a kind in the order in which the objects of a manifest start when no
// dependency decides. Users of Helm, kapp and kubectl rely on it. See dag.Graph.Stage.
func Stage(kind schema.GroupKind) int {
	if stage, ok := stages[kind]; ok {
		return stage
	}
	return last
}

// The stages. Among the objects that workloads use, only references decide about the order, so that
// writes that take the server long, such as those of Services, run beside others. The last stage is
// for objects of custom kinds: their definitions and webhooks come before them.
const (
	stageNamespaces = iota
	stagePolicies
	stageUsed // by workloads
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

	kinds.ServiceAccount: stageUsed,
	kinds.Secret:         stageUsed,
	kinds.ConfigMap:      stageUsed,

	kinds.StorageClass:                                       stageUsed,
	kinds.PersistentVolume:                                   stageUsed,
	kinds.PersistentVolumeClaim:                              stageUsed,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:             stageUsed,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}: stageUsed,

	kinds.CustomResourceDefinition: stageUsed,

	kinds.ClusterRole:        stageUsed,
	kinds.Role:               stageUsed,
	kinds.ClusterRoleBinding: stageUsed,
	kinds.RoleBinding:        stageUsed,

	kinds.Service:       stageUsed,
	kinds.Endpoints:     stageUsed,
	kinds.EndpointSlice: stageUsed,

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
