package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func rolloutCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "rollout",
		Usage:     "Replace pods that an apply left as they were",
		ArgsUsage: "[ADDRESS...]",
		Description: `
A workload with update = "on-delete" keeps its pods when an apply changes it. This
replaces those pods, node by node, and waits until each new one is ready. It shows first
which pods on which nodes, and asks.

ADDRESS is that of a workload or a block; without one, all such workloads of the state
are meant, those that others depend on first. Pods on nodes that are down are left as
they are, and named.

It stops at the first pod that does not come back, and says why. Run it again to go on,
also after it was interrupted or killed.`,
		Flags: append(append(append(clusterFlags(), stateFlag(),
			&cli.StringSliceFlag{Name: "nodes", Usage: "replace pods on node `NAME` only; may be repeated, or several names with commas between them"},
			&cli.IntFlag{Name: "max-unavailable", Usage: "replace up to `N` pods of a workload at a time; by default what its max_unavailable says, or 1"}),
			applyFlags()...), noColorFlag()),
		Action: func(c *cli.Context) error {
			addresses, err := interspersed(c)
			if err != nil {
				return err
			}
			if c.IsSet("max-unavailable") && c.Int("max-unavailable") < 1 {
				return failure.New("-max-unavailable must be at least 1", "It is how many pods of a workload are replaced at a time.")
			}
			return runRollout(newWorkspace(s, c), addresses)
		},
	}
}

// rollout is what is to be done to one workload.
type rollout struct {
	address string
	holds   string // what others lose meanwhile; may be empty
	live    *unstructured.Unstructured
	// pods are replaced, or waited for if they are new already; idle are left as they are,
	// since their nodes are down.
	pods, idle []providers.Pod
	atATime    int
}

func runRollout(w *workspace, addresses []string) error {
	ctx := w.flags.Context
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "rollout", func(session *state.Session) error {
		workloads, err := onDelete(session.State(), addresses)
		if err != nil {
			return err
		}
		rollouts, err := w.rollouts(ctx, workloads)
		if err != nil {
			return err
		}
		if n := w.printRollouts(rollouts); n == 0 {
			return nil
		}
		if !w.flags.Bool("auto-approve") {
			if err := w.approve(ctx, "\nDo you want kolla to replace these pods?"); err != nil {
				return err
			}
		}
		for i := range rollouts {
			if err := w.rollOut(ctx, &rollouts[i]); err != nil {
				return err
			}
		}
		fmt.Fprintln(w.out, "\nRollout complete!")
		return nil
	})
}

// onDelete are the workloads of the state that may keep old pods, those that others
// depend on first.
func onDelete(st *state.State, addresses []string) ([]*state.Object, error) {
	var targets []addrs.Target
	for _, text := range addresses {
		target, err := addrs.ParseTarget(text)
		if err != nil {
			return nil, failure.New(fmt.Sprintf("%q is not an address", text), failure.Sentence(err.Error())+".")
		}
		targets = append(targets, target)
	}
	var found []*state.Object
	var known []string
	matched := make([]bool, len(targets))
	for _, o := range mayKeepPods(st) {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		known = append(known, o.Address, address.Block)
		wanted := len(targets) == 0
		for i, target := range targets {
			if target.Has(address) {
				wanted, matched[i] = true, true
			}
		}
		if wanted {
			found = append(found, o)
		}
	}
	if i := slices.Index(matched, false); i >= 0 {
		slices.Sort(known)
		return nil, failure.New(fmt.Sprintf("The state has no DaemonSet or StatefulSet at %s", targets[i]), didYouMean(addresses[i], slices.Compact(known))+"`kolla state list` lists all addresses.")
	}
	return neededFirst(st, found), nil
}

// neededFirst sorts objects by dependency: an object comes after its dependencies.
func neededFirst(st *state.State, objects []*state.Object) []*state.Object {
	var out []*state.Object
	seen := map[string]bool{}
	var visit func(address string)
	visit = func(address string) {
		o := st.Find(address)
		if o == nil || seen[address] {
			return
		}
		seen[address] = true
		for _, needed := range o.DependsOn {
			visit(needed)
		}
		if i := slices.IndexFunc(objects, func(wanted *state.Object) bool { return wanted.Address == address }); i >= 0 {
			out = append(out, objects[i])
		}
	}
	for _, o := range objects {
		visit(o.Address)
	}
	return out
}

// rollouts finds out which pods are to be replaced.
func (w *workspace) rollouts(ctx context.Context, workloads []*state.Object) ([]rollout, error) {
	var nodes []string
	for _, names := range w.flags.StringSlice("nodes") {
		nodes = append(nodes, strings.Split(names, ",")...)
	}
	var out []rollout
	var known []string
	for _, o := range workloads {
		live, err := w.client.Workload(ctx, refOf(o))
		switch {
		case apierrors.IsNotFound(err) || err == nil && string(live.GetUID()) != o.UID:
			w.printer.Warn(o.Address+" is not in the cluster any more", "It is left out. kolla plan shows what is missing.")
			continue
		case err != nil:
			return nil, err
		case !replacesOnRequest(live):
			continue
		}
		pods, err := w.allPods(ctx, o.Address, live)
		if err != nil {
			return nil, err
		}
		r := rollout{address: o.Address, holds: o.Holds, live: live, atATime: w.atATime(live, len(pods))}
		for _, pod := range pods {
			known = append(known, pod.Node)
			switch {
			case len(nodes) > 0 && !slices.Contains(nodes, pod.Node):
			case pod.Down && pod.Outdated:
				r.idle = append(r.idle, pod)
			case !pod.Down && (pod.Outdated || !pod.Ready):
				r.pods = append(r.pods, pod)
			}
		}
		// What is not ready can only get better, and is not ready already.
		slices.SortStableFunc(r.pods, func(a, b providers.Pod) int { return rank(a) - rank(b) })
		if len(r.pods)+len(r.idle) > 0 {
			out = append(out, r)
		}
	}
	for _, node := range nodes {
		if !slices.Contains(known, node) {
			slices.Sort(known)
			return nil, failure.New(fmt.Sprintf("No such pod is on a node %q", node), didYouMean(node, slices.Compact(known))+"-nodes takes the names of nodes, as kubectl get nodes shows them.")
		}
	}
	return out, nil
}

// allPods are the pods of a workload. A pod that is missing has not come back after it was
// deleted, so that no other may be deleted until it has.
func (w *workspace) allPods(ctx context.Context, address string, live *unstructured.Unstructured) ([]providers.Pod, error) {
	const patience = 15 * time.Second // until the controller has made the new one
	for began := time.Now(); ; {
		pods, err := w.client.Pods(ctx, live)
		if err != nil {
			return nil, err
		}
		missing := wantedPods(live) - len(pods)
		if missing <= 0 {
			return pods, nil
		}
		if time.Since(began) > patience {
			return nil, failure.New(
				fmt.Sprintf("%s lacks %s", address, counted(missing, "pod")),
				"Kubernetes does not make them: kubectl describe shows why. No pod was deleted, as that would be another one that may not come back.")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// wantedPods is how many pods a DaemonSet or StatefulSet should have.
func wantedPods(workload *unstructured.Unstructured) int {
	path := []string{"status", "desiredNumberScheduled"}
	if workload.GetKind() == "StatefulSet" {
		path = []string{"spec", "replicas"}
	}
	n, _, _ := unstructured.NestedInt64(workload.Object, path...)
	return int(n)
}

// atATime is how many pods of a workload are replaced at a time.
func (w *workspace) atATime(workload *unstructured.Unstructured, pods int) int {
	if n := w.flags.Int("max-unavailable"); n > 0 {
		return n
	}
	said := intstr.Parse(workload.GetAnnotations()[providers.AnnotationMaxUnavailable])
	n, err := intstr.GetScaledValueFromIntOrPercent(&said, pods, false)
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// rank orders the pods of a rollout: those that are not ready come first.
func rank(pod providers.Pod) int {
	switch {
	case !pod.Outdated:
		return 0
	case !pod.Ready || pod.Leaving:
		return 1
	}
	return 2
}

// replacesOnRequest reports whether a workload leaves its pods as they are until somebody
// deletes them.
func replacesOnRequest(workload *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(workload.Object, "spec", "updateStrategy", "type")
	return strategy == "OnDelete"
}

// printRollouts shows what is to be done, and returns how many pods it is done to.
func (w *workspace) printRollouts(rollouts []rollout) (pods int) {
	for _, r := range rollouts {
		foreign.Fprintf(w.out, "\n%s\n", r.address)
		if r.holds != "" && len(r.pods) > 0 {
			foreign.Fprintf(w.out, "  While a pod is replaced, its node is without %s.\n", r.holds)
		}
		if len(r.pods) > 0 && r.atATime > 1 {
			foreign.Fprintf(w.out, "  %s at a time.\n", counted(r.atATime, "pod"))
		}
		for _, pod := range r.pods {
			pods++
			verb := "is replaced"
			if !pod.Outdated {
				verb = "is new, and not ready: it is waited for"
			}
			foreign.Fprintf(w.out, "  %s: pod %s %s\n", placeOf(pod), pod.Name, verb)
		}
		for _, pod := range r.idle {
			foreign.Fprintf(w.out, "  %s: pod %s stays as it is, because the node is down\n", placeOf(pod), pod.Name)
		}
	}
	switch {
	case len(rollouts) == 0:
		fmt.Fprintln(w.out, "No pods wait to be replaced.")
	case pods == 0:
		fmt.Fprintln(w.out, "\nNothing to do until these nodes are back.")
	}
	return pods
}

func placeOf(pod providers.Pod) string {
	if pod.Node == "" {
		return "on no node yet"
	}
	return "node " + pod.Node
}

// rollOut replaces the pods of one workload. After a failure it begins with no other, and
// waits for those that it has begun with.
func (w *workspace) rollOut(ctx context.Context, r *rollout) error {
	var (
		mu     sync.Mutex
		failed error
		group  sync.WaitGroup
	)
	free := make(chan struct{}, r.atATime)
	for _, pod := range r.pods {
		free <- struct{}{}
		mu.Lock()
		stop := failed != nil || ctx.Err() != nil
		mu.Unlock()
		if stop {
			break
		}
		group.Go(func() {
			defer func() { <-free }()
			err := crash.Catch(func() error { return w.replace(ctx, r, pod, &mu) })
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return failure.New("Interrupted", "Pods that were deleted come back by themselves. Run kolla rollout again to go on.")
	}
	return failed
}

// replace replaces one pod and says how it goes. The lock keeps lines apart.
func (w *workspace) replace(ctx context.Context, r *rollout, pod providers.Pod, mu *sync.Mutex) error {
	say := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		foreign.Fprintf(w.out, "%s: %s: %s\n", r.address, placeOf(pod), text)
	}
	if pod.Outdated {
		say("replacing pod " + pod.Name)
	}
	limited, cancel := context.WithTimeout(ctx, w.flags.Duration("timeout"))
	defer cancel()
	began := time.Now()
	err := w.client.Writer().Replace(limited, r.live, pod, say)
	var notReady *providers.NotReadyError
	switch {
	case err == nil:
		say(fmt.Sprintf("ready after %s", time.Since(began).Round(time.Second)))
		return nil
	case errors.As(err, &notReady) && ctx.Err() == nil:
		mu.Lock()
		defer mu.Unlock()
		for _, line := range notReady.Detail {
			foreign.Fprintf(w.err, "    %s\n", line)
		}
		return notBack(r, pod, notReady.Reason, w.flags.Duration("timeout"))
	}
	return err
}

func notBack(r *rollout, pod providers.Pod, reason string, after time.Duration) error {
	return failure.New(
		fmt.Sprintf("%s is not ready on %s", r.address, strings.TrimPrefix(placeOf(pod), "on ")),
		fmt.Sprintf("After %s: %s. Pods that were not replaced yet run as before. Remove the cause, and go on with:\nkolla rollout %s", after, reason, words.Quote(r.address)))
}
