package proof

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers/kinds"
)

// Keeper says who may set a field that kolla does not declare. It depends on the field and
// not on the field manager, because clients choose the names of field managers.
type Keeper int

// The keepers. The zero value is invalid.
const (
	_      Keeper = iota
	Nobody        // a value is drift, unless it is the server's default
	Others        // people and controllers may set it; a plan lists it
	System        // the server or a controller of the cluster sets it; plans do not show it
)

// anyElement stands for each element of a list in the paths below.
const anyElement = "*"

// restartedAt is the annotation of a pod template that kubectl rollout restart sets.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// kept is a tree of undeclared fields that others may set, by name. A field with a keeper
// has no fields below it.
type kept struct {
	keeper Keeper
	fields map[string]*kept
}

func (k *kept) add(keeper Keeper, path ...string) {
	for _, name := range path {
		if k.fields == nil {
			k.fields = map[string]*kept{}
		}
		if k.fields[name] == nil {
			k.fields[name] = &kept{}
		}
		k = k.fields[name]
	}
	k.keeper = keeper
}

// keptBy has the fields, by kind, that Kubernetes itself sets or leaves to controllers.
// status is not listed, nor is metadata, for which see keptMetadata. Fields that a mutating
// webhook sets with every write are not listed either: a dry run shows them.
var keptBy = func() map[schema.GroupKind]*kept {
	all := map[schema.GroupKind]*kept{}
	keep := func(keeper Keeper, group, kind string, paths ...string) {
		k := all[schema.GroupKind{Group: group, Kind: kind}]
		if k == nil {
			k = &kept{}
			all[schema.GroupKind{Group: group, Kind: kind}] = k
		}
		for _, path := range paths {
			k.add(keeper, strings.Split(path, ".")...)
		}
	}
	keep(System, "", "Service", "spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy", "spec.healthCheckNodePort", "spec.ports.*.nodePort")
	keep(System, "", "PersistentVolumeClaim", "spec.volumeName", "spec.storageClassName", "spec.volumeMode", "spec.dataSource", "spec.dataSourceRef")
	keep(System, "", "PersistentVolume", "spec.claimRef")
	keep(System, "", "Namespace", "spec.finalizers")
	keep(System, "", "Pod", "spec") // nearly immutable; see AddedToPod for the exceptions
	keep(System, "batch", "Job", "spec.selector", "spec.template")
	keep(System, "coordination.k8s.io", "Lease", "spec")
	keep(System, "certificates.k8s.io", "CertificateSigningRequest", "spec.username", "spec.uid", "spec.groups", "spec.extra")
	// CA certificates with which the API server verifies callees: cert-manager and others
	// write them.
	keep(Others, "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "webhooks.*.clientConfig.caBundle")
	keep(Others, "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "webhooks.*.clientConfig.caBundle")
	keep(Others, "apiextensions.k8s.io", "CustomResourceDefinition", "spec.conversion.webhook.clientConfig.caBundle")
	keep(Others, "apiregistration.k8s.io", "APIService", "spec.caBundle")
	// Token controllers, such as OpenShift's, list their Secrets in accounts.
	keep(Others, "", "ServiceAccount", "secrets", "imagePullSecrets")
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"} {
		keep(0, "apps", kind)
		all[schema.GroupKind{Group: "apps", Kind: kind}].add(Others, "spec", "template", "metadata", "annotations", restartedAt)
	}
	return all
}()

// Shared reports whether objects of the kind have fields, besides labels and annotations,
// that are left to others.
func Shared(kind schema.GroupKind) bool {
	return keptBy[kind].shared()
}

func (k *kept) shared() bool {
	if k == nil || k.keeper == Others {
		return k != nil
	}
	for name, inner := range k.fields {
		if name != "annotations" && inner.shared() {
			return true
		}
	}
	return false
}

// headless has the kept fields of a headless Service. Its clusterIP is not kept: the
// server allocates an address unless the Service asks for none.
var headless = func() *kept {
	spec := maps.Clone(keptBy[kinds.Service].fields["spec"].fields)
	delete(spec, "clusterIP")
	delete(spec, "clusterIPs")
	return &kept{fields: map[string]*kept{"spec": {fields: spec}}}
}()

// Headless reports whether the object is a headless Service (clusterIP: None).
func Headless(u *unstructured.Unstructured) bool {
	spec, _ := u.Object["spec"].(map[string]any)
	return spec["clusterIP"] == corev1.ClusterIPNone && u.GroupVersionKind().GroupKind() == kinds.Service
}

// AddedToPod returns the fields of a Pod's spec that others can add and nobody can remove:
// ephemeral containers (kubectl debug), the active deadline, and tolerations.
func AddedToPod(u *unstructured.Unstructured) (fields []string) {
	if u.GroupVersionKind().GroupKind() != kinds.Pod {
		return nil
	}
	spec, _ := u.Object["spec"].(map[string]any)
	if _, there := spec["activeDeadlineSeconds"]; there {
		fields = append(fields, "activeDeadlineSeconds")
	}
	if containers, _ := spec["ephemeralContainers"].([]any); len(containers) > 0 {
		fields = append(fields, "ephemeralContainers")
	}
	tolerations, _ := spec["tolerations"].([]any)
	if slices.ContainsFunc(tolerations, func(t any) bool {
		toleration, _ := t.(map[string]any)
		key, _ := toleration["key"].(string)
		return !strings.HasPrefix(key, "node.kubernetes.io/") // else the server gives them
	}) {
		fields = append(fields, "tolerations")
	}
	return fields
}

// keptBeside returns the kept fields of a Pod with such additions: all other fields of its
// spec.
func keptBeside(pod *unstructured.Unstructured, added []string) *kept {
	spec := &kept{fields: map[string]*kept{}}
	for field := range pod.Object["spec"].(map[string]any) {
		if !slices.Contains(added, field) {
			spec.add(System, field)
		}
	}
	return &kept{fields: map[string]*kept{"spec": spec}}
}

// fieldsKeptIn returns the kept fields of one object; nil: there are none.
func fieldsKeptIn(u *unstructured.Unstructured) *kept {
	kind := u.GroupVersionKind().GroupKind()
	switch kind {
	case kinds.Service:
		if Headless(u) {
			return headless
		}
	case kinds.Pod:
		if added := AddedToPod(u); added != nil {
			return keptBeside(u, added)
		}
	case kinds.Secret:
		if u.Object["type"] == string(corev1.SecretTypeServiceAccountToken) {
			return &kept{fields: map[string]*kept{"data": {keeper: System}}}
		}
	case kinds.ClusterRole:
		if _, aggregated := u.Object["aggregationRule"].(map[string]any); aggregated {
			return &kept{fields: map[string]*kept{"rules": {keeper: System}}}
		}
	}
	return keptBy[kind]
}

// KeeperOf returns who may set a field of the object that kolla does not declare. In the
// path, "*" stands for the element of a list.
func KeeperOf(u *unstructured.Unstructured, path []string) Keeper {
	switch {
	case len(path) == 0, path[0] == "status", path[0] == "apiVersion", path[0] == "kind":
		return System
	case path[0] == "metadata":
		return keptMetadata(path[1:])
	}
	k := fieldsKeptIn(u)
	for _, name := range path {
		if k == nil || k.keeper != 0 {
			break
		}
		k = k.fields[name]
	}
	if k == nil || k.keeper == 0 {
		return Nobody
	}
	return k.keeper
}

// KeptBelow reports whether the fields below a field may have different keepers.
func KeptBelow(u *unstructured.Unstructured, path []string) bool {
	if path[0] == "metadata" {
		return len(path) == 1 || len(path) == 2 && (path[1] == "labels" || path[1] == "annotations")
	}
	k := fieldsKeptIn(u)
	for _, name := range path {
		k = k.at(name)
	}
	return k != nil && k.keeper == 0
}

// notes are the prefixes of annotations that the server, its controllers and kubectl keep
// for themselves.
var notes = []string{
	corev1.LastAppliedConfigAnnotation, "deployment.kubernetes.io/", "deprecated.daemonset.template.generation",
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/",
	"control-plane.alpha.kubernetes.io/", "endpoints.kubernetes.io/", "autoscaling.alpha.kubernetes.io/conditions", "autoscaling.alpha.kubernetes.io/current-metrics",
	"kubernetes.io/service-account.", "rbac.authorization.kubernetes.io/", "batch.kubernetes.io/",
}

// strict are the prefixes of labels and annotations that decide the rights of pods or
// users, or by which kolla selects its objects.
var strict = []string{"pod-security.kubernetes.io/", "rbac.authorization.k8s.io/", "kolla.openstack.org/", "app.kubernetes.io/"}

// keptMetadata is KeeperOf for fields below metadata.
func keptMetadata(path []string) Keeper {
	switch {
	case len(path) > 0 && path[0] == "ownerReferences":
		return Nobody // an owner can have the object deleted
	case len(path) < 2 || path[0] != "labels" && path[0] != "annotations":
		return System
	case path[0] == "annotations" && hasPrefix(path[1], notes), path[1] == corev1.LabelMetadataName:
		return System
	case hasPrefix(path[1], strict), path[0] == "annotations" && kinds.FieldBehind(path[1]) != "":
		return Nobody
	}
	return Others
}

func hasPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// Note is a label or annotation that others added and may keep.
type Note struct{ Path []string }

// Notes returns the labels and annotations of a live object that others added and may
// keep, sorted.
func Notes(live *unstructured.Unstructured, manager string) []Note {
	own, _ := appliedBy(live, manager)
	var found []Note
	in := func(content map[string]any, own owned, path ...string) {
		for _, name := range path {
			content, _ = content[name].(map[string]any)
			own, _ = own.child("f:" + name)
		}
		for _, key := range sortedKeys(content) {
			full := append(slices.Clip(path), key)
			if _, declared := own["f:"+key]; !declared && KeeperOf(live, full) == Others {
				found = append(found, Note{full})
			}
		}
	}
	in(live.Object, own, "metadata", "annotations")
	in(live.Object, own, "metadata", "labels")
	if _, templated := live.Object["spec"].(map[string]any); templated && keptBy[live.GroupVersionKind().GroupKind()] != nil {
		in(live.Object, own, "spec", "template", "metadata", "annotations")
	}
	return found
}
