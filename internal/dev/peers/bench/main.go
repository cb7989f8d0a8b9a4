// Command bench compares kolla with its alternatives: kubectl, Helm, and a client that does
// only the necessary requests apply the same objects. The runs are separate processes, one
// after the other, on a local cluster that bench starts. It writes the results to
// docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	programs programs
	only     string // names of tools besides the floor; empty means all
	sizes    []int
	runs     int
	note     string
	out      string
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	bin := flags.String("bin", "../../../bin", "`DIRECTORY` with kolla, kolla-devcluster, and the peers")
	sizes := flags.String("sizes", "100 1000", "how many objects, one cloud each")
	flags.IntVar(&o.runs, "runs", 3, "of what only reads, show the median of so many runs; of 5,000 objects and more, one")
	flags.StringVar(&o.only, "only", "", "measure only these `TOOLS` and the floor, such as \"kolla\"")
	flags.StringVar(&o.note, "note", "", "`SENTENCE` to put beside the results")
	flags.StringVar(&o.out, "out", "", "write the results to `FILE`, too")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for _, text := range strings.Fields(*sizes) {
		size, err := strconv.Atoi(text)
		if err != nil || size < 100 || size%100 != 0 {
			return o, fmt.Errorf("a size is a multiple of 100, not %q", text)
		}
		o.sizes = append(o.sizes, size)
	}
	directory, err := filepath.Abs(*bin)
	if err != nil {
		return o, err
	}
	o.programs = programs{
		kolla: filepath.Join(directory, "kolla"), devcluster: filepath.Join(directory, "kolla-devcluster"),
		helm: filepath.Join(directory, "peers", "helm"), floor: filepath.Join(directory, "peers", "floor"),
	}
	if path := os.Getenv("KOLLA_DEVCLUSTER"); path != "" {
		o.programs.devcluster = path
	}
	return o, nil
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	parent, err := os.MkdirTemp("", "kolla-bench-")
	if err != nil {
		return fmt.Errorf("make a folder to work in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(parent)) }()
	c, err := startCluster(ctx, o.programs.devcluster, parent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	results := report{machine: machine(), versions: o.programs.versions(ctx), note: o.note}
	for _, size := range o.sizes {
		b := bench{cluster: c, size: size, runs: o.runs, only: o.only, parent: parent}
		if size >= 5000 {
			b.runs = 1
		}
		table, err := b.all(ctx, o.programs)
		if err != nil {
			return err
		}
		results.tables = append(results.tables, table)
	}
	fmt.Print(results.text())
	if o.out == "" {
		return nil
	}
	return os.WriteFile(o.out, []byte(results.text()), 0o644)
}

// bench measures all tools with the given number of objects.
type bench struct {
	*cluster
	size, runs int
	only       string
	parent     string
}

// changes returns the number of changed objects in the changed plan.
func (b *bench) changes() int { return max(1, b.size/100) }

func (b *bench) all(ctx context.Context, p programs) (table, error) {
	t := table{size: b.size, costs: map[scenario]map[string]cost{}}
	for s := range titles {
		t.costs[s] = map[string]cost{}
	}
	tools := p.tools(func(inputs) string { return strconv.Itoa(b.changes()) })
	for i, tool := range tools {
		if i > 0 && b.only != "" && !slices.Contains(strings.Fields(b.only), tool.name) {
			continue
		}
		t.tools = append(t.tools, tool.name)
		if err := b.one(ctx, tool, t); err != nil {
			return t, fmt.Errorf("measure %s with %d objects: %w", tool.name, b.size, err)
		}
	}
	return t, nil
}

// one measures one tool through the life of a cloud.
func (b *bench) one(ctx context.Context, tool tool, t table) error {
	namespace := fmt.Sprintf("%s-%d", strings.ToLower(tool.name), b.size)
	in, err := b.begin(ctx, tool, namespace)
	if err != nil {
		return err
	}
	steps := []struct {
		scenario scenario
		command  command
		runs     int
	}{
		{firstPlan, tool.compare(in, namespace, firstPlan), b.runs},
		{firstApply, tool.apply(in, namespace, false), 1},
		{unchangedPlan, tool.compare(in, namespace, unchangedPlan), b.runs},
		{unchangedApply, tool.apply(in, namespace, true), b.runs},
	}
	for _, step := range steps {
		c, err := b.repeat(ctx, step.command, step.runs)
		if err != nil {
			return err
		}
		b.take(t, step.scenario, tool, c)
	}
	if err := b.oneSaved(ctx, tool, t); err != nil {
		return err
	}
	if _, err := write(in.dir, namespace, objectsFor(namespace, b.size, b.changes())); err != nil {
		return err
	}
	c, err := b.repeat(ctx, tool.compare(in, namespace, changedPlan), b.runs)
	if err != nil {
		return err
	}
	b.take(t, changedPlan, tool, c)
	return nil
}

// begin gives the objects to a tool, in a separate namespace.
func (b *bench) begin(ctx context.Context, tool tool, namespace string) (inputs, error) {
	in, err := write(filepath.Join(b.parent, namespace), namespace, objectsFor(namespace, b.size, 0))
	if err == nil && !tool.own {
		err = b.makeNamespace(ctx, namespace)
	}
	return in, err
}

// oneSaved measures the apply of a saved plan.
func (b *bench) oneSaved(ctx context.Context, tool tool, t table) error {
	if tool.saved == nil {
		return nil
	}
	in, err := b.begin(ctx, tool, fmt.Sprintf("%s-%d-saved", strings.ToLower(tool.name), b.size))
	if err != nil {
		return err
	}
	if _, err := b.repeat(ctx, tool.save(in), 1); err != nil {
		return err
	}
	c, err := b.repeat(ctx, tool.saved(in), 1)
	if err != nil {
		return err
	}
	b.take(t, savedApply, tool, c)
	return nil
}

// repeat waits until the cluster is idle, and returns the median of the runs.
func (b *bench) repeat(ctx context.Context, cmd command, runs int) (cost, error) {
	if err := b.settle(ctx); err != nil {
		return cost{}, err
	}
	var costs []cost
	for range runs {
		costs = append(costs, b.measure(ctx, cmd))
	}
	return median(costs), ctx.Err()
}

// take puts a cost into the table and prints it, because the benchmark takes minutes.
func (b *bench) take(t table, s scenario, tool tool, c cost) {
	t.costs[s][tool.name] = c
	fmt.Fprintf(os.Stderr, "%5d %-8s %-22s %s\n", b.size, tool.name, titles[s], c)
}
