package objects

import (
	"cmp"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

var (
	validatingKind = kinds.ValidatingWebhookConfiguration.WithVersion("v1")
	mutatingKind   = kinds.MutatingWebhookConfiguration.WithVersion("v1")
	slicesKind     = schema.GroupVersionKind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}
)

// webhook is what both kinds of webhooks have in common.
type webhook struct {
	configuration string // "ValidatingWebhookConfiguration policy"
	admissionv1.ValidatingWebhook
}

func (h *webhook) service() *admissionv1.ServiceReference { return h.ClientConfig.Service }

// ReadWebhooks also reads the endpoints of the Services that answer for webhooks.
func ReadWebhooks(f *cluster.Facts) []providers.Scope {
	scopes := []providers.Scope{{GVK: validatingKind}, {GVK: mutatingKind}, {GVK: cluster.NamespaceKind}}
	for _, kind := range []schema.GroupVersionKind{validatingKind, mutatingKind} {
		hooks, _ := webhooks(f, kind)
		for i := range hooks {
			scopes = append(scopes, providers.Scope{GVK: slicesKind, Namespace: hooks[i].service().Namespace})
		}
	}
	return scopes
}

// webhooks returns the webhooks of a kind that refuse objects if their Service does not answer.
func webhooks(f *cluster.Facts, kind schema.GroupVersionKind) ([]webhook, error) {
	live, err := f.List(kind, "")
	if err != nil {
		return nil, err
	}
	var out []webhook
	for _, u := range live {
		// The fields of mutating webhooks are those of validating ones, and one more.
		var found admissionv1.ValidatingWebhookConfiguration
		if !cluster.Decode(u, &found) {
			continue
		}
		for _, hook := range found.Webhooks {
			if hook.ClientConfig.Service != nil && (hook.FailurePolicy == nil || *hook.FailurePolicy == admissionv1.Fail) {
				out = append(out, webhook{kind.Kind + " " + u.GetName(), hook})
			}
		}
	}
	return out, nil
}

// Webhooks reports webhooks for objects of the configuration whose Service has no endpoint that
// is ready.
func Webhooks(f *cluster.Facts) ([]cluster.Finding, error) {
	namespaces, err := namespaces(f)
	if err != nil {
		return nil, err
	}
	requests := admittedObjects(f)
	var out []cluster.Finding
	var failed error
	for _, kind := range []schema.GroupVersionKind{validatingKind, mutatingKind} {
		hooks, err := webhooks(f, kind)
		failed = cmp.Or(failed, err)
		for i := range hooks {
			h := &hooks[i]
			var blocked []string
			for _, r := range requests {
				if h.matches(r, namespaces) && !slices.Contains(blocked, r.address) {
					blocked = append(blocked, r.address)
				}
			}
			if len(blocked) == 0 {
				continue
			}
			answers, err := answers(f, h.service())
			failed = cmp.Or(failed, err)
			if err == nil && !answers {
				out = append(out, h.finding(blocked))
			}
		}
	}
	return out, failed
}

func (h *webhook) finding(blocked []string) cluster.Finding {
	finding := cluster.Finding{
		Severity: cluster.Error, Subject: h.configuration,
		Problem: fmt.Sprintf("webhook %s has no ready endpoint: Service %s/%s", h.Name, h.service().Namespace, h.service().Name),
		Reason:  fmt.Sprintf("The API server refuses %s while nothing answers.", words.Few(blocked, 4)),
		Next:    fmt.Sprintf("Bring the pods of the Service back: kubectl -n %s describe service %s. If the program was removed for good, delete its configuration of webhooks.", h.service().Namespace, h.service().Name),
	}
	if len(h.MatchConditions) > 0 {
		finding.Severity = cluster.Warning
		finding.Reason = fmt.Sprintf("The API server may refuse %s while nothing answers. The webhook has matchConditions, which kolla does not evaluate.", words.Few(blocked, 4))
	}
	return finding
}

// admittedObjects is an object that the API server admits during an apply.
type admitted struct {
	address   string // of the object of the configuration
	kind      schema.GroupVersionKind
	resource  string
	namespace string // empty: outside of namespaces, or the object is a Namespace
	labels    map[string]string
}

// admittedObjects returns the objects of the configuration, and the pods of its workloads.
func admittedObjects(f *cluster.Facts) []admitted {
	var out []admitted
	for i := range f.Objects {
		o := &f.Objects[i]
		kind := o.Ref().GVK
		if group := kind.GroupKind(); group == kinds.ValidatingWebhookConfiguration || group == kinds.MutatingWebhookConfiguration {
			continue // no webhook is called for these
		}
		out = append(out, admitted{o.Address.String(), kind, f.Resource(kind), o.Ref().Namespace, o.Manifest.GetLabels()})
		path, runs := kinds.Pods(kind.GroupKind())
		if !runs || len(path) == 0 || o.Skipped() {
			continue
		}
		own, _, _ := unstructured.NestedStringMap(o.Manifest.Object, append(slices.Clone(path), "metadata", "labels")...)
		out = append(out, admitted{"pods of " + o.Address.String(), cluster.PodKind, "pods", o.Ref().Namespace, own})
	}
	return out
}

// matches reports whether the API server calls the webhook for an object that is created or
// changed, apart from matchConditions.
func (h *webhook) matches(a admitted, namespaces map[string]*unstructured.Unstructured) bool {
	if !slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool { return covers(r, a) }) || !selects(h.ObjectSelector, a.labels) {
		return false
	}
	name := a.namespace
	if a.kind.GroupKind() == kinds.Namespace {
		return selects(h.NamespaceSelector, a.labels)
	}
	if name == "" {
		return true // the selector of namespaces does not apply
	}
	namespace := namespaces[name]
	if namespace == nil {
		return selects(h.NamespaceSelector, map[string]string{corev1.LabelMetadataName: name})
	}
	return selects(h.NamespaceSelector, namespace.GetLabels())
}

// covers reports whether a rule of a webhook is about an object.
func covers(r admissionv1.RuleWithOperations, a admitted) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, value)
	}
	writes := slices.ContainsFunc(r.Operations, func(o admissionv1.OperationType) bool {
		return o == admissionv1.OperationAll || o == admissionv1.Create || o == admissionv1.Update
	})
	scoped := r.Scope == nil || *r.Scope == admissionv1.AllScopes || (*r.Scope == admissionv1.NamespacedScope) == (a.namespace != "")
	return writes && scoped && has(r.APIGroups, a.kind.Group) && has(r.APIVersions, a.kind.Version) &&
		(has(r.Resources, a.resource) || slices.Contains(r.Resources, "*/*"))
}

func selects(selector *metav1.LabelSelector, values map[string]string) bool {
	if selector == nil {
		return true
	}
	found, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && found.Matches(labels.Set(values))
}

// answers reports whether a Service has an endpoint that is ready.
func answers(f *cluster.Facts, service *admissionv1.ServiceReference) (bool, error) {
	live, err := f.List(slicesKind, service.Namespace)
	if err != nil {
		return false, err
	}
	for _, u := range live {
		var slice discoveryv1.EndpointSlice
		if u.GetLabels()[discoveryv1.LabelServiceName] != service.Name || !cluster.Decode(u, &slice) {
			continue
		}
		if slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }) {
			return true, nil
		}
	}
	return false, nil
}
