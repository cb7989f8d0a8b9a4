// Package usage says how much CPU and memory the pods of a cloud use now. [Of] measures the pods of a
// workload, and a [Look] has all workloads.
package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Kind is the kind of the objects with measured values.
var Kind = kinds.PodMetrics.WithVersion("v1beta1")

// Orders of a Look.
const (
	ByCPU    = "cpu"
	ByMemory = "memory"
	ByName   = "name"
)

// Orders are all orders of a Look.
func Orders() []string { return []string{ByMemory, ByCPU, ByName} }

// Look is the result of one look at the cluster.
type Look struct {
	Cloud, Server string
	Order         string // one of Orders
	Workloads     []Workload
}

// Workload is an object with pods.
type Workload struct {
	Address   addrs.Object
	Namespace string
	Pods      []Pod
}

// Pod is a pod that has not ended.
type Pod struct {
	Name, Node string
	// Measured: there are values of the pod. They are late for a pod that has just started.
	Measured bool
	Sum
	Near []Near
}

// Sum adds up the containers of pods that run all the time.
type Sum struct {
	CPU      Amount // millicores
	Memory   Amount // bytes
	Restarts int    // of all containers
}

// Amount is an amount of CPU or memory.
type Amount struct {
	Used    int64 `json:"used"`
	Request int64 `json:"request,omitempty"`
	Limit   int64 `json:"limit,omitempty"` // 0: at least one container has no limit
}

// Near is a container that is near its memory limit.
type Near struct {
	Container string `json:"container"`
	Used      int64  `json:"used"`
	Limit     int64  `json:"limit"`
}

// nearPercent is the part of its memory limit from which a container is near it.
const nearPercent = 90

// Of returns the values of pods, without those that have ended. get returns the PodMetrics of a pod, or nil.
func Of(pods []*corev1.Pod, get func(*corev1.Pod) *unstructured.Unstructured) ([]Pod, error) {
	var out []Pod
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		p, err := measure(pod, get(pod))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// measured is the part of PodMetrics that is needed.
type measured struct {
	Containers []struct {
		Name  string              `json:"name"`
		Usage corev1.ResourceList `json:"usage"`
	} `json:"containers"`
}

// measure returns the values of a pod. metrics may be nil.
func measure(pod *corev1.Pod, metrics *unstructured.Unstructured) (Pod, error) {
	out := Pod{Name: pod.Name, Node: pod.Spec.NodeName, Measured: metrics != nil}
	used := map[string]corev1.ResourceList{}
	if metrics != nil {
		var m measured
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metrics.Object, &m); err != nil {
			return Pod{}, fmt.Errorf("read %s: %w", providers.RefOf(metrics), err)
		}
		for _, c := range m.Containers {
			used[c.Name] = c.Usage
		}
	}
	var cpu, memory []Amount
	for _, c := range running(pod) {
		m := amount(c.Resources, used[c.Name], corev1.ResourceMemory, (*resource.Quantity).Value)
		if m.Limit > 0 && m.Used*100 >= m.Limit*nearPercent {
			out.Near = append(out.Near, Near{Container: c.Name, Used: m.Used, Limit: m.Limit})
		}
		memory = append(memory, m)
		cpu = append(cpu, amount(c.Resources, used[c.Name], corev1.ResourceCPU, (*resource.Quantity).MilliValue))
	}
	out.CPU, out.Memory = total(cpu), total(memory)
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		out.Restarts += int(s.RestartCount)
	}
	return out, nil
}

// running returns the containers that run as long as the pod.
func running(pod *corev1.Pod) []corev1.Container {
	out := slices.Clone(pod.Spec.Containers)
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = append(out, c)
		}
	}
	return out
}

func amount(wanted corev1.ResourceRequirements, used corev1.ResourceList, name corev1.ResourceName, value func(*resource.Quantity) int64) Amount {
	of := func(list corev1.ResourceList) int64 { q := list[name]; return value(&q) }
	return Amount{Used: of(used), Request: of(wanted.Requests), Limit: of(wanted.Limits)}
}

// total adds amounts. It has a limit if all of them have one.
func total(all []Amount) (out Amount) {
	limited := true
	for _, a := range all {
		out.Used += a.Used
		out.Request += a.Request
		out.Limit += a.Limit
		limited = limited && a.Limit > 0
	}
	if !limited {
		out.Limit = 0
	}
	return out
}

// Sum adds up the pods of a workload.
func (w Workload) Sum() (out Sum) {
	var cpu, memory []Amount
	for _, p := range w.Pods {
		cpu, memory = append(cpu, p.CPU), append(memory, p.Memory)
		out.Restarts += p.Restarts
	}
	out.CPU, out.Memory = total(cpu), total(memory)
	return out
}

// Sort sorts the workloads, and the pods of each: the largest first, or by name.
func (l *Look) Sort() {
	for _, w := range l.Workloads {
		slices.SortFunc(w.Pods, func(a, b Pod) int {
			return cmp.Or(l.compare(a.Sum, b.Sum), strings.Compare(a.Name, b.Name))
		})
	}
	slices.SortFunc(l.Workloads, l.compareWorkloads)
}

func (l *Look) compareWorkloads(a, b Workload) int {
	return cmp.Or(l.compare(a.Sum(), b.Sum()), strings.Compare(a.Address.String(), b.Address.String()))
}

func (l *Look) compare(a, b Sum) int {
	switch l.Order {
	case ByCPU:
		return cmp.Compare(b.CPU.Used, a.CPU.Used)
	case ByMemory:
		return cmp.Compare(b.Memory.Used, a.Memory.Used)
	}
	return 0
}

// EachPod returns each pod as a workload of its own, in the order of the look.
func (l *Look) EachPod() (out []Workload) {
	for _, w := range l.Workloads {
		for _, p := range w.Pods {
			out = append(out, Workload{Address: w.Address, Namespace: w.Namespace, Pods: []Pod{p}})
		}
	}
	slices.SortStableFunc(out, l.compareWorkloads)
	return out
}

// Summary adds up all workloads in one line, and counts the containers that are near their limits in another one.
func (l *Look) Summary() string {
	var all Workload
	near := 0
	for _, w := range l.Workloads {
		all.Pods = append(all.Pods, w.Pods...)
	}
	for _, p := range all.Pods {
		near += len(p.Near)
	}
	sum := all.Sum()
	text := fmt.Sprintf("%s of %s: CPU %s, memory %s.", words.Count(len(all.Pods), "pod"), words.Count(len(l.Workloads), "workload"), Millicores(sum.CPU.Used), Mebibytes(sum.Memory.Used))
	if near > 0 {
		text += fmt.Sprintf("\n%s near the memory limit.", words.Plural(near, "1 container is", fmt.Sprintf("%d containers are", near)))
	}
	return text
}

// Notes says which containers are near their limits, and which pods have no values.
func (w Workload) Notes() (out []string) {
	const few = 3 // named ones
	var unmeasured []string
	for _, p := range w.Pods {
		if !p.Measured {
			unmeasured = append(unmeasured, p.Name)
		}
		for _, n := range p.Near {
			out = append(out, fmt.Sprintf("near its memory limit: %s of %s (%d %%), container %s of pod %s", Mebibytes(n.Used), Mebibytes(n.Limit), n.Used*100/n.Limit, n.Container, p.Name))
		}
	}
	out = words.First(out, few, "container")
	if len(unmeasured) > 0 {
		out = append(out, "no values yet: "+words.Few(unmeasured, few))
	}
	return out
}

// Millicores returns an amount of CPU: "250m".
func Millicores(n int64) string { return fmt.Sprintf("%dm", n) }

// Mebibytes returns an amount of memory: "512Mi".
func Mebibytes(n int64) string {
	const mebibyte = 1 << 20
	return fmt.Sprintf("%dMi", (n+mebibyte/2)/mebibyte)
}
