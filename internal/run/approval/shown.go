package approval

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// shown refuses a file that does not show an effect or a loss of data. Without the actions that
// cause it, or if only more pods are concerned, the rest of the plan may be carried out.
func (c *check) shown(saved *plans.Plan, actions []plans.Action) {
	out := c.leftOut(actions)
	told := map[affected][]plans.Effect{}
	for _, impact := range saved.Impact {
		for _, effect := range impact.Effects {
			of := affected{impact.Block, effect.Kind, effect.Name, effect.Ref}
			told[of] = append(told[of], effect)
		}
	}
	for _, impact := range c.Plan.Impact {
		for _, effect := range impact.Effects {
			same := told[affected{impact.Block, effect.Kind, effect.Name, effect.Ref}]
			tells := func(e plans.Effect) bool { return alike(e, effect, shows) || covers(e, effect) }
			if !slices.ContainsFunc(same, tells) {
				text := fmt.Sprintf("the file does not show what happens to %s of %s: %s%s", effect.Name, impact.Block, effect.Kind, podsOf(effect))
				more := func(e plans.Effect) bool { e.Pods = effect.Pods; return covers(e, effect) }
				c.add(addrs.Object{}, slices.ContainsFunc(same, more) || causedBy(effect, actions, out), text)
			}
		}
	}
	for i := range c.Plan.Losses {
		tells := func(l plans.Loss) bool { return alike(l, c.Plan.Losses[i], shows) }
		if !slices.ContainsFunc(saved.Losses, tells) {
			c.differ(addrs.Object{}, "the file does not show a loss of data that a new plan shows")
		}
	}
}

// affected identifies an object and what happens to it.
type affected struct {
	block string
	kind  plans.EffectKind
	name  string
	ref   providers.Ref
}

// covers reports whether an effect in the file includes an effect of the new plan on the same object:
// it concerns at least as many pods and at least the same nodes.
func covers(saved, fresh plans.Effect) bool {
	if saved.Data != fresh.Data || fresh.Grave && !saved.Grave {
		return false
	}
	missing := func(name string) bool { return !slices.Contains(saved.Items, name) }
	if fresh.Kind == plans.EffectCutOff {
		return len(saved.Items) == 0 || len(fresh.Items) > 0 && !slices.ContainsFunc(fresh.Items, missing)
	}
	return !fresh.Grave && saved.Pods >= fresh.Pods && saved.EachNode == fresh.EachNode && saved.Strategy == fresh.Strategy &&
		(saved.Downtime || !fresh.Downtime) && !slices.ContainsFunc(fresh.Items, missing)
}

// leftOut returns the held actions and their dependents.
func (c *check) leftOut(actions []plans.Action) map[addrs.Object]bool {
	out := map[addrs.Object]bool{}
	for address := range c.verdict.Held {
		out[address] = true
	}
	for more := true; more; {
		more = false
		for i := range actions {
			a := &actions[i]
			if !out[a.Address] && slices.ContainsFunc(a.DependsOn, func(on addrs.Object) bool { return out[on] }) {
				out[a.Address], more = true, true
			}
		}
	}
	return out
}

// causedBy reports whether only actions of the set cause an effect: actions that write its object,
// and actions that write the nodes that pods leave.
func causedBy(e plans.Effect, actions []plans.Action, set map[addrs.Object]bool) bool {
	nodes := map[string]bool{}
	if e.Kind == plans.EffectLeave || e.Kind == plans.EffectCutOff {
		for _, name := range e.Items {
			nodes[name] = true
		}
	}
	found := false
	for i := range actions {
		a := &actions[i]
		left := a.Ref.GVK.GroupKind() == kinds.Node && nodes[a.Ref.Name]
		if a.Ref != e.Ref && !left || a.Verb == plans.None && !set[a.Address] {
			continue
		}
		if !set[a.Address] {
			return false
		}
		found = true
	}
	return found
}

// podsOf returns the number of pods of an effect: " (3 pods)".
func podsOf(e plans.Effect) string {
	if e.Pods == 0 {
		return ""
	}
	return " (" + words.Count(e.Pods, "pod") + ")"
}

// judged compares the results of policies and checks, and the outputs. A policy that denies the new
// plan is left to the caller, which shows its place.
func (c *check) judged(saved *plans.Plan) {
	for _, p := range c.Plan.Policies {
		if p.Status == plans.PolicyWarned || p.Status == plans.PolicyOverridden {
			tells := func(o plans.PolicyResult) bool {
				return o.Name == p.Name && o.Status == p.Status && shows(o.Message, p.Message)
			}
			if !slices.ContainsFunc(saved.Policies, tells) {
				c.add(addrs.Object{}, true, fmt.Sprintf("policy %q says now, and not in the file: %s", p.Name, p.Message))
			}
		}
	}
	for _, r := range c.Plan.Checks {
		if r.Status == string(configs.CheckFailed) {
			tells := func(o state.CheckResult) bool { return alike(o, r, shows) }
			if !slices.ContainsFunc(saved.Checks, tells) {
				c.differ(addrs.Object{}, "%s fails now, and not in the file: %s", r.Address, strings.Join(r.Problems, "; "))
			}
		}
	}
	for _, o := range c.Plan.Outputs {
		i := slices.IndexFunc(saved.Outputs, func(s output.Change) bool { return s.Name == o.Name })
		switch {
		case i < 0:
			c.differ(addrs.Object{}, "the file does not have output %q", o.Name)
		case !equalOutputs(saved.Outputs[i], o):
			at := differAt(outputValue(saved.Outputs[i]), outputValue(o))
			c.differ(addrs.Object{}, "output %q%s: %s instead of %s", o.Name, at, valueOf(o, at), valueOf(saved.Outputs[i], at))
		}
	}
}

func equalOutputs(a, b output.Change) bool {
	if a.Unknown != b.Unknown || (a.After == nil) != (b.After == nil) {
		return false
	}
	return a.After == nil || a.After.Equal(*b.After)
}

// outputValue returns the new value of an output that may be shown, or nil.
func outputValue(c output.Change) any {
	if c.After == nil || c.After.Sensitive || c.Unknown {
		return nil
	}
	return plain(c.After.Value)
}

// valueOf returns the new value of an output, unless it is hidden.
func valueOf(c output.Change, at *position) string {
	switch {
	case c.After == nil:
		return "nothing"
	case c.After.Sensitive:
		return plans.Masked
	case c.Unknown:
		return plans.Unknown
	}
	return at.show(outputValue(c))
}
