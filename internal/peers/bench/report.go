package main

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// table is what all tools cost with so many objects.
type table struct {
	size  int
	tools []string // in order; the floor first
	costs map[scenario]map[string]cost
}

// report is the page with all results.
type report struct {
	machine, versions, note string
	tables                  []table
}

const introduction = `# Performance

What kolla costs, beside what people use instead: the same objects, the same cluster,
one after the other. ` + "`make bench`" + ` takes these measurements and writes this page anew.

The objects are 25 % ConfigMaps of 1.7 KB, 20 % Deployments, 20 % Services, 15 %
Secrets, 15 % ServiceAccounts and 5 % PodDisruptionBudgets, in one namespace for each
tool. The Deployments want no pods, so that what is measured is the tool and the API
server, not the controllers. The cluster is ` + "`kolla-devcluster`" + `: etcd and the real
kube-apiserver, on the same machine and thus on the same processors as the tool.

| row | kolla | kubectl | Helm | floor |
| --- | --- | --- | --- | --- |
| plan | ` + "`plan`" + ` | ` + "`diff --server-side`" + ` | ` + "`upgrade --install --dry-run=server`" + ` | first: one dry run an object; unchanged: one LIST a kind; changed: both, dry runs of what is changed |
| apply of a saved plan | ` + "`apply FILE`" + ` | | | one server-side apply an object |
| apply | ` + "`apply`" + ` | ` + "`apply --server-side`" + ` | ` + "`upgrade --install`" + ` | new: one server-side apply an object; unchanged: one LIST a kind |

The floor is a client that does nothing else, has 64 requests under way at a time and
throws the answers away. kolla's apply plans first, with a dry run of each new object,
as a saved plan has done before; it waits until everything is ready and keeps a journal
on the disk. kubectl and Helm were not told to wait. Each run is a process of
its own. Seconds are wall time, *of floor* is their ratio to the floor's, CPU is what
the process took of it in user and kernel mode, memory is its resident set at most, and
requests are what the API server's audit log shows. Of what only reads, the run with
the median time of three is shown, of a new cloud's apply and of 5,000 objects and more
the only one.

kubectl is the one that is compiled into the local cluster's program, whose size is in
its memory. Helm keeps all objects in one Secret and does not ask the server about each
object in a dry run: it renders, and checks that kinds exist.
`

func (r report) text() string {
	var b strings.Builder
	b.WriteString(introduction)
	fmt.Fprintf(&b, "\nTaken %s on %s; %s.\n", time.Now().UTC().Format("2006-01-02"), r.machine, r.versions)
	if r.note != "" {
		fmt.Fprintf(&b, "%s\n", r.note)
	}
	for _, t := range r.tables {
		t.write(&b)
	}
	return b.String()
}

func (t table) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %d objects\n\n| | | seconds | of floor | CPU | memory | requests |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n", t.size)
	for _, s := range []scenario{firstPlan, firstApply, savedApply, unchangedPlan, changedPlan, unchangedApply} {
		floor := t.costs[s][t.tools[0]]
		for i, name := range t.tools {
			title := ""
			if i == 0 {
				title = titles[s]
			}
			if c, ok := t.costs[s][name]; ok {
				fmt.Fprintf(b, "| %s | %s | %s |\n", title, name, c.row(floor))
			}
		}
	}
}

// row is the cells of a cost.
func (c cost) row(floor cost) string {
	if c.err != nil {
		return "failed | | | | " + strings.ReplaceAll(firstLine(c.err.Error()), "|", "\\|")
	}
	return fmt.Sprintf("%.2f | %.1f | %.2f s | %d MiB | %s",
		c.wall.Seconds(), c.wall.Seconds()/floor.wall.Seconds(), c.cpu.Seconds(), c.peak>>20, c.asked())
}

func (c cost) String() string {
	if c.err != nil {
		return c.err.Error()
	}
	return fmt.Sprintf("%.2f s, CPU %.2f s, %d MiB, %s", c.wall.Seconds(), c.cpu.Seconds(), c.peak>>20, c.asked())
}

// asked lists the requests by verb.
func (c cost) asked() string {
	var parts []string
	for _, verb := range verbs {
		if n := c.requests[verb]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verb))
		}
	}
	return strings.Join(parts, ", ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// machine describes what this runs on.
func machine() string {
	return fmt.Sprintf("%d processors (%s) with %s of memory, %s/%s",
		runtime.NumCPU(), fact("/proc/cpuinfo", "model name"), memory(), runtime.GOOS, runtime.GOARCH)
}

func memory() string {
	kilobytes, err := strconv.Atoi(strings.TrimSuffix(fact("/proc/meminfo", "MemTotal"), " kB"))
	if err != nil {
		return "an unknown amount"
	}
	return fmt.Sprintf("%d GiB", (kilobytes+1<<19)>>20)
}

// fact is the first value of a name in a file such as /proc/meminfo.
func fact(path, name string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// kubernetesOf is the version of Kubernetes in the local cluster's program.
func kubernetesOf(devcluster string) string {
	built, err := buildinfo.ReadFile(devcluster)
	if err != nil {
		return "of an unknown version"
	}
	for _, module := range built.Deps {
		if module.Path == "k8s.io/kubernetes" {
			return module.Version
		}
	}
	return "of an unknown version"
}

// versions names what was measured.
func (p programs) versions(ctx context.Context) string {
	ask := func(argv ...string) string {
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		if err != nil {
			return "of an unknown version"
		}
		return firstLine(strings.TrimSpace(string(out)))
	}
	helm := "of an unknown version"
	if built, err := buildinfo.ReadFile(p.helm); err == nil {
		helm = built.Main.Version
	}
	return fmt.Sprintf("%s; kubectl and API server %s; Helm %s", ask(p.kolla, "version"), kubernetesOf(p.devcluster), helm)
}
