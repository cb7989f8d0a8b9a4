package openstack

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang"
)

// backend is a Service of a manifest that the API server asks, or a workload behind it.
type backend struct {
	block   string
	address lang.Address
}

// serviceName names a Service in the cluster.
type serviceName struct{ namespace, name string }

// backendsOf finds the Services of manifests, each with the workloads behind it.
func (r *renderer) backendsOf() map[serviceName][]backend {
	type workload struct {
		backend
		namespace string
		labels    labels.Set
	}
	var workloads []workload
	backends := map[serviceName][]backend{}
	selectors := map[serviceName]labels.Selector{}
	for _, m := range r.config.Manifests {
		for _, o := range m.Objects {
			u := &unstructured.Unstructured{Object: o.Content}
			namespace := cmp.Or(u.GetNamespace(), r.config.Cloud.Namespace)
			b := backend{m.Block, lang.Address{Block: m.Block, Kind: u.GetKind(), Name: u.GetName()}}
			if namespace != r.config.Cloud.Namespace {
				b.address.Namespace = namespace
			}
			switch kind := u.GroupVersionKind().GroupKind(); {
			case kind == schema.GroupKind{Kind: "Service"}:
				name := serviceName{namespace, u.GetName()}
				selector, _, err := unstructured.NestedStringMap(u.Object, "spec", "selector")
				if backends[name] = []backend{b}; err == nil && len(selector) > 0 {
					selectors[name] = labels.SelectorFromSet(selector)
				}
			case kind.Group == "apps" && slices.Contains(broughtKinds, kind):
				given, _, err := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
				if err == nil {
					workloads = append(workloads, workload{b, namespace, given})
				}
			}
		}
	}
	for name, selector := range selectors {
		for _, w := range workloads {
			if w.namespace == name.namespace && selector.Matches(w.labels) {
				backends[name] = append(backends[name], w.backend)
			}
		}
	}
	return backends
}

// answeredBy are the objects of manifests that answer for an object by which the API server
// asks a Service: an APIService, or the configuration of a webhook. It is made when they
// answer, and goes before they do: else discovery, or every write, would fail meanwhile.
// A backend in a block that needs this one cannot be there before.
func (r *renderer) answeredBy(block string, u *unstructured.Unstructured) []lang.Address {
	var out []lang.Address
	for _, name := range servicesAsked(u) {
		for _, b := range r.backends[name] {
			if b.block == block || !r.needs(b.block, block) {
				out = append(out, b.address)
			}
		}
	}
	return out
}

// servicesAsked are the Services that the API server asks because of an object.
func servicesAsked(u *unstructured.Unstructured) []serviceName {
	named := func(holder map[string]any, path ...string) []serviceName {
		service, there, err := unstructured.NestedMap(holder, path...)
		namespace, _ := service["namespace"].(string)
		name, _ := service["name"].(string)
		if !there || err != nil {
			return nil
		}
		return []serviceName{{namespace, name}}
	}
	switch u.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		return named(u.Object, "spec", "service")
	case schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
		schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:
		var out []serviceName
		hooks, _ := u.Object["webhooks"].([]any)
		for _, hook := range hooks {
			fields, _ := hook.(map[string]any)
			out = append(out, named(fields, "clientConfig", "service")...)
		}
		return out
	}
	return nil
}

// needs reports whether a block needs another one, directly or through others.
func (r *renderer) needs(block, other string) bool {
	direct := map[string][]string{}
	for i := range r.config.Services {
		direct[r.config.Services[i].Block] = r.config.Services[i].Needs
	}
	for _, m := range r.config.Manifests {
		direct[m.Block] = m.Needs
	}
	seen := map[string]bool{}
	var reaches func(block string) bool
	reaches = func(block string) bool {
		if seen[block] {
			return false
		}
		seen[block] = true
		return slices.ContainsFunc(direct[block], func(next string) bool { return next == other || reaches(next) })
	}
	return reaches(block)
}
