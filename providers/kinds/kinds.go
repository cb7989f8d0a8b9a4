// Package kinds knows the special properties of kinds of Kubernetes: one table, with one row for
// each kind. It says, for example, which kinds hold data, and which are ready as soon as they are
// written. A kind without a row has no special properties.
package kinds

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds that code refers to by name.
var (
	ConfigMap             = schema.GroupKind{Kind: "ConfigMap"}
	Endpoints             = schema.GroupKind{Kind: "Endpoints"}
	LimitRange            = schema.GroupKind{Kind: "LimitRange"}
	Namespace             = schema.GroupKind{Kind: "Namespace"}
	Node                  = schema.GroupKind{Kind: "Node"}
	PersistentVolume      = schema.GroupKind{Kind: "PersistentVolume"}
	PersistentVolumeClaim = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	Pod                   = schema.GroupKind{Kind: "Pod"}
	ReplicationController = schema.GroupKind{Kind: "ReplicationController"}
	ResourceQuota         = schema.GroupKind{Kind: "ResourceQuota"}
	Secret                = schema.GroupKind{Kind: "Secret"}
	Service               = schema.GroupKind{Kind: "Service"}
	ServiceAccount        = schema.GroupKind{Kind: "ServiceAccount"}

	DaemonSet   = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	Deployment  = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	ReplicaSet  = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	StatefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}

	CronJob = schema.GroupKind{Group: "batch", Kind: "CronJob"}
	Job     = schema.GroupKind{Group: "batch", Kind: "Job"}

	MutatingWebhookConfiguration   = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}
	ValidatingWebhookConfiguration = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}

	APIService               = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	CustomResourceDefinition = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

	EndpointSlice       = schema.GroupKind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}
	Ingress             = schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	IngressClass        = schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}
	ServiceCIDR         = schema.GroupKind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}
	NetworkPolicy       = schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
	PodDisruptionBudget = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	PriorityClass       = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	RuntimeClass        = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	StorageClass        = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}

	Certificate   = schema.GroupKind{Group: "cert-manager.io", Kind: "Certificate"}
	ClusterIssuer = schema.GroupKind{Group: "cert-manager.io", Kind: "ClusterIssuer"}
	Issuer        = schema.GroupKind{Group: "cert-manager.io", Kind: "Issuer"}

	PodMonitor = schema.GroupKind{Group: "monitoring.coreos.com", Kind: "PodMonitor"}

	PodMetrics = schema.GroupKind{Group: "metrics.k8s.io", Kind: "PodMetrics"}

	Gateway      = schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "Gateway"}
	GatewayClass = schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "GatewayClass"}
	HTTPRoute    = schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}

	ClusterRole        = schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}
	ClusterRoleBinding = schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}
	Role               = schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "Role"}
	RoleBinding        = schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}
)

// row has the special properties of a kind.
type row struct {
	// pods is the path of the pod template; empty for a Pod, nil for a kind without pods.
	pods []string
	// clusterScoped: the objects live in no namespace.
	clusterScoped bool
	// atOnce: an object is ready as soon as it is written; see ReadyAtOnce.
	atOnce bool
	// swept is the version in which a destroy lists the objects in the cloud's namespaces.
	swept string
	// assigned are fields that the server or a controller fills in for good.
	assigned [][]string
}

var template = []string{"spec", "template"}

var table = map[schema.GroupKind]row{
	ConfigMap:             {atOnce: true, swept: "v1"},
	LimitRange:            {atOnce: true, swept: "v1"},
	Namespace:             {clusterScoped: true, assigned: [][]string{{"spec"}, {"metadata", "labels", "kubernetes.io/metadata.name"}}},
	Node:                  {clusterScoped: true, atOnce: true},
	PersistentVolume:      {clusterScoped: true, assigned: [][]string{{"spec", "claimRef"}}},
	PersistentVolumeClaim: {swept: "v1", assigned: [][]string{{"spec", "volumeName"}}},
	Pod:                   {pods: []string{}, swept: "v1"},
	ReplicationController: {pods: template, swept: "v1"},
	ResourceQuota:         {atOnce: true, swept: "v1"},
	Secret:                {atOnce: true, swept: "v1"},
	Service:               {atOnce: true, swept: "v1", assigned: [][]string{{"spec", "clusterIPs"}, {"spec", "ipFamilies"}, {"spec", "healthCheckNodePort"}}},
	ServiceAccount:        {atOnce: true, assigned: [][]string{{"secrets"}}},

	DaemonSet:   {pods: template, swept: "v1"},
	Deployment:  {pods: template, swept: "v1"},
	ReplicaSet:  {pods: template, swept: "v1"},
	StatefulSet: {pods: template, swept: "v1"},

	CronJob: {pods: []string{"spec", "jobTemplate", "spec", "template"}, swept: "v1"},
	Job:     {pods: template, swept: "v1", assigned: [][]string{{"spec", "selector"}, {"spec", "manualSelector"}}},

	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {swept: "v2"},

	EndpointSlice:       {atOnce: true},
	Ingress:             {swept: "v1"},
	IngressClass:        {clusterScoped: true, atOnce: true},
	NetworkPolicy:       {atOnce: true, swept: "v1"},
	PodDisruptionBudget: {atOnce: true, swept: "v1"},
	PriorityClass:       {clusterScoped: true, atOnce: true},
	RuntimeClass:        {clusterScoped: true},
	StorageClass:        {clusterScoped: true, atOnce: true},

	ClusterRole:        {clusterScoped: true, atOnce: true},
	ClusterRoleBinding: {clusterScoped: true, atOnce: true},
	Role:               {atOnce: true, swept: "v1"},
	RoleBinding:        {atOnce: true, swept: "v1"},

	APIService:                     {clusterScoped: true},
	CustomResourceDefinition:       {clusterScoped: true},
	MutatingWebhookConfiguration:   {clusterScoped: true, atOnce: true},
	ValidatingWebhookConfiguration: {clusterScoped: true, atOnce: true},

	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          {clusterScoped: true, atOnce: true},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   {clusterScoped: true, atOnce: true},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        {clusterScoped: true, atOnce: true},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: {clusterScoped: true, atOnce: true},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:                 {clusterScoped: true},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       {clusterScoped: true},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}:       {clusterScoped: true},
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:                                   {clusterScoped: true},
	{Group: "internal.apiserver.k8s.io", Kind: "StorageVersion"}:                      {clusterScoped: true},
	{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}:                        {clusterScoped: true},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                                   {clusterScoped: true},
	ServiceCIDR: {clusterScoped: true},
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}:                 {clusterScoped: true},
	{Group: "resource.k8s.io", Kind: "ResourcePoolStatusRequest"}:       {clusterScoped: true},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:                   {clusterScoped: true},
	{Group: "storagemigration.k8s.io", Kind: "StorageVersionMigration"}: {clusterScoped: true},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                        {clusterScoped: true},
	{Group: "storage.k8s.io", Kind: "CSINode"}:                          {clusterScoped: true},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                 {clusterScoped: true},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:            {clusterScoped: true},
}

// Pods returns the path of the pod template in objects of the kind; it is empty for a Pod. ok
// is false for a kind without pods.
func Pods(kind schema.GroupKind) (path []string, ok bool) {
	path = table[kind].pods
	return path, path != nil
}

// RunsPods reports whether the kind is one of the workloads of a service.
func RunsPods(kind schema.GroupKind) bool {
	switch kind {
	case Deployment, StatefulSet, DaemonSet, Job:
		return true
	}
	return false
}

// ClusterScoped reports whether the kind is one of Kubernetes' own kinds that are not namespaced.
func ClusterScoped(kind schema.GroupKind) bool { return table[kind].clusterScoped }

// FieldBehind returns the field of the specification that an annotation contains. It is empty for
// other annotations. Version v1 of autoscalers has such annotations for fields of later versions.
func FieldBehind(annotation string) string {
	switch annotation {
	case "autoscaling.alpha.kubernetes.io/metrics":
		return "metrics"
	case "autoscaling.alpha.kubernetes.io/behavior":
		return "behavior"
	}
	return ""
}

// ReadyAtOnce reports whether an object is ready as soon as it is written. A Service of type
// LoadBalancer has to wait for an address.
func ReadyAtOnce(object *unstructured.Unstructured) bool {
	return table[object.GroupVersionKind().GroupKind()].atOnce && !IsLoadBalancer(object)
}

// IsLoadBalancer reports whether an object is a Service of type LoadBalancer.
func IsLoadBalancer(object *unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "type")
	return kind == "LoadBalancer" && object.GroupVersionKind().GroupKind() == Service
}

// Assigned returns the paths of the fields that the server or a controller fills in for good.
func Assigned(kind schema.GroupKind) [][]string { return table[kind].assigned }

// Swept returns the kinds in which a destroy looks for volumes, and for objects that carry the
// cloud's label and are not in the state.
func Swept() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for kind, r := range table {
		if r.swept != "" {
			out = append(out, kind.WithVersion(r.swept))
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Kind}, []string{b.Group, b.Kind})
	})
	return out
}

// Defines reports whether objects of the kind define further kinds. The names of such objects
// are made of fields of their specifications, so no other name is valid.
func Defines(kind schema.GroupKind) bool {
	return kind == CustomResourceDefinition || kind == APIService
}
