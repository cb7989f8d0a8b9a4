// Package cutoff asks the pods that a plan removes for the items that they carry, such as
// the servers on a node.
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
	// askTimeout limits the time for the answer of a pod.
	askTimeout = 10 * time.Second
	// maxCarried limits how many items of a node a plan keeps.
	maxCarried = 1000
	// maxCarriedLength limits the length of an item, in runes.
	maxCarriedLength = 200
)

// Question asks for the items of the pods of a live workload.
type Question struct {
	Ref   providers.Ref
	Live  *unstructured.Unstructured
	Nodes []string // only pods on these nodes; nil: all pods
}

// Asks reports whether the pods of a live workload can be asked. It may be nil.
func Asks(ref providers.Ref, live *unstructured.Unstructured) bool {
	return live != nil && plans.RunsPodsContinuously(ref) && live.GetAnnotations()[providers.AnnotationCarries] != ""
}

// Ask asks all pods. The error is that of a cancelled context only: a pod that cannot be
// asked gives an unknown answer.
func Ask(ctx context.Context, shell providers.Shell, parallelism int, questions []Question) (map[providers.Ref]*plans.CutOff, error) {
	cutOffs := map[providers.Ref]*plans.CutOff{}
	for _, q := range questions {
		answer, err := askWorkload(ctx, shell, parallelism, q)
		if err != nil {
			return nil, fmt.Errorf("ask the pods that are to go: %w", err)
		}
		if answer != nil {
			cutOffs[q.Ref] = answer
		}
	}
	return cutOffs, nil
}

// askWorkload returns nil if the pods carry nothing.
func askWorkload(ctx context.Context, shell providers.Shell, parallelism int, q Question) (*plans.CutOff, error) {
	command, err := providers.PodCommandOf(q.Live, providers.AnnotationCarries)
	if err != nil {
		return &plans.CutOff{What: "what it carries", Nodes: []plans.Carried{{Unknown: oneLine(err)}}}, nil
	}
	pods, err := shell.Pods(ctx, q.Live)
	if err != nil {
		return &plans.CutOff{What: command.What, Nodes: []plans.Carried{{Unknown: oneLine(err)}}}, ctx.Err()
	}
	pods = slices.DeleteFunc(pods, func(pod providers.Pod) bool {
		return pod.Node == "" || q.Nodes != nil && !slices.Contains(q.Nodes, pod.Node)
	})
	answers := make([]plans.Carried, len(pods))
	var group errgroup.Group
	group.SetLimit(parallelism)
	for i, pod := range pods {
		group.Go(crash.Catching(func() error {
			answers[i] = askPod(ctx, shell, q.Live.GetNamespace(), pod, command)
			return nil
		}))
	}
	if err := cmp.Or(group.Wait(), ctx.Err()); err != nil {
		return nil, err
	}
	answers = slices.DeleteFunc(answers, func(c plans.Carried) bool { return len(c.Items) == 0 && c.Unknown == "" })
	if len(answers) == 0 {
		return nil, nil
	}
	return &plans.CutOff{What: command.What, Nodes: answers}, nil
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
