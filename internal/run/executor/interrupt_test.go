package executor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

func TestInterruptedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a := newApply(t, newCluster())
		a.onWait = func(ctx context.Context, ref providers.Ref, _ func(string)) error {
			<-ctx.Done()
			return fmt.Errorf("wait for %s: %w", ref, ctx.Err())
		}
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		a.options.Parallelism = 1
		result := a.run(ctx, t,
			act(plans.Run, "Job db"),
			act(plans.Create, "Deployment api", "Job db"),
			act(plans.Run, "Job beside"),
		)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %s, want to end with the context", took)
		}
		diff(t, "outcomes", []string{"db: interrupted, written", "api: interrupted", "beside: interrupted"}, outcomes(result))
		diff(t, "calls", []string{"apply Job openstack/db if new"}, a.calls)
		diff(t, "events", []string{
			"started db", "interrupted db: interrupted before it was ready",
			"skipped api", "skipped beside",
		}, a.events)
		if !result.Interrupted || !errors.Is(result.Outcomes[0].Err, executor.ErrInterrupted) {
			t.Errorf("interrupted %v, %v", result.Interrupted, result.Outcomes[0].Err)
		}
		if got := a.known(t, "Job db"); got == nil || got.Ready || got.UID != "new-1" {
			t.Errorf("the state has %+v, want it with its UID and not ready", got)
		}
		if err := a.session.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitingTakesNoPlace checks that new objects become ready in parallel, whatever the
// parallelism. Changed objects do so one after the other if the parallelism is one.
func TestWaitingTakesNoPlace(t *testing.T) {
	tests := map[string]struct {
		verb plans.Verb
		took time.Duration
	}{
		"what is new":     {plans.Create, time.Minute},
		"what is changed": {plans.Update, 3 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApply(t, newCluster())
				a.onWait = func(context.Context, providers.Ref, func(string)) error {
					time.Sleep(time.Minute)
					return nil
				}
				a.options.Parallelism = 1
				start := time.Now()
				result := a.run(t.Context(), t,
					act(test.verb, "Deployment one"), act(test.verb, "Deployment two"), act(test.verb, "Deployment three"))
				if took := time.Since(start); took != test.took || !result.Complete() {
					t.Errorf("took %s, want %s: %v", took, test.took, outcomes(result))
				}
			})
		})
	}
}

func TestWritesOutliveTheInterruption(t *testing.T) {
	tests := map[string]struct {
		takes time.Duration
		want  []string
		took  time.Duration
		uid   string
	}{
		"within the grace":  {20 * time.Second, []string{"conf: applied, written"}, 21 * time.Second, "new-1"},
		"longer than grace": {time.Hour, []string{"conf: interrupted"}, 31 * time.Second, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				a := newApply(t, newCluster())
				a.onApply = func(ctx context.Context, _ providers.Ref, _ providers.ApplyOptions) error {
					time.AfterFunc(time.Second, cancel)
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(time.Second + test.takes):
						return nil
					}
				}
				start := time.Now()
				result := a.run(ctx, t, act(plans.Create, "ConfigMap conf"))
				if took := time.Since(start); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				diff(t, "outcomes", test.want, outcomes(result))
				if got := a.known(t, "ConfigMap conf"); got == nil || got.UID != test.uid {
					t.Errorf("the state has %+v, want UID %q", got, test.uid)
				}
			})
		})
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApply(t, newCluster())
		a.onWait = func(ctx context.Context, ref providers.Ref, _ func(string)) error {
			<-ctx.Done()
			return &providers.NotReadyError{Ref: ref, Reason: "0 of 1 ready"}
		}
		result := a.run(t.Context(), t, act(plans.Create, "Deployment db"), act(plans.Create, "ConfigMap beside"))
		diff(t, "outcomes", []string{"db: failed, written", "beside: applied, written"}, outcomes(result))
		if got := result.Outcomes[0].Elapsed; got != 10*time.Minute {
			t.Errorf("failed after %s, want ten minutes", got)
		}
	})
}

// TestOwnTimeout checks that the timeout of an object replaces the default timeout.
func TestOwnTimeout(t *testing.T) {
	for seconds, want := range map[int]time.Duration{90: 90 * time.Second, 3600: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			a := newApply(t, newCluster())
			a.onWait = func(ctx context.Context, ref providers.Ref, _ func(string)) error {
				<-ctx.Done()
				return &providers.NotReadyError{Ref: ref, Reason: "0 of 1 ready"}
			}
			slow := act(plans.Create, "Deployment db")
			slow.Object.Timeout = seconds
			if got := a.run(t.Context(), t, slow).Outcomes[0].Elapsed; got != want {
				t.Errorf("failed after %s, want %s", got, want)
			}
		})
	}
}

// TestNothingBeginsWithoutAServer makes the server unreachable after the first action.
func TestNothingBeginsWithoutAServer(t *testing.T) {
	gone := errors.New("the server is gone")
	tests := map[string]struct {
		reachable func(ctx context.Context, patience time.Duration) error
		want      []string
		events    []string
	}{
		"comes back": {
			func(context.Context, time.Duration) error { time.Sleep(time.Minute); return nil },
			[]string{"a: applied, written", "b: applied, written"},
			[]string{"started a", "done a", "started b", "done b"},
		},
		"stays away": {
			func(_ context.Context, patience time.Duration) error { time.Sleep(patience); return gone },
			[]string{"a: applied, written", "b: failed"},
			[]string{"started a", "done a", "failed b: the server is gone"},
		},
		"interrupted": {
			func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
			[]string{"a: applied, written", "b: interrupted"},
			[]string{"started a", "done a", "interrupted b: interrupted before it was ready"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				ctx, interrupt := context.WithCancel(ctx)
				time.AfterFunc(2*time.Minute, interrupt)
				a := newApply(t, newCluster())
				a.options.Timeout = 90 * time.Second
				asked := 0
				a.options.Reachable = func(ctx context.Context, patience time.Duration) error {
					if asked++; asked == 1 {
						return nil
					}
					return test.reachable(ctx, patience)
				}
				result := a.run(ctx, t, act(plans.Create, "ConfigMap a"), act(plans.Create, "ConfigMap b", "ConfigMap a"))
				diff(t, "outcomes", test.want, outcomes(result))
				diff(t, "events", test.events, a.events)
			})
		})
	}
}
