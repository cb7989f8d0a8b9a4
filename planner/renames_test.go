package planner_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// The search for renames grows with the number of objects, not with its square: what
// it allocates for four times as many is about four times as much.
func TestHintsAreLinear(t *testing.T) {
	allocates := func(n int) float64 {
		w := &world{}
		var objects []providers.Object
		for i := range n {
			w.add(fmt.Sprintf("manifest.old%d/ConfigMap/o%d", i, i), settings(fmt.Sprint("o", i), fmt.Sprint("v", i)))
			objects = append(objects, declared(fmt.Sprintf("manifest.new%d/ConfigMap/n%d", i, i), settings(fmt.Sprint("n", i), fmt.Sprint("w", i))))
		}
		in := w.input(objects...)
		in.MaxDeletes = &n
		return testing.AllocsPerRun(1, func() { mustPlan(t, in) })
	}
	if few, many := allocates(100), allocates(400); many > 5*few {
		t.Errorf("100 objects that go and 100 that come take %g allocations, 400 take %g", few, many)
	}
}

// settings is a ConfigMap with so many values, some of which all have.
func settings(name, value string) *unstructured.Unstructured {
	u := thing("v1", "ConfigMap", name)
	data := map[string]any{}
	for k := range 20 {
		data[fmt.Sprint("k", k)] = fmt.Sprint(value, k)
		data[fmt.Sprint("c", k)] = "common"
	}
	u.Object["data"] = data
	return u
}
