package blame_test

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/blame"
	"kolla.openstack.org/kolla/planner/plans"
)

// Who changed a field follows from its owners before and after the apply, and from whether
// the declaration changed. The rows are those of the table of Differences.
func TestDifferences(t *testing.T) {
	path := fieldpath.MakePathOrDie("spec", "replicas")
	field, none := fieldpath.NewSet(path), fieldpath.NewSet()
	other := []fields.Owner{{Manager: "kubectl-edit", Fields: field}}
	tests := map[string]struct {
		origin  blame.Origin
		want    plans.ReasonKind
		drift   bool
		manager string
	}{
		"held, and the configuration changed": {
			origin: blame.Origin{Ours: true, Edited: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonConfig,
		},
		"held, and nothing changed": {
			origin: blame.Origin{Ours: true, Same: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonUpgrade,
		},
		"held, and the object was written to": {
			origin: blame.Origin{Ours: true, Same: true, Written: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true,
		},
		"taken by somebody else": {
			origin: blame.Origin{Ours: true, Same: true, Live: fields.Owners{Own: none, Others: other}, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true, manager: "kubectl-edit",
		},
		"not held, and the configuration changed": {
			origin: blame.Origin{Ours: true, Edited: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: field}},
			want:   plans.ReasonConfig,
		},
		"not held by anybody": {
			origin: blame.Origin{Ours: true, Same: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true,
		},
		"neither held nor wanted": {
			origin: blame.Origin{Ours: true, Same: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: none}},
			want:   plans.ReasonUpgrade,
		},
		"never kolla's": {
			origin: blame.Origin{Live: fields.Owners{Own: none, Others: other}, After: fields.Owners{Own: field}},
			want:   plans.ReasonUnowned,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			differences := []fields.Difference{{At: path, Change: plans.Change{Path: "spec.replicas"}}}
			reasons := test.origin.Differences(differences)
			if len(reasons) != 1 || reasons[0].Kind != test.want {
				t.Errorf("reasons %v, want %s", reasons, test.want)
			}
			if d := differences[0]; d.Drift != test.drift || d.Manager != test.manager {
				t.Errorf("drift %v by %q, want %v by %q", d.Drift, d.Manager, test.drift, test.manager)
			}
		})
	}
}
