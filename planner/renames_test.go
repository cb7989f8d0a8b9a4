package planner_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// The search for renames grows with the number of objects, not with its square: four
// times as many take about four times as long, where it was sixteen.
func TestHintsAreLinear(t *testing.T) {
	once := func(n int) time.Duration {
		w := &world{}
		var objects []providers.Object
		for i := range n {
			w.add(fmt.Sprintf("manifest.old%d/ConfigMap/o%d", i, i), settings(fmt.Sprint("o", i), fmt.Sprint("v", i)))
			objects = append(objects, declared(fmt.Sprintf("manifest.new%d/ConfigMap/n%d", i, i), settings(fmt.Sprint("n", i), fmt.Sprint("w", i))))
		}
		in := w.input(objects...)
		in.MaxDeletes = &n
		start := time.Now()
		mustPlan(t, in)
		return time.Since(start)
	}
	best := func(n int) time.Duration { return min(once(n), once(n), once(n)) }
	if few, many := best(200), best(800); many > 10*few {
		t.Errorf("200 objects that go and 200 that come take %s, 800 take %s", few, many)
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
