package tables

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/usage"
)

// Usage prints a line with the CPU and the memory of each workload. Lines below it name containers near their limits.
// Names come last, because a narrow terminal cuts the ends of lines.
func Usage(out io.Writer, look *usage.Look) error {
	table := newNoted()
	table.row(nil, "MEMORY", "CPU", "RESTARTS", "PODS", "SERVICE", "WORKLOAD")
	for _, w := range look.Workloads {
		table.row(w.Notes(), append(sumOf(w), fmt.Sprint(len(w.Pods)), serviceOf(w), w.Address.Name)...)
	}
	return writeUsage(out, table, look)
}

// UsageOfPods lists how much pods use, one line each.
func UsageOfPods(out io.Writer, look *usage.Look) error {
	table := newNoted()
	table.row(nil, "MEMORY", "CPU", "RESTARTS", "NODE", "SERVICE", "POD")
	for _, w := range look.EachPod() {
		table.row(w.Notes(), append(sumOf(w), cmp.Or(w.Pods[0].Node, "-"), serviceOf(w), w.Pods[0].Name)...)
	}
	return writeUsage(out, table, look)
}

func writeUsage(out io.Writer, table *noted, look *usage.Look) error {
	foreign.Fprintf(out, "Cloud %q of the cluster at %s.\nMemory and CPU are used/requested/limit.\n\n", look.Cloud, look.Server)
	if err := table.write(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", look.Summary())
	return nil
}

func serviceOf(w usage.Workload) string { return strings.TrimPrefix(w.Address.Block, "service.") }

// sumOf returns the cells with the amounts of a workload.
func sumOf(w usage.Workload) []string {
	sum := w.Sum()
	return []string{amounts(sum.Memory, usage.Mebibytes), amounts(sum.CPU, usage.Millicores), fmt.Sprint(sum.Restarts)}
}

// amounts returns the amounts in one cell: "500Mi/128Mi/-".
func amounts(a usage.Amount, show func(int64) string) string {
	cells := []string{show(a.Used), "-", "-"}
	if a.Request > 0 {
		cells[1] = show(a.Request)
	}
	if a.Limit > 0 {
		cells[2] = show(a.Limit)
	}
	return strings.Join(cells, "/")
}

// UsageChanges prints a line for each workload that differs between two looks, after the time.
// before may be nil: it then prints all workloads.
func UsageChanges(out io.Writer, before, now *usage.Look, at string) {
	changedLines(out, usageLines(before), usageLines(now), at, "it has no pods any more")
}

// usageLines describes each workload in one line, by address.
func usageLines(look *usage.Look) map[string]string {
	lines := map[string]string{}
	if look == nil {
		return lines
	}
	for _, w := range look.Workloads {
		sum := w.Sum()
		text := fmt.Sprintf("CPU %s, memory %s", usage.Millicores(sum.CPU.Used), usage.Mebibytes(sum.Memory.Used))
		lines[w.Address.String()] = strings.Join(append([]string{text}, w.Notes()...), "; ")
	}
	return lines
}
