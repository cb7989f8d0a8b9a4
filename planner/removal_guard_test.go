package planner_test

import (
	"fmt"
	"testing"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// TestRenamesCount checks that objects that are created again under another name count as
// deletions. With a moved block, they count only if the operator set a limit.
func TestRenamesCount(t *testing.T) {
	tests := map[string]struct {
		moves   []addrs.Move
		max     int // -1: no limit
		refused bool
	}{
		"by a count":                    {max: -1, refused: true},
		"by a moved block":              {moves: []addrs.Move{move("service.a", "service.a[0]")}, max: -1},
		"by a moved block, with limit":  {moves: []addrs.Move{move("service.a", "service.a[0]")}, max: 3, refused: true},
		"by a moved block, as many":     {moves: []addrs.Move{move("service.a", "service.a[0]")}, max: 4},
		"by a count, and it is allowed": {max: 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			var objects []providers.Object
			for i := range 4 {
				was, is := fmt.Sprintf("a-%d", i), fmt.Sprintf("a-0-%d", i)
				w.add("service.a/ConfigMap/"+was, of("a", thing("v1", "ConfigMap", was)))
				objects = append(objects, declared("service.a[0]/ConfigMap/"+is, of("a-0", thing("v1", "ConfigMap", is))))
			}
			in := w.input(objects...)
			in.Moves = test.moves
			if test.max >= 0 {
				in.MaxDeletes = &test.max
			}
			_, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if refused := len(failures(problems)) > 0; refused != test.refused {
				t.Errorf("refused: %v, want %v: %v", refused, test.refused, problems)
			}
		})
	}
}
