package tables

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/discovery"
)

// Discovery lists the Services of a cloud, service by service. wide adds notes: other DNS names,
// workloads, nodes and URLs.
func Discovery(out io.Writer, d *discovery.Directory, wide bool) error {
	foreign.Fprintf(out, "Cloud %q, in namespace %s of the cluster at %s.\n\n", d.Name, d.Namespace, d.Server)
	table := newNoted()
	table.row(nil, "SERVICE", "DNS NAME", "CLUSTER IP", "PORTS", "READY")
	for _, b := range d.Blocks {
		table.row(aboutBlock(b, wide), b.Address, "", "", "", "")
		for _, s := range b.Services {
			name := "  Service " + s.Short()
			if s.Live == nil {
				table.row([]string{"not in the cluster"}, name, s.Full(), "-", "-", "-")
				continue
			}
			var notes []string
			if wide {
				notes = aboutService(s)
			} else if s.Live.Pending() {
				notes = []string{externalOf(s.Live)}
			}
			table.row(notes, name, s.Full(), addressOf(s.Live), portsOf(s.Live), readyOf(s.Live))
		}
		for _, w := range b.Alone {
			table.row(nil, "  "+w.Kind+" "+w.Name, "no Service", "", "", "")
		}
	}
	if err := table.write(out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", d.Summary())
	return err
}

// aboutBlock returns the notes below a block.
func aboutBlock(b discovery.Block, wide bool) []string {
	if b.External {
		return []string{"exists outside of the cloud"}
	}
	if !wide {
		return nil
	}
	var notes []string
	for _, u := range b.URLs {
		note := "port " + u.Port
		if u.Endpoint != "" {
			note += " (" + u.Endpoint + ")"
		}
		note += ": " + u.Internal
		if u.Public != "" {
			note += ", from outside " + u.Public
		}
		notes = append(notes, note)
	}
	return notes
}

// aboutService returns the notes below a Service of the cluster.
func aboutService(s discovery.Service) []string {
	notes := []string{"short name: " + s.Short() + ", or from other namespaces " + s.Namespaced()}
	var workloads, ready, unready, names []string
	for _, w := range s.Workloads {
		workloads = append(workloads, w.Kind+" "+w.Name)
	}
	for _, e := range s.Live.Endpoints {
		switch {
		case !e.Ready:
			unready = append(unready, cmp.Or(e.Pod, strings.Join(e.Addresses, ", ")))
		case e.Node != "" && !slices.Contains(ready, e.Node):
			ready = append(ready, e.Node)
		}
		if e.Name != "" {
			names = append(names, e.Name+" ("+strings.Join(e.Addresses, ", ")+")")
		}
	}
	slices.Sort(ready)
	for _, note := range []struct{ name, text string }{
		{"pods of", strings.Join(workloads, ", ")},
		{"ready on", strings.Join(ready, ", ")},
		{"not ready", strings.Join(unready, ", ")},
	} {
		if note.text != "" {
			notes = append(notes, note.name+": "+note.text)
		}
	}
	if note := externalOf(s.Live); note != "" {
		notes = append(notes, note)
	}
	for _, name := range names {
		notes = append(notes, "name of a pod: "+name)
	}
	return notes
}

// externalOf returns the note about external addresses; empty: the Service needs none.
func externalOf(l *discovery.Live) string {
	addresses := strings.Join(l.External, ", ")
	if l.Pending() {
		addresses = "<pending>" // as kubectl shows it
	}
	if addresses == "" {
		return ""
	}
	return "external address: " + addresses
}

func addressOf(l *discovery.Live) string {
	switch {
	case l.Headless:
		return "headless"
	case l.Alias != "":
		return "alias of " + l.Alias
	}
	return cmp.Or(strings.Join(l.ClusterIPs, ","), "-")
}

func portsOf(l *discovery.Live) string {
	var ports []string
	for _, p := range l.Ports {
		ports = append(ports, p.String())
	}
	return cmp.Or(strings.Join(ports, ","), "-")
}

// readyOf counts the ready endpoints. An alias has no endpoints.
func readyOf(l *discovery.Live) string {
	if l.Alias != "" {
		return "-"
	}
	ready, total := l.Ready()
	return fmt.Sprintf("%d of %d", ready, total)
}

// Checks lists the URLs that were opened from here and from a pod, and what answers.
func Checks(out io.Writer, d *discovery.Directory) error {
	if len(d.Checks) == 0 {
		_, err := fmt.Fprintln(out, "\nNo service has a public URL, so that nothing was opened.")
		return err
	}
	if err := opened(out, "PUBLIC URL", d.Checks); err != nil {
		return err
	}
	fmt.Fprintln(out, answering(d.Checks, "public URL", ""))
	if d.NoPod != "" {
		foreign.Fprintf(out, "\nNothing was opened from a pod: %s.\n", foreign.Line(d.NoPod))
		return nil
	}
	if len(d.Inside) == 0 {
		return nil
	}
	if err := opened(out, "URL, FROM A POD", d.Inside); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, answering(d.Inside, "URL", " a pod of the cluster"))
	return err
}

// Endpoints lists the endpoints of Keystone.
func Endpoints(out io.Writer, d *discovery.Directory) error {
	if d.NoKeystone != "" {
		foreign.Fprintf(out, "\nKeystone's catalogue was not read: %s.\n", foreign.Line(d.NoKeystone))
		return nil
	}
	fmt.Fprintln(out)
	table := newNoted()
	table.row(nil, "KEYSTONE'S ENDPOINT", "REGION", "SERVICE", "URL")
	for _, e := range d.Keystone {
		var notes []string
		switch {
		case e.Problem() != "":
			notes = []string{e.Problem()}
		case e.Disabled:
			notes = []string{"disabled"}
		}
		table.row(notes, e.Type+" "+e.Interface, e.Region, cmp.Or(e.Address, "another: "+e.Name), cmp.Or(e.URL, "-"))
	}
	if err := table.write(out); err != nil {
		return err
	}
	all, wrong := discovery.Wrong(d.Keystone)
	summary := fmt.Sprintf("Keystone has all of %s as declared.", words.Count(all, "endpoint"))
	if wrong > 0 {
		summary = fmt.Sprintf("%d of %s %s not as declared. kolla apply registers %s again.", wrong, words.Count(all, "endpoint"), words.Plural(wrong, "is", "are"), words.Plural(wrong, "it", "them"))
	}
	_, err := fmt.Fprintf(out, "\n%s\n", summary)
	return err
}

// answering says how many URLs answer whom, after an empty line.
func answering(checks []discovery.Check, noun, whom string) string {
	if n := discovery.Failed(checks); n > 0 {
		return fmt.Sprintf("\n%d of %s %s not answer%s.", n, words.Count(len(checks), noun), words.Plural(n, "does", "do"), whom)
	}
	return fmt.Sprintf("\nAll %ss answer%s.", noun, whom)
}

// opened lists the results of some URLs.
func opened(out io.Writer, title string, checks []discovery.Check) error {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tSERVICE\tCONNECT\tANSWER\n", title)
	for _, c := range checks {
		connected, answer := "-", fmt.Sprintf("HTTP %d after %s", c.Status, milliseconds(c.Answered))
		if c.Connected > 0 {
			connected = milliseconds(c.Connected)
		}
		switch {
		case c.Skipped:
			answer = "not opened: it is a UDP port"
		case c.Status > 0 && c.Problem != "":
			answer += ": " + c.Problem
		case c.Problem != "":
			answer = c.Problem
		case c.Status == 0:
			answer = "accepts connections after " + connected
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\n", c.URL, c.Address, connected, answer)
	}
	return table.Flush()
}

// milliseconds shows a short time: "3.2 ms".
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// Environment prints environment variables, one a line, after comments which say who gets them.
func Environment(out io.Writer, namespace string, variables []discovery.Variable) error {
	foreign.Fprintf(out, "# Kubernetes gives these variables to pods in namespace %s when they start, if their\n# workload has service_links = true. All other pods get those of KUBERNETES only.\n", namespace)
	for _, v := range variables {
		if _, err := fmt.Fprintf(out, "%s=%s\n", foreign.Text(v.Name), foreign.Text(v.Value)); err != nil {
			return err
		}
	}
	return nil
}
