package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

func TestMaxDeletes(t *testing.T) {
	limit := func(n int) *int { return &n }
	tests := map[string]struct {
		live, gone int // objects that stay, and that go
		jobs       int // of those that go
		max        *int
		destroy    bool
		refused    bool
	}{
		"an empty configuration":       {live: 0, gone: 10, refused: true},
		"nearly everything":            {live: 4, gone: 6, refused: true},
		"half":                         {live: 5, gone: 5},
		"a small thing":                {live: 0, gone: 3},
		"jobs do not count":            {live: 5, gone: 6, jobs: 2},
		"allowed":                      {live: 0, gone: 10, max: limit(10)},
		"less allowed than by default": {live: 9, gone: 1, max: limit(0), refused: true},
		"a destroy":                    {gone: 10, destroy: true},
		"a destroy with a limit":       {gone: 10, destroy: true, max: limit(9), refused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			var objects []providers.Object
			for i := range test.live {
				at := fmt.Sprintf("service.a/ConfigMap/stays-%d", i)
				w.add(at, thing("v1", "ConfigMap", address(at).Name))
				objects = append(objects, declared(at, thing("v1", "ConfigMap", address(at).Name)))
			}
			for i := range test.gone {
				at, manifest := fmt.Sprintf("service.b/ConfigMap/goes-%d", i), thing("v1", "ConfigMap", fmt.Sprintf("goes-%d", i))
				if i < test.jobs {
					at, manifest = fmt.Sprintf("service.b/Job/goes-%d", i), thing("batch/v1", "Job", fmt.Sprintf("goes-%d", i))
				}
				w.add(at, manifest)
			}
			in := w.input(objects...)
			in.MaxDeletes, in.Destroy = test.max, test.destroy
			_, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if refused := len(failures(problems)) > 0; refused != test.refused {
				t.Fatalf("refused: %v, want %v: %v", refused, test.refused, problems)
			}
			if !test.refused {
				return
			}
			for _, want := range []string{fmt.Sprintf("-max-deletes=%d", test.gone-test.jobs), "\n  service.b/ConfigMap/goes-0"} {
				if !strings.Contains(problems[0].Detail, want) {
					t.Errorf("the problem says %q, want %q in it", problems[0].Detail, want)
				}
			}
		})
	}
}

// A limit of the operator counts objects that are made again under another name. Without a
// limit they count if no moved block says that they are.
func TestRenamesCount(t *testing.T) {
	tests := map[string]struct {
		moves   []addrs.Move
		max     int // -1: none was given
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

// TestPrunesAreNoLoss wants old versions not to count as deletions.
func TestPrunesAreNoLoss(t *testing.T) {
	w := &world{}
	for i := range 8 {
		r := w.add(fmt.Sprintf("service.db/ConfigMap/my.cnf-%d", i), thing("v1", "ConfigMap", fmt.Sprintf("my.cnf-%d", i)))
		r.Family = "service.db/ConfigMap/my.cnf"
	}
	version := declared("service.db/ConfigMap/my.cnf-8", thing("v1", "ConfigMap", "my.cnf-8"))
	version.Family = address("service.db/ConfigMap/my.cnf")
	in := w.input(version)
	in.MaxDeletes = new(int)
	if _, problems, err := planner.Make(t.Context(), in); err != nil || len(problems) > 0 {
		t.Errorf("problems %v, error %v, want none", problems, err)
	}
}
