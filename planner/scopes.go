package planner

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// contents are the kinds in which a destroy looks for volumes, and for what carries the
// cloud's label and the state does not know.
var contents = []schema.GroupVersionKind{
	providers.ConfigMapKind.WithVersion("v1"), secrets,
	{Version: "v1", Kind: "Service"},
	claims,
	providers.DeploymentKind.WithVersion("v1"), providers.StatefulSetKind.WithVersion("v1"), providers.DaemonSetKind.WithVersion("v1"),
	providers.JobKind.WithVersion("v1"),
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "ReplicationController"},
	{Version: "v1", Kind: "LimitRange"},
	{Version: "v1", Kind: "ResourceQuota"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
}

// Labelled are the kinds that a plan of a destroy lists in the namespaces of the cloud.
func Labelled() []schema.GroupVersionKind { return slices.Clone(contents) }

// Known are the scopes of what a state knows. A plan reads them in any case, whatever
// the configuration says.
func Known(st *state.State) []providers.Scope {
	scopes := []providers.Scope{{GVK: namespaces}}
	for i := range st.Objects {
		o := &st.Objects[i]
		if o.Left { // only a destroy looks for it
			continue
		}
		scope := providers.Scope{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// needed lists what there can be no plan without: where values come from, all
// namespaces, and, of a destroy, what may be labelled in those of the cloud.
func (p *planning) needed() []providers.Scope {
	scopes := []providers.Scope{{GVK: namespaces}}
	for i := range p.Objects {
		for _, data := range p.Objects[i].Data {
			for _, part := range data.Parts {
				if part.From != nil {
					scopes = append(scopes, providers.Scope{GVK: secrets, Namespace: part.From.Namespace})
				}
			}
		}
	}
	for _, r := range p.records {
		_, declared := p.byRef[identify(r.ref)]
		leaves := r.ref.GVK.GroupKind() == providers.StatefulSetKind && !declared
		if (p.Destroy || leaves) && r.ref.Namespace != "" {
			scopes = append(scopes, providers.Scope{GVK: claims, Namespace: r.ref.Namespace})
		}
		if p.Destroy && r.ref.Namespace != "" {
			scopes = append(scopes, providers.Scope{GVK: statefulSets, Namespace: r.ref.Namespace}) // whose claims these are
		}
		if r.ref.GVK.GroupKind() == providers.NamespaceKind && p.Destroy {
			scopes = append(scopes, contentsOf(r.Name)...)
		}
	}
	if p.Destroy {
		for id := range p.left {
			scopes = append(scopes, providers.Scope{GVK: claims, Namespace: id.namespace}, providers.Scope{GVK: statefulSets, Namespace: id.namespace})
		}
		scopes = append(scopes, contentsOf(p.Namespace)...)
	}
	return scopes
}

// compared lists where desired and recorded objects are, each scope once, except what
// is needed anyway.
func (p *planning) compared() []providers.Scope {
	listed := map[providers.Scope]bool{}
	for _, scope := range p.needed() {
		listed[scope] = true
	}
	var scopes []providers.Scope
	add := func(ref providers.Ref) {
		scope := providers.Scope{GVK: ref.GVK, Namespace: ref.Namespace}
		if !listed[scope] {
			listed[scope] = true
			scopes = append(scopes, scope)
		}
	}
	for i := range p.Objects {
		add(p.Objects[i].Ref())
	}
	for _, r := range p.records {
		add(r.ref)
	}
	return scopes
}

func contentsOf(namespace string) []providers.Scope {
	var scopes []providers.Scope
	for _, kind := range contents {
		scopes = append(scopes, providers.Scope{GVK: kind, Namespace: namespace})
	}
	return scopes
}
