package order

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"kolla.openstack.org/kolla/providers/kinds"
)

// guards returns the edges from custom resources to the workloads that must answer before
// the resource can be written: the workloads behind the webhooks for its kind, and the
// APIService that serves the kind. Objects of Kubernetes' own kinds get no such edges: a
// webhook for these must tolerate its own absence, since it would otherwise block the
// creation of its own pods.
//
// An APIService waits for the workload behind it, because discovery fails for all clients
// until that workload answers. A webhook configuration does not wait: some controllers
// become ready only after they have found theirs and written a certificate into it.
func (x *index) guards() []Edge[int] {
	custom := x.custom()
	var edges []Edge[int]
	for i := range x.objects {
		u := x.objects[i].Manifest
		switch u.GroupVersionKind().GroupKind() {
		case kinds.MutatingWebhookConfiguration, kinds.ValidatingWebhookConfiguration:
			for _, webhook := range maps(u.Object, "webhooks") {
				behind := x.behind(serviceAt(webhook, "clientConfig", "service"))
				for _, from := range custom {
					if len(behind) > 0 && x.asked(webhook, from) {
						edges = append(edges, to(from, behind)...)
					}
				}
			}
		case kinds.CustomResourceDefinition:
			kind, _ := defined(u)
			behind := x.behind(serviceAt(u.Object, conversion...))
			for _, from := range custom {
				if x.kind(from) == kind {
					edges = append(edges, to(from, behind)...)
				}
			}
		case kinds.APIService:
			edges = append(edges, to(i, x.behind(serviceAt(u.Object, "spec", "service")))...)
			for _, from := range custom {
				if x.kind(from).Group == text(u.Object, "spec", "group") {
					edges = append(edges, Edge[int]{from, i, Essential})
				}
			}
		}
	}
	return edges
}

func to(from int, all []int) []Edge[int] {
	var edges []Edge[int]
	for _, one := range all {
		if one != from {
			edges = append(edges, Edge[int]{from, one, Guard})
		}
	}
	return edges
}

func (x *index) kind(i int) schema.GroupKind {
	return x.objects[i].Ref().GVK.GroupKind()
}

// custom returns the objects of kinds that are not Kubernetes' own.
func (x *index) custom() []int {
	var out []int
	for i := range x.objects {
		kind := x.kind(i)
		_, defined := x.definers[kind]
		if defined || isCustom(kind.Group) {
			out = append(out, i)
		}
	}
	return out
}

// isCustom reports whether an API group is not one of Kubernetes' own.
func isCustom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// behind returns the workloads whose pods the Service selects.
func (x *index) behind(service id) []int {
	at, ok := x.byID[service]
	if !ok {
		return nil
	}
	selector, _, _ := unstructured.NestedStringMap(x.objects[at].Manifest.Object, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	var out []int
	for i := range x.objects {
		u := x.objects[i].Manifest
		switch x.kind(i) {
		case kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet:
		default:
			continue
		}
		labels, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
		if u.GetNamespace() == service.namespace && covers(labels, selector) {
			out = append(out, i)
		}
	}
	return out
}

func covers(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// asked reports whether the server calls a webhook for new objects of the kind. It ignores
// the selectors of the webhook: an unnecessary wait does no harm.
func (x *index) asked(webhook map[string]any, object int) bool {
	kind := x.kind(object)
	resource := ""
	if definer, ok := x.definers[kind]; ok {
		resource = text(x.objects[definer].Manifest.Object, "spec", "names", "plural")
	}
	for _, rule := range maps(webhook, "rules") {
		groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		all := slices.Contains(resources, "*") || slices.Contains(resources, "*/*")
		if (slices.Contains(groups, kind.Group) || slices.Contains(groups, "*")) &&
			(all || resource == "" || slices.Contains(resources, resource)) {
			return true
		}
	}
	return false
}
