package outcome

import (
	"cmp"
	"slices"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Supersede shows the changes of new versions relative to the versions that they replace.
func Supersede(inv *inventory.Inventory, outcomes []*Outcome) error {
	for _, o := range outcomes {
		previous := inv.Former.Families[o.Object.Family].Previous
		if previous == nil || !comes(o, inv.Former.Mounted, previous.Ref) {
			continue
		}
		if err := compareWith(o, previous, inv.Input.Snapshot); err != nil {
			return err
		}
	}
	return nil
}

// comes reports whether the object replaces its previous version in this plan: it is new, or
// it exists already and only the previous one is mounted.
func comes(o *Outcome, mounted map[providers.Ref]bool, previous providers.Ref) bool {
	switch o.Action.Verb {
	case plans.Create, plans.Run:
		return !o.Action.Has(plans.ReasonRegistration) // the same version runs again
	case plans.None:
		return !o.Object.IsJob() && mounted[previous] && !mounted[o.Action.Ref]
	}
	return false
}

// compareWith compares the object with its previous version.
func compareWith(o *Outcome, record *inventory.Record, snapshot *providers.Snapshot) error {
	previous := snapshot.Get(record.Ref)
	next := cmp.Or(o.After, o.Live)
	differences, err := fields.Compare(previous, next)
	if err != nil {
		return err
	}
	differences = fields.Declared(differences, fields.OwnersOf(previous, o.Manager), fields.OwnersOf(next, o.Manager))
	differences = slices.DeleteFunc(differences, func(d fields.Difference) bool {
		return d.Path == fields.Annotation(providers.AnnotationAddress)
	})
	o.Action.Supersedes = record.Address
	o.Action.Changes = fields.Changes(o.WithUnknown(differences))
	o.Action.Reasons = []plans.Reason{{Kind: plans.ReasonConfig}}
	return nil
}
