package planner

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// volumesOf are the claims in the cluster that the pods of a StatefulSet have, or
// would have: they go by its name, and stay when it goes.
func (p *planning) volumesOf(set *unstructured.Unstructured) []providers.Ref {
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	var refs []providers.Ref
	for _, template := range templates {
		fields, _ := template.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "metadata", "name")
		pattern := regexp.MustCompile("^" + regexp.QuoteMeta(name+"-"+set.GetName()) + "-[0-9]+$")
		for _, claim := range p.Snapshot.All(claims) {
			if claim.GetNamespace() == set.GetNamespace() && pattern.MatchString(claim.GetName()) {
				refs = append(refs, providers.Ref{GVK: claims, Namespace: claim.GetNamespace(), Name: claim.GetName()})
			}
		}
	}
	slices.SortFunc(refs, func(a, b providers.Ref) int { return naturalOrder(a.Name, b.Name) })
	return refs
}

// naturalOrder sorts shorter names first, so that numbers at their ends are in order.
func naturalOrder(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	return 1
}

// keepVolumes names the volumes that deleted StatefulSets leave behind.
func (p *planning) keepVolumes() {
	going := map[providers.Ref]bool{}
	for _, a := range p.actions {
		going[a.Ref] = a.Verb == Delete
	}
	for _, a := range p.actions {
		if a.Verb != Delete || a.Ref.GVK.GroupKind() != statefulSetKind {
			continue
		}
		for _, ref := range p.volumesOf(p.Snapshot.Get(a.Ref)) {
			if live := p.Snapshot.Get(ref); !going[ref] {
				p.kept = append(p.kept, Kept{
					Address: p.addressOf(ref, live.GetAnnotations(), live.GetLabels()),
					Ref:     ref,
					Holds:   fmt.Sprintf("the data of %s, which takes it up again if it comes back", a.Ref.Name),
				})
			}
		}
	}
}

// reuseVolumes says of new StatefulSets that they take up volumes that are there.
func (p *planning) reuseVolumes(ctx context.Context) error {
	var scopes []providers.Scope
	for _, s := range p.subjects {
		if s.action.Verb == Create && ownVolumes(s.object.Manifest) != "" {
			scopes = append(scopes, providers.Scope{GVK: claims, Namespace: s.action.Ref.Namespace})
		}
	}
	if err := p.Snapshot.Try(ctx, scopes...); err != nil {
		return fmt.Errorf("read which volumes there are: %w", err)
	}
	for _, s := range p.subjects {
		if s.action.Verb != Create || ownVolumes(s.object.Manifest) == "" {
			continue
		}
		var names []string
		for _, ref := range p.volumesOf(s.object.Manifest) {
			names = append(names, ref.Name)
		}
		if len(names) > 0 {
			s.action.Reasons = append(s.action.Reasons, Reason{Kind: ReasonReuse, Detail: enumerate(names, 3)})
		}
	}
	return nil
}
