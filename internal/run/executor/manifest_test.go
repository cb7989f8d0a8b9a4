package executor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// inManifest makes the actions belong to objects of a manifest.
func inManifest(actions ...plans.Action) []plans.Action {
	for i := range actions {
		a := &actions[i]
		for _, address := range []*addrs.Object{&a.Address, &a.Object.Address} {
			address.Block = "manifest.test"
		}
		for j := range a.DependsOn {
			a.DependsOn[j].Block = "manifest.test"
		}
		for j := range a.Object.DependsOn {
			a.Object.DependsOn[j].Block = "manifest.test"
		}
	}
	return actions
}

// TestJobsOfAManifestMayWaitForEachOther checks that waiting jobs of a manifest do not count
// towards the parallelism, however many they are.
func TestJobsOfAManifestMayWaitForEachOther(t *testing.T) {
	for _, verb := range []plans.Verb{plans.Run, plans.Update} {
		t.Run(string(verb), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const jobs = 25
				a := newApply(t, newCluster())
				last := make(chan struct{})
				a.onWait = func(ctx context.Context, ref providers.Ref, _ func(string)) error {
					if ref.Name == fmt.Sprintf("job-%d", jobs-1) {
						close(last)
						return nil
					}
					select {
					case <-last:
						return nil
					case <-ctx.Done():
						return &providers.NotReadyError{Ref: ref, Reason: "it waits"}
					}
				}
				a.options.Parallelism = 3
				var actions []plans.Action
				for i := range jobs {
					actions = append(actions, act(verb, fmt.Sprintf("Job job-%d", i)))
				}
				if result := a.run(t.Context(), t, inManifest(actions...)...); !result.Complete() {
					t.Errorf("got %v", outcomes(result))
				}
			})
		})
	}
}

// TestObjectsOfAManifestGoOutByKind checks that the objects of a manifest are written by kind,
// whatever the order of the plan.
func TestObjectsOfAManifestGoOutByKind(t *testing.T) {
	a := newApply(t, newCluster())
	var mu sync.Mutex
	var got []string
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		time.Sleep(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if kind := ref.GVK.Kind; !slices.Contains(got, kind) {
			got = append(got, kind)
		} else if got[len(got)-1] != kind {
			t.Errorf("%s comes after %s", ref, got[len(got)-1])
		}
		return nil
	}
	var actions []plans.Action
	for i := range 12 {
		for _, kind := range []string{"ConfigMap", "Job", "Namespace"} {
			verb := plans.Create
			if kind == "Job" {
				verb = plans.Run
			}
			actions = append(actions, act(verb, fmt.Sprintf("%s a-%d", kind, i)))
		}
	}
	result := a.run(t.Context(), t, inManifest(actions...)...)
	if !result.Complete() {
		t.Errorf("got %v", outcomes(result))
	}
	diff(t, "kinds", []string{"Namespace", "ConfigMap", "Job"}, got)
}

// TestTimeOfAManifest checks when an object of a manifest times out. An object that depends on
// others in the plan does not time out while these become ready. An object that depends on nothing
// fails after its timeout, and so do two objects that wait for each other.
func TestTimeOfAManifest(t *testing.T) {
	const never = 1000 * time.Hour
	tests := map[string]struct {
		ready map[string]time.Duration // since the start of the apply
		late  map[string]time.Duration // when Kubernetes reports that a Deployment exceeded its progress deadline
		want  []string
		took  time.Duration // upper limit
	}{
		"on others that take their time": {
			ready: map[string]time.Duration{"a": 45 * time.Minute, "b": 9 * time.Minute, "c": 40 * time.Minute},
			want:  []string{"a: applied, written", "b: applied, written", "c: applied, written"},
			took:  46 * time.Minute,
		},
		"on nothing": {
			ready: map[string]time.Duration{"a": never, "b": 0, "c": 0},
			want:  []string{"a: failed, written", "b: applied, written", "c: applied, written"},
			took:  11 * time.Minute,
		},
		"on each other": {
			ready: map[string]time.Duration{"a": never, "b": never, "c": 5 * time.Minute},
			want:  []string{"a: failed, written", "b: failed, written", "c: applied, written"},
			took:  16 * time.Minute,
		},
		"given up by Kubernetes meanwhile": {
			ready: map[string]time.Duration{"a": 9*time.Minute + 8*time.Second, "b": 9 * time.Minute, "c": 0},
			late:  map[string]time.Duration{"a": 10 * time.Second},
			want:  []string{"a: applied, written", "b: applied, written", "c: applied, written"},
			took:  10 * time.Minute,
		},
		"given up by Kubernetes alone": {
			ready: map[string]time.Duration{"a": never, "b": 0, "c": 0},
			late:  map[string]time.Duration{"a": 10 * time.Second},
			want:  []string{"a: failed, written", "b: applied, written", "c: applied, written"},
			took:  20 * time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApply(t, newCluster())
				start := time.Now()
				b := test.ready["b"]
				a.onWait = func(ctx context.Context, ref providers.Ref, _ func(string)) error {
					ready := time.After(time.Until(start.Add(test.ready[ref.Name])))
					var late <-chan time.Time
					if after, ok := test.late[ref.Name]; ok {
						late = time.After(time.Until(start.Add(after)))
					}
					select {
					case <-ready:
						return nil
					default:
					}
					select {
					case <-ready:
						return nil
					case <-late:
						return &providers.NotReadyError{Ref: ref, Reason: "progress deadline exceeded", Final: true, Late: true}
					case <-ctx.Done():
						return &providers.NotReadyError{Ref: ref, Reason: "not ready"}
					}
				}
				actions := inManifest(act(plans.Create, "Deployment a"), act(plans.Create, "Deployment b"))
				c := act(plans.Create, "Deployment c")
				c.Object.Timeout = 3600 // its own timeout
				result := a.run(t.Context(), t, append(actions, c)...)
				diff(t, "outcomes", test.want, outcomes(result))
				if took := time.Since(start); took > test.took {
					t.Errorf("took %s, b was ready after %s", took, b)
				}
				if events := strings.Join(a.events, "\n"); strings.Contains(events, "interrupted") {
					t.Errorf("events:\n%s", events)
				}
			})
		})
	}
}
