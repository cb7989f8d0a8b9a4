package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// shell has pods on nodes. The pods end some time after their workload is deleted.
type shell struct {
	*cluster
	pods  []providers.Pod
	fails map[string][]error // by pod: the errors of its first attempts
	ends  time.Duration
	hangs string // the name of a pod whose command does not end

	mu      sync.Mutex
	deleted time.Time
}

func (s *shell) Pods(_ context.Context, workload *unstructured.Unstructured) ([]providers.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.mu.Lock()
	defer s.cluster.mu.Unlock()
	if s.objects[providers.RefOf(workload)] != nil {
		return s.pods, nil
	}
	if s.deleted.IsZero() {
		s.deleted = time.Now()
	}
	if time.Since(s.deleted) < s.ends {
		return s.pods, nil
	}
	return slices.DeleteFunc(slices.Clone(s.pods), func(pod providers.Pod) bool { return !pod.Down }), nil
}

func (s *shell) Exec(ctx context.Context, pod types.NamespacedName, container string, command []string) (string, error) {
	s.called("exec %s %s %v", pod, container, command)
	if pod.Name == s.hangs {
		<-ctx.Done()
		return "", ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if tries := s.fails[pod.Name]; len(tries) > 0 {
		s.fails[pod.Name] = tries[1:]
		return "", tries[0]
	}
	return "", nil
}

// leaves returns a DaemonSet whose pods run a command to clean their nodes.
func leaves(command string) *unstructured.Unstructured {
	u := live("DaemonSet ovs")
	u.SetAnnotations(map[string]string{providers.AnnotationLeave: command})
	return u
}

const cleans = `{"what":"bridges","container":"ovs","command":["del","all"],"timeout":60}`

func newShell(c *cluster) *shell {
	return &shell{cluster: c, ends: 30 * time.Second, pods: []providers.Pod{
		{Name: "ovs-a", Node: "a", Running: []string{"ovs"}}, {Name: "ovs-b", Node: "b", Running: []string{"ovs"}}, {Name: "ovs-c"},
	}}
}

// TestPodsCleanTheirNodes checks that pods run their command before their workload is deleted, that
// actions that depend on the deletion wait until the pods are gone, and that a failed command does
// not stop the deletion.
func TestPodsCleanTheirNodes(t *testing.T) {
	const deleted = "delete DaemonSet openstack/ovs if uid-ovs"
	unreachable := errors.New("no route")
	for name, test := range map[string]struct {
		command string
		change  func(s *shell)
		calls   []string // besides the deletions
		left    *executor.Leftover
		took    time.Duration
	}{
		"all do":  {calls: []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"}, took: 30 * time.Second},
		"nothing": {command: "-"},
		"nonsense": {
			command: `{"command":[]}`,
			left:    &executor.Leftover{What: "what its pods made there", Nodes: []string{"all nodes: read the annotation kolla.openstack.org/leave of DaemonSet openstack/ovs: it has no command"}},
		},
		"down": {
			change: func(s *shell) { s.pods[0].Down = true },
			calls:  []string{"exec openstack/ovs-b ovs [del all]"},
			left:   &executor.Leftover{What: "bridges", Nodes: []string{"a: the node is down"}}, took: 30 * time.Second,
		},
		"not running": {
			change: func(s *shell) { s.pods[0].Running = []string{"db"} },
			calls:  []string{"exec openstack/ovs-b ovs [del all]"},
			left:   &executor.Leftover{What: "bridges", Nodes: []string{"a: container ovs of pod ovs-a does not run"}}, took: 30 * time.Second,
		},
		"command fails": {
			change: func(s *shell) {
				s.fails = map[string][]error{"ovs-a": {&providers.CommandError{Code: 1, Stderr: "busy"}}}
			},
			calls: []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"},
			left:  &executor.Leftover{What: "bridges", Nodes: []string{"a: the command ended with 1: busy"}}, took: 30 * time.Second,
		},
		"not reached once": {
			change: func(s *shell) { s.fails = map[string][]error{"ovs-a": {unreachable}} },
			calls:  []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"}, took: 32 * time.Second,
		},
		"not reached": {
			change: func(s *shell) { s.fails = map[string][]error{"ovs-a": {unreachable, unreachable}} },
			calls:  []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"},
			left:   &executor.Leftover{What: "bridges", Nodes: []string{"a: no route"}}, took: 32 * time.Second,
		},
		"hangs": {
			change: func(s *shell) { s.hangs = "ovs-a" },
			calls:  []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"},
			left:   &executor.Leftover{What: "bridges", Nodes: []string{"a: the command in pod ovs-a did not end within 1m0s"}}, took: 90 * time.Second,
		},
		"no pod on a node": {
			change: func(s *shell) {
				set := s.cluster.objects[providers.RefOf(live("DaemonSet ovs"))]
				set.Object["status"] = map[string]any{"desiredNumberScheduled": int64(5)}
			},
			calls: []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"},
			left:  &executor.Leftover{What: "bridges", Nodes: []string{"nodes without a pod (2): not cleaned"}}, took: 30 * time.Second,
		},
		"pods stay": {
			change: func(s *shell) { s.ends = time.Hour },
			calls:  []string{"exec openstack/ovs-a ovs [del all]", "exec openstack/ovs-b ovs [del all]"},
			left:   &executor.Leftover{What: "bridges", Nodes: []string{"a: pod ovs-a is still there", "b: pod ovs-b is still there"}}, took: 10 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				command := cleans
				if test.command != "" {
					command = test.command
				}
				set := leaves(command)
				if command == "-" {
					set.SetAnnotations(nil)
				}
				c := newCluster(set, live("ConfigMap beneath"))
				a := newApply(t, c, recorded("DaemonSet ovs", true), recorded("ConfigMap beneath", true))
				s := newShell(c)
				if test.change != nil {
					test.change(s)
				}
				a.options.Shell = s
				start := time.Now()
				result := a.run(t.Context(), t, act(plans.Delete, "DaemonSet ovs"), act(plans.Delete, "ConfigMap beneath", "DaemonSet ovs"))
				if took := time.Since(start).Truncate(time.Second); took != test.took || !result.Complete() {
					t.Errorf("took %s, want %s: %v", took, test.took, outcomes(result))
				}
				calls := slices.Clone(a.calls)
				if i := slices.Index(calls, deleted); i >= 0 {
					slices.Sort(calls[:i])
				}
				diff(t, "calls", append(slices.Clone(test.calls), deleted, "delete ConfigMap openstack/beneath if uid-beneath"), calls)
				diff(t, "left", fmt.Sprint(test.left), fmt.Sprint(result.Outcomes[0].Left))
				if err := a.session.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestCleanedAndNotDeleted checks that the state records that the pods have cleaned their nodes,
// even if the server then refuses to delete their workload.
func TestCleanedAndNotDeleted(t *testing.T) {
	c := newCluster(leaves(cleans))
	c.onDelete = func(context.Context, providers.Ref) error { return &providers.PreconditionError{} }
	a := newApply(t, c, recorded("DaemonSet ovs", true))
	s := newShell(c)
	s.pods[0].Down = true
	a.options.Shell = s
	result := a.run(t.Context(), t, act(plans.Delete, "DaemonSet ovs"))
	if got := a.known(t, "DaemonSet ovs"); got == nil || !got.Deleting || !got.Cleaned || got.UID != "uid-ovs" {
		t.Errorf("the state has %+v", got)
	}
	if left := result.Outcomes[0].Left; left == nil || len(left.Nodes) != 1 {
		t.Errorf("left: %+v", left)
	}
}

// TestReplacementDoesNotClean checks that pods do not clean their nodes if their workload is
// replaced, or if the live workload has another UID.
func TestReplacementDoesNotClean(t *testing.T) {
	set := leaves(cleans)
	c := newCluster(set)
	a := newApply(t, c, recorded("DaemonSet ovs", true))
	a.options.Shell = newShell(c)
	a.run(t.Context(), t, act(plans.Replace, "DaemonSet ovs"))
	for _, call := range a.calls {
		if call[:4] == "exec" {
			t.Errorf("%s for a replacement", call)
		}
	}
	another := leaves(cleans)
	another.SetUID("another")
	c = newCluster(another)
	a = newApply(t, c, recorded("DaemonSet ovs", true))
	a.options.Shell = newShell(c)
	a.run(t.Context(), t, act(plans.Delete, "DaemonSet ovs"))
	diff(t, "calls", []string{"delete DaemonSet openstack/ovs if uid-ovs"}, a.calls)
}

// TestInterruptedCleaning checks that nothing is deleted if the apply is interrupted while pods
// clean their nodes. The next apply cleans the nodes again and deletes the workload.
func TestInterruptedCleaning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newCluster(leaves(cleans))
		a := newApply(t, c, recorded("DaemonSet ovs", true))
		s := newShell(c)
		s.hangs = "ovs-a"
		a.options.Shell = s
		time.AfterFunc(10*time.Second, cancel)
		result := a.run(ctx, t, act(plans.Delete, "DaemonSet ovs"))
		diff(t, "outcomes", []string{"ovs: interrupted"}, outcomes(result))
		if slices.ContainsFunc(a.calls, func(call string) bool { return call[:6] == "delete" }) {
			t.Errorf("calls %q", a.calls)
		}
		if got := a.known(t, "DaemonSet ovs"); got == nil || got.UID != "uid-ovs" || !got.Deleting || !got.Cleaned {
			t.Errorf("the state has %+v", got)
		}
		if err := a.session.Close(); err != nil {
			t.Error(err)
		}
	})
}
