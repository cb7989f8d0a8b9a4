package planner

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

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
		leaves := r.ref.GVK.GroupKind() == kinds.StatefulSet && !declared
		if (p.Destroy || leaves) && r.ref.Namespace != "" {
			scopes = append(scopes, providers.Scope{GVK: claims, Namespace: r.ref.Namespace})
		}
		if p.Destroy && r.ref.Namespace != "" {
			scopes = append(scopes, providers.Scope{GVK: statefulSets, Namespace: r.ref.Namespace}) // whose claims these are
		}
		if r.ref.GVK.GroupKind() == kinds.Namespace && p.Destroy {
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
	for _, kind := range kinds.Swept() {
		scopes = append(scopes, providers.Scope{GVK: kind, Namespace: namespace})
	}
	return scopes
}
