package removal

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// removable is an object to remove.
type removable struct {
	address     addrs.Object
	ref         providers.Ref
	live        *unstructured.Unstructured // nil: it no longer exists
	uid         string                     // in the state; empty: none is recorded
	ours        bool                       // live is the recorded object, or a volume of a recorded StatefulSet
	bare        bool                       // a volume without labels, because its StatefulSet gives it none
	partial     bool
	finished    bool             // a Job that was complete at the last apply
	holds       string           // data that would be lost, as declared
	nowIn       string           // the block of the new object; see Record.NowIn
	absence     plans.ReasonKind // why it no longer exists
	preventedAt string           // where prevent_destroy was declared at the last apply
	because     string           // of a destroy with -target, for an object that the operator did not name
}

func removableOf(inv *inventory.Inventory, r *inventory.Record) removable {
	live := inv.Input.Snapshot.Get(r.Ref)
	return removable{
		ours:        trust.Same(r.State, live),
		address:     r.RecordedAddress(),
		nowIn:       r.NowIn(),
		absence:     r.Absence(),
		preventedAt: r.State.Protected,
		ref:         r.Ref,
		live:        live,
		uid:         r.State.UID,
		partial:     r.State.Partial,
		finished:    r.Ref.GVK.GroupKind() == kinds.Job && r.State.Ready,
		holds:       r.State.Holds,
	}
}

func (c removable) namespace() bool { return c.ref.GVK.GroupKind() == kinds.Namespace }

// notOurs explains why the live object is not the object that kolla made; empty: it is. An object
// without the label counts as released by its operator.
func (c removable) notOurs(cloud string) string {
	label := c.live.GetLabels()[providers.LabelCloud]
	switch {
	case c.uid != "" && !c.ours:
		return "it was deleted and made again by somebody else"
	case !c.partial && !c.ours:
		return "the state knows only its name, and anybody can make an object with this name"
	case c.partial, c.bare, label == cloud:
		return ""
	case label != "":
		return fmt.Sprintf("it is labelled as an object of cloud %q", label)
	}
	return "somebody removed its label " + providers.LabelCloud
}
