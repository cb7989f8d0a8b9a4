package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Settings of the differential test.
const (
	// seedVariable is the seed of the random numbers: a number, or "random". A run prints its seed.
	seedVariable = "KOLLA_TEST_SEED"
	// stepsVariable is the total number of changes to objects.
	stepsVariable = "KOLLA_TEST_STEPS"
	// onlyVariable, such as "Deployment/deployment-1", limits the world to one object.
	onlyVariable = "KOLLA_TEST_ONLY"

	defaultSteps = 300

	// defaultSeed is the same in all runs, so that a failure comes from a change of the code and
	// not from chance. make soak tries other seeds.
	defaultSeed = 1

	// patience is how long an apply waits for the cluster's own controllers. They remove
	// finalizers. After several restarts of the API server, they can take up to a minute to watch
	// it again (the backoff of client-go's reflectors).
	patience = 2 * time.Minute
)

// TestDifferential makes random changes to random objects: it changes their declarations, and other
// clients write to them, scale them and delete them. After each round, it makes a plan, and asks
// the server about each object separately: plan and server must agree on the changes of an apply.
// Then it applies the plan, and another plan must have nothing to do. Plans must not write
// anything. With force, others also touch each object during the apply.
func TestDifferential(t *testing.T) {
	steps := setting(t, stepsVariable, defaultSteps)
	for _, force := range []bool{false, true} {
		t.Run(fmt.Sprintf("force=%t", force), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, clustertest.Kubeconfig(), clustertest.Namespace(t), seedOf(t), os.Getenv(onlyVariable))
			w.force, w.crowded = force, force
			w.live(steps / 2)
		})
	}
	t.Cleanup(func() { checkAudit(t) }) // after the parallel tests
}

// TestDifferentialAcrossRestarts runs the differential test with an API server that is killed
// during the plan.
func TestDifferentialAcrossRestarts(t *testing.T) {
	t.Parallel() // the test has its own server
	cluster := clustertest.Start(t)
	const namespace = "restarts"
	cluster.Kubectl(t, "create", "namespace", namespace)
	w := newWorld(t, cluster.Kubeconfig(), namespace, seedOf(t), os.Getenv(onlyVariable))
	rounds := 0
	w.disrupt = func() {
		if rounds++; rounds > 1 {
			cluster.Restart(t, "kube-apiserver")
		}
	}
	w.live(setting(t, stepsVariable, defaultSteps) / 6)
}

func setting(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := time.Now().UnixNano() % 1_000_000
	if os.Getenv(seedVariable) != "random" {
		seed = int64(setting(t, seedVariable, defaultSeed))
	}
	t.Logf("%s=%d", seedVariable, seed)
	return uint64(seed)
}

// failure is a violated expectation about one object.
type failure struct {
	thing *thing // nil: no object in particular
	text  string
}

func (f *failure) Error() string { return f.text }

// live runs rounds until the world has made so many steps. At the first failure, it fails the test
// with the history of the object, and reports whether the object also fails alone.
func (w *world) live(steps int) {
	w.t.Helper()
	start := time.Now()
	round := 0
	for ; w.steps < steps; round++ {
		err := w.round(w.t.Context(), round)
		var f *failure
		if errors.As(err, &f) && f.thing != nil {
			w.t.Fatalf("%s, %s=%d, round %d, step %d: %s\n%s", f.thing, seedVariable, w.seed, round, w.steps, f.text, f.thing.story(w.alone(f.thing, round)))
		}
		if err != nil {
			w.t.Fatalf("%s=%d, round %d, step %d: %v", seedVariable, w.seed, round, w.steps, err)
		}
	}
	w.t.Logf("%d steps in %d rounds with %d objects took %s; verdicts: %v", w.steps, round, len(w.things), time.Since(start).Round(time.Millisecond), w.proofs)
}

// alone reports the result of the same rounds with only one object.
func (w *world) alone(x *thing, rounds int) string {
	if len(w.things) == 1 || w.disrupt != nil || w.govern != nil {
		return ""
	}
	lonely := newWorld(w.t, clustertest.Kubeconfig(), clustertest.Namespace(w.t), w.seed, x.key)
	lonely.force = w.force
	for round := range rounds + 1 {
		if err := lonely.round(w.t.Context(), round); err != nil {
			return fmt.Sprintf("It fails alone too, with %s=%s, in round %d: %v", onlyVariable, x.key, round, err)
		}
	}
	return "Alone it does not fail."
}

// story returns the last entries of the object's log.
func (x *thing) story(more string) string {
	const last = 12
	return fmt.Sprintf("%s\n%s\nIt is now declared: %s", more, strings.Join(x.log[max(0, len(x.log)-last):], "\n"), describe(x.wanted))
}

// round changes the objects, then checks a plan and an apply.
func (w *world) round(ctx context.Context, round int) (err error) {
	// The first round only creates the definitions of the custom resources.
	if round > 0 {
		if err := w.happen(ctx, round); err != nil {
			return err
		}
	}
	if w.govern != nil {
		w.govern()
	}
	session, err := w.store.Lock(ctx, state.LockInfo{Operation: "test"}, time.Minute)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	plan, err := w.agreed(ctx, round, session)
	if err != nil {
		return err
	}
	failed, err := w.apply(ctx, session, plan)
	if err != nil {
		return err
	}
	for _, x := range w.things {
		if text := failed[x.address()]; text != "" {
			return &failure{x, text}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("not applied: %v", failed)
	}
	if round == 0 {
		// A new process would see the new kinds at once; this client would not.
		w.planning = connect(w.t, w.kubeconfig, planAgent)
	}
	return w.settled(ctx, session.State())
}

// happen changes declarations, and lets other clients write to objects.
func (w *world) happen(ctx context.Context, round int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, x := range w.things {
		act := x.random.IntN(4)
		if act == 0 {
			continue
		}
		w.steps++
		group.Go(func() error {
			x.before = x.wanted
			if act != 1 && !x.held {
				x.redeclare(round)
			}
			if act == 2 {
				return nil
			}
			what, err := w.meddle(ctx, x, x.random, act == 1)
			x.note(round, what)
			if err != nil {
				return &failure{x, what + ": " + err.Error()}
			}
			return nil
		})
	}
	return group.Wait()
}

// redeclare changes or removes the declaration.
func (x *thing) redeclare(round int) {
	switch {
	case x.wanted == nil:
		x.wanted = x.declare(x.random)
		x.note(round, "declare "+describe(x.wanted))
	case x.random.IntN(12) == 0:
		x.wanted = nil
		x.note(round, "declare it no longer")
	default:
		x.wanted = copied(x.wanted)
		x.note(round, x.change(x.random))
	}
}

// agreed makes a plan on which the server agrees about every object. Where the server rejects an
// object, agreed reverts the declaration, or deletes the object, and plans again.
func (w *world) agreed(ctx context.Context, round int, session *state.Session) (*plans.Plan, error) {
	const attempts = 5
	var left []plans.Problem
	for range attempts {
		before, err := w.versions(ctx)
		if err != nil {
			return nil, err
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if w.disrupt != nil {
				w.disrupt()
			}
		}()
		plan, problems, err := w.plan(ctx, session.State())
		<-done
		if err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		after, err := w.versions(ctx)
		if err != nil {
			return nil, err
		}
		if diff := cmp.Diff(before, after); diff != "" {
			return nil, fmt.Errorf("the plan wrote something: resource versions (-before +after):\n%s", diff)
		}
		if err := w.check(ctx, plan, problems); err != nil || len(problems) == 0 {
			return plan, err
		}
		if err := w.repair(ctx, round, problems); err != nil {
			return nil, err
		}
		left = problems
	}
	return nil, fmt.Errorf("there are problems after %d attempts to correct them: %+v", attempts, left)
}

// check compares each verdict of a plan with the server's.
func (w *world) check(ctx context.Context, plan *plans.Plan, problems []plans.Problem) error {
	actions, trouble := byAddress(plan), textOf(problems)
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, x := range w.things {
		action := actions[x.address()]
		if action != nil {
			w.proofs[action.Evidence.Kind]++
		}
		if x.wanted == nil {
			continue
		}
		group.Go(func() error {
			v, err := w.judge(ctx, x)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			problem := trouble[x.address()]
			if text := v.disagrees(action, problem); text != "" {
				return &failure{x, fmt.Sprintf("the plan says: %s; but %s", summary(action, problem), text)}
			}
			if text := v.untrue(action); text != "" {
				return &failure{x, fmt.Sprintf("the plan says: %s; but the values of that are not the server's: %s", summary(action, problem), text)}
			}
			return nil
		})
	}
	return group.Wait()
}

func byAddress(plan *plans.Plan) map[addrs.Object]*plans.Action {
	actions := map[addrs.Object]*plans.Action{}
	for i := range plan.Actions {
		actions[plan.Actions[i].Address] = &plan.Actions[i]
	}
	return actions
}

func textOf(problems []plans.Problem) map[addrs.Object]string {
	texts := map[addrs.Object]string{}
	for _, p := range problems {
		texts[p.Address] += p.Summary + ": " + p.Detail
	}
	return texts
}

func summary(a *plans.Action, problem string) string {
	if a == nil {
		return "problem: " + problem
	}
	return fmt.Sprintf("%s, force %t, by %s %s, because of %+v\n%s", a.Verb, a.Force, a.Evidence.Kind, a.Evidence.Detail, a.Reasons, lines(a.Changes))
}

// repair reverts the declarations that the server rejects. If the declaration had not changed, it
// deletes the object.
func (w *world) repair(ctx context.Context, round int, problems []plans.Problem) error {
	trouble := textOf(problems)
	for _, x := range w.things {
		problem := trouble[x.address()]
		if problem == "" {
			continue
		}
		delete(trouble, x.address())
		if x.before != nil && !cmp.Equal(x.before, x.wanted) {
			x.wanted = x.before
			x.note(round, "change the declaration back, because: "+problem)
			continue
		}
		x.note(round, "delete the object, because: "+problem)
		if x.before == nil {
			x.wanted = x.declare(x.random)
			x.note(round, "declare "+describe(x.wanted))
		}
		x.before = nil
		if x.held {
			x.held = false
			if err := w.patch(ctx, x, people[0], `{"metadata":{"finalizers":null}}`); err != nil {
				return err
			}
		}
		if err := w.remove(ctx, x); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	if len(trouble) > 0 {
		return fmt.Errorf("problems with no object: %v", trouble)
	}
	return nil
}

// settled checks that a plan after an apply has nothing to do.
func (w *world) settled(ctx context.Context, st *state.State) error {
	plan, problems, err := w.plan(ctx, st)
	if err != nil {
		return fmt.Errorf("plan after the apply: %w", err)
	}
	actions, trouble := byAddress(plan), textOf(problems)
	for _, x := range w.things {
		action, problem := actions[x.address()], trouble[x.address()]
		if x.wanted == nil && action == nil && problem == "" {
			continue
		}
		if action == nil || action.Verb != plans.None || action.Pending {
			return &failure{x, "after the apply, the plan says: " + summary(action, problem)}
		}
		w.proofs[action.Evidence.Kind]++
	}
	if !plan.Empty() {
		return errors.New("after the apply, the plan is not empty")
	}
	return nil
}

// checkAudit checks that none of the plans has written anything.
func checkAudit(t *testing.T) {
	t.Helper()
	requests, err := clustertest.Requests()
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) == 0 {
		return // an external cluster, whose audit log is not available
	}
	plans := slices.DeleteFunc(requests, func(r clustertest.Request) bool { return r.UserAgent != planAgent })
	if len(plans) == 0 {
		t.Error("the audit log shows no plan: this proves nothing")
	}
	for _, write := range clustertest.Writes(plans) {
		t.Errorf("a plan wrote: %s", write)
	}
}
