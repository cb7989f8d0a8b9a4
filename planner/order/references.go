package order

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers/kinds"
)

// Kinds that name other objects, or are named by them.
var ()

const rbac = "rbac.authorization.k8s.io"

// namedBy returns the objects that an object names and that must exist before it.
func namedBy(u *unstructured.Unstructured) []id {
	namespace := u.GetNamespace()
	if pod := podSpec(u); pod != nil {
		return append(namedByPod(pod, namespace), namedBySet(u)...)
	}
	switch u.GroupVersionKind().GroupKind() {
	case kinds.PersistentVolumeClaim:
		return []id{
			{kind: kinds.StorageClass, name: text(u.Object, "spec", "storageClassName")},
			{kind: kinds.PersistentVolume, name: text(u.Object, "spec", "volumeName")},
		}
	case kinds.RoleBinding, kinds.ClusterRoleBinding:
		role := id{kind: schema.GroupKind{Group: rbac, Kind: text(u.Object, "roleRef", "kind")}, name: text(u.Object, "roleRef", "name")}
		if role.kind.Kind == "Role" {
			role.namespace = namespace
		}
		return []id{role}
	case kinds.Secret: // a controller deletes a token without an account
		if text(u.Object, "type") == string(corev1.SecretTypeServiceAccountToken) {
			return []id{{kinds.ServiceAccount, namespace, u.GetAnnotations()[corev1.ServiceAccountNameKey]}}
		}
	case kinds.MutatingWebhookConfiguration, kinds.ValidatingWebhookConfiguration:
		var services []id
		for _, webhook := range maps(u.Object, "webhooks") {
			services = append(services, serviceAt(webhook, "clientConfig", "service"))
		}
		return services
	case kinds.APIService:
		return []id{serviceAt(u.Object, "spec", "service")}
	case kinds.CustomResourceDefinition:
		return []id{serviceAt(u.Object, conversion...)}
	}
	return nil
}

// conversion is the path at which a definition names the Service that converts its objects.
var conversion = []string{"spec", "conversion", "webhook", "clientConfig", "service"}

func serviceAt(object map[string]any, path ...string) id {
	service, _, _ := unstructured.NestedMap(object, path...)
	return id{kinds.Service, text(service, "namespace"), text(service, "name")}
}

// podSpec returns the specification of the pods that an object creates; nil: it creates no
// pods.
func podSpec(u *unstructured.Unstructured) map[string]any {
	path, ok := kinds.Pods(u.GroupVersionKind().GroupKind())
	if !ok {
		return nil
	}
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, append(slices.Clone(path), "spec")...)
	spec, _ := value.(map[string]any)
	return spec
}

// namedByPod returns the objects without which a pod is refused or does not start.
func namedByPod(spec map[string]any, namespace string) []id {
	named := []id{
		{kinds.ServiceAccount, namespace, text(spec, "serviceAccountName")},
		{kinds.ServiceAccount, namespace, text(spec, "serviceAccount")},
		{kind: kinds.PriorityClass, name: text(spec, "priorityClassName")},
		{kind: kinds.RuntimeClass, name: text(spec, "runtimeClassName")},
	}
	inNamespace := func(kind schema.GroupKind, name string) {
		if name != "" {
			named = append(named, id{kind, namespace, name})
		}
	}
	for _, secret := range maps(spec, "imagePullSecrets") {
		inNamespace(kinds.Secret, text(secret, "name"))
	}
	for _, volume := range maps(spec, "volumes") {
		inNamespace(kinds.PersistentVolumeClaim, text(volume, "persistentVolumeClaim", "claimName"))
		inNamespace(kinds.Secret, text(volume, "secret", "secretName"))
		for _, source := range append(maps(volume, "projected", "sources"), volume) {
			inNamespace(kinds.ConfigMap, text(source, "configMap", "name"))
			inNamespace(kinds.Secret, text(source, "secret", "name"))
		}
	}
	for _, container := range append(maps(spec, "initContainers"), maps(spec, "containers")...) {
		for _, variable := range maps(container, "env") {
			inNamespace(kinds.ConfigMap, text(variable, "valueFrom", "configMapKeyRef", "name"))
			inNamespace(kinds.Secret, text(variable, "valueFrom", "secretKeyRef", "name"))
		}
		for _, all := range maps(container, "envFrom") {
			inNamespace(kinds.ConfigMap, text(all, "configMapRef", "name"))
			inNamespace(kinds.Secret, text(all, "secretRef", "name"))
		}
	}
	return named
}

// namedBySet returns the Service, the storage classes and the claims of a StatefulSet. A declared
// claim with the name that the StatefulSet would give it comes first, so that the pod uses it.
func namedBySet(u *unstructured.Unstructured) []id {
	if u.GroupVersionKind().GroupKind() != kinds.StatefulSet {
		return nil
	}
	named := []id{{kinds.Service, u.GetNamespace(), text(u.Object, "spec", "serviceName")}}
	replicas, there, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
	if !there {
		replicas = 1
	}
	for _, claim := range maps(u.Object, "spec", "volumeClaimTemplates") {
		named = append(named, id{kind: kinds.StorageClass, name: text(claim, "spec", "storageClassName")})
		for i := range replicas {
			named = append(named, id{kinds.PersistentVolumeClaim, u.GetNamespace(), fmt.Sprintf("%s-%s-%d", text(claim, "metadata", "name"), u.GetName(), i)})
		}
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
