package planner

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

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	// askTimeout bounds the answer of a pod.
	askTimeout = 10 * time.Second
	// mostCarried is how many items a plan keeps of a node.
	mostCarried = 1000
	// longestCarried is how long an item may be, in runes.
	longestCarried = 200
)

// askPods asks the pods that this plan takes away, or refuses to, for what they carry.
func (p *planning) askPods(ctx context.Context) error {
	if p.Shell == nil {
		return nil
	}
	p.cutOffs = map[providers.Ref]*plans.CutOff{}
	for _, g := range p.guarded {
		if err := p.askWorkload(ctx, g.ref, nil); err != nil {
			return err
		}
	}
	nodes := p.nodeLabels()
	for i := range p.actions {
		a := &p.actions[i]
		switch live := p.Snapshot.Get(a.Ref); {
		case !a.Serves() || live == nil || live.GetAnnotations()[providers.AnnotationCarries] == "":
		case a.Verb == plans.Delete && !a.Partial:
			if err := p.askWorkload(ctx, a.Ref, nil); err != nil {
				return err
			}
		default:
			d := disturbance{planning: p, action: a, subject: p.subjectOf(a.Address), nodes: nodes}
			if left := d.leaving(); len(left) > 0 && p.inv.Owns(live) {
				if err := p.askWorkload(ctx, a.Ref, left); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *planning) subjectOf(address addrs.Object) *subject {
	for _, s := range p.subjects {
		if s.object.Address == address {
			return s
		}
	}
	return nil
}

// askWorkload asks the pods of a workload, on the given nodes or, without any, on all. The
// error is that of a cancelled context only: a pod that cannot be asked is an answer.
func (p *planning) askWorkload(ctx context.Context, ref providers.Ref, nodes []string) error {
	live := p.Snapshot.Get(ref)
	if live == nil || !plans.Serves(ref) || live.GetAnnotations()[providers.AnnotationCarries] == "" {
		return nil
	}
	command, err := providers.PodCommandOf(live, providers.AnnotationCarries)
	if err != nil {
		p.cutOffs[ref] = &plans.CutOff{What: "what it carries", Nodes: []plans.Carried{{Unknown: oneLine(err)}}}
		return nil
	}
	pods, err := p.Shell.Pods(ctx, live)
	if err != nil {
		p.cutOffs[ref] = &plans.CutOff{What: command.What, Nodes: []plans.Carried{{Unknown: oneLine(err)}}}
		return ctx.Err()
	}
	pods = slices.DeleteFunc(pods, func(pod providers.Pod) bool {
		return pod.Node == "" || nodes != nil && !slices.Contains(nodes, pod.Node)
	})
	answers := make([]plans.Carried, len(pods))
	var group errgroup.Group
	group.SetLimit(p.Parallelism)
	for i, pod := range pods {
		group.Go(crash.Catching(func() error {
			answers[i] = p.ask(ctx, live, pod, command)
			return nil
		}))
	}
	if err := cmp.Or(group.Wait(), ctx.Err()); err != nil {
		return err
	}
	answers = slices.DeleteFunc(answers, func(c plans.Carried) bool { return len(c.Items) == 0 && c.Unknown == "" })
	if len(answers) > 0 {
		p.cutOffs[ref] = &plans.CutOff{What: command.What, Nodes: answers}
	}
	return nil
}

// ask is the answer of one pod.
func (p *planning) ask(ctx context.Context, live *unstructured.Unstructured, pod providers.Pod, command *providers.PodCommand) plans.Carried {
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
	text, err := p.Shell.Exec(ctx, types.NamespacedName{Namespace: live.GetNamespace(), Name: pod.Name}, command.Container, command.Command)
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

// oneLine is an error in one line, which is not too long for a list.
func oneLine(err error) string {
	runes := []rune(strings.ToValidUTF8(strings.Join(strings.Fields(err.Error()), " "), "?"))
	if len(runes) > longestCarried {
		return string(runes[:longestCarried]) + "…"
	}
	return string(runes)
}

// itemsIn are the lines of an answer, sorted. Where it was cut off, its last line is not
// all there.
func itemsIn(text string) (items []string, more int) {
	if len(text) >= providers.MostOutput {
		text, more = text[:strings.LastIndexByte(text, '\n')+1], 1
	}
	for line := range strings.Lines(text) {
		line = strings.ToValidUTF8(strings.TrimSpace(line), "?")
		if runes := []rune(line); len(runes) > longestCarried {
			line = string(runes[:longestCarried]) + "…"
		}
		if line != "" {
			items = append(items, line)
		}
	}
	slices.Sort(items)
	items = slices.Compact(items)
	more += max(0, len(items)-mostCarried)
	return items[:min(len(items), mostCarried)], more
}

// cutsOff is the effect of taking a workload away from its nodes, or from some, on those
// who use what its pods carry.
func (d *disturbance) cutsOff() []plans.Effect {
	c := d.cutOffs[d.action.Ref]
	if c == nil {
		return nil
	}
	return []plans.Effect{{Kind: plans.EffectCutOff, Data: c.What, Carried: c.Nodes, Grave: true}}
}
