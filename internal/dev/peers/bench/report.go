package main

import (
	"bufio"
	"context"
	"debug/buildinfo"
	_ "embed" // for introduction
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// table has the costs of all tools for one number of objects.
type table struct {
	size  int
	tools []string // in the order of the report, the floor first
	costs map[scenario]map[string]cost
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
	for _, t := range r.tables {
		t.write(&b)
	}
	b.WriteString(closing)
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

// row returns the cells of a cost.
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
	helm := "of an unknown version"
	if built, err := buildinfo.ReadFile(p.helm); err == nil {
		helm = built.Main.Version
	}
	return fmt.Sprintf("%s; kubectl and API server %s; Helm %s", ask(p.kolla, "version"), kubernetesOf(p.devcluster), helm)
}
