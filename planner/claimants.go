package planner

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Claimant is an object in the cluster that is missing in the state, and that has kolla's labels
// or the name of a declared object.
type Claimant struct {
	trust.Claim
	Ref providers.Ref
	// Record is the entry for the state, if the caller accepts the claim. The caller sets
	// Ready.
	Record state.Object
	// Declared: the configuration declares an object at its address.
	Declared bool
	// Generated: the object is a Secret with generated values. kolla would continue to use
	// them.
	Generated bool
}

// Claimants finds the objects that are missing in a lost or outdated state, the oldest first. It
// changes nothing. It reads the same fields of the input as a destroy.
func Claimants(ctx context.Context, in Input) ([]Claimant, []plans.Problem, error) {
	in.Destroy = true // a destroy reads all kinds
	in.State = inventory.Scoped(ctx, in.Reader, in.State)
	inv, problems := inventory.Index(in)
	if inv == nil {
		return nil, problems, nil
	}
	if err := inv.Observe(ctx); err != nil {
		return nil, nil, err
	}
	var found []Claimant
	seen := map[types.UID]bool{}
	add := func(c Claimant) {
		if uid := types.UID(c.Record.UID); !seen[uid] {
			seen[uid] = true
			found = append(found, c)
		}
	}
	for i := range inv.Input.Objects {
		o := &inv.Input.Objects[i]
		live, r := inv.Input.Snapshot.Get(o.Ref()), inv.RecordForObject(o)
		if live == nil || r != nil && trust.Same(r.State, live) || o.Partial && trust.Applied(live, providers.ManagerOf(inv.Input.Cloud, true)).Empty() {
			continue
		}
		add(claimantOf(inv, o.Ref(), live, o))
	}
	for _, t := range inventory.UnrecordedObjects(inv) {
		if t.Ref.GVK.GroupKind() != kinds.PersistentVolumeClaim || t.Live.GetAnnotations()[providers.AnnotationAddress] != "" {
			add(claimantOf(inv, t.Ref, t.Live, inv.DeclarationByRef(t.Ref)))
		}
	}
	for i := range inv.Records {
		r := &inv.Records[i]
		if live := inv.Input.Snapshot.Get(r.Ref); live != nil && !trust.Same(r.State, live) && inventory.Labelled(live, inv.Input.Cloud) {
			add(claimantOf(inv, r.Ref, live, inv.DeclarationByRef(r.Ref)))
		}
	}
	slices.SortFunc(found, func(a, b Claimant) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Record.Address, b.Record.Address))
	})
	return found, nil, nil
}

// claimantOf describes one object.
func claimantOf(inv *inventory.Inventory, ref providers.Ref, live *unstructured.Unstructured, declared *providers.Object) Claimant {
	c := Claimant{Ref: ref, Declared: declared != nil}
	partial := declared != nil && declared.Partial
	if partial {
		c.Claim = trust.Claim{Traces: trust.TracesOf(live), Address: declared.Address}
	} else {
		c.Claim = trust.Examine(live, inv.Input.Cloud, declared, inv.Input.Snapshot.SecretValues)
	}
	address := c.Address
	switch {
	case declared != nil:
		address = declared.Address
	case address == (addrs.Object{}):
		address = inv.AddressFor(ref, nil, live.GetLabels())
	}
	if declared == nil && ref.Namespace != "" && ref.Namespace != inv.Input.Namespace {
		c.Doubts = append(c.Doubts, fmt.Sprintf("nothing declares it, and it is in namespace %q, which is not the cloud's", ref.Namespace))
	}
	if r := inv.RecordByAddress(address); r != nil && inventory.Identify(r.Ref) != inventory.Identify(ref) {
		c.Doubts = append(c.Doubts, fmt.Sprintf("the state has another object at its address %s", address))
	}
	c.Generated = !partial && ref.GVK.GroupKind() == kinds.Secret &&
		(declared != nil && declared.Generated() || declared == nil && live.GetAnnotations()[providers.AnnotationRevision] != "")
	c.Record = state.Object{
		Address: address.String(), APIVersion: ref.GVK.GroupVersion().String(), Kind: ref.GVK.Kind, Namespace: ref.Namespace, Name: ref.Name,
		UID: string(live.GetUID()), Partial: partial, Applied: c.applied(), Family: familyOf(inv, address, declared),
	}
	if c.Generated {
		c.Record.Holds = "generated values"
	}
	if declared != nil {
		c.Record.Holds, c.Record.Stage = declared.Holds, declared.Stage
		for _, on := range declared.DependsOn {
			c.Record.DependsOn = append(c.Record.DependsOn, on.String())
		}
		if l := declared.Lifecycle; l != nil && l.PreventDestroy {
			c.Record.Protected = l.Source
		}
	}
	return c
}

// applied returns the time of the last write that managedFields record, or else of the creation.
func (c *Claimant) applied() time.Time {
	if len(c.Writers) == 0 {
		return c.Created
	}
	return c.Writers[len(c.Writers)-1].Time
}

// version matches the end of a name that is a hash of the content.
var version = regexp.MustCompile(`-[0-9a-f]{10}$`)

// familyOf returns the address of the object's family, or empty. An object that is no longer
// declared belongs to the family of the declared object that it is an old version of.
func familyOf(inv *inventory.Inventory, address addrs.Object, declared *providers.Object) string {
	if declared != nil {
		if declared.Family == (addrs.Object{}) {
			return ""
		}
		return declared.Family.String()
	}
	family := address
	family.Name = version.ReplaceAllString(address.Name, "")
	if slices.ContainsFunc(inv.Input.Objects, func(o providers.Object) bool { return o.Family == family }) {
		return family.String()
	}
	return ""
}
