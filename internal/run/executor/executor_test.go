package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestVerbs checks the requests of each verb, their preconditions, and the state afterwards.
func TestVerbs(t *testing.T) {
	node := live("Node ctl-1")
	tests := map[string]struct {
		action plans.Action
		want   []string
		ready  bool
		uid    string // in the state afterwards; empty: not in the state
	}{
		"create":             {act(plans.Create, "Deployment api"), []string{"apply Deployment openstack/api if new", "wait Deployment openstack/api"}, true, "new-1"},
		"create at once":     {act(plans.Create, "ConfigMap api"), []string{"apply ConfigMap openstack/api if new"}, true, "new-1"},
		"update":             {act(plans.Update, "Deployment old"), []string{"apply Deployment openstack/old if uid-old", "wait Deployment openstack/old"}, true, "uid-old"},
		"adopt":              {act(plans.Adopt, "ConfigMap old"), []string{"apply ConfigMap openstack/old if uid-old"}, true, "uid-old"},
		"run":                {act(plans.Run, "Job sync"), []string{"apply Job openstack/sync if new", "wait Job openstack/sync"}, true, "new-1"},
		"replace":            {act(plans.Replace, "Deployment old"), []string{"delete Deployment openstack/old if uid-old", "apply Deployment openstack/old if new", "wait Deployment openstack/old"}, true, "new-1"},
		"delete":             {act(plans.Delete, "Deployment old"), []string{"delete Deployment openstack/old if uid-old"}, false, ""},
		"forget":             {act(plans.Forget, "Deployment old"), nil, false, ""},
		"update a part":      {act(plans.Update, "Node ctl-1"), []string{"apply Node ctl-1 if uid-ctl-1"}, true, "uid-ctl-1"},
		"give a part up":     {act(plans.Delete, "Node ctl-1"), []string{"apply Node ctl-1 if uid-ctl-1"}, false, ""},
		"pending":            {pending(act(plans.None, "Deployment old")), []string{"wait Deployment openstack/old"}, true, "uid-old"},
		"pending at once":    {pending(act(plans.None, "ConfigMap old")), nil, true, "uid-old"},
		"pending, a job ran": {pending(act(plans.None, "Job old")), []string{"wait Job openstack/old"}, true, "uid-old"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			known := []state.Object{recorded("Node ctl-1", true)}
			for _, kind := range []string{"Deployment", "ConfigMap", "Job"} {
				known = append(known, recorded(kind+" old", false))
			}
			a := newApply(t, newCluster(node, live("Deployment old"), live("ConfigMap old")), known...)
			result := a.run(t.Context(), t, test.action)
			if !result.Complete() {
				t.Errorf("not complete: %v", result.Outcomes[0].Err)
			}
			diff(t, "calls", test.want, a.calls)
			ref := test.action.Ref
			got := a.known(t, ref.GVK.Kind+" "+ref.Name)
			if test.uid == "" {
				if got != nil {
					t.Errorf("the state still has %+v", got)
				}
				return
			}
			if got == nil || got.UID != test.uid || got.Ready != test.ready || got.DesiredDigest != test.action.Object.Digest() {
				t.Errorf("got %+v, want UID %s, ready %v, and its digest", got, test.uid, test.ready)
			}
		})
	}
}

func TestGivingAPartUpNamesNoField(t *testing.T) {
	a := newApply(t, newCluster(live("Node ctl-1")), recorded("Node ctl-1", true))
	a.run(t.Context(), t, act(plans.Delete, "Node ctl-1"))
	got := a.objects[act(plans.Delete, "Node ctl-1").Ref]
	got.SetUID("")
	diff(t, "applied", map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "ctl-1"},
	}, got.Object)
}

// TestPartsAreNeverDeleted checks that an object is not deleted if only the state, and not the
// plan, records that kolla owns just a part of it.
func TestPartsAreNeverDeleted(t *testing.T) {
	known := recorded("ConfigMap shared", true)
	known.Partial = true
	a := newApply(t, newCluster(live("ConfigMap shared")), known)
	a.run(t.Context(), t, act(plans.Delete, "ConfigMap shared"))
	diff(t, "calls", []string{"apply ConfigMap openstack/shared if uid-shared"}, a.calls)
}

func TestOrderAndReadiness(t *testing.T) {
	a := newApply(t, newCluster())
	var ready []string
	a.onWait = func(_ context.Context, ref providers.Ref, report func(string)) error {
		if ref.Name != "sync" { // sync is ready at the first check
			report("0 of 1 ready")
			report("") // it is
		}
		ready = append(ready, ref.Name)
		return nil
	}
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		if ref.Name == "api" && !slices.Equal(ready, []string{"db", "sync"}) {
			t.Errorf("api is written when only %v are ready", ready)
		}
		return nil
	}
	a.options.Parallelism = 1
	result := a.run(t.Context(), t,
		act(plans.Create, "ConfigMap conf"),
		act(plans.Create, "Deployment db"),
		act(plans.Run, "Job sync", "Deployment db", "ConfigMap conf"),
		act(plans.Create, "Deployment api", "Job sync"),
	)
	diff(t, "outcomes", []string{"conf: applied, written", "db: applied, written", "sync: applied, written", "api: applied, written"}, outcomes(result))
	diff(t, "events", []string{
		"started conf", "done conf",
		"started db", "waiting db: 0 of 1 ready", "waiting db", "done db",
		"started sync", "done sync",
		"started api", "waiting api: 0 of 1 ready", "waiting api", "done api",
	}, a.events)
	diff(t, "what was waited for", []string{"db", "sync", "api"}, a.ready)
	if got := a.known(t, "Deployment api"); !slices.Equal(got.DependsOn, []string{"service.test/Job/sync"}) {
		t.Errorf("the state has dependencies %v", got.DependsOn)
	}
}

// TestChecksOfWhatMatches checks that an unchanged object costs a request only if an object that
// will be written depends on it.
func TestChecksOfWhatMatches(t *testing.T) {
	tests := map[string]struct {
		actions []plans.Action
		want    []string
	}{
		"nobody depends": {
			[]plans.Action{act(plans.None, "Deployment db"), act(plans.Create, "ConfigMap conf")},
			[]string{"apply ConfigMap openstack/conf if new"},
		},
		"a write depends": {
			[]plans.Action{act(plans.None, "Deployment db"), act(plans.Create, "ConfigMap conf", "Deployment db")},
			[]string{"wait Deployment openstack/db", "apply ConfigMap openstack/conf if new"},
		},
		"through another": {
			[]plans.Action{
				act(plans.None, "Deployment db"),
				act(plans.None, "ConfigMap between", "Deployment db"),
				act(plans.Create, "ConfigMap conf", "ConfigMap between"),
			},
			[]string{"wait Deployment openstack/db", "apply ConfigMap openstack/conf if new"},
		},
		"only through something written": {
			[]plans.Action{
				act(plans.None, "Deployment db"),
				act(plans.None, "ConfigMap end", "Deployment db"),
				act(plans.Create, "ConfigMap conf"),
			},
			[]string{"apply ConfigMap openstack/conf if new"},
		},
		"a job that has run": {
			[]plans.Action{act(plans.None, "Job sync"), act(plans.Create, "ConfigMap conf", "Job sync")},
			[]string{"apply ConfigMap openstack/conf if new"},
		},
		"ready at once": {
			[]plans.Action{act(plans.None, "Node ctl-1"), act(plans.Create, "ConfigMap conf", "Node ctl-1")},
			[]string{"apply ConfigMap openstack/conf if new"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster())
			result := a.run(t.Context(), t, test.actions...)
			diff(t, "calls", test.want, a.calls)
			if len(result.Outcomes) != 1 {
				t.Errorf("got outcomes %v, want only that of the write", outcomes(result))
			}
		})
	}
}

func TestFailuresStopOnlyTheirBranch(t *testing.T) {
	a := newApply(t, newCluster(live("Deployment bad")), recorded("Deployment bad", true))
	a.onWait = func(_ context.Context, ref providers.Ref, _ func(string)) error {
		if ref.Name == "bad" || ref.Name == "check" {
			return &providers.NotReadyError{Ref: ref, Reason: "image cannot be pulled", Final: true}
		}
		return nil
	}
	a.options.Parallelism = 1
	result := a.run(t.Context(), t,
		act(plans.Update, "Deployment bad"),
		act(plans.Run, "Job after", "Deployment bad"),
		act(plans.Create, "Deployment last", "Job after"),
		act(plans.Create, "Deployment beside"),
		act(plans.None, "Deployment check"),
		act(plans.Create, "ConfigMap conf", "Deployment check"),
	)
	diff(t, "outcomes", []string{
		"bad: failed, written",
		"after: skipped because of bad",
		"last: skipped because of bad",
		"beside: applied, written",
		"check: failed",
		"conf: skipped because of check",
	}, outcomes(result))
	if result.Complete() || result.Interrupted {
		t.Errorf("complete %v, interrupted %v", result.Complete(), result.Interrupted)
	}
	var notReady *providers.NotReadyError
	if !errors.As(result.Outcomes[0].Err, &notReady) {
		t.Errorf("got %v, want the reason", result.Outcomes[0].Err)
	}
	skipped := len(a.events) - 3
	slices.Sort(a.events[:skipped]) // actions that only wait run in parallel
	diff(t, "events", []string{
		"done beside",
		"failed bad: Deployment openstack/bad is not ready: image cannot be pulled",
		"failed check: Deployment openstack/check is not ready: image cannot be pulled",
		"started bad", "started beside", "started check",
		"skipped after because of bad", "skipped last because of bad", "skipped conf because of check",
	}, a.events)
	if got := a.known(t, "Deployment bad"); got == nil || got.Ready || got.UID != "uid-bad" {
		t.Errorf("the state has %+v, want it not ready", got)
	}
	if got := a.known(t, "Job after"); got != nil {
		t.Errorf("the state has %+v, which was not begun", got)
	}
}

// TestPanicsStopOnlyTheirBranch checks that a panic fails only its own action and its dependents,
// and that the state records the actions that run in parallel.
func TestPanicsStopOnlyTheirBranch(t *testing.T) {
	a := newApply(t, newCluster())
	a.onWait = func(_ context.Context, ref providers.Ref, _ func(string)) error {
		if ref.Name == "bad" {
			panic("hunter2")
		}
		return nil
	}
	result := a.run(t.Context(), t,
		act(plans.Create, "Deployment bad"),
		act(plans.Create, "Deployment after", "Deployment bad"),
		act(plans.Create, "Deployment beside"),
	)
	diff(t, "outcomes", []string{"bad: failed, written", "after: skipped because of bad", "beside: applied, written"}, outcomes(result))
	var bug *crash.Error
	if err := result.Outcomes[0].Err; !errors.As(err, &bug) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want that it is a bug, and no value", err)
	}
	if got := a.known(t, "Deployment beside"); got == nil || !got.Ready {
		t.Errorf("the state has %+v, want it ready", got)
	}
}

// TestIntentComesFirst checks that the state records a write before the request is sent.
func TestIntentComesFirst(t *testing.T) {
	a := newApply(t, newCluster())
	a.onApply = func(context.Context, providers.Ref, providers.ApplyOptions) error {
		if got := a.known(t, "Deployment api"); got == nil || got.UID != "" || got.Ready {
			t.Errorf("while it is written, the state has %+v", got)
		}
		return nil
	}
	a.onWait = func(context.Context, providers.Ref, func(string)) error {
		if got := a.known(t, "Deployment api"); got == nil || got.UID != "new-1" || got.Ready {
			t.Errorf("while it is waited for, the state has %+v", got)
		}
		return nil
	}
	a.run(t.Context(), t, act(plans.Create, "Deployment api"))
}

func TestNothingIsWrittenThatCannotBeTakenDown(t *testing.T) {
	a := newApply(t, newCluster())
	a.onApply = func(context.Context, providers.Ref, providers.ApplyOptions) error {
		holder, err := a.store.Holder()
		return errors.Join(err, a.store.ForceUnlock(holder.ID))
	}
	result := a.run(t.Context(), t, act(plans.Create, "ConfigMap conf"), act(plans.Create, "ConfigMap next", "ConfigMap conf"), act(plans.Delete, "ConfigMap old", "ConfigMap conf"))
	diff(t, "outcomes", []string{"conf: failed, written", "next: skipped because of conf", "old: skipped because of conf"}, outcomes(result))
	var lost *state.LockLostError
	if !errors.As(result.Outcomes[0].Err, &lost) {
		t.Errorf("got %v, want that the lock was lost", result.Outcomes[0].Err)
	}
}

// TestWhatIsKnownAfterAFailedWrite checks that the state treats a refused request as not written.
// After any other error the object may have been written.
func TestWhatIsKnownAfterAFailedWrite(t *testing.T) {
	ref := act(plans.Create, "Deployment api").Ref
	resource := schema.GroupResource{Group: "apps", Resource: "deployments"}
	tests := map[string]struct {
		err     error
		refused bool
	}{
		"conflict":     {&providers.ConflictError{Ref: ref}, true},
		"other object": {&providers.PreconditionError{Ref: ref, Gone: true}, true},
		"forbidden":    {fmt.Errorf("apply: %w", apierrors.NewForbidden(resource, "api", errors.New("no"))), true},
		"throttled":    {apierrors.NewTooManyRequests("later", 1), false},
		"broken":       {apierrors.NewInternalError(errors.New("etcd")), false},
		"cut off":      {errors.New("connection reset by peer"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster(live("Deployment old")), recorded("Deployment old", true))
			a.onApply = func(context.Context, providers.Ref, providers.ApplyOptions) error { return test.err }
			result := a.run(t.Context(), t, act(plans.Create, "Deployment api"), act(plans.Update, "Deployment old"))
			diff(t, "outcomes", []string{"api: failed", "old: failed"}, outcomes(result))
			if got := a.known(t, "Deployment api"); (got == nil) != test.refused {
				t.Errorf("of the new one the state has %+v, want nothing: %v", got, test.refused)
			}
			if got := a.known(t, "Deployment old"); got.Ready != test.refused || got.UID != "uid-old" || got.DesiredDigest != "earlier" {
				t.Errorf("of the old one the state has %+v, want it ready: %v", got, test.refused)
			}
		})
	}
}

func TestReplacementThatFailsHalfWay(t *testing.T) {
	a := newApply(t, newCluster(live("Deployment old")), recorded("Deployment old", true))
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		return &providers.ConflictError{Ref: ref}
	}
	result := a.run(t.Context(), t, act(plans.Replace, "Deployment old"))
	diff(t, "outcomes", []string{"old: failed, written"}, outcomes(result))
	if got := a.known(t, "Deployment old"); got == nil || got.Ready {
		t.Errorf("the state has %+v, want it not ready", got)
	}
}

func TestDeletionThatFails(t *testing.T) {
	a := newApply(t, newCluster(live("Deployment old")), recorded("Deployment old", true))
	a.onDelete = func(context.Context, providers.Ref) error { return errors.New("a finalizer holds it") }
	result := a.run(t.Context(), t, act(plans.Delete, "Deployment old"))
	diff(t, "outcomes", []string{"old: failed"}, outcomes(result))
	if got := a.known(t, "Deployment old"); got == nil || got.UID != "uid-old" {
		t.Errorf("the state has %+v, want to know it still", got)
	}
}

// TestMatchingObjectsAreRefreshed checks that the state gets the new digest and dependencies of an
// object that needs no write.
func TestMatchingObjectsAreRefreshed(t *testing.T) {
	a := newApply(t, newCluster(), recorded("Deployment db", true), recorded("Job gone", true))
	gone := act(plans.None, "Job gone")
	gone.Prior = providers.Precondition{}
	db := act(plans.None, "Deployment db", "Job gone")
	a.run(t.Context(), t, gone, db, act(plans.None, "ConfigMap unknown"), act(plans.Create, "ConfigMap conf"))
	got := a.known(t, "Deployment db")
	if got.DesiredDigest != db.Object.Digest() || !got.Ready || !got.Applied.Equal(lastWrite) || !slices.Equal(got.DependsOn, []string{"service.test/Job/gone"}) {
		t.Errorf("got %+v", got)
	}
	if got := a.known(t, "Job gone"); got.UID != "uid-gone" || !got.Ready {
		t.Errorf("of the job that is gone the state has %+v", got)
	}
	if got := a.known(t, "ConfigMap unknown"); got != nil {
		t.Errorf("the state has %+v, which nobody wrote", got)
	}
}

// TestEmptyPlan checks that a plan without changes can be applied only once, and not after another
// plan was applied. The same rules hold for every plan.
func TestEmptyPlan(t *testing.T) {
	a := newApply(t, newCluster())
	plan, other := a.plan(act(plans.None, "Deployment db")), a.plan()
	other.ID = "plan-2"
	result, err := executor.Apply(t.Context(), plan, a.options)
	if err != nil || !result.Complete() {
		t.Errorf("got %+v, %v", result, err)
	}
	var (
		applied *state.AppliedError
		stale   *state.StaleError
	)
	if _, err := executor.Apply(t.Context(), plan, a.options); !errors.As(err, &applied) {
		t.Errorf("the same plan again: got %v", err)
	}
	if _, err := executor.Apply(t.Context(), other, a.options); !errors.As(err, &stale) {
		t.Errorf("another plan of before: got %v", err)
	}
	if len(a.calls) > 0 {
		t.Errorf("calls %v", a.calls)
	}
}

func TestRefusals(t *testing.T) {
	create := act(plans.Create, "ConfigMap conf")
	unbound := func(a plans.Action) plans.Action {
		a.Prior = providers.Precondition{}
		return a
	}
	node := act(plans.Delete, "Node ctl-1")
	node.Partial = false
	bare := create
	bare.Object = nil
	later := act(plans.Create, "ConfigMap later")
	later.Object.Deferred = []string{"data.registry"}
	secret := act(plans.Create, "Secret s")
	secret.Object.Data = map[string]providers.SecretData{"key": {Generate: &providers.Generator{Kind: "uuid"}}}
	tests := map[string]struct {
		actions []plans.Action
		change  func(*apply, *plans.Plan)
		want    string
	}{
		"another cluster": {[]plans.Action{create}, func(_ *apply, p *plans.Plan) { p.Cluster.UID = "cluster-b" }, "the plan belongs to the cluster at"},
		"older state":     {[]plans.Action{create}, func(_ *apply, p *plans.Plan) { p.State.Serial = 7 }, "the state has changed since"},
		"two for one":     {[]plans.Action{create, create}, nil, "two actions for service.test/ConfigMap/conf"},
		"unknown verb":    {[]plans.Action{act("explode", "ConfigMap conf")}, nil, `unknown verb "explode"`},
		"no object":       {[]plans.Action{bare}, nil, "create needs an object"},
		"not known yet":   {[]plans.Action{later}, nil, "not all of what it writes is known yet"},
		"unbound update":  {[]plans.Action{unbound(act(plans.Update, "ConfigMap conf"))}, nil, "needs the UID of the live object"},
		"unbound delete":  {[]plans.Action{unbound(act(plans.Delete, "ConfigMap conf"))}, nil, "needs the UID of the live object"},
		"part of nothing": {[]plans.Action{act(plans.Create, "Node ctl-1")}, nil, "needs the UID of the live object"},
		"a whole node":    {[]plans.Action{node}, nil, "a Node is never deleted"},
		"cycle":           {[]plans.Action{act(plans.Create, "ConfigMap a", "ConfigMap b"), act(plans.Create, "ConfigMap b", "ConfigMap a")}, nil, "dependency cycle"},
		"unreadable value": {[]plans.Action{secret}, func(a *apply, _ *plans.Plan) {
			a.onList = func(schema.GroupVersionKind) error { return errors.New("denied") }
		}, "denied"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster())
			plan := a.plan(test.actions...)
			if test.change != nil {
				test.change(a, plan)
			}
			result, err := executor.Apply(t.Context(), plan, a.options)
			if err == nil || result != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that says %q", err, test.want)
			}
			for _, call := range a.calls {
				if !strings.HasPrefix(call, "list") {
					t.Errorf("it did %s", call)
				}
			}
			if got := a.session.State(); got.Serial != 0 {
				t.Errorf("the state was changed: %+v", got)
			}
		})
	}
}

func TestAPlanIsAppliedOnce(t *testing.T) {
	a := newApply(t, newCluster())
	plan := a.plan(act(plans.Create, "ConfigMap conf"))
	if _, err := executor.Apply(t.Context(), plan, a.options); err != nil {
		t.Fatal(err)
	}
	var applied *state.AppliedError
	if _, err := executor.Apply(t.Context(), plan, a.options); !errors.As(err, &applied) {
		t.Errorf("got %v, want that it was applied", err)
	}
	diff(t, "calls", []string{"apply ConfigMap openstack/conf if new"}, a.calls)
}

// TestManyAtOnce runs many actions in parallel, for the race detector.
func TestManyAtOnce(t *testing.T) {
	a := newApply(t, newCluster())
	a.onWait = func(_ context.Context, _ providers.Ref, report func(string)) error {
		report("soon")
		return nil
	}
	var actions []plans.Action
	for i := range 200 {
		actions = append(actions, act(plans.Create, fmt.Sprint("Deployment d", i), fmt.Sprint("Deployment d", i/3-1)))
	}
	if result := a.run(t.Context(), t, actions...); !result.Complete() {
		t.Error("not complete")
	}
	if len(a.events) != 600 {
		t.Errorf("got %d events, want 600", len(a.events))
	}
	if got := a.session.State(); len(got.Objects) != 200 {
		t.Errorf("got %d objects, want 200", len(got.Objects))
	}
}
