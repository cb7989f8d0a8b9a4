package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/usage"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// Top is `kolla top`.
func Top(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "top",
		Usage:     "Show how much CPU and memory services use now",
		ArgsUsage: "[SERVICE...]",
		Description: `
Shows the CPU (1000m is one processor) and the memory that the pods of all services use, or
those of the named services, beside their requests and limits, and how often containers
were restarted: 500Mi/128Mi/- is used, requested, and without a limit. The largest come
first. Below a workload it names containers that use 90 % or more of their memory limit:
Kubernetes kills those that exceed it.

SERVICE is the name of a service or a workload, or an address: nova, service.nova,
nova-api, module.edge. Options may follow it. Jobs that are complete are left out.

The values come from the API metrics.k8s.io, which metrics-server serves: averages of the
last seconds, up to a minute old. It needs the state and the cluster, and no valid
configuration.`,
		Flags: append(command.StateFlags(),
			&cli.BoolFlag{Name: "pods", Usage: "a line for each pod, with its node"},
			&cli.StringFlag{Name: "sort", Value: usage.ByMemory, Usage: "sort by `ORDER`: " + strings.Join(usage.Orders(), ", ")},
			&cli.BoolFlag{Name: "json", Usage: "print JSON, with all pods; with -watch, one line for each change"},
			&cli.BoolFlag{Name: "watch", Usage: "show changes until Ctrl-C: a terminal is redrawn, other output gets a line for each change"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			names, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if order := c.String("sort"); !slices.Contains(usage.Orders(), order) {
				return failure.New(fmt.Sprintf("No order %q", order), command.DidYouMean(order, usage.Orders())+"There are: "+strings.Join(usage.Orders(), ", ")+".")
			}
			w := command.NewWorkspace(s, c)
			if err := w.OpenLast(c.Context); err != nil {
				return err
			}
			table := tables.Usage
			if c.Bool("pods") {
				table = tables.UsageOfPods
			}
			_, err = live[usage.Look]{
				look:    func(ctx context.Context) (*usage.Look, error) { return lookAtUsage(ctx, w, names) },
				json:    (*usage.Look).JSON,
				table:   table,
				changes: tables.UsageChanges,
			}.show(w)
			return err
		},
	}
}

// lookAtUsage reads the state and the cluster. Workloads without pods are left out.
func lookAtUsage(ctx context.Context, w *command.Workspace, names []string) (*usage.Look, error) {
	st, objects, err := recorded(w, names)
	if err != nil {
		return nil, err
	}
	w.Cluster.Forget()
	snapshot := w.Cluster.Snapshot()
	workloads, err := podsOf(ctx, snapshot, w.Client.Inspect(snapshot), objects, usage.Kind)
	var unreadable *providers.UnreadableError
	switch {
	case errors.As(err, &unreadable) && unreadable.Kind == usage.Kind:
		return nil, failure.With(err, "The values of pods cannot be read",
			failure.Sentence(unreadable.Err.Error())+". The status of this object says why:\n\n  kubectl get apiservice v1beta1.metrics.k8s.io -o yaml")
	case err != nil:
		return nil, err
	case snapshot.Missing(usage.Kind):
		return nil, failure.New("The cluster does not measure its pods",
			"It has no API metrics.k8s.io. metrics-server serves it, which many distributions of Kubernetes bring; docs/helm.md shows how a cloud brings it. kubectl top needs it, too.")
	}
	look := &usage.Look{Cloud: st.Cloud, Server: st.Cluster.Server, Order: w.Flags.String("sort")}
	for _, o := range workloads {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		pods, err := usage.Of(o.pods, func(pod *corev1.Pod) *unstructured.Unstructured {
			return snapshot.Get(providers.Ref{GVK: usage.Kind, Namespace: pod.Namespace, Name: pod.Name})
		})
		if err != nil {
			return nil, err
		}
		if len(pods) > 0 {
			look.Workloads = append(look.Workloads, usage.Workload{Address: address, Namespace: o.Namespace, Pods: pods})
		}
	}
	look.Sort()
	return look, nil
}
