package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// applyPlan is a plan with four changes, two unchanged objects, and an object that is not ready
// yet.
func applyPlan() *plans.Plan {
	pending := action(plans.None, "service.nova/Deployment/nova-api")
	pending.Pending = true
	return newPlan(2,
		action(plans.Create, "service.keystone/ConfigMap/keystone.conf-7c1f90"),
		action(plans.Update, "service.keystone/Deployment/keystone-api"),
		action(plans.Run, "service.glance/Job/glance-db-sync-88e0"),
		pending,
		action(plans.Create, "service.glance/Deployment/glance-api"),
	)
}

// script plays the events of an apply, with the time that passes between them.
func script(plan *plans.Plan, progress *view.Progress) {
	actions := plan.Actions[2:]
	conf, api, job, pending, glance := &actions[0], &actions[1], &actions[2], &actions[3], &actions[4]
	observe := progress.Observe
	observe(plans.Event{Action: &plan.Actions[0], Kind: plans.Done})
	observe(plans.Event{Action: conf, Kind: plans.Started})
	observe(plans.Event{Action: job, Kind: plans.Started})
	observe(plans.Event{Action: pending, Kind: plans.Started})
	// Objects that need no change, and on which others depend.
	databaseLeft, cacheLeft := action(plans.None, "service.mariadb/StatefulSet/mariadb-server"), action(plans.None, "service.memcached/StatefulSet/memcached-server")
	database, cache := &databaseLeft, &cacheLeft
	observe(plans.Event{Action: database, Kind: plans.Started})
	observe(plans.Event{Action: cache, Kind: plans.Started})
	observe(plans.Event{Action: cache, Kind: plans.Done})
	time.Sleep(100 * time.Millisecond)
	observe(plans.Event{Action: conf, Kind: plans.Done, Elapsed: 100 * time.Millisecond})
	observe(plans.Event{Action: api, Kind: plans.Started})
	time.Sleep(time.Second)
	observe(plans.Event{Action: api, Kind: plans.Waiting, Status: "1 of 3 replicas ready"})
	observe(plans.Event{Action: pending, Kind: plans.Waiting, Status: "0 of 1 replicas ready"})
	observe(plans.Event{Action: database, Kind: plans.Waiting, Status: "no node can take the pod"})
	time.Sleep(12 * time.Second)
	observe(plans.Event{Action: database, Kind: plans.Done, Elapsed: 13100 * time.Millisecond})
	time.Sleep(8 * time.Second)
	observe(plans.Event{Action: job, Kind: plans.Failed, Begun: true, Elapsed: 21100 * time.Millisecond, Err: errors.New("the job failed: BackoffLimitExceeded")})
	observe(plans.Event{Action: glance, Kind: plans.Skipped, Because: job.Address})
	observe(plans.Event{Action: api, Kind: plans.Waiting, Status: "2 of 3 replicas ready"})
	time.Sleep(150 * time.Second)
	observe(plans.Event{Action: api, Kind: plans.Done, Ready: true, Elapsed: 171 * time.Second})
	observe(plans.Event{Action: pending, Kind: plans.Done, Elapsed: 171100 * time.Millisecond})
}

// TestProgressNamesAPermissionOnce checks that a missing permission is described only once,
// although it fails several objects. The description is long.
func TestProgressNamesAPermissionOnce(t *testing.T) {
	var out bytes.Buffer
	printer := &view.Printer{Out: screen.Stream{Writer: &out, Width: 80}}
	plan := applyPlan()
	actions := plan.Actions[2:]
	progress := printer.Progress(plan)
	fail := func(i int, err error) {
		progress.Observe(plans.Event{Action: &actions[i], Kind: plans.Failed, Begun: true, Elapsed: 100 * time.Millisecond, Err: err})
	}
	denied := func(resource string) error {
		return fmt.Errorf("apply something: %w", &providers.PermissionError{User: "ann", Verb: "patch", Resource: resource, Namespace: "openstack"})
	}
	fail(0, denied("configmaps"))
	fail(1, denied("deployments"))
	fail(2, denied("configmaps"))
	fail(4, errors.New("something else"))
	progress.Close()
	want := `service.keystone/ConfigMap/keystone.conf-7c1f90: FAILED after 0.1 s: user "ann" is not allowed to patch configmaps in namespace openstack  [1 of 5]
service.keystone/Deployment/keystone-api: FAILED after 0.1 s: user "ann" is not allowed to patch deployments in namespace openstack  [2 of 5]
service.glance/Job/glance-db-sync-88e0: FAILED after 0.1 s: not allowed either, see service.keystone/ConfigMap/keystone.conf-7c1f90  [3 of 5]
service.glance/Deployment/glance-api: FAILED after 0.1 s: something else  [4 of 5]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

// TestProgressCountsOneReason checks that many failures for the same reason take few lines. A lost
// lock fails all remaining objects.
func TestProgressCountsOneReason(t *testing.T) {
	var out bytes.Buffer
	printer := &view.Printer{Out: screen.Stream{Writer: &out, Width: 80}}
	plan := &plans.Plan{}
	for i := range 1400 {
		plan.Actions = append(plan.Actions, action(plans.Update, fmt.Sprintf("manifest.m/ConfigMap/m-%d", i)))
	}
	progress := printer.Progress(plan)
	for i := range plan.Actions {
		progress.Observe(plans.Event{Action: &plan.Actions[i], Kind: plans.Failed, Begun: true, Elapsed: time.Second, Err: errors.New("the lock is lost")})
	}
	progress.Close()
	if n := strings.Count(out.String(), "\n"); n != 20 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
	for _, want := range []string{
		"manifest.m/ConfigMap/m-0: FAILED after 1 s: the lock is lost  [1 of 1400]\n",
		"manifest.m/ConfigMap/m-1: FAILED after 1 s: for the same reason as manifest.m/ConfigMap/m-0  [2 of 1400]\n",
		"manifest.m/ConfigMap/m-19: FAILED after 1 s: for the same reason as manifest.m/ConfigMap/m-0; the end says how many more  [20 of 1400]\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestProgressPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		printer := &view.Printer{Out: screen.Stream{Writer: &out, Width: 80}}
		plan := applyPlan()
		progress := printer.Progress(plan)
		script(plan, progress)
		progress.Close()

		want := `service.keystone/ConfigMap/keystone.conf-7c1f90: created after 0.1 s  [1 of 5]
service.glance/Job/glance-db-sync-88e0: running...
service.nova/Deployment/nova-api: waiting...
service.keystone/Deployment/keystone-api: updating...
service.mariadb/StatefulSet/mariadb-server: waiting...
Still waiting for service.glance/Job/glance-db-sync-88e0: running (10 s)
Still waiting for service.nova/Deployment/nova-api: 0 of 1 replicas ready (10 s)
Still waiting for service.keystone/Deployment/keystone-api: 1 of 3 replicas ready (11 s)
Still waiting for service.mariadb/StatefulSet/mariadb-server: no node can take the pod (11 s)
service.mariadb/StatefulSet/mariadb-server: ready after 13 s
service.glance/Job/glance-db-sync-88e0: FAILED after 21 s: the job failed: BackoffLimitExceeded  [2 of 5]
service.glance/Deployment/glance-api: skipped because service.glance/Job/glance-db-sync-88e0 failed  [3 of 5]
Still waiting for service.keystone/Deployment/keystone-api: 2 of 3 replicas ready (22 s)
Still waiting for service.nova/Deployment/nova-api: 0 of 1 replicas ready (30 s)
Still waiting for service.keystone/Deployment/keystone-api: 2 of 3 replicas ready (42 s)
Still waiting for service.nova/Deployment/nova-api: 0 of 1 replicas ready (1 min 10 s)
Still waiting for service.keystone/Deployment/keystone-api: 2 of 3 replicas ready (1 min 22 s)
Still waiting for service.nova/Deployment/nova-api: 0 of 1 replicas ready (2 min 10 s)
Still waiting for service.keystone/Deployment/keystone-api: 2 of 3 replicas ready (2 min 22 s)
service.keystone/Deployment/keystone-api: updated, ready after 2 min 51 s  [4 of 5]
service.nova/Deployment/nova-api: ready after 2 min 51 s  [5 of 5]
`
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

// TestProgressLive checks the screen of a terminal during an apply and after it.
func TestProgressLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := &emulator{}
		printer := &view.Printer{Out: screen.Stream{Writer: terminal, Width: 60, Terminal: true}}
		plan := applyPlan()
		progress := printer.Progress(plan)
		var during string
		var looking sync.WaitGroup
		looking.Go(func() {
			time.Sleep(60*time.Second + 10*time.Millisecond)
			during = terminal.String()
		})
		script(plan, progress)
		looking.Wait()
		time.Sleep(time.Second)
		progress.Close()

		const finished = `service.keystone/ConfigMap/keystone.conf-7c1f90: created
    after 0.1 s  [1 of 5]
service.glance/Job/glance-db-sync-88e0: FAILED after 21 s:
    the job failed: BackoffLimitExceeded  [2 of 5]
service.glance/Deployment/glance-api: skipped because
    service.glance/Job/glance-db-sync-88e0 failed  [3 of 5]
`
		want := finished + `  service.nova/…/nova-api: waiting: 0 of 1 rep… (1 min 0 s)
  service.keystone/…/keystone-api: waiting: 2 of 3 … (59 s)
3 of 5, 1 failed (1 min 0 s)
`
		if diff := cmp.Diff(want, during); diff != "" {
			t.Errorf("during the apply (-want +got):\n%s", diff)
		}
		want = finished + `service.keystone/Deployment/keystone-api: updated, ready
    after 2 min 51 s  [4 of 5]
service.nova/Deployment/nova-api: ready after 2 min 51 s
    [5 of 5]
`
		if diff := cmp.Diff(want, terminal.String()); diff != "" {
			t.Errorf("after the apply (-want +got):\n%s", diff)
		}
	})
}

// TestProgressManyAtOnce runs more actions in parallel than fit on the screen, each in its own
// goroutine.
func TestProgressManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := &emulator{}
		printer := &view.Printer{Out: screen.Stream{Writer: terminal, Width: 80, Terminal: true}}
		plan := manyUpdates()
		progress := printer.Progress(plan)
		var running sync.WaitGroup
		for i := range plan.Actions {
			running.Go(func() {
				progress.Observe(plans.Event{Action: &plan.Actions[i], Kind: plans.Started})
				time.Sleep(10 * time.Second)
				progress.Observe(plans.Event{Action: &plan.Actions[i], Kind: plans.Done, Elapsed: 10 * time.Second})
			})
		}
		time.Sleep(5 * time.Second)
		lines := strings.Split(strings.TrimSuffix(terminal.String(), "\n"), "\n")
		want := []string{"  and 288 more objects", "0 of 300 (4 s)"}
		if diff := cmp.Diff(want, lines[max(0, len(lines)-2):]); diff != "" {
			t.Errorf("below %d lines (-want +got):\n%s", len(lines), diff)
		}
		if len(lines) != 14 {
			t.Errorf("the live view has %d lines, want 14", len(lines))
		}
		running.Wait()
		progress.Close()
		if got := strings.Count(terminal.String(), "\n"); got != 300 {
			t.Errorf("%d lines are left on the screen, want 300", got)
		}
	})
}

// emulator is a terminal with the functions that a live view needs: newline, cursor up by n lines,
// and clear to the end.
type emulator struct {
	mu    sync.Mutex
	lines []string
	row   int
}

func (s *emulator) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := string(b); rest != ""; {
		if up, after, ok := strings.Cut(strings.TrimPrefix(rest, "\x1b["), "A\x1b[J"); ok && strings.HasPrefix(rest, "\x1b[") {
			n, err := strconv.Atoi(up)
			if err != nil {
				return 0, err
			}
			s.row -= n
			s.lines = s.lines[:s.row]
			rest = after
			continue
		}
		l, after, _ := strings.Cut(rest, "\n")
		s.lines = append(s.lines, l)
		s.row++
		rest = after
	}
	return len(b), nil
}

func (s *emulator) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n") + "\n"
}

// TestWarningDuringProgress checks that a warning stays on the screen, above the live lines.
func TestWarningDuringProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := &emulator{}
		stream := screen.Stream{Writer: terminal, Width: 60, Terminal: true}
		printer := &view.Printer{Out: stream, Err: stream}
		plan := newPlan(0, action(plans.Create, "service.glance/Deployment/glance-api"))
		progress := printer.Progress(plan)
		progress.Observe(plans.Event{Action: &plan.Actions[0], Kind: plans.Started})
		time.Sleep(time.Second)
		printer.Warn("The API server warns", "v1 Endpoints is deprecated.")
		time.Sleep(time.Second + 200*time.Millisecond)

		const warning = "Warning: The API server warns\n\n  v1 Endpoints is deprecated.\n\n"
		want := warning + "  service.glance/Deployment/glance-api: creating (2 s)\n0 of 1 (2 s)\n"
		if diff := cmp.Diff(want, terminal.String()); diff != "" {
			t.Errorf("during the apply (-want +got):\n%s", diff)
		}
		progress.Close()
		printer.Warn("The API server warns", "v1 Endpoints is deprecated.")
		if diff := cmp.Diff(warning+warning, terminal.String()); diff != "" {
			t.Errorf("after the apply (-want +got):\n%s", diff)
		}
	})
}

// TestProgressFailsAtOnce checks that an action that fails immediately is shown, but not an action
// that had not begun.
func TestProgressFailsAtOnce(t *testing.T) {
	terminal := &emulator{}
	printer := &view.Printer{Out: screen.Stream{Writer: terminal, Width: 80}}
	plan := newPlan(0, action(plans.Create, "service.nova/Deployment/nova-api"), action(plans.Create, "service.nova/Secret/nova"))
	progress := printer.Progress(plan)
	progress.Observe(plans.Event{Action: &plan.Actions[0], Kind: plans.Failed, Begun: true, Err: errors.New("no")})
	progress.Observe(plans.Event{Action: &plan.Actions[1], Kind: plans.Failed, Err: errors.New("no")})
	progress.Close()
	if diff := cmp.Diff("service.nova/Deployment/nova-api: FAILED after 0 s: no  [1 of 2]\n", terminal.String()); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

// TestProgressInterrupted checks that only actions that had begun are shown as interrupted, and
// that they do not count as failed.
func TestProgressInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terminal := &emulator{}
		printer := &view.Printer{Out: screen.Stream{Writer: terminal, Width: 80, Terminal: true}}
		plan := newPlan(0,
			action(plans.Create, "service.glance/Deployment/glance-api"),
			action(plans.Create, "service.nova/Deployment/nova-api"),
			because(action(plans.Adopt, "service.mariadb/PersistentVolumeClaim/data"), plans.Reason{Kind: plans.ReasonMoved, Detail: "service.db/PersistentVolumeClaim/data"}),
			because(action(plans.Forget, "service.db/PersistentVolumeClaim/data"), plans.Reason{Kind: plans.ReasonMoved, Detail: "service.mariadb/PersistentVolumeClaim/data"}))
		progress := printer.Progress(plan)
		begun, waits, moved := &plan.Actions[0], &plan.Actions[1], &plan.Actions[2]
		progress.Observe(plans.Event{Action: begun, Kind: plans.Started})
		progress.Observe(plans.Event{Action: moved, Kind: plans.Started})
		progress.Observe(plans.Event{Action: moved, Kind: plans.Done})
		progress.Observe(plans.Event{Action: &plan.Actions[3], Kind: plans.Started})
		progress.Observe(plans.Event{Action: &plan.Actions[3], Kind: plans.Done})
		progress.Observe(plans.Event{Action: begun, Kind: plans.Interrupted, Begun: true, Elapsed: 2400 * time.Millisecond, Err: errors.New("interrupted")})
		progress.Observe(plans.Event{Action: waits, Kind: plans.Skipped, Because: addrs.Object{}})
		time.Sleep(time.Second + 200*time.Millisecond)
		want := `service.mariadb/PersistentVolumeClaim/data: moved from
    service.db/PersistentVolumeClaim/data after 0 s  [1 of 3]
service.glance/Deployment/glance-api: interrupted after 2.4 s, before it was
    ready  [1 of 3]
1 of 3 (1 s)
`
		if diff := cmp.Diff(want, terminal.String()); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
		progress.Close()
	})
}

// TestProgressInOrder checks that the progress and the last line of an apply go to one stream, and
// errors and warnings to the other.
func TestProgressInOrder(t *testing.T) {
	var out, problems bytes.Buffer
	printer := &view.Printer{Out: screen.Stream{Writer: &out, Width: 80}, Err: screen.Stream{Writer: &problems, Width: 80}}
	plan := newPlan(0, action(plans.Create, "service.glance/Deployment/glance-api"), action(plans.Create, "service.heat/Deployment/heat-api"))
	progress := printer.Progress(plan)
	progress.Observe(plans.Event{Action: &plan.Actions[0], Kind: plans.Started})
	progress.Observe(plans.Event{Action: &plan.Actions[0], Kind: plans.Failed, Begun: true, Err: errors.New("no such image")})
	printer.Warn("The API server warns", "v1 Endpoints is deprecated.")
	progress.Observe(plans.Event{Action: &plan.Actions[1], Kind: plans.Skipped, Because: plan.Actions[0].Address})
	progress.Close()
	err := printer.Applied(applied.Result{
		Failed:  []applied.Failed{{Address: plan.Actions[0].Address, Reason: "no such image"}},
		Skipped: []applied.Skipped{{Address: plan.Actions[1].Address, Because: plan.Actions[0].Address}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"glance-api: FAILED", "heat-api: skipped", "Skipped because", "Apply incomplete"} {
		_, after, found := strings.Cut(out.String(), piece)
		if !found {
			t.Fatalf("standard output does not have %q, in this order:\n%s", piece, &out)
		}
		out.Reset()
		out.WriteString(after)
	}
	got := problems.String()
	if strings.Contains(got, "FAILED") || !strings.HasPrefix(got, "Warning: The API server warns") || !strings.Contains(got, "Error: No such image") {
		t.Errorf("standard error has:\n%s", got)
	}
}

// TestUnreachableDuringProgress checks that the progress shows how long the API server has not
// answered, on a terminal and in a log.
func TestUnreachableDuringProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		terminal := &emulator{}
		plan := newPlan(0, action(plans.Create, "service.glance/Deployment/glance-api"))
		for _, stream := range []screen.Stream{{Writer: &log, Width: 80}, {Writer: terminal, Width: 80, Terminal: true}} {
			printer := &view.Printer{Out: stream}
			progress := printer.Progress(plan)
			progress.Observe(plans.Event{Action: &plan.Actions[0], Kind: plans.Started})
			printer.Unreachable("connection refused")
			time.Sleep(25*time.Second + 200*time.Millisecond)
			if stream.Terminal {
				want := "  The API server does not answer (connection refused): trying again, 25 s\n  service.glance/Deployment/glance-api: creating (25 s)\n0 of 1 (25 s)\n"
				if diff := cmp.Diff(want, terminal.String()); diff != "" {
					t.Errorf("while there is no server (-want +got):\n%s", diff)
				}
			}
			printer.Reachable()
			progress.Close()
		}
		const back = "The API server answers again, after 25 s (connection refused).\n"
		if diff := cmp.Diff(back, terminal.String()); diff != "" {
			t.Errorf("after it on a terminal (-want +got):\n%s", diff)
		}
		want := `The API server does not answer (connection refused): trying again.
service.glance/Deployment/glance-api: creating...
Still waiting for service.glance/Deployment/glance-api: creating (10 s)
` + back
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("as plain lines (-want +got):\n%s", diff)
		}

		// Without progress, as during the planning.
		log.Reset()
		printer := &view.Printer{Err: screen.Stream{Writer: &log, Width: 80}}
		printer.Reachable()
		printer.Unreachable("time-out")
		printer.Waiting("the API server cannot do it yet: too many requests")
		want = "The API server does not answer (time-out): trying again.\nTrying again: the API server cannot do it yet: too many requests\n"
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("without progress (-want +got):\n%s", diff)
		}
	})
}
