package order

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// Kinds that name other objects, or are named by them.
var (
	serviceKind        = schema.GroupKind{Kind: "Service"}
	serviceAccountKind = schema.GroupKind{Kind: "ServiceAccount"}
	volumeKind         = schema.GroupKind{Kind: "PersistentVolume"}
	podKind            = schema.GroupKind{Kind: "Pod"}
	controllerKind     = schema.GroupKind{Kind: "ReplicationController"}
	deploymentKind     = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	statefulSetKind    = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	daemonSetKind      = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	replicaSetKind     = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	cronJobKind        = schema.GroupKind{Group: "batch", Kind: "CronJob"}
	storageClassKind   = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	priorityClassKind  = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	runtimeClassKind   = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	definitionKind     = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	apiServiceKind     = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	mutatingKind       = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}
	validatingKind     = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}
	roleBindingKind    = schema.GroupKind{Group: rbac, Kind: "RoleBinding"}
	clusterBindingKind = schema.GroupKind{Group: rbac, Kind: "ClusterRoleBinding"}
)

const rbac = "rbac.authorization.k8s.io"

// namedBy returns the objects that an object names and that must exist before it.
func namedBy(u *unstructured.Unstructured) []id {
	namespace := u.GetNamespace()
	if pod := podSpec(u); pod != nil {
		return append(namedByPod(pod, namespace), namedBySet(u)...)
	}
	switch u.GroupVersionKind().GroupKind() {
	case providers.ClaimKind:
		return []id{
			{kind: storageClassKind, name: text(u.Object, "spec", "storageClassName")},
			{kind: volumeKind, name: text(u.Object, "spec", "volumeName")},
		}
	case roleBindingKind, clusterBindingKind:
		role := id{kind: schema.GroupKind{Group: rbac, Kind: text(u.Object, "roleRef", "kind")}, name: text(u.Object, "roleRef", "name")}
		if role.kind.Kind == "Role" {
			role.namespace = namespace
		}
		return []id{role}
	case providers.SecretKind: // a controller deletes a token without an account
		if text(u.Object, "type") == string(corev1.SecretTypeServiceAccountToken) {
			return []id{{serviceAccountKind, namespace, u.GetAnnotations()[corev1.ServiceAccountNameKey]}}
		}
	case mutatingKind, validatingKind:
		var services []id
		for _, webhook := range maps(u.Object, "webhooks") {
			services = append(services, serviceAt(webhook, "clientConfig", "service"))
		}
		return services
	case apiServiceKind:
		return []id{serviceAt(u.Object, "spec", "service")}
	case definitionKind:
		return []id{serviceAt(u.Object, conversion...)}
	}
	return nil
}

// conversion is the path at which a definition names the Service that converts its objects.
var conversion = []string{"spec", "conversion", "webhook", "clientConfig", "service"}

func serviceAt(object map[string]any, path ...string) id {
	service, _, _ := unstructured.NestedMap(object, path...)
	return id{serviceKind, text(service, "namespace"), text(service, "name")}
}

// templates are the paths to the pod specification, by kind.
var templates = map[schema.GroupKind][]string{
	podKind:           {"spec"},
	controllerKind:    {"spec", "template", "spec"},
	deploymentKind:    {"spec", "template", "spec"},
	statefulSetKind:   {"spec", "template", "spec"},
	daemonSetKind:     {"spec", "template", "spec"},
	replicaSetKind:    {"spec", "template", "spec"},
	providers.JobKind: {"spec", "template", "spec"},
	cronJobKind:       {"spec", "jobTemplate", "spec", "template", "spec"},
}

// podSpec returns the specification of the pods that an object creates; nil: it creates no
// pods.
func podSpec(u *unstructured.Unstructured) map[string]any {
	path, ok := templates[u.GroupVersionKind().GroupKind()]
	if !ok {
		return nil
	}
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	spec, _ := value.(map[string]any)
	return spec
}

// namedByPod returns the objects without which a pod is refused or does not start.
func namedByPod(spec map[string]any, namespace string) []id {
	named := []id{
		{serviceAccountKind, namespace, text(spec, "serviceAccountName")},
		{serviceAccountKind, namespace, text(spec, "serviceAccount")},
		{kind: priorityClassKind, name: text(spec, "priorityClassName")},
		{kind: runtimeClassKind, name: text(spec, "runtimeClassName")},
	}
	inNamespace := func(kind schema.GroupKind, name string) {
		if name != "" {
			named = append(named, id{kind, namespace, name})
		}
	}
	for _, secret := range maps(spec, "imagePullSecrets") {
		inNamespace(providers.SecretKind, text(secret, "name"))
	}
	for _, volume := range maps(spec, "volumes") {
		inNamespace(providers.ClaimKind, text(volume, "persistentVolumeClaim", "claimName"))
		inNamespace(providers.SecretKind, text(volume, "secret", "secretName"))
		for _, source := range append(maps(volume, "projected", "sources"), volume) {
			inNamespace(providers.ConfigMapKind, text(source, "configMap", "name"))
			inNamespace(providers.SecretKind, text(source, "secret", "name"))
		}
	}
	for _, container := range append(maps(spec, "initContainers"), maps(spec, "containers")...) {
		for _, variable := range maps(container, "env") {
			inNamespace(providers.ConfigMapKind, text(variable, "valueFrom", "configMapKeyRef", "name"))
			inNamespace(providers.SecretKind, text(variable, "valueFrom", "secretKeyRef", "name"))
		}
		for _, all := range maps(container, "envFrom") {
			inNamespace(providers.ConfigMapKind, text(all, "configMapRef", "name"))
			inNamespace(providers.SecretKind, text(all, "secretRef", "name"))
		}
	}
	return named
}

// namedBySet returns the Service and the storage classes of a StatefulSet.
func namedBySet(u *unstructured.Unstructured) []id {
	if u.GroupVersionKind().GroupKind() != statefulSetKind {
		return nil
	}
	named := []id{{serviceKind, u.GetNamespace(), text(u.Object, "spec", "serviceName")}}
	for _, claim := range maps(u.Object, "spec", "volumeClaimTemplates") {
		named = append(named, id{kind: storageClassKind, name: text(claim, "spec", "storageClassName")})
	}
	return named
}

// text returns the string at a path in an object; empty: there is none.
func text(object map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedString(object, path...)
	return value
}

// maps returns the elements of the list at a path that are maps.
func maps(object map[string]any, path ...string) []map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	list, _ := value.([]any)
	var out []map[string]any
	for _, element := range list {
		if m, ok := element.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}
