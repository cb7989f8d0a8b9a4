// Command bench compares kolla with its alternatives: kubectl, Helm, an earlier kolla, and a client
// that does only the necessary requests apply the same objects. The runs are separate processes that
// take turns, on a local cluster that bench starts. It writes the results to docs/performance.md, with
// a picture.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
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
	before   string // a revision of kolla to measure beside this one; may be empty
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
	flags.IntVar(&o.runs, "runs", 3, "show the median of so many runs; of 5,000 objects and more, of one")
	flags.StringVar(&o.before, "vs", "", "also measure the kolla of this git `REVISION`")
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
		tofu: filepath.Join(directory, "peers", "tofu"),
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
	if o.before != "" {
		if o.programs.before, o.programs.commit, err = buildAt(ctx, o.before, parent); err != nil {
			return err
		}
	}
	if err := o.programs.configureTofu(parent); err != nil {
		return err
	}
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
	if err := os.WriteFile(o.out, []byte(results.text()), 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return os.WriteFile(strings.TrimSuffix(o.out, ".md")+".svg", []byte(results.picture()), 0o644)
}

// bench measures all tools with the given number of objects.
type bench struct {
	*cluster
	size, runs int
	only       string
	parent     string
}

// subject is a tool with a cloud of its own for each run.
type subject struct {
	tool
	clouds []cloud
}

// cloud is a namespace with the objects for it.
type cloud struct {
	inputs
	namespace string
}

// changes returns the number of changed objects in the changed plan.
func (b *bench) changes() int { return max(1, b.size/100) }

// all measures the life of a cloud. The tools take turns in each step, so that a change of the
// machine's speed concerns all of them.
func (b *bench) all(ctx context.Context, p programs) (table, error) {
	t := table{size: b.size, costs: map[scenario]map[string][]cost{}}
	var subjects []subject
	for i, tool := range p.tools(strconv.Itoa(b.changes())) {
		kind, _, _ := strings.Cut(tool.name, " ") // "kolla" of both versions
		if i > 0 && b.only != "" && !slices.Contains(strings.Fields(b.only), kind) || tool.most > 0 && b.size > tool.most {
			continue
		}
		clouds, err := b.begin(ctx, tool, "")
		if err != nil {
			return t, err
		}
		t.tools = append(t.tools, tool.name)
		subjects = append(subjects, subject{tool, clouds})
	}
	compare := func(how scenario) func(s subject, c cloud) command {
		return func(s subject, c cloud) command { return s.compare(c.inputs, c.namespace, how) }
	}
	apply := func(again bool) func(s subject, c cloud) command {
		return func(s subject, c cloud) command { return s.apply(c.inputs, c.namespace, again) }
	}
	b.round(ctx, t, firstPlan, subjects, compare(firstPlan))
	b.round(ctx, t, firstApply, subjects, apply(false))
	b.round(ctx, t, unchangedPlan, subjects, compare(unchangedPlan))
	b.round(ctx, t, unchangedApply, subjects, apply(true))
	for _, s := range subjects {
		for _, c := range s.clouds {
			if _, err := write(c.dir, c.namespace, objectsFor(c.namespace, b.size, b.changes())); err != nil {
				return t, err
			}
		}
	}
	b.round(ctx, t, changedPlan, subjects, compare(changedPlan))
	return t, errors.Join(b.saved(ctx, t, subjects), ctx.Err())
}

// saved measures the apply of a saved plan, by the tools that have one. kolla saves no plan of 50,000
// new objects.
func (b *bench) saved(ctx context.Context, t table, subjects []subject) error {
	var able []subject
	failed := map[string][]cost{}
	for _, s := range subjects {
		if s.tool.saved == nil {
			continue
		}
		clouds, err := b.begin(ctx, s.tool, "-saved")
		if err != nil {
			return err
		}
		for _, c := range clouds {
			if saved := b.measure(ctx, s.save(c.inputs)); saved.err != nil {
				failed[s.name] = append(failed[s.name], saved)
				fmt.Fprintf(os.Stderr, "%5d %-16s %-22s %s\n", b.size, s.name, titles[savedApply], saved)
			}
		}
		if failed[s.name] == nil {
			able = append(able, subject{s.tool, clouds})
		}
	}
	if len(failed) > 0 && len(able) == 1 { // the floor alone is no comparison
		able = nil
	}
	b.round(ctx, t, savedApply, able, func(s subject, c cloud) command { return s.tool.saved(c.inputs) })
	maps.Copy(t.costs[savedApply], failed)
	return nil
}

// begin gives the objects to a tool, in a separate namespace for each run.
func (b *bench) begin(ctx context.Context, tool tool, suffix string) ([]cloud, error) {
	var clouds []cloud
	for run := range b.runs {
		namespace := fmt.Sprintf("%s-%d-%d%s", strings.ToLower(strings.ReplaceAll(tool.name, " ", "-")), b.size, run+1, suffix)
		in, err := write(filepath.Join(b.parent, namespace), namespace, objectsFor(namespace, b.size, 0))
		if err == nil && !tool.own {
			err = b.makeNamespace(ctx, namespace)
		}
		if err != nil {
			return nil, err
		}
		clouds = append(clouds, cloud{in, namespace})
	}
	return clouds, nil
}

// round measures one step of all tools. It waits before each run until the cluster is idle, and
// prints each cost, because the benchmark takes minutes.
func (b *bench) round(ctx context.Context, t table, s scenario, subjects []subject, next func(s subject, c cloud) command) {
	t.costs[s] = map[string][]cost{}
	for run := range b.runs {
		for i := range subjects {
			subject := subjects[(i+run)%len(subjects)]
			if b.settle(ctx) != nil {
				return
			}
			c := b.measure(ctx, next(subject, subject.clouds[run]))
			t.costs[s][subject.name] = append(t.costs[s][subject.name], c)
			fmt.Fprintf(os.Stderr, "%5d %-16s %-22s %s\n", b.size, subject.name, titles[s], c)
		}
	}
}
