package approval

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// shown refuses a file that does not show an effect or a loss of data. In a block with an object
// that others changed, the change may cause the effect.
func (c *check) shown(saved *plans.Plan) {
	drifted := map[string]bool{}
	for _, d := range c.verdict.Differences {
		drifted[d.Address.Block] = drifted[d.Address.Block] || d.Drift
	}
	told := map[string][]plans.Effect{}
	for _, impact := range saved.Impact {
		told[impact.Block] = append(told[impact.Block], impact.Effects...)
	}
	for _, impact := range c.Plan.Impact {
		for _, effect := range impact.Effects {
			shows := func(e plans.Effect) bool { _, equal := same(e, effect); return equal || e.Shows(effect) }
			if !slices.ContainsFunc(told[impact.Block], shows) {
				text := fmt.Sprintf("the file does not show what happens to %s of %s: %s%s", effect.Name, impact.Block, effect.Kind, podsOf(effect))
				c.add(addrs.Object{}, drifted[impact.Block] || !effect.Grave, text)
			}
		}
	}
	for i := range c.Plan.Losses {
		shows := func(l plans.Loss) bool { _, equal := same(l, c.Plan.Losses[i]); return equal }
		if !slices.ContainsFunc(saved.Losses, shows) {
			c.differ(addrs.Object{}, "the file does not show a loss of data that a new plan shows")
		}
	}
}

// podsOf returns the number of pods of an effect: " (3 pods)".
func podsOf(e plans.Effect) string {
	if e.Pods == 0 {
		return ""
	}
	return " (" + words.Count(e.Pods, "pod") + ")"
}

// judged compares the results of policies and checks, and the outputs. A policy that denies the
// new plan is left to the caller, which shows where it is.
func (c *check) judged(saved *plans.Plan) {
	for _, p := range c.Plan.Policies {
		if p.Status == plans.PolicyWarned || p.Status == plans.PolicyOverridden {
			shows := func(o plans.PolicyResult) bool {
				return o.Name == p.Name && o.Status == p.Status && o.Message == p.Message
			}
			if !slices.ContainsFunc(saved.Policies, shows) {
				c.add(addrs.Object{}, true, fmt.Sprintf("policy %q says now, and not in the file: %s", p.Name, p.Message))
			}
		}
	}
	for _, r := range c.Plan.Checks {
		if r.Status == string(configs.CheckFailed) {
			shows := func(o state.CheckResult) bool { _, equal := same(o, r); return equal }
			if !slices.ContainsFunc(saved.Checks, shows) {
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
			c.differ(addrs.Object{}, "output %q: %s instead of %s", o.Name, valueOf(o), valueOf(saved.Outputs[i]))
		}
	}
}

func equalOutputs(a, b output.Change) bool {
	if a.Unknown != b.Unknown || (a.After == nil) != (b.After == nil) {
		return false
	}
	return a.After == nil || a.After.Equal(*b.After)
}

// valueOf returns the new value of an output.
func valueOf(c output.Change) string {
	switch {
	case c.After == nil:
		return "nothing"
	case c.After.Sensitive:
		return plans.Masked
	case c.Unknown:
		return plans.Unknown
	}
	return short(c.After.Value)
}
