package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	resources "k8s.io/component-helpers/resource"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// measured are the resources that the check of the capacity compares.
var measured = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}

// autoscaled is the next step in a cluster whose number of nodes follows its pods.
const autoscaled = "A cluster autoscaler may add nodes once the pods wait: then only its limits matter."

// nodeResources is a node with the resources that pods leave free: of others, and also those of the cloud.
type nodeResources struct {
	node         corev1.Node
	before, free corev1.ResourceList
}

// Capacity schedules the pods of all workloads on the nodes, the largest ones first, as a scheduler
// might do in an empty cloud. Pods of the cloud that run already count as not there.
func Capacity(f *cluster.Facts) ([]cluster.Finding, error) {
	nodes, err := freeNodes(f)
	if err != nil {
		return nil, err
	}
	groups := f.Groups()
	var out []cluster.Finding
	unschedulable := map[string][]*cluster.Workload{} // by group
	var waiting []*cluster.Workload
	for i := range groups {
		for j := range groups[i].Workloads {
			if w := &groups[i].Workloads[j]; w.Runs {
				waiting = append(waiting, w)
			}
		}
	}
	slices.SortStableFunc(waiting, func(a, b *cluster.Workload) int {
		if a.Daemon != b.Daemon {
			return map[bool]int{true: -1, false: 1}[a.Daemon] // pods of DaemonSets cannot choose
		}
		x, y := requests(a.Pod), requests(b.Pod)
		return cmp.Or(y.Memory().Cmp(*x.Memory()), y.Cpu().Cmp(*x.Cpu()))
	})
	for _, w := range waiting {
		if !schedule(w, nodes) {
			name := f.RoleOf(w.Pod.NodeSelector)
			unschedulable[name] = append(unschedulable[name], w)
		}
	}
	for _, g := range groups {
		if len(unschedulable[g.Name]) > 0 {
			out = append(out, lack(g, unschedulable[g.Name], nodes))
		}
	}
	return out, nil
}

// freeNodes returns the nodes with the resources that are free there without the pods of the
// configuration.
func freeNodes(f *cluster.Facts) ([]nodeResources, error) {
	nodes, err := f.Nodes()
	if err != nil {
		return nil, err
	}
	pods, err := f.List(cluster.PodKind, "")
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	out := make([]nodeResources, len(nodes))
	for i := range nodes {
		out[i] = nodeResources{node: nodes[i], before: corev1.ResourceList{}} // a node that has just joined reports none
		maps.Copy(out[i].before, nodes[i].Status.Allocatable)
		at[nodes[i].Name] = i
	}
	ours := ours(f)
	for _, u := range pods {
		var pod corev1.Pod
		if !cluster.Decode(u, &pod) || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || ours(&pod) {
			continue
		}
		if i, ok := at[pod.Spec.NodeName]; ok {
			take(out[i].before, requests(&pod.Spec))
		}
	}
	for i := range out {
		out[i].free = out[i].before.DeepCopy()
	}
	return out, nil
}

// ours returns a function that reports whether a pod belongs to a workload of the configuration.
func ours(f *cluster.Facts) func(*corev1.Pod) bool {
	type selected struct {
		namespace string
		selector  labels.Selector
	}
	var all []selected
	for _, w := range f.Workloads() {
		text, found, _ := unstructured.NestedStringMap(w.Object.Manifest.Object, "spec", "selector", "matchLabels")
		if found && len(text) > 0 {
			all = append(all, selected{w.Object.Ref().Namespace, labels.SelectorFromSet(text)})
		}
	}
	return func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(all, func(s selected) bool {
			return s.namespace == pod.Namespace && s.selector.Matches(labels.Set(pod.Labels))
		})
	}
}

// requests returns the requests of a pod, which is one of the pods of a node.
func requests(pod *corev1.PodSpec) corev1.ResourceList {
	list := resources.PodRequests(&corev1.Pod{Spec: *pod}, resources.PodResourcesOptions{})
	list[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return list
}

func take(free, requested corev1.ResourceList) {
	for _, name := range measured {
		left := free[name]
		left.Sub(requested[name])
		free[name] = left
	}
}

// fits reports whether the requests fit into what is free.
func fits(requested, free corev1.ResourceList) bool {
	return !slices.ContainsFunc(measured, func(name corev1.ResourceName) bool {
		wanted, left := requested[name], free[name]
		return !wanted.IsZero() && wanted.Cmp(left) > 0
	})
}

// schedule takes the resources for all pods of a workload, and reports whether each pod found a node.
// It leaves out nodes that do not take the pods for another reason.
func schedule(w *cluster.Workload, nodes []nodeResources) bool {
	requested := requests(w.Pod)
	var open []int
	for i := range nodes {
		if scheduling.RunsOn(w.Pod, &nodes[i].node) {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return true // the check of the roles says so
	}
	if w.Daemon {
		complete := true
		for _, i := range open {
			if fits(requested, nodes[i].free) {
				take(nodes[i].free, requested)
			} else {
				complete = false
			}
		}
		return complete
	}
	for range w.Replicas {
		best := -1
		for _, i := range open {
			if fits(requested, nodes[i].free) && (best < 0 || nodes[i].free.Memory().Cmp(*nodes[best].free.Memory()) > 0) {
				best = i
			}
		}
		if best < 0 {
			return false
		}
		take(nodes[best].free, requested)
	}
	return true
}

// lack says what the nodes of a role lack for its pods.
func lack(g cluster.Group, unschedulable []*cluster.Workload, nodes []nodeResources) cluster.Finding {
	wanted, free := corev1.ResourceList{}, corev1.ResourceList{}
	count := 0
	for i := range nodes {
		chosen := func(w cluster.Workload) bool {
			return w.Runs && scheduling.RunsOn(w.Pod, &nodes[i].node)
		}
		if slices.ContainsFunc(g.Workloads, chosen) {
			count++
			add(free, nodes[i].before, 1)
		}
	}
	for _, w := range g.Workloads {
		switch {
		case w.Daemon:
			add(wanted, requests(w.Pod), count)
		case w.Runs:
			add(wanted, requests(w.Pod), w.Replicas)
		}
	}
	var lines, names []string
	severity := cluster.Warning
	for _, name := range measured {
		asked, left := wanted[name], free[name]
		mark := ""
		if asked.Cmp(left) > 0 {
			severity, mark = cluster.Error, ", too little"
		}
		lines = append(lines, fmt.Sprintf("%s: %s requested, %s free%s", name, shown(name, asked), shown(name, left), mark))
	}
	for _, w := range unschedulable {
		names = append(names, w.Address())
		if largest(w, nodes) {
			severity = cluster.Error
		}
	}
	return cluster.Finding{
		Severity: severity, Subject: g.Name,
		Problem: fmt.Sprintf("%s %s not enough room for the pods", words.Count(count, "node"), words.Plural(count, "has", "have")),
		Reason: fmt.Sprintf("Pods of %s may wait for a node. Other pods of the cluster are counted, and so are pods of other roles on the same nodes. Of this role:\n%s",
			words.Few(names, 4), strings.Join(lines, "\n")),
		Next: "Add nodes to the role, lower the requests in `resources` of the workloads, or move other pods away. kubectl describe node shows what is requested on a node. " + autoscaled,
	}
}

// largest reports whether a pod of a workload fits on none of its nodes, even without all others.
func largest(w *cluster.Workload, nodes []nodeResources) bool {
	for i := range nodes {
		if scheduling.RunsOn(w.Pod, &nodes[i].node) && fits(requests(w.Pod), nodes[i].before) {
			return false
		}
	}
	return true
}

func add(sum, list corev1.ResourceList, times int) {
	for _, name := range measured {
		total := sum[name]
		for range times {
			total.Add(list[name])
		}
		sum[name] = total
	}
}

// shown formats a quantity. Amounts of memory have the largest unit in which they are at least 1.
func shown(name corev1.ResourceName, q resource.Quantity) string {
	if name != corev1.ResourceMemory {
		return q.String()
	}
	const gib, mib = 1 << 30, 1 << 20
	if abs := max(q.Value(), -q.Value()); abs >= gib {
		return fmt.Sprintf("%.1f GiB", float64(q.Value())/gib)
	}
	return fmt.Sprintf("%d MiB", q.Value()/mib)
}
