package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/providers"
)

// systemNamespaces belong to Kubernetes.
var systemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// Occupant is an object that would be lost with the namespace that it is in, and of
// which nothing says that it is to go.
type Occupant struct {
	Ref providers.Ref
	// Orphan: it belongs to an object that is not in the namespace, either because that
	// is gone, and then the cluster is about to collect it, or because it is elsewhere.
	Orphan bool
}

// Going are the UIDs of the objects that actions delete.
func Going(actions []Action) map[types.UID]bool {
	going := map[types.UID]bool{}
	for i := range actions {
		if a := &actions[i]; a.Verb == Delete && !a.Partial {
			going[a.Prior.UID] = true
		}
	}
	return going
}

// Unlisted is what may be in a namespace of kinds that nobody could list, but for those
// whose APIService the actions delete: the objects of these are not the cluster's own.
func Unlisted(contents providers.Contents, actions []Action) []string {
	var what []string
	for _, u := range contents.Unread {
		if !slices.ContainsFunc(actions, func(a Action) bool {
			return a.Verb == Delete && a.Ref.GVK.GroupKind() == providers.APIServiceKind && a.Ref.Name == u.Version.Version+"."+u.Version.Group
		}) {
			what = append(what, u.What)
		}
	}
	return what
}

// Occupants lists what is in a namespace besides what is going, in the order of kinds
// and names. What Kubernetes itself puts into each namespace does not count, nor what
// belongs to another object in it: that one does, whatever its kind is.
func Occupants(contents providers.Contents, going map[types.UID]bool) []Occupant {
	present := map[types.UID]bool{}
	services := map[string]bool{}
	for i := range contents.Objects {
		o := &contents.Objects[i]
		present[o.UID] = true
		if o.Kind == "Service" {
			services[o.Name] = true
		}
	}
	var occupants []Occupant
	for i := range contents.Objects {
		o := &contents.Objects[i]
		owned := len(o.OwnerReferences) > 0
		orphan := slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return !present[r.UID] && !going[r.UID] }) ||
			o.Kind == "Endpoints" && o.Labels[managedEndpoints] != ""
		switch {
		case going[o.UID], o.DeletionTimestamp != nil, owned && !orphan, standard(o):
		case o.Kind == "Endpoints" && services[o.Name]:
		default:
			ref := providers.Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}
			occupants = append(occupants, Occupant{Ref: ref, Orphan: orphan})
		}
	}
	slices.SortFunc(occupants, func(a, b Occupant) int { return cmp.Compare(a.Ref.String(), b.Ref.String()) })
	return occupants
}

// managedEndpoints is the label of Endpoints that a controller keeps for a Service, and
// deletes a moment after it. They name no owner.
const managedEndpoints = "endpoints.kubernetes.io/managed-by"

// standard reports whether Kubernetes has made the object for the namespace.
func standard(o *metav1.PartialObjectMetadata) bool {
	switch o.GroupVersionKind().GroupKind() {
	case providers.ConfigMapKind:
		return o.Name == "kube-root-ca.crt"
	case providers.SecretKind:
		return o.Annotations[corev1.ServiceAccountUIDKey] != ""
	case schema.GroupKind{Kind: "ServiceAccount"}:
		return o.Name == "default"
	}
	return false
}

// mayEmpty reports whether a namespace may go with what others have in it: only if the
// operator named it by its address, and kolla itself leaves nothing there.
func (p *planning) mayEmpty(t target) bool {
	return !p.leavesIn(t.ref.Name) && p.names(t.address.String())
}

// leavesIn reports whether something in a namespace is to stay that is kolla's, or that
// Kubernetes itself needs.
func (p *planning) leavesIn(namespace string) bool {
	if slices.Contains(systemNamespaces, namespace) {
		return true
	}
	if slices.ContainsFunc(p.records, func(r record) bool { return r.ref.Namespace == namespace && p.whyUnread(r.ref) != nil }) {
		return true
	}
	known := map[types.UID]bool{}
	for _, r := range p.records {
		known[types.UID(r.UID)] = true
	}
	going := Going(p.actions)
	return slices.ContainsFunc(p.inside[namespace].Objects, func(o metav1.PartialObjectMetadata) bool {
		volume := o.GroupVersionKind().GroupKind() == providers.ClaimKind && o.Labels[providers.LabelCloud] == p.Cloud && len(o.OwnerReferences) == 0
		kept := slices.ContainsFunc(p.kept, func(k Kept) bool { return k.UID == o.UID })
		return (known[o.UID] || volume || kept) && !going[o.UID] && o.DeletionTimestamp == nil
	})
}

// occupy says of the deletion of a namespace what goes with it that nothing else of the
// plan deletes.
func (p *planning) occupy(a *Action) {
	if occupants := p.occupants(a.Ref.Name); len(occupants) > 0 {
		a.Occupied = true
		a.Holds = "everything in it, with " + words.Few(occupants, 4)
	}
}

// occupiedRemedy says what to do about a namespace that is to go, and is not empty.
// What others put there may come back as often as it is deleted.
func (p *planning) occupiedRemedy(t target) string {
	remedy := "Put its declaration back; or delete or move what is in it first; or "
	if !p.leavesIn(t.ref.Name) {
		remedy += fmt.Sprintf("delete it with whatever is in it by %s ('*' does not stand for that); or ", Option("-delete-data", t.address.String()))
	}
	return remedy + "keep it and have kolla forget it:\n\n" + forgetting(t.address)
}

// lookInside finds out what is in the namespaces that the plan may delete.
func (p *planning) lookInside(ctx context.Context) error {
	p.inside = map[string]providers.Contents{}
	for _, live := range p.Snapshot.All(namespaces) {
		name := live.GetName()
		if !p.mayGo(name) || slices.Contains(systemNamespaces, name) {
			continue
		}
		contents, err := p.Reader.Contents(ctx, name)
		if err != nil {
			return err
		}
		p.inside[name] = contents
	}
	return nil
}

// mayGo reports whether the plan may delete a namespace that there is: one that the
// state knows and, but for a destroy, nothing declares; if it is selected.
func (p *planning) mayGo(name string) bool {
	ref := providers.Ref{GVK: namespaces, Name: name}
	_, declared := p.byRef[identify(ref)]
	r := p.known[identify(ref)]
	switch {
	case p.RefreshOnly, r == nil, !p.Destroy && declared:
		return false
	case !p.Destroy:
		return p.includes(p.successor(r))
	}
	return p.includes(r.recordedAddress())
}
