package proof

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// Keeper says who may set a field that kolla does not declare. The field decides, and
// not the name of whoever wrote it: a field manager may give itself any name.
type Keeper int

// The keepers. The zero value is invalid.
const (
	_      Keeper = iota
	Nobody        // a value there is drift, unless it is the server's default
	Others        // people and controllers may have it; a plan lists it
	System        // the server or a controller of the cluster keeps it; no plan tells of it
)

// anyElement stands for each element of a list in the paths below.
const anyElement = "*"

// RestartedAt is the annotation of a pod template by which kubectl rollout restart makes
// new pods.
const RestartedAt = "kubectl.kubernetes.io/restartedAt"

// kept is a tree of fields by name; a field with a keeper has no fields below it.
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

// keptBy are the fields that Kubernetes itself keeps in objects of its kinds, or leaves to
// controllers, beside status and the metadata that keptMetadata knows. What a mutating
// webhook sets again with every write is not here: a dry run shows that.
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
	keep(System, "", "Pod", "spec") // but for a few fields, nobody can change it; see AddedToPod
	keep(System, "batch", "Job", "spec.selector", "spec.template")
	keep(System, "coordination.k8s.io", "Lease", "spec")
	keep(System, "certificates.k8s.io", "CertificateSigningRequest", "spec.username", "spec.uid", "spec.groups", "spec.extra")
	// Certificates, by which the API server calls: cert-manager and others write them.
	keep(Others, "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "webhooks.*.clientConfig.caBundle")
	keep(Others, "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "webhooks.*.clientConfig.caBundle")
	keep(Others, "apiextensions.k8s.io", "CustomResourceDefinition", "spec.conversion.webhook.clientConfig.caBundle")
	keep(Others, "apiregistration.k8s.io", "APIService", "spec.caBundle")
	// Controllers of tokens, such as OpenShift's, list their Secrets in accounts.
	keep(Others, "", "ServiceAccount", "secrets", "imagePullSecrets")
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"} {
		keep(0, "apps", kind)
		all[schema.GroupKind{Group: "apps", Kind: kind}].add(Others, "spec", "template", "metadata", "annotations", RestartedAt)
	}
	return all
}()

// Shared reports whether objects of the kind have fields that are left to others, beside
// labels and annotations.
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

// headless are the kept fields of a Service without an address: the server allocates an
// address to each Service that does not ask for none.
var headless = func() *kept {
	spec := maps.Clone(keptBy[serviceKind].fields["spec"].fields)
	delete(spec, "clusterIP")
	delete(spec, "clusterIPs")
	return &kept{fields: map[string]*kept{"spec": {fields: spec}}}
}()

// Headless reports whether the object is a Service without an address.
func Headless(u *unstructured.Unstructured) bool {
	spec, _ := u.Object["spec"].(map[string]any)
	return spec["clusterIP"] == corev1.ClusterIPNone && u.GroupVersionKind().GroupKind() == serviceKind
}

// AddedToPod names the fields of the spec that others can add to a Pod and nobody can take
// out: what kubectl debug puts in, and when the Pod ends.
func AddedToPod(u *unstructured.Unstructured) (fields []string) {
	if u.GroupVersionKind().GroupKind() != podKind {
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

// keptBeside are the kept fields of a Pod that has some of those: all others of its spec.
func keptBeside(pod *unstructured.Unstructured, added []string) *kept {
	spec := &kept{fields: map[string]*kept{}}
	for field := range pod.Object["spec"].(map[string]any) {
		if !slices.Contains(added, field) {
			spec.add(System, field)
		}
	}
	return &kept{fields: map[string]*kept{"spec": spec}}
}

// The kinds of which the kept fields depend on the object.
var (
	serviceKind = schema.GroupKind{Kind: "Service"}
	podKind     = schema.GroupKind{Kind: "Pod"}
)

// fieldsKeptIn are the kept fields of one object; nil: there are none.
func fieldsKeptIn(u *unstructured.Unstructured) *kept {
	kind := u.GroupVersionKind().GroupKind()
	switch kind {
	case serviceKind:
		if Headless(u) {
			return headless
		}
	case podKind:
		if added := AddedToPod(u); added != nil {
			return keptBeside(u, added)
		}
	case providers.SecretKind:
		if u.Object["type"] == string(corev1.SecretTypeServiceAccountToken) {
			return &kept{fields: map[string]*kept{"data": {keeper: System}}}
		}
	case schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:
		if _, aggregated := u.Object["aggregationRule"].(map[string]any); aggregated {
			return &kept{fields: map[string]*kept{"rules": {keeper: System}}}
		}
	}
	return keptBy[kind]
}

// KeeperOf says who may set a field of the object that kolla does not declare. In the
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

// KeptBelow reports whether the fields below one may have different keepers.
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

// notes are annotations that the server, its controllers and kubectl leave for
// themselves.
var notes = []string{
	corev1.LastAppliedConfigAnnotation, "deployment.kubernetes.io/", "deprecated.daemonset.template.generation",
	"pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/",
	"control-plane.alpha.kubernetes.io/", "endpoints.kubernetes.io/", "autoscaling.alpha.kubernetes.io/",
	"kubernetes.io/service-account.", "rbac.authorization.kubernetes.io/", "batch.kubernetes.io/",
}

// strict are labels that decide what pods or users may do, or what kolla takes for its
// own.
var strict = []string{"pod-security.kubernetes.io/", "rbac.authorization.k8s.io/", "kolla.openstack.org/", "app.kubernetes.io/"}

// keptMetadata is KeeperOf, below metadata.
func keptMetadata(path []string) Keeper {
	switch {
	case len(path) > 0 && path[0] == "ownerReferences":
		return Nobody // who owns an object has it deleted
	case len(path) < 2 || path[0] != "labels" && path[0] != "annotations":
		return System
	case path[0] == "annotations" && hasPrefix(path[1], notes), path[1] == corev1.LabelMetadataName:
		return System
	case hasPrefix(path[1], strict):
		return Nobody
	}
	return Others
}

func hasPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// Note is a label or annotation that is left to others.
type Note struct{ Path []string }

// Notes lists the labels and annotations of a live object that others have added and
// may have, in order.
func Notes(live *unstructured.Unstructured, manager string) []Note {
	own, _ := appliedBy(live, manager)
	var found []Note
	in := func(content map[string]any, own owned, path ...string) {
		for _, name := range path {
			content, _ = content[name].(map[string]any)
			own, _ = own.child("f:" + name)
		}
		for _, key := range slices.Sorted(maps.Keys(content)) {
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
