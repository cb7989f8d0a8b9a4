package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kolla.openstack.org/kolla/internal/dev/devcluster/components"
	"kolla.openstack.org/kolla/internal/dev/devcluster/machine"
	"kolla.openstack.org/kolla/internal/dev/devcluster/nodes"
	"kolla.openstack.org/kolla/internal/dev/devcluster/storage"
)

// pollInterval is short because a start takes only a few seconds.
const pollInterval = 50 * time.Millisecond

// poll repeats attempt until it succeeds. If ctx ends first, it returns the error of the last
// attempt.
func poll(ctx context.Context, attempt func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; at the end: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

func etcdAnswers(ctx context.Context, dir Dir) error {
	return poll(ctx, func(context.Context) error {
		return dialIn(dir.join(runFolder), components.EtcdSocket)
	})
}

// waiter asks the API server whether a step of the start is done.
type waiter struct {
	client kubernetes.Interface
}

func newWaiter(kubeconfig string) (*waiter, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	config.Timeout = 10 * time.Second
	config.UserAgent = "devcluster"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("use kubeconfig: %w", err)
	}
	return &waiter{client: client}, nil
}

func (w *waiter) apiServerReady(ctx context.Context) error {
	return poll(ctx, func(ctx context.Context) error {
		return w.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

func (w *waiter) storageClass(ctx context.Context, realNodes bool) error {
	return poll(ctx, func(ctx context.Context) error { return storage.EnsureClass(ctx, w.client, realNodes) })
}

// serviceAccount waits for the account that every pod in the default namespace
// uses unless told otherwise: without it no pod is admitted.
func (w *waiter) serviceAccount(ctx context.Context) error {
	return poll(ctx, func(ctx context.Context) error {
		_, err := w.client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func (w *waiter) anyNodes(ctx context.Context) (bool, error) {
	list, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return false, fmt.Errorf("list nodes: %w", err)
	}
	return len(list.Items) > 0, nil
}

// nodesReady waits for the nodes of this start that are meant to be ready, and
// for the taint to be taken off that new nodes have until they are.
//
// A real node that was ready in the run before has to say so again: since is when
// this one began.
func (w *waiter) nodesReady(ctx context.Context, specs []nodes.Spec, since time.Time) error {
	wanted := map[string]bool{}
	for _, spec := range specs {
		wanted[spec.Name] = true
	}
	return poll(ctx, func(ctx context.Context) error {
		list, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
		missing := maps.Clone(wanted)
		for _, node := range list.Items {
			if schedulable(&node) && heardFrom(&node, since) {
				delete(missing, node.Name)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		const shown = 3
		names := slices.Sorted(maps.Keys(missing))
		return fmt.Errorf("%d of %d nodes are ready, but not %s", len(wanted)-len(missing), len(wanted), strings.Join(names[:min(shown, len(names))], ", "))
	})
}

// dnsReady looks for a pod of the cluster's DNS that has become ready since the
// start: what the API says about the pods of the run before is out of date.
func (w *waiter) dnsReady(ctx context.Context, since time.Time) error {
	list, err := w.client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
	if err != nil {
		return fmt.Errorf("list pods of coredns: %w", err)
	}
	problem := errors.New("coredns has no pod yet")
	for _, pod := range list.Items {
		for _, status := range pod.Status.ContainerStatuses {
			switch running, waiting := status.State.Running, status.State.Waiting; {
			// The API keeps whole seconds.
			case status.Ready && running != nil && !running.StartedAt.Time.Before(since.Truncate(time.Second)):
				return nil
			case waiting != nil:
				problem = fmt.Errorf("pod %s: %s: %s", pod.Name, waiting.Reason, waiting.Message)
			default:
				problem = fmt.Errorf("pod %s is not ready", pod.Name)
			}
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
				problem = fmt.Errorf("pod %s: %s: %s", pod.Name, condition.Reason, condition.Message)
			}
		}
	}
	return problem
}

// schedulable also holds for a node that was made not ready on purpose.
func schedulable(node *corev1.Node) bool {
	if node.Annotations[nodes.OutcomeAnnotation] != "" || node.Spec.Unschedulable {
		return true
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	return nodeReady(node)
}

// heardFrom always holds for simulated nodes.
func heardFrom(node *corev1.Node, since time.Time) bool {
	if node.Labels[machine.RealLabel] == "" {
		return true
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			// The API keeps whole seconds.
			return !condition.LastHeartbeatTime.Time.Before(since.Truncate(time.Second))
		}
	}
	return false
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// dialIn connects to a socket through a descriptor of its folder, because the path of the
// folder may be too long for a socket.
func dialIn(folder, socket string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	conn, err := net.Dial("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socket))
	if err != nil {
		return err
	}
	return conn.Close()
}
