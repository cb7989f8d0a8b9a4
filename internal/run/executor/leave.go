package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
)

// Leftover describes what deleted pods may have left on their nodes.
type Leftover struct {
	What string // "bridges and ports"
	// Nodes are the nodes with the reasons: "real-2: the node is down".
	Nodes []string
}

const (
	// leaveAtATime limits the pods of a workload in which a command runs at the same time.
	leaveAtATime = 20
	// leaveAgain is the pause before the second attempt of a command that may not have
	// reached the pod.
	leaveAgain = 2 * time.Second
	// podsPause is the interval at which the remaining pods are listed.
	podsPause = time.Second
)

// nodeCleanup is the deletion of a workload whose pods clean their nodes.
type nodeCleanup struct {
	shell    providers.Shell
	timeout  time.Duration // of the end of the pods
	outcome  *Outcome
	say      func(status string)
	workload *unstructured.Unstructured
	command  *providers.PodCommand

	mu   sync.Mutex
	busy []string // nodes that are being cleaned
}

// cleanupFor returns the cleaning to be done before the object is deleted; nil: there is none.
// The command comes from the live object, because a plan file must not be able to run
// commands.
func cleanupFor(ctx context.Context, s *step) (*nodeCleanup, error) {
	if s.run.options.Shell == nil || !s.action.RunsPodsContinuously() {
		return nil, nil
	}
	live, err := s.run.options.Reader.Get(ctx, s.action.Ref)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case live.GetUID() != s.action.Prior.UID:
		return nil, nil
	}
	command, err := providers.PodCommandOf(live, providers.AnnotationLeave)
	if err != nil {
		s.outcome.Left = &Leftover{What: "what its pods made there", Nodes: []string{"all nodes: " + err.Error()}}
		return nil, nil
	}
	if command == nil {
		return nil, nil
	}
	return &nodeCleanup{
		shell: s.run.options.Shell, timeout: s.run.options.Timeout, outcome: s.outcome, say: s.waiting,
		workload: live, command: command,
	}, nil
}

// clean runs the command in each pod. A failure is recorded as a Leftover and does not stop
// the others. clean returns an error only if it was interrupted.
func (d *nodeCleanup) clean(ctx context.Context) error {
	pods, err := d.shell.Pods(ctx, d.workload)
	if err != nil {
		d.leftBy("all nodes", err.Error())
		return ctx.Err()
	}
	wanted, _, err := unstructured.NestedInt64(d.workload.Object, "status", "desiredNumberScheduled")
	if missing := int(wanted) - len(pods); err == nil && missing > 0 {
		d.leftBy(fmt.Sprintf("nodes without a pod (%d)", missing), "not cleaned")
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, leaveAtATime)
	failures := make([]error, len(pods))
	for i, pod := range pods {
		if pod.Node == "" {
			continue
		}
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			failures[i] = crash.Catch(func() error { return d.runCommand(ctx, pod) })
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, err := range failures {
		if err != nil {
			d.leftBy(pods[i].Node, err.Error())
		}
	}
	return nil
}

// runCommand runs the command in one pod. It tries again once if the command may not have started.
func (d *nodeCleanup) runCommand(ctx context.Context, pod providers.Pod) error {
	switch {
	case pod.Down:
		return errors.New("the node is down")
	case !slices.Contains(pod.Running, d.command.Container):
		return fmt.Errorf("container %s of pod %s does not run", d.command.Container, pod.Name)
	}
	d.report(pod.Node, true)
	defer d.report(pod.Node, false)
	limited, cancel := context.WithTimeout(ctx, d.command.Timeout())
	defer cancel()
	try := func() error {
		_, err := d.shell.Exec(limited, types.NamespacedName{Namespace: d.workload.GetNamespace(), Name: pod.Name}, d.command.Container, d.command.Command)
		return err
	}
	err := try()
	var ended *providers.CommandError
	if err != nil && !errors.As(err, &ended) && limited.Err() == nil {
		select {
		case <-time.After(leaveAgain):
			err = try()
		case <-limited.Done():
		}
	}
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Errorf("the command in pod %s did not end within %s", pod.Name, d.command.Timeout())
	}
	return err
}

// waitForPodsGone waits until the pods are gone from all nodes that are up. Until then they could
// make new things on the nodes.
func (d *nodeCleanup) waitForPodsGone(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	for said := ""; ; {
		pods, err := d.shell.Pods(limited, d.workload)
		pods = slices.DeleteFunc(pods, func(pod providers.Pod) bool { return pod.Node == "" || pod.Down })
		if err == nil && len(pods) == 0 {
			return nil
		}
		var nodes []string
		for _, pod := range pods {
			nodes = append(nodes, pod.Node)
		}
		if status := "pods end on " + words.Few(nodes, 3); err == nil && status != said {
			said = status
			d.say(status)
		}
		select {
		case <-time.After(podsPause):
			continue
		case <-limited.Done():
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			d.leftBy("all nodes", err.Error())
		}
		for _, pod := range pods {
			d.leftBy(pod.Node, fmt.Sprintf("pod %s is still there", pod.Name))
		}
		return nil
	}
}

// leftBy records that things may be left on a node.
func (d *nodeCleanup) leftBy(node, why string) {
	if d.outcome.Left == nil {
		d.outcome.Left = &Leftover{What: d.command.What}
	}
	d.outcome.Left.Nodes = append(d.outcome.Left.Nodes, node+": "+strings.Join(strings.Fields(why), " "))
}

// report sends an event with the nodes that are being cleaned.
func (d *nodeCleanup) report(node string, begins bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if begins {
		d.busy = append(d.busy, node)
		slices.Sort(d.busy)
	} else if i := slices.Index(d.busy, node); i >= 0 {
		d.busy = slices.Delete(d.busy, i, i+1)
	}
	if len(d.busy) > 0 {
		d.say("pods clean " + words.Few(d.busy, 3))
	}
}
