package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestFewerPods checks that a plan refuses fewer pods only if members have to leave first.
func TestFewerPods(t *testing.T) {
	const at = "service.db/StatefulSet/db"
	for name, test := range map[string]struct {
		scaleDown string
		there     int64 // pods in the cluster; 0: there is no StatefulSet
		want      []plans.Problem
	}{
		"fewer":        {"Let them leave.", 3, []plans.Problem{{Address: address(at), Source: "cloud.hcl:1", Summary: "StatefulSet openstack/db cannot go from 3 pods to 2", Detail: "Let them leave."}}},
		"more":         {"Let them leave.", 1, nil},
		"as before":    {"Let them leave.", 2, nil},
		"new":          {"Let them leave.", 0, nil},
		"may be fewer": {"", 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			if test.there > 0 {
				set := database(t, "db")
				set.Object["spec"].(map[string]any)["replicas"] = test.there
				w.add(at, set)
			}
			object := declared(at, database(t, "db"))
			object.ScaleDown, object.Source = test.scaleDown, "cloud.hcl:1"
			_, problems, err := planner.Make(t.Context(), w.input(object))
			if diff := cmp.Diff(test.want, problems); err != nil || diff != "" {
				t.Errorf("%v, problems (-want +got):\n%s", err, diff)
			}
		})
	}
}
