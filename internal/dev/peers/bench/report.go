package main

import (
	"bufio"
	"cmp"
	"context"
	"debug/buildinfo"
	_ "embed" // for introduction
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table has the costs of all tools for one number of objects.
type table struct {
	size  int
	tools []string                       // in the order of the report, the floor first
	costs map[scenario]map[string][]cost // of all runs
}

// report is the page with all results.
type report struct {
	machine, versions, note string
	tables                  []table
}

var (
	//go:embed introduction.md
	introduction string
	// closing has measurements of other programs.
	//go:embed closing.md
	closing string
)

func (r report) text() string {
	var b strings.Builder
	b.WriteString(introduction)
	fmt.Fprintf(&b, "\nTaken %s on %s; %s.\n", time.Now().UTC().Format("2006-01-02"), r.machine, r.versions)
	if r.note != "" {
		fmt.Fprintf(&b, "%s\n", r.note)
	}
	b.WriteString("\n![Seconds by step and tool](performance.svg)\n")
	for _, t := range r.tables {
		t.write(&b)
	}
	b.WriteString(closing)
	return b.String()
}

// order is the order of the steps in the report.
var order = []scenario{firstPlan, firstApply, savedApply, unchangedPlan, changedPlan, unchangedApply}

func (t table) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %d objects\n\n| | | seconds | of floor | written | CPU | memory | requests |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n", t.size)
	for _, s := range order {
		floor := median(t.costs[s][t.tools[0]])
		for i, name := range t.tools {
			title := ""
			if i == 0 {
				title = titles[s]
			}
			if runs := t.costs[s][name]; len(runs) > 0 {
				fmt.Fprintf(b, "| %s | %s | %s |\n", title, name, row(runs, floor))
			}
		}
	}
	if behind := t.behind(); len(behind) > 0 {
		fmt.Fprintf(b, "\nkolla is not first: %s.\n", strings.Join(behind, "; "))
	}
}

// behind lists the steps in which a tool other than the floor or an earlier kolla was faster than
// kolla.
func (t table) behind() []string {
	var out []string
	for _, s := range order {
		own := median(t.costs[s]["kolla"])
		for _, name := range t.tools[1:] {
			other := median(t.costs[s][name])
			if !strings.HasPrefix(name, "kolla") && other.err == nil && other.wall > 0 && other.wall < own.wall {
				out = append(out, fmt.Sprintf("%s, %s takes %.2f of the time", titles[s], name, other.wall.Seconds()/own.wall.Seconds()))
			}
		}
	}
	return out
}

// row returns the cells of a tool: the run with the median time, and the spread of the times.
func row(runs []cost, floor cost) string {
	c := median(runs)
	if c.err != nil {
		return "failed | | | | | " + strings.ReplaceAll(cause(c.err), "|", "\\|")
	}
	seconds := fmt.Sprintf("%.2f", c.wall.Seconds())
	if len(runs) > 1 {
		times := slices.SortedFunc(slices.Values(runs), func(a, b cost) int { return cmp.Compare(a.wall, b.wall) })
		seconds += fmt.Sprintf(" (%.2f–%.2f)", times[0].wall.Seconds(), times[len(times)-1].wall.Seconds())
	}
	written := ""
	if c.written > 0 {
		written = fmt.Sprintf("%.2f", c.written.Seconds())
	}
	return fmt.Sprintf("%s | %.2f | %s | %.2f s | %d MiB | %s",
		seconds, c.wall.Seconds()/floor.wall.Seconds(), written, c.cpu.Seconds(), c.peak>>20, c.asked())
}

func (c cost) String() string {
	if c.err != nil {
		return c.err.Error()
	}
	return fmt.Sprintf("%.2f s, CPU %.2f s, %d MiB, %s", c.wall.Seconds(), c.cpu.Seconds(), c.peak>>20, c.asked())
}

// asked lists the numbers of requests by verb.
func (c cost) asked() string {
	var parts []string
	for _, verb := range verbs {
		if n := c.requests[verb]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verb))
		}
	}
	return strings.Join(parts, ", ")
}

// errorLine matches the line in which a program says why it fails.
var errorLine = regexp.MustCompile(`(?m)^Error.*`)

// cause returns the reason of a failure in one line.
func cause(err error) string {
	return cmp.Or(errorLine.FindString(err.Error()), firstLine(err.Error()))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// machine describes this machine.
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

// fact returns the first value of a name in a file such as /proc/meminfo.
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

// kubernetesOf returns the version of Kubernetes in the local cluster's program.
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

// versions lists the versions of the measured programs.
func (p programs) versions(ctx context.Context) string {
	ask := func(argv ...string) string {
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		if err != nil {
			return "of an unknown version"
		}
		return firstLine(strings.TrimSpace(string(out)))
	}
	built := func(program string) string {
		found, err := buildinfo.ReadFile(program)
		if err != nil {
			return "of an unknown version"
		}
		return found.Main.Version
	}
	return fmt.Sprintf("%s; kubectl and API server %s; Helm %s; OpenTofu %s with the provider kubernetes %s", ask(p.kolla, "version"), kubernetesOf(p.devcluster),
		built(p.helm), built(p.tofu), built(filepath.Join(filepath.Dir(p.tofu), "terraform-provider-kubernetes")))
}
