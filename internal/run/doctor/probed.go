package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/doctor/network"
	"kolla.openstack.org/kolla/internal/run/doctor/nodes"
	"kolla.openstack.org/kolla/internal/run/doctor/objects"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// pods are the pods that a check needs.
type pods int

const (
	noPods     pods = iota
	nodePods        // one on each node, with the script of package probe
	imagePods       // one on each node, with a container for each image
	volumePods      // one for each storage class
)

// probeable returns the ready nodes on which pods of the configuration may run, and the names of the others.
func probeable(f *cluster.Facts) (open []corev1.Node, closed []string, err error) {
	used, err := f.Used()
	for _, node := range used {
		if cluster.Condition(&node, corev1.NodeReady) == corev1.ConditionTrue {
			open = append(open, node)
		} else {
			closed = append(closed, node.Name)
		}
	}
	return open, closed, err
}

// Probe runs the pods that the checks need, and adds their results to f. Read comes before it. Only failures of
// the cluster and the context are errors: a pod that cannot run is a result.
func Probe(ctx context.Context, runner *probe.Runner, f *cluster.Facts, checks []Check) error {
	wanted := map[pods]bool{}
	for _, check := range checks {
		if check.Starts() {
			wanted[check.pods] = true
		}
	}
	if len(wanted) == 0 || f.Unprobed != nil {
		return nil
	}
	open, closed, err := probeable(f)
	if err == nil && len(open)+len(closed) == 0 {
		err = errors.New("no pod was started, because no node takes pods of the configuration")
	}
	if err != nil {
		f.Unprobed = err
		return nil
	}
	f.Probed = &cluster.Probed{Namespace: probeNamespace(f), Closed: closed}
	runner.Cloud, runner.Namespace = f.Config.Cloud.Name, f.Probed.Namespace
	var all []probe.Pod
	var keep []func(probe.Outcome)
	add := func(pod probe.Pod, take func(probe.Outcome)) {
		all, keep = append(all, pod), append(keep, take)
	}
	if wanted[nodePods] {
		if err := askNodes(f, runner, open, add); err != nil {
			return err
		}
	}
	if wanted[imagePods] {
		nodes.AskImages(f, open, add)
	}
	if wanted[volumePods] {
		objects.AskVolumes(f, open, add)
	}
	outcomes, err := runner.Run(ctx, all)
	var denied *providers.PermissionError
	if errors.As(err, &denied) && ctx.Err() == nil {
		f.Probed, f.Unprobed = nil, denied
		return nil
	}
	if err != nil {
		return err
	}
	for i, outcome := range outcomes {
		keep[i](outcome)
	}
	return nil
}

// probeNamespace returns the namespace for pods.
func probeNamespace(f *cluster.Facts) string {
	live, err := f.List(cluster.NamespaceKind, "")
	for _, u := range live {
		if u.GetName() == f.Config.Cloud.Namespace && u.GetDeletionTimestamp() == nil {
			return u.GetName()
		}
	}
	if err != nil {
		return f.Config.Cloud.Namespace
	}
	return metav1.NamespaceDefault
}

// askNodes adds a pod for each node that answers all questions about it.
func askNodes(f *cluster.Facts, runner *probe.Runner, open []corev1.Node, add func(probe.Pod, func(probe.Outcome))) error {
	p := f.Probed
	p.Nodes = make([]cluster.NodeProbe, len(open))
	names, reached := network.Lookups(f), network.Published(f)
	for i := range open {
		node := &open[i]
		p.Nodes[i].Node = *node
		questions := probe.Questions{Names: names, Reached: reached, Paths: network.PathsFrom(f, open, i), Modules: nodes.Modules(f, node)}
		base, paths := f.Base(node), nodes.HostPaths(f, node)
		if base.Image == "" {
			p.Nodes[i].Problem = "no image of its pods is known yet"
			continue
		}
		pod, err := probe.OnNode(node.Name, base, questions, paths)
		if err == nil && len(paths) > 0 {
			if why := refusal(f, runner, pod); why != "" {
				p.Withheld = fmt.Sprintf("Namespace %s does not allow pods with directories of the node: %s", p.Namespace, why)
				pod, err = probe.OnNode(node.Name, base, questions, nil)
			}
		}
		if err != nil {
			return err
		}
		add(pod, func(o probe.Outcome) {
			report, err := o.Report()
			if p.Nodes[i].Report = report; err != nil {
				p.Nodes[i].Problem = err.Error()
			}
		})
	}
	return nil
}

// refusal says why the namespace refuses a pod with directories of the node: by its present Pod Security level, or
// because the cloud's own policy holds all pods but those of some workloads to the level restricted.
func refusal(f *cluster.Facts, runner *probe.Runner, pod probe.Pod) string {
	at := slices.IndexFunc(f.Objects, func(o providers.Object) bool {
		return o.Address.Kind == "ValidatingAdmissionPolicy" && addrs.TypeOf(o.Address.Block) == "cloud"
	})
	if at >= 0 && f.Probed.Namespace == f.Config.Cloud.Namespace {
		return f.Objects[at].Ref().String() + " holds pods of no service to the level restricted"
	}
	live, err := f.List(cluster.NamespaceKind, "")
	at = slices.IndexFunc(live, func(u *unstructured.Unstructured) bool { return u.GetName() == f.Probed.Namespace })
	if err != nil || at < 0 {
		return ""
	}
	return podsecurity.Refusal(runner.Job("probe", "", pod), podsecurity.LevelOf(live[at], f.Cluster.Version))
}
