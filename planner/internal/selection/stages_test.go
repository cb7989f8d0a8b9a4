package selection_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/selection"
)

// TestUntil checks that -until selects the stages up to one, and deletes nothing. An object is in the stage of what it
// needs, if that is later than its own; and what a check needs is in its stage.
func TestUntil(t *testing.T) {
	names := []string{"api", "db", "old", "user", "volume", "web"}
	for until, want := range map[string][]string{
		configs.StageChecks:  {"web"},
		configs.StageData:    {"db", "volume", "web"},
		configs.StageControl: {"api", "db", "volume", "web"},
		"":                   names,
	} {
		in := input(t)
		in.Selection.Until = until
		for i := range in.Objects {
			o := &in.Objects[i]
			o.Stage = map[string]string{"db": configs.StageData, "api": configs.StageControl, "web": configs.StageChecks}[o.Address.Name]
		}
		inv, problems := inventory.Index(in)
		if inv == nil {
			t.Fatal(problems)
		}
		set, problems := selection.Of(inv)
		if len(problems) > 0 {
			t.Errorf("until %q: %v", until, problems)
		}
		var got []string
		for _, name := range names {
			if set.Has(objecttest.Address(t, "service."+name+"/ConfigMap/"+name)) {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("until %q (-want +got):\n%s", until, diff)
		}
	}
}
