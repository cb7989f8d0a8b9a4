package executor_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// inside returns an object with the given owners in a namespace that is deleted.
func inside(kind, name string, owners ...types.UID) metav1.PartialObjectMetadata {
	o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, UID: types.UID("uid-" + name)}}
	o.APIVersion, o.Kind = "v1", kind
	for _, uid := range owners {
		o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: uid})
	}
	return o
}

// TestNamespaceIsLookedInto checks that an apply looks for objects that were created in a namespace
// after the plan, before it deletes the namespace.
func TestNamespaceIsLookedInto(t *testing.T) {
	holds := func(objects ...metav1.PartialObjectMetadata) providers.Contents {
		return providers.Contents{Objects: objects}
	}
	tests := map[string]struct {
		contents []providers.Contents
		want     string // part of the error; empty: the namespace is deleted
		looks    int
	}{
		"nothing":                       {looks: 1},
		"somebody's":                    {contents: []providers.Contents{holds(inside("Cluster", "pg"))}, want: "it contains objects that the plan does not delete: Cluster db/pg", looks: 1},
		"what belongs to what was":      {contents: []providers.Contents{holds(inside("ReplicaSet", "api-1", "uid-api"))}, looks: 1},
		"what is about to be collected": {contents: []providers.Contents{holds(inside("Pod", "api-1-x", "uid-api-1")), {}}, looks: 2},
		"what nobody can list":          {contents: []providers.Contents{{Unread: []providers.Unread{{What: "perhaps a Secret"}}}}, want: "perhaps a Secret", looks: 1},
		"both":                          {contents: []providers.Contents{holds(inside("Pod", "x", "gone"), inside("Pod", "theirs"))}, want: "Pod db/theirs", looks: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(live("Namespace db"), live("Deployment api"))
			c.contents = test.contents
			a := newApply(t, c, recorded("Namespace db", true), recorded("Deployment api", true))
			result := a.run(t.Context(), t, act(plans.Delete, "Deployment api"), act(plans.Delete, "Namespace db", "Deployment api"))
			looks := 0
			for _, call := range a.calls {
				if call == "contents db" {
					looks++
				}
			}
			if looks != test.looks {
				t.Errorf("it was looked into %d times, want %d", looks, test.looks)
			}
			err := result.Outcomes[1].Err
			if test.want == "" {
				if err != nil || a.known(t, "Namespace db") != nil {
					t.Errorf("it is not deleted: %v", err)
				}
				return
			}
			var occupied *executor.OccupiedError
			if !errors.As(err, &occupied) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v", err)
			}
			if got := a.known(t, "Namespace db"); got == nil || !got.Ready || got.DesiredDigest != "earlier" {
				t.Errorf("the state has %+v", got)
			}
			if c.objects[act(plans.Delete, "Namespace db").Ref] == nil {
				t.Error("it is deleted all the same")
			}
		})
	}
}

// TestRelease checks that an object of a removed block that stays in the cluster is written once
// more to release its fields, and that the state forgets it only after that.
func TestRelease(t *testing.T) {
	release := func(text string) plans.Action {
		a := act(plans.Forget, text)
		a.Releases = true
		return a
	}
	a := newApply(t, newCluster(), recorded("ConfigMap a", true), recorded("Node n", true), recorded("ConfigMap b", true))
	forget := act(plans.Forget, "ConfigMap b")
	forget.Prior = providers.Precondition{}
	diff(t, "outcomes", []string{"a: applied, written", "n: applied, written", "b: applied"}, outcomes(a.run(t.Context(), t, release("ConfigMap a"), release("Node n"), forget)))
	for _, want := range []string{"release ConfigMap openstack/a if uid-a as kolla", "release Node n if uid-n as kolla:prod"} {
		if !strings.Contains(strings.Join(a.calls, "\n")+"\n", want+"\n") {
			t.Errorf("%q is not among the requests %q", want, a.calls)
		}
	}
	if a.known(t, "ConfigMap a") != nil {
		t.Error("the state still has it")
	}

	a = newApply(t, newCluster(), recorded("ConfigMap a", true))
	a.onRelease = func() error { return errors.New("denied by a webhook") }
	result := a.run(t.Context(), t, release("ConfigMap a"))
	if err := result.Outcomes[0].Err; err == nil || !strings.Contains(err.Error(), "denied by a webhook; it stays in the state") {
		t.Errorf("error is %v", err)
	}
	if a.known(t, "ConfigMap a") == nil {
		t.Error("the state has forgotten what could not be released")
	}

	unbound := release("ConfigMap a")
	unbound.Prior = providers.Precondition{}
	if _, err := executor.Apply(t.Context(), a.plan(unbound), a.options); err == nil {
		t.Error("it releases an object without saying which, by UID")
	}
}

// TestCollectionIsAwaited checks that an apply lists only the kind of an object that waits for
// garbage collection, at growing intervals.
func TestCollectionIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := live("Pod x")
		pod.SetNamespace("db")
		pod.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
		c := newCluster(live("Namespace db"), pod)
		c.contents = []providers.Contents{{Objects: []metav1.PartialObjectMetadata{inside("Pod", "x", "gone"), inside("Pod", "y", "gone")}}, {}}
		var looks []time.Duration
		start := time.Now()
		c.onList = func(kind schema.GroupVersionKind) error {
			if looks = append(looks, time.Since(start)); len(looks) == 3 {
				delete(c.objects, providers.RefOf(pod))
			}
			return nil
		}
		a := newApply(t, c, recorded("Namespace db", true))
		result := a.run(t.Context(), t, act(plans.Delete, "Namespace db"))
		diff(t, "outcomes", []string{"db: applied, written"}, outcomes(result))
		diff(t, "looks", []time.Duration{time.Second, 3 * time.Second, 7 * time.Second}, looks)
		if got := strings.Count(strings.Join(a.calls, "\n"), "contents db"); got != 2 {
			t.Errorf("all kinds were listed %d times", got)
		}
	})
}

// TestNamedNamespaceIsNotLookedInto checks that a namespace that the operator named is deleted with
// its contents.
func TestNamedNamespaceIsNotLookedInto(t *testing.T) {
	c := newCluster(live("Namespace db"))
	c.contents = []providers.Contents{{Objects: []metav1.PartialObjectMetadata{inside("ConfigMap", "theirs")}}}
	a := newApply(t, c, recorded("Namespace db", true))
	named := act(plans.Delete, "Namespace db")
	named.Occupied = true
	diff(t, "outcomes", []string{"db: applied, written"}, outcomes(a.run(t.Context(), t, named)))
}
