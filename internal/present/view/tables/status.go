package tables

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/status"
)

// Status lists the workloads of a cloud, service by service. Below a workload that is not ready it
// says why.
func Status(out io.Writer, look *status.Look) error {
	foreign.Fprintf(out, "Cloud %q", look.Cloud)
	if look.Release != "" {
		foreign.Fprintf(out, ", release %s", look.Release)
	}
	if look.Namespace != "" {
		foreign.Fprintf(out, ", in namespace %s", look.Namespace)
	}
	foreign.Fprintf(out, " of the cluster at %s.\n\n", look.Server)
	table := newNoted()
	table.row(nil, "SERVICE", "PODS READY", "RESTARTS", "VERSIONS")
	for _, s := range look.Services {
		verdict := "ready"
		if !s.Ready() {
			verdict = "not ready"
		}
		var public []string
		for _, address := range s.Public {
			public = append(public, "public address: "+address)
		}
		table.row(public, s.Address, verdict, "", "")
		for _, w := range s.Workloads {
			table.row(reasons(w), "  "+w.Address.Kind+" "+w.Address.Name, w.Count(), fmt.Sprint(w.Restarts), w.Versions())
		}
	}
	if err := table.write(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", look.Summary())
	left(out, look)
	return nil
}

// left says which stages of an upgrade are not complete.
func left(out io.Writer, look *status.Look) {
	behind := look.Behind()
	if len(behind) == 0 {
		return
	}
	foreign.Fprintf(out, "\nThe upgrade is not complete. Pods of another release than %s run in:\n", look.Release)
	for len(behind) > 0 {
		stage := behind[0].Stage
		var names []string
		for len(behind) > 0 && behind[0].Stage == stage {
			names, behind = append(names, behind[0].Address.Name), behind[1:]
		}
		foreign.Fprintf(out, "  stage %s: %s\n", cmp.Or(stage, "unknown"), words.All(names))
	}
	fmt.Fprintln(out, "kolla plan shows what is left for kolla apply; kolla rollout replaces the pods of the stage nodes.")
}

// reasons says why a workload is not ready.
func reasons(w status.Workload) []string {
	if w.Ready {
		return nil
	}
	why := []string{"not ready: " + w.Reason}
	for _, fact := range w.Detail {
		why = append(why, "- "+fact) // no foreign text begins a line
	}
	return why
}

// StatusChanges prints a line for each workload that differs between two looks, after the time.
// before may be nil: it then prints all workloads.
func StatusChanges(out io.Writer, before, now *status.Look, at string) {
	changedLines(out, statusLines(before), statusLines(now), at, "no longer a workload of the cloud, or complete")
}

// changedLines prints the lines that differ, by address. gone is the line of an address that has none any more.
func changedLines(out io.Writer, known, lines map[string]string, at, gone string) {
	for _, address := range slices.Sorted(maps.Keys(lines)) {
		if lines[address] != known[address] {
			foreign.Fprintf(out, "%s  %s: %s\n", at, address, lines[address])
		}
		delete(known, address)
	}
	for _, address := range slices.Sorted(maps.Keys(known)) {
		foreign.Fprintf(out, "%s  %s: %s\n", at, address, gone)
	}
}

// statusLines describes each workload in one line, by address.
func statusLines(look *status.Look) map[string]string {
	lines := map[string]string{}
	if look == nil {
		return lines
	}
	for _, s := range look.Services {
		for _, w := range s.Workloads {
			text := w.Versions()
			if w.Pods != nil {
				text = strings.Trim(w.Count()+" ready, "+text, ", ")
			}
			if w.Restarts > 0 {
				text += ", " + words.Count(w.Restarts, "restart")
			}
			if !w.Ready {
				text += ", not ready: " + w.Reason
			}
			lines[w.Address.String()] = strings.TrimPrefix(text, ", ")
		}
	}
	return lines
}
