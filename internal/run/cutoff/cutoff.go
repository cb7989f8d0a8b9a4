// Package cutoff asks the pods that a plan removes for the items that they carry, such as the servers
// on a node. A plan does not know them, because it runs no commands. An apply asks before it shows
// the plan.
package cutoff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	defaultParallelism = 10
	// askTimeout limits the time for the answer of a pod.
	askTimeout = 10 * time.Second
	// maxCarried limits how many items of a node are kept.
	maxCarried = 1000
	// maxCarriedLength limits the length of an item, in runes.
	maxCarriedLength = 200
)

// Ask returns the effects of a plan with the items that are cut off. An effect that cuts nothing off
// is left out. live returns the object that the plan has read, and clean takes secret values out of
// the answers. The error is that of a cancelled context only: a pod that cannot be asked gives an
// unknown answer.
func Ask(ctx context.Context, shell providers.Shell, parallelism int, plan *plans.Plan, live func(providers.Ref) *unstructured.Unstructured, clean func(string) string) ([]plans.Impact, error) {
	var all []plans.Impact
	for _, impact := range plan.Impact {
		var effects []plans.Effect
		for _, e := range impact.Effects {
			if e.Kind == plans.EffectCutOff {
				var err error
				if e.Carried, err = askWorkload(ctx, shell, parallelism, live(e.Ref), e.Items, clean); err != nil {
					return nil, fmt.Errorf("ask the pods that are to go: %w", err)
				}
				if len(e.Carried) == 0 {
					continue
				}
			}
			effects = append(effects, e)
		}
		if impact.Effects = effects; len(effects) > 0 {
			all = append(all, impact)
		}
	}
	return all, nil
}

// askWorkload asks the pods of a workload on the nodes, or all pods if there are none. It returns
// nil if they carry nothing.
func askWorkload(ctx context.Context, shell providers.Shell, parallelism int, workload *unstructured.Unstructured, nodes []string, clean func(string) string) ([]plans.Carried, error) {
	command, err := providers.PodCommandOf(workload, providers.AnnotationCarries)
	if err != nil {
		return []plans.Carried{{Unknown: clean(oneLine(err))}}, nil
	}
	pods, err := shell.Pods(ctx, workload)
	if err != nil {
		return []plans.Carried{{Unknown: clean(oneLine(err))}}, ctx.Err()
	}
	pods = slices.DeleteFunc(pods, func(pod providers.Pod) bool {
		return pod.Node == "" || len(nodes) > 0 && !slices.Contains(nodes, pod.Node)
	})
	answers := make([]plans.Carried, len(pods))
	var group errgroup.Group
	group.SetLimit(cmp.Or(parallelism, defaultParallelism))
	for i, pod := range pods {
		group.Go(crash.Catching(func() error {
			answer := askPod(ctx, shell, workload.GetNamespace(), pod, command)
			answer.Unknown = clean(answer.Unknown)
			for j := range answer.Items {
				answer.Items[j] = clean(answer.Items[j])
			}
			answers[i] = answer
			return nil
		}))
	}
	if err := cmp.Or(group.Wait(), ctx.Err()); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answers, func(c plans.Carried) bool { return len(c.Items) == 0 && c.Unknown == "" }), nil
}

// askPod returns the answer of one pod.
func askPod(ctx context.Context, shell providers.Shell, namespace string, pod providers.Pod, command *providers.PodCommand) plans.Carried {
	answer := plans.Carried{Node: pod.Node}
	switch {
	case pod.Down:
		answer.Unknown = "the node is down"
		return answer
	case !slices.Contains(pod.Running, command.Container):
		answer.Unknown = fmt.Sprintf("container %s of pod %s does not run", command.Container, pod.Name)
		return answer
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	text, err := shell.Exec(ctx, types.NamespacedName{Namespace: namespace, Name: pod.Name}, command.Container, command.Command)
	if err != nil {
		answer.Unknown = oneLine(err)
		if ctx.Err() != nil {
			answer.Unknown = fmt.Sprintf("pod %s did not answer within %s", pod.Name, askTimeout)
		}
		return answer
	}
	answer.Items, answer.More = itemsIn(text)
	return answer
}

// oneLine returns an error in one line that is short enough for a list.
func oneLine(err error) string {
	runes := []rune(strings.ToValidUTF8(strings.Join(strings.Fields(err.Error()), " "), "?"))
	if len(runes) > maxCarriedLength {
		return string(runes[:maxCarriedLength]) + "…"
	}
	return string(runes)
}

// itemsIn returns the sorted lines of an answer. The last line of a truncated answer is not
// complete and does not count.
func itemsIn(text string) (items []string, more int) {
	if len(text) >= providers.MaxOutput {
		text, more = text[:strings.LastIndexByte(text, '\n')+1], 1
	}
	for line := range strings.Lines(text) {
		line = strings.ToValidUTF8(strings.TrimSpace(line), "?")
		if runes := []rune(line); len(runes) > maxCarriedLength {
			line = string(runes[:maxCarriedLength]) + "…"
		}
		if line != "" {
			items = append(items, line)
		}
	}
	slices.Sort(items)
	items = slices.Compact(items)
	more += max(0, len(items)-maxCarried)
	return items[:min(len(items), maxCarried)], more
}
