// Package rollout replaces pods that an apply left as they were. A workload with the
// update strategy OnDelete keeps its pods until somebody deletes them.
//
// Find finds the pods of workloads, and Run replaces the pods of one workload.
package rollout

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
	"k8s.io/apimachinery/pkg/util/intstr"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// Rollout is the work on one workload.
type Rollout struct {
	Address string
	Holds   string // what others lose while a pod is replaced; may be empty
	Live    *unstructured.Unstructured
	// Pods are replaced. A new pod that is not ready is only waited for.
	Pods []providers.Pod
	// Idle are the outdated pods on nodes that are down. They stay as they are.
	Idle    []providers.Pod
	AtATime int // how many pods are replaced at the same time
}

// Options restrict rollouts.
type Options struct {
	Nodes []string // names of nodes; empty: all
	// MaxUnavailable is how many pods of a workload are replaced at the same time. Zero:
	// what the workload says, or one.
	MaxUnavailable int
}

// Find finds the pods to replace. It warns of workloads that do not exist any more.
func Find(ctx context.Context, client *kubernetes.Client, workloads []*state.Object, o Options, warn func(summary, detail string)) ([]Rollout, error) {
	var out []Rollout
	var known []string
	for _, w := range workloads {
		live, err := client.Workload(ctx, refOf(w))
		switch {
		case apierrors.IsNotFound(err) || err == nil && string(live.GetUID()) != w.UID:
			warn(w.Address+" is not in the cluster any more", "It is left out. kolla plan shows what is missing.")
			continue
		case err != nil:
			return nil, err
		case !providers.ReplacesOnRequest(live):
			continue
		}
		pods, err := allPods(ctx, client, w.Address, live)
		if err != nil {
			return nil, err
		}
		for _, pod := range pods {
			known = append(known, pod.Node)
		}
		r := Rollout{Address: w.Address, Holds: w.Holds, Live: live, AtATime: o.atATime(live, len(pods))}
		if r.sort(pods, o.Nodes); len(r.Pods)+len(r.Idle) > 0 {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Rollout) int { return a.turn() - b.turn() })
	for _, node := range o.Nodes {
		if !slices.Contains(known, node) {
			slices.Sort(known)
			return nil, failure.New(fmt.Sprintf("No such pod is on a node %q", node),
				words.WithHint(words.DidYouMean(node, slices.Compact(known)), "-nodes takes the names of nodes, as kubectl get nodes shows them."))
		}
	}
	return out, nil
}

// turn orders rollouts: 0 for workloads with rollout_first, 1 for all others.
func (r *Rollout) turn() int {
	if r.Live.GetAnnotations()[providers.AnnotationRolloutFirst] != "" {
		return 0
	}
	return 1
}

// sort decides for each pod on the nodes whether it is replaced. Pods that are not ready
// come first: replacing them makes nothing worse.
func (r *Rollout) sort(pods []providers.Pod, nodes []string) {
	for _, pod := range pods {
		switch {
		case len(nodes) > 0 && !slices.Contains(nodes, pod.Node):
		case pod.Down && pod.Outdated:
			r.Idle = append(r.Idle, pod)
		case !pod.Down && (pod.Outdated || !pod.Ready):
			r.Pods = append(r.Pods, pod)
		}
	}
	slices.SortStableFunc(r.Pods, func(a, b providers.Pod) int { return rank(a) - rank(b) })
}

// allPods lists the pods of a workload. It waits for a missing pod: no other pod may be
// deleted until it is back.
func allPods(ctx context.Context, client *kubernetes.Client, address string, live *unstructured.Unstructured) ([]providers.Pod, error) {
	const patience = 15 * time.Second // until the controller has made the new pod
	for began := time.Now(); ; {
		pods, err := client.Pods(ctx, live)
		if err != nil {
			return nil, err
		}
		missing := wantedPods(live) - len(pods)
		if missing <= 0 {
			return pods, nil
		}
		if time.Since(began) > patience {
			return nil, failure.New(
				fmt.Sprintf("%s lacks %s", address, words.Count(missing, "pod")),
				"Kubernetes does not make them: kubectl describe shows why. No pod was deleted, as that would be another one that may not come back.")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// wantedPods returns the number of pods that a DaemonSet or StatefulSet should have.
func wantedPods(workload *unstructured.Unstructured) int {
	path := []string{"status", "desiredNumberScheduled"}
	if workload.GetKind() == "StatefulSet" {
		path = []string{"spec", "replicas"}
	}
	n, _, _ := unstructured.NestedInt64(workload.Object, path...)
	return int(n)
}

// atATime returns the number of pods of a workload that are replaced at the same time.
func (o Options) atATime(workload *unstructured.Unstructured, pods int) int {
	if o.MaxUnavailable > 0 {
		return o.MaxUnavailable
	}
	annotation := intstr.Parse(workload.GetAnnotations()[providers.AnnotationMaxUnavailable])
	n, err := intstr.GetScaledValueFromIntOrPercent(&annotation, pods, false)
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// rank orders pods: new pods that are not ready, outdated pods that are not ready, others.
func rank(pod providers.Pod) int {
	switch {
	case !pod.Outdated:
		return 0
	case !pod.Ready || pod.Leaving:
		return 1
	}
	return 2
}

// Report gets the progress of a rollout, one call at a time.
type Report struct {
	// Pod gets the steps of the replacement of a pod.
	Pod func(pod providers.Pod, text string)
	// Details get the reasons why a pod is not ready.
	Details func(lines []string)
}

// Run replaces the pods. Each new pod must be ready within the timeout. After a failure it
// begins with no other pod, and waits for the pods that it has begun with. It asks
// providers.CheckFence before each pod.
func (r *Rollout) Run(ctx context.Context, client *kubernetes.Client, timeout time.Duration, report Report) error {
	var (
		mu     sync.Mutex
		failed error
		group  sync.WaitGroup
	)
	serial := Report{
		Pod: func(pod providers.Pod, text string) {
			mu.Lock()
			defer mu.Unlock()
			report.Pod(pod, text)
		},
		Details: func(lines []string) {
			mu.Lock()
			defer mu.Unlock()
			report.Details(lines)
		},
	}
	free := make(chan struct{}, r.AtATime)
	for _, pod := range r.Pods {
		free <- struct{}{}
		mu.Lock()
		stop := failed != nil || ctx.Err() != nil
		mu.Unlock()
		if stop {
			break
		}
		group.Go(func() {
			defer func() { <-free }()
			err := crash.Catch(func() error { return r.replace(ctx, client, pod, timeout, serial) })
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

// replace replaces one pod.
func (r *Rollout) replace(ctx context.Context, client *kubernetes.Client, pod providers.Pod, timeout time.Duration, report Report) error {
	if err := providers.CheckFence(ctx); err != nil {
		return err
	}
	if pod.Outdated {
		report.Pod(pod, "replacing pod "+pod.Name)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	err := client.Writer().Replace(limited, r.Live, pod, func(text string) { report.Pod(pod, text) })
	var notReady *providers.NotReadyError
	switch {
	case err == nil:
		report.Pod(pod, fmt.Sprintf("ready after %s", time.Since(began).Round(time.Second)))
		return nil
	case errors.As(err, &notReady) && ctx.Err() == nil:
		report.Details(notReady.Detail)
		return failure.New(
			fmt.Sprintf("%s is not ready on %s", r.Address, strings.TrimPrefix(PlaceOf(pod), "on ")),
			fmt.Sprintf("After %s: %s. Pods that were not replaced yet run as before. Remove the cause, and go on with:\nkolla rollout %s", timeout, notReady.Reason, words.Quote(r.Address)))
	}
	return err
}

// PlaceOf says where a pod runs: "node NAME".
func PlaceOf(pod providers.Pod) string {
	if pod.Node == "" {
		return "on no node yet"
	}
	return "node " + pod.Node
}
