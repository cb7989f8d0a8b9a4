package dag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/internal/base/dag"
)

// parse returns a graph from lines such as "a: b c" (a depends on b and c).
func parse(lines ...string) *dag.Graph[string] {
	var g dag.Graph[string]
	for _, line := range lines {
		node, dependencies, _ := strings.Cut(line, ":")
		g.Connect(node, strings.Fields(dependencies)...)
	}
	return &g
}

func TestOrder(t *testing.T) {
	tests := map[string]struct {
		graph *dag.Graph[string]
		want  []string
	}{
		"empty":                 {parse(), nil},
		"keeps a valid order":   {parse("c", "a: c", "b", "d: a"), []string{"c", "a", "b", "d"}},
		"dependencies move up":  {parse("a: z", "b", "z"), []string{"z", "a", "b"}},
		"diamond":               {parse("top: left right", "left: base", "right: base"), []string{"base", "left", "right", "top"}},
		"edge given twice":      {parse("a: b b", "a: b"), []string{"b", "a"}},
		"deep before the later": {parse("a: b", "b: c", "c: d", "e"), []string{"d", "c", "b", "a", "e"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.graph.Order()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCycle(t *testing.T) {
	tests := map[string]struct {
		graph *dag.Graph[string]
		want  string
	}{
		"itself":          {parse("a: a"), "dependency cycle: a → a"},
		"three":           {parse("a: b", "b: c", "c: a"), "dependency cycle: a → b → c → a"},
		"without the way": {parse("x: a", "a: y b", "b: c", "c: a"), "dependency cycle: a → b → c → a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.graph.Order()
			var cycle *dag.CycleError[string]
			if !errors.As(err, &cycle) {
				t.Fatalf("got %v, want a cycle", err)
			}
			if err.Error() != test.want {
				t.Errorf("got %q, want %q", err, test.want)
			}
			_, err = test.graph.Walk(t.Context(), 1, 1, func(_ context.Context, node string, _ func()) error {
				t.Errorf("%s was visited", node)
				return nil
			})
			if !errors.As(err, &cycle) {
				t.Errorf("walk: got %v, want a cycle", err)
			}
		})
	}
}

func TestWalkFailures(t *testing.T) {
	failure := errors.New("broken")
	graph := parse("base", "bad: base", "worse: base", "after: bad", "last: after worse", "beside: base")
	got, err := graph.Walk(t.Context(), 4, 4, func(_ context.Context, node string, _ func()) error {
		if node == "bad" || node == "worse" {
			return failure
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []dag.Result[string]{
		{Node: "base", Status: dag.Succeeded},
		{Node: "bad", Status: dag.Failed, Err: failure},
		{Node: "worse", Status: dag.Failed, Err: failure},
		{Node: "after", Status: dag.Skipped, Cause: "bad"},
		{Node: "last", Status: dag.Skipped, Cause: "bad"},
		{Node: "beside", Status: dag.Succeeded},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestWalkPrefersLongChains(t *testing.T) {
	graph := parse("short", "middle", "long", "m1: middle", "l1: long", "l2: l1")
	var got []string
	_, err := graph.Walk(t.Context(), 1, 1, func(_ context.Context, node string, _ func()) error {
		got = append(got, node)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"long", "middle", "l1", "short", "m1", "l2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("visits (-want +got):\n%s", diff)
	}
}

func TestWalkIsBoundedAndParallel(t *testing.T) {
	const parallelism = 3
	var g dag.Graph[int]
	for i := range 9 {
		g.Add(i)
	}
	var running, most atomic.Int64
	full := make(chan struct{})
	_, err := g.Walk(t.Context(), parallelism, parallelism, func(context.Context, int, func()) error {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		if now == parallelism {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		<-full // no visit returns before three visits have run at the same time
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if most.Load() != parallelism {
		t.Errorf("%d visits at once, want %d", most.Load(), parallelism)
	}
}

func TestWalkStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	graph := parse("running", "failing", "next: running", "behind: failing")
	var mu sync.Mutex
	var finished []string
	failed := make(chan struct{})
	got, err := graph.Walk(ctx, 2, 2, func(_ context.Context, node string, _ func()) error {
		if node == "failing" {
			defer close(failed)
			return errors.New("broken")
		}
		<-failed
		cancel()
		mu.Lock()
		defer mu.Unlock()
		finished = append(finished, node)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"running"}, finished); diff != "" {
		t.Errorf("finished visits (-want +got):\n%s", diff)
	}
	want := []dag.Result[string]{
		{Node: "running", Status: dag.Succeeded},
		{Node: "failing", Status: dag.Failed},
		{Node: "next", Status: dag.NotStarted},
		{Node: "behind", Status: dag.Skipped, Cause: "failing"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(dag.Result[string]{}, "Err")); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// FuzzOrder reads each pair of bytes as an edge. It checks the answer against another
// algorithm, which repeatedly removes nodes without dependencies.
func FuzzOrder(f *testing.F) {
	f.Add([]byte("abbcca"))
	f.Add([]byte("abaccbdb"))
	f.Add([]byte("aa"))
	f.Fuzz(func(t *testing.T, edges []byte) {
		var g dag.Graph[byte]
		left := map[byte][]byte{}
		for pair := range slices.Chunk(edges, 2) {
			g.Connect(pair[0], pair[1:]...)
			left[pair[0]] = append(left[pair[0]], pair[1:]...)
			for _, node := range pair[1:] {
				left[node] = append(left[node], nil...)
			}
		}
		nodes := len(left)
		order, err := g.Order()

		if cyclic := peel(left); cyclic != (err != nil) {
			t.Fatalf("got error %v, want a cycle: %v", err, cyclic)
		}
		var cycle *dag.CycleError[byte]
		if errors.As(err, &cycle) {
			checkCycle(t, cycle.Cycle, edges)
			return
		}
		if len(order) != nodes {
			t.Fatalf("%d nodes in the order, want %d", len(order), nodes)
		}
		for pair := range slices.Chunk(edges, 2) {
			if len(pair) == 2 && slices.Index(order, pair[0]) < slices.Index(order, pair[1]) {
				t.Errorf("%q comes before %q, which it depends on", pair[0], pair[1])
			}
		}
	})
}

// peel removes nodes without dependencies as long as there are any. It reports whether nodes
// remain, which are then part of a cycle or depend on one.
func peel(left map[byte][]byte) (cyclic bool) {
	for {
		before := len(left)
		for node, dependencies := range left {
			waits := slices.ContainsFunc(dependencies, func(d byte) bool { _, ok := left[d]; return ok })
			if !waits {
				delete(left, node)
			}
		}
		if len(left) == before {
			return before > 0
		}
	}
}

func checkCycle(t *testing.T, cycle, edges []byte) {
	t.Helper()
	if len(cycle) < 2 || cycle[0] != cycle[len(cycle)-1] {
		t.Fatalf("%q does not go round", cycle)
	}
	for i := range cycle[1:] {
		found := false
		for pair := range slices.Chunk(edges, 2) {
			found = found || slices.Equal(pair, cycle[i:i+2])
		}
		if !found {
			t.Errorf("cycle %q has an edge from %q that the graph has not", cycle, cycle[i])
		}
	}
}

// chain returns a graph of n nodes, each of which depends on the next.
func chain(n int) *dag.Graph[int] {
	var g dag.Graph[int]
	for i := range n {
		g.Connect(i, i+1)
	}
	return &g
}

func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := chain(n)
			for b.Loop() {
				if _, err := g.Walk(b.Context(), 10, 10, func(context.Context, int, func()) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestIdleVisitsTakeNoPlace checks that an idle visit does not count towards the parallelism, and
// that its dependents still wait until it ends.
func TestIdleVisitsTakeNoPlace(t *testing.T) {
	g := &dag.Graph[string]{}
	g.Add("waits", "works", "waits too", "after")
	g.Connect("after", "waits")
	works := make(chan struct{})
	var mu sync.Mutex
	var order []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	_, err := g.Walk(t.Context(), 1, 1, func(_ context.Context, node string, idle func()) error {
		note(node)
		switch node {
		case "waits", "waits too":
			idle()
			idle()
			<-works
		case "works":
			close(works)
		}
		note(node + " done")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if i, j := slices.Index(order, "after"), slices.Index(order, "waits done"); i < j {
		t.Errorf("the order is %q", order)
	}
	if len(order) != 8 {
		t.Errorf("visited were %q", order)
	}
}

// TestLine checks that a line orders nodes that could otherwise be visited at the same time. The
// next stage waits until the visits are idle, not until they end. A failed visit does not stop the
// line.
func TestLine(t *testing.T) {
	g := &dag.Graph[string]{}
	g.Add("other", "work", "last", "config", "account", "role", "binding", "late config")
	g.Connect("binding", "role")
	g.Connect("late config", "work") // becomes ready long after the line has passed its stage
	for stage, nodes := range [][]string{{"account"}, {"config", "late config"}, {"role"}, {"binding"}, {"work"}, {"last"}} {
		for _, node := range nodes {
			g.Stage(node, "manifest", stage)
		}
	}
	var mu sync.Mutex
	var got []string
	lateBegan := make(chan struct{})
	results, err := g.Walk(t.Context(), 10, 10, func(_ context.Context, node string, idle func()) error {
		time.Sleep(time.Millisecond) // gives a wrong order time to show
		mu.Lock()
		got = append(got, node)
		mu.Unlock()
		switch node {
		case "account":
			return errors.New("refused")
		case "config":
			idle()
			<-lateBegan // this visit ends after "last" has begun
		case "late config":
			close(lateBegan)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got = slices.DeleteFunc(got, func(node string) bool { return node == "other" })
	if len(got) != 7 {
		t.Errorf("visited were %q", got)
	}
	want := []string{"account", "config", "role", "binding", "work"}
	if diff := cmp.Diff(want, got[:5]); diff != "" {
		t.Errorf("visits (-want +got):\n%s", diff)
	}
	for _, r := range results {
		if want := map[bool]dag.Status{true: dag.Failed, false: dag.Succeeded}[r.Node == "account"]; r.Status != want {
			t.Errorf("%s ended as %d", r.Node, r.Status)
		}
	}
}

// TestHeavyNodesHaveTheirOwnBound checks that the number of concurrent visits of heavy nodes is
// limited, idle or not, and that these do not count towards the parallelism of other nodes.
func TestHeavyNodesHaveTheirOwnBound(t *testing.T) {
	for parallelism, bound := range map[int]int{2: 2, 3: 1} {
		g := &dag.Graph[int]{}
		const heavy, light = 6, 20
		for i := range heavy + light {
			g.Add(i)
			if i < heavy {
				g.Heavy(i)
			}
		}
		var running, most, done atomic.Int64
		lights := make(chan struct{})
		_, err := g.Walk(t.Context(), parallelism, bound, func(_ context.Context, i int, idle func()) error {
			if i >= heavy {
				if done.Add(1) == light {
					close(lights)
				}
				return nil
			}
			now := running.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			idle()
			<-lights
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if most.Load() != int64(bound) {
			t.Errorf("%d heavy nodes were visited at a time, want %d", most.Load(), bound)
		}
	}
}
