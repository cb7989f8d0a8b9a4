package resources

import "k8s.io/apimachinery/pkg/runtime/schema"

// Builtin contains kinds that every server has under these names, so they need no discovery.
// If an operator has switched a kind off, the answer to a LIST shows it.
var Builtin = table(map[schema.GroupVersion]map[string]resourceOf{
	{Version: "v1"}: {
		"ConfigMap":             {"configmaps", true},
		"Endpoints":             {"endpoints", true},
		"Event":                 {"events", true},
		"LimitRange":            {"limitranges", true},
		"Namespace":             {"namespaces", false},
		"Node":                  {"nodes", false},
		"PersistentVolume":      {"persistentvolumes", false},
		"PersistentVolumeClaim": {"persistentvolumeclaims", true},
		"Pod":                   {"pods", true},
		"PodTemplate":           {"podtemplates", true},
		"ReplicationController": {"replicationcontrollers", true},
		"ResourceQuota":         {"resourcequotas", true},
		"Secret":                {"secrets", true},
		"Service":               {"services", true},
		"ServiceAccount":        {"serviceaccounts", true},
	},
	{Group: "admissionregistration.k8s.io", Version: "v1"}: {
		"MutatingAdmissionPolicy":        {"mutatingadmissionpolicies", false},
		"MutatingAdmissionPolicyBinding": {"mutatingadmissionpolicybindings", false},
		"MutatingWebhookConfiguration":   {"mutatingwebhookconfigurations", false},
		"ValidatingWebhookConfiguration": {"validatingwebhookconfigurations", false},
	},
	{Group: "apiextensions.k8s.io", Version: "v1"}: {"CustomResourceDefinition": {"customresourcedefinitions", false}},
	{Group: "apps", Version: "v1"}: {
		"DaemonSet":   {"daemonsets", true},
		"Deployment":  {"deployments", true},
		"ReplicaSet":  {"replicasets", true},
		"StatefulSet": {"statefulsets", true},
	},
	{Group: "autoscaling", Version: "v2"}: {"HorizontalPodAutoscaler": {"horizontalpodautoscalers", true}},
	{Group: "batch", Version: "v1"}: {
		"CronJob": {"cronjobs", true},
		"Job":     {"jobs", true},
	},
	{Group: "networking.k8s.io", Version: "v1"}: {
		"Ingress":       {"ingresses", true},
		"IngressClass":  {"ingressclasses", false},
		"NetworkPolicy": {"networkpolicies", true},
	},
	{Group: "policy", Version: "v1"}: {"PodDisruptionBudget": {"poddisruptionbudgets", true}},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}: {
		"ClusterRole":        {"clusterroles", false},
		"ClusterRoleBinding": {"clusterrolebindings", false},
		"Role":               {"roles", true},
		"RoleBinding":        {"rolebindings", true},
	},
	{Group: "scheduling.k8s.io", Version: "v1"}: {"PriorityClass": {"priorityclasses", false}},
	{Group: "storage.k8s.io", Version: "v1"}:    {"StorageClass": {"storageclasses", false}},
})

// resourceOf describes a kind of one group and version.
type resourceOf struct {
	name       string
	namespaced bool
}

func table(groups map[schema.GroupVersion]map[string]resourceOf) map[schema.GroupVersionKind]Resource {
	all := map[schema.GroupVersionKind]Resource{}
	for version, kinds := range groups {
		for kind, r := range kinds {
			all[version.WithKind(kind)] = Resource{version.WithResource(r.name), r.namespaced}
		}
	}
	return all
}
