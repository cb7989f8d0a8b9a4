package diagnose

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"
	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/podlogs"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Logs is `kolla logs`.
func Logs(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "logs",
		Usage:     "Print the logs of the pods of a service",
		ArgsUsage: "SERVICE...",
		Description: `
Prints the logs of all pods of services, sorted by time. Each line begins with the name of
its pod, and with that of the container if the pod has several.

SERVICE is the name of a service or a workload, or an address: nova, service.nova,
nova-api, module.edge. The logs of a Job that is complete are printed only if the Job is
named. Options may follow the names.

-errors prints only errors, the last ones of all pods by time, each with the lines that
belong to it, such as a traceback.

Values of Secrets that a log quotes are masked, and control characters have no effect. It
needs the state and the cluster, and no valid configuration.`,
		Flags: append(command.StateFlags(),
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "print new lines until Ctrl-C, also those of pods that start later"},
			&cli.BoolFlag{Name: "errors", Usage: "only the last errors of all pods; -tail counts errors, and without -since it looks at the last hour"},
			&cli.StringFlag{Name: "since", Usage: "only lines since `TIME`, such as 10m, 2d or 2026-11-20"},
			&cli.IntFlag{Name: "tail", Value: 100, Usage: "the last `N` lines of each container; -1, or -since without -tail: all"},
			&cli.BoolFlag{Name: "previous", Usage: "the logs from before the last restart of each container"},
			&cli.StringFlag{Name: "container", Usage: "only containers with this `NAME`"},
			&cli.BoolFlag{Name: "timestamps", Usage: "print the time of each line"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			switch {
			case err != nil:
				return err
			case len(names) == 0:
				return failure.New("Logs of which service?", "kolla logs nova; `kolla status` lists the services and their workloads.")
			case c.Bool("follow") && c.Bool("previous"):
				return failure.New("-follow and -previous contradict each other", "A container writes nothing more to the log from before its restart.")
			case c.Bool("follow") && c.Bool("errors"):
				return failure.New("-follow and -errors contradict each other", "The last errors are known only when all lines are read.")
			}
			options := podlogs.Options{Previous: c.Bool("previous"), Tail: c.Int("tail")}
			if c.IsSet("since") {
				if options.Since, err = timeOf(c.String("since"), time.Now()); err != nil {
					return err
				}
				if !c.IsSet("tail") {
					options.Tail = -1
				}
			}
			if c.Bool("errors") {
				options.Tail = -1
				if options.Since.IsZero() {
					options.Since = time.Now().Add(-errorsSince)
				}
			}
			w := command.NewWorkspace(s, c)
			if err := w.OpenLast(c.Context); err != nil {
				return err
			}
			return printLogs(w, names, options)
		},
	}
}

// errorsSince is how far -errors looks back without -since.
const errorsSince = time.Hour

func printLogs(w *command.Workspace, names []string, o podlogs.Options) error {
	ctx := w.Flags.Context
	find := func(ctx context.Context) ([]podlogs.Container, error) { return findContainers(ctx, w, names) }
	show := func(l podlogs.Line) {
		at := ""
		if w.Flags.Bool("timestamps") && !l.Time.IsZero() {
			at = l.Time.Local().Format(time.RFC3339) + " "
		}
		foreign.Fprintf(w.Streams.Out, "%s\n", l.Container.String()+": "+at+l.Text)
	}
	if w.Flags.Bool("follow") {
		return podlogs.Follow(ctx, w.Client, find, o, show, func(err error) {
			w.Printer.Warn("A log cannot be followed", failure.Sentence(err.Error())+".")
		})
	}
	containers, err := find(ctx)
	if err != nil {
		return err
	}
	if w.Flags.Bool("errors") {
		return printErrors(w, containers, o, show)
	}
	lines, err := podlogs.Read(ctx, w.Client, containers, o)
	for _, l := range lines {
		show(l)
	}
	return err
}

// printErrors prints the last errors of containers. Further lines of an error are indented.
func printErrors(w *command.Workspace, containers []podlogs.Container, o podlogs.Options, show func(podlogs.Line)) error {
	found, err := podlogs.ReadErrors(w.Flags.Context, w.Client, containers, o)
	if tail := w.Flags.Int("tail"); tail >= 0 && len(found) > tail {
		found = found[len(found)-tail:]
	}
	for _, e := range found {
		show(podlogs.Line{Container: e.Container, Time: e.Time, Text: e.Lines[0]})
		for _, text := range e.Lines[1:] {
			foreign.Fprintf(w.Streams.Out, "    %s\n", text)
		}
	}
	if len(found) == 0 && err == nil {
		fmt.Fprintf(w.Streams.Out, "No errors since %s.\n", o.Since.Local().Format(time.DateTime))
	}
	return err
}

// findContainers lists the containers that the arguments name. It reads the Secrets of their
// namespaces, so that their values are masked.
func findContainers(ctx context.Context, w *command.Workspace, names []string) ([]podlogs.Container, error) {
	_, objects, err := recorded(w, names)
	if err != nil {
		return nil, err
	}
	w.Cluster.Forget()
	snapshot := w.Cluster.Snapshot()
	workloads, err := podsOf(ctx, snapshot, w.Client.Inspect(snapshot), objects, kinds.Secret.WithVersion("v1"))
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for _, o := range workloads {
		pods = append(pods, o.pods...)
	}
	return containersOf(w, pods)
}

// containersOf returns the containers of pods that -previous and -container name.
func containersOf(w *command.Workspace, pods []*corev1.Pod) ([]podlogs.Container, error) {
	all := podlogs.Of(pods, w.Flags.Bool("previous"))
	var known []string
	for _, pod := range pods {
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			known = append(known, c.Name)
		}
	}
	name := w.Flags.String("container")
	if name != "" && len(pods) > 0 && !slices.Contains(known, name) {
		return nil, failure.New(fmt.Sprintf("No container %q", name), words.WithHint(words.DidYouMean(name, known), "The pods have: "+words.Sorted(known)+"."))
	}
	if name != "" {
		all = slices.DeleteFunc(all, func(c podlogs.Container) bool { return c.Name != name })
	}
	switch {
	case len(all) > 0 || w.Flags.Bool("follow"):
		return all, nil
	case w.Flags.Bool("previous"):
		return nil, failure.New("No container was restarted", "There are no logs from before a restart. Leave -previous out.")
	}
	return nil, failure.New("There is no log", "No container has run yet; `kolla status` shows why. The log of a Job that is complete is printed if the Job itself is named, such as manifest.once/Job/once.")
}
