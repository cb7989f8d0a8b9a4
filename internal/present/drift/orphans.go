package drift

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Orphans are objects that the state does not know: those in the namespace of the cloud, and
// those elsewhere that have the label of the cloud.
type Orphans struct {
	Objects []Orphan // objects with the label come first
	// NotListed are the kinds that could not be listed, each with the reason.
	NotListed []string
}

// Orphan is one such object.
type Orphan struct {
	Ref      providers.Ref
	Labelled bool   // it has the label of the cloud
	Manager  string // the oldest field manager; empty: none is recorded
	Created  time.Time
}

// OrphansOf finds the objects that the state does not know. contents are those of the
// namespace of the cloud, and listed are the objects that the plan has listed. Left out are
// the objects that Kubernetes makes in each namespace, objects with an owner, and the volumes
// of kolla's StatefulSets.
func OrphansOf(st *state.State, cloud, namespace string, contents providers.Contents, listed []*unstructured.Unstructured) *Orphans {
	known := map[types.UID]bool{}
	var volumes []*regexp.Regexp
	for _, o := range st.Objects {
		known[types.UID(o.UID)] = true
		if o.Kind == "StatefulSet" && o.Namespace == namespace {
			volumes = append(volumes, regexp.MustCompile("-"+regexp.QuoteMeta(o.Name)+"-[0-9]+$"))
		}
	}
	out := &Orphans{}
	add := func(ref providers.Ref, u metav1.Object) {
		isVolume := ref.GVK.GroupKind() == kinds.PersistentVolumeClaim && ref.Namespace == namespace &&
			slices.ContainsFunc(volumes, func(name *regexp.Regexp) bool { return name.MatchString(ref.Name) })
		if known[u.GetUID()] || isVolume {
			return
		}
		known[u.GetUID()] = true
		traces := trust.TracesOf(u)
		o := Orphan{Ref: ref, Labelled: u.GetLabels()[providers.LabelCloud] == cloud, Created: traces.Created}
		if len(traces.Writers) > 0 {
			o.Manager = traces.Writers[0].Manager
		}
		out.Objects = append(out.Objects, o)
	}
	inside := map[providers.Ref]metav1.Object{}
	for i := range contents.Objects {
		o := &contents.Objects[i]
		inside[providers.Ref{GVK: o.GroupVersionKind(), Namespace: o.Namespace, Name: o.Name}] = o
	}
	for _, occupant := range contents.Occupants(known) {
		if u := inside[occupant.Ref]; u != nil {
			add(occupant.Ref, u)
		}
	}
	for _, u := range listed {
		if u.GetNamespace() != namespace && u.GetLabels()[providers.LabelCloud] == cloud && len(u.GetOwnerReferences()) == 0 {
			add(providers.RefOf(u), u)
		}
	}
	for _, unread := range contents.Unread {
		out.NotListed = append(out.NotListed, unread.What)
	}
	slices.SortFunc(out.Objects, func(a, b Orphan) int {
		return cmp.Or(boolToInt(b.Labelled)-boolToInt(a.Labelled), cmp.Compare(a.Ref.String(), b.Ref.String()))
	})
	return out
}
