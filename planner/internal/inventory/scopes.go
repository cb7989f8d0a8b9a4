package inventory

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Known returns the scopes of the objects in a state. A plan lists them whatever the
// configuration contains.
func Known(st *state.State) []providers.Scope {
	scopes := []providers.Scope{{GVK: Namespaces}}
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

// Scoped returns the state without the namespaces of objects whose kind is cluster-scoped. Such a
// record comes from a manifest with a namespace, or from a time when the scope of the kind was not
// known. An object whose kind the server does not have keeps its namespace.
func Scoped(ctx context.Context, reader providers.Reader, st *state.State) *state.State {
	if st == nil {
		return nil
	}
	clusterScoped := map[schema.GroupVersionKind]bool{}
	scoped := *st
	scoped.Objects = slices.Clone(st.Objects)
	for i := range scoped.Objects {
		o := &scoped.Objects[i]
		if o.Namespace == "" {
			continue
		}
		kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
		is, known := clusterScoped[kind]
		if !known {
			is = kinds.ClusterScoped(kind.GroupKind())
			if !is {
				namespaced, err := reader.Namespaced(ctx, kind)
				is = err == nil && !namespaced
			}
			clusterScoped[kind] = is
		}
		if is {
			o.Namespace = ""
		}
	}
	return &scoped
}

// needed returns the scopes without which there is no plan: all namespaces, the Secrets with
// source values, and, for a destroy, the kinds that may have the label of the cloud.
func needed(inv *Inventory) []providers.Scope {
	in := &inv.Input
	scopes := []providers.Scope{{GVK: Namespaces}}
	for i := range in.Objects {
		for _, data := range in.Objects[i].Data {
			for _, part := range data.Parts {
				if part.From != nil {
					scopes = append(scopes, providers.Scope{GVK: Secrets, Namespace: part.From.Namespace})
				}
			}
		}
	}
	for _, r := range inv.Records {
		leaves := r.Ref.GVK.GroupKind() == kinds.StatefulSet && inv.DeclarationByRef(r.Ref) == nil
		if (in.Destroy || leaves) && r.Ref.Namespace != "" {
			scopes = append(scopes, providers.Scope{GVK: Claims, Namespace: r.Ref.Namespace})
		}
		if in.Destroy && r.Ref.Namespace != "" {
			scopes = append(scopes, providers.Scope{GVK: StatefulSets, Namespace: r.Ref.Namespace}) // the claims belong to them
		}
		if r.Ref.GVK.GroupKind() == kinds.Namespace && in.Destroy {
			scopes = append(scopes, contentsOf(r.State.Name)...)
		}
	}
	if in.Destroy {
		for id := range inv.Left {
			scopes = append(scopes, providers.Scope{GVK: Claims, Namespace: id.Namespace}, providers.Scope{GVK: StatefulSets, Namespace: id.Namespace})
		}
		scopes = append(scopes, contentsOf(in.Namespace)...)
	}
	return scopes
}

// compared returns the scopes of the declared and recorded objects, without the needed ones.
func compared(inv *Inventory) []providers.Scope {
	listed := map[providers.Scope]bool{}
	for _, scope := range needed(inv) {
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
	for i := range inv.Input.Objects {
		add(inv.Input.Objects[i].Ref())
	}
	for _, r := range inv.Records {
		add(r.Ref)
	}
	return scopes
}

// claimed returns the scopes of the claims that declared StatefulSets make, and that pods mount.
func claimed(inv *Inventory) []providers.Scope {
	var scopes []providers.Scope
	for i := range inv.Input.Objects {
		if u := inv.Input.Objects[i].Manifest; !inv.Input.Destroy && (OwnVolumes(u) != "" || len(MountedClaims(u)) > 0) {
			scopes = append(scopes, providers.Scope{GVK: Claims, Namespace: u.GetNamespace()})
		}
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

// listedKinds returns the kinds that Observe lists.
func listedKinds(inv *Inventory) []schema.GroupVersionKind {
	var listed []schema.GroupVersionKind
	for _, scope := range slices.Concat(needed(inv), compared(inv)) {
		listed = append(listed, scope.GVK)
	}
	slices.SortFunc(listed, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(listed)
}
