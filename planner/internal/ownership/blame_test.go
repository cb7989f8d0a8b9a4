package ownership_test

import (
	"testing"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestDifferences checks that the author of a change follows from the field's owners before and
// after the apply, and from whether the declaration changed. The rows are those of the table of
// Differences.
func TestDifferences(t *testing.T) {
	path := fieldpath.MakePathOrDie("spec", "replicas")
	field, none := fieldpath.NewSet(path), fieldpath.NewSet()
	other := []fields.Owner{{Manager: "kubectl-edit", Fields: field}}
	at := time.Date(2026, 11, 21, 2, 11, 0, 0, time.UTC)
	held := fields.Owners{Own: field, Name: "kolla", Time: at}
	tests := map[string]struct {
		origin  ownership.Origin
		want    plans.ReasonKind
		drift   bool
		edited  bool
		manager string
	}{
		"held, and the configuration changed": {
			origin: ownership.Origin{Ours: true, Edited: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonConfig,
		},
		"held, and nothing changed": {
			origin: ownership.Origin{Ours: true, Same: true, Untouched: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonUpgrade,
		},
		"held, and the object was written to": {
			origin: ownership.Origin{Ours: true, Same: true, Written: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true,
		},
		"held, and nobody knows what changed": {
			origin: ownership.Origin{Ours: true, Same: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: field}},
			want:   plans.ReasonUnexplained,
		},
		"added, and the object was written to": {
			origin: ownership.Origin{Ours: true, Same: true, Written: true, Live: fields.Owners{Own: field}, After: fields.Owners{Own: none}},
			want:   plans.ReasonDrift, drift: true,
		},
		"changed under kolla's name": {
			origin: ownership.Origin{Ours: true, Same: true, Impersonated: true, Live: held, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true, manager: "kolla",
		},
		"added under kolla's name": {
			origin: ownership.Origin{Ours: true, Same: true, Impersonated: true, Live: held, After: fields.Owners{Own: none}},
			want:   plans.ReasonDrift, drift: true, manager: "kolla",
		},
		"added under kolla's name, and the configuration changed": {
			origin: ownership.Origin{Ours: true, Edited: true, Impersonated: true, Live: held, After: fields.Owners{Own: none}},
			want:   plans.ReasonDrift, drift: true, edited: true, manager: "kolla",
		},
		"newly declared, and another field was changed under kolla's name": {
			origin: ownership.Origin{Ours: true, Edited: true, Impersonated: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: field}},
			want:   plans.ReasonConfig,
		},
		"taken by somebody else": {
			origin: ownership.Origin{Ours: true, Same: true, Live: fields.Owners{Own: none, Others: other}, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true, manager: "kubectl-edit",
		},
		"not held, and the configuration changed": {
			origin: ownership.Origin{Ours: true, Edited: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: field}},
			want:   plans.ReasonConfig,
		},
		"not held by anybody": {
			origin: ownership.Origin{Ours: true, Same: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: field}},
			want:   plans.ReasonDrift, drift: true,
		},
		"neither held nor wanted": {
			origin: ownership.Origin{Ours: true, Same: true, Untouched: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: none}},
			want:   plans.ReasonUpgrade,
		},
		"neither held nor wanted, and the configuration changed": {
			origin: ownership.Origin{Ours: true, Edited: true, Untouched: true, Live: fields.Owners{Own: none}, After: fields.Owners{Own: none}},
			want:   plans.ReasonUnexplained,
		},
		"never kolla's": {
			origin: ownership.Origin{Live: fields.Owners{Own: none, Others: other}, After: fields.Owners{Own: field}},
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
			if d := differences[0]; d.Drift != test.drift || d.Edited != test.edited || d.Manager != test.manager {
				t.Errorf("drift %v, edited %v, by %q, want %v, %v, by %q", d.Drift, d.Edited, d.Manager, test.drift, test.edited, test.manager)
			}
		})
	}
}

// TestRevision checks changes of the revision of a Secret's values, which kolla computes. A missing
// revision is drift. A different revision follows from different values, whoever wrote them.
func TestRevision(t *testing.T) {
	path := fieldpath.MakePathOrDie("metadata", "annotations", providers.AnnotationRevision)
	field, none := fieldpath.NewSet(path), fieldpath.NewSet()
	for name, test := range map[string]struct {
		live   *fieldpath.Set
		before any
		want   plans.ReasonKind
	}{
		"lost":    {none, nil, plans.ReasonDrift},
		"another": {field, "8cbcf8c28e", plans.ReasonConfig},
	} {
		t.Run(name, func(t *testing.T) {
			origin := ownership.Origin{Ours: true, Edited: true, Impersonated: true, Live: fields.Owners{Own: test.live}, After: fields.Owners{Own: field}}
			differences := []fields.Difference{{At: path, Change: plans.Change{Path: fields.Text(path), Before: test.before, After: "e03efce7e2"}}}
			if reasons := origin.Differences(differences); len(reasons) != 1 || reasons[0].Kind != test.want {
				t.Errorf("reasons %v, want %s", reasons, test.want)
			}
		})
	}
}
