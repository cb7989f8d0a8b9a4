package operator

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner/plans"
)

// decision says whether a plan is applied.
type decision struct {
	apply bool
	// by says who allowed it.
	by string
	// reason and message are of the condition Ready if nobody has allowed it.
	reason, message string
}

// question is a plan, with everything that decides about it.
type question struct {
	plan   *plans.Plan
	digest string
	spec   v1alpha1.CloudSpec
	// approver is the field manager that set approvedPlan.
	approver string
	// reverts: the plan is of the configuration that was applied last, so it only puts back what
	// others changed, or goes on with an apply that was not complete.
	reverts bool
	// resumes: an apply of a plan that was allowed was interrupted or failed, and this plan is the rest.
	resumes bool
}

// decide says whether a plan without errors is applied.
func decide(q question) decision {
	switch {
	case q.spec.ApprovedPlan == q.digest:
		return decision{apply: true, by: "approvedPlan, set by " + q.approver}
	case !q.plan.Changes():
		return decision{apply: true, by: "it writes nothing"}
	case q.resumes:
		return decision{apply: true, by: "the plan that it continues"}
	case q.spec.Approval == v1alpha1.Automatic:
		return decision{apply: true, by: "approval automatic"}
	case q.plan.Destroy:
	case q.spec.Approval == v1alpha1.Drift && q.reverts:
		return decision{apply: true, by: "approval drift"}
	case q.spec.Approval == v1alpha1.Within:
		beyond := exceeds(q.plan, q.spec.Limits)
		if len(beyond) == 0 {
			return decision{apply: true, by: "approval within"}
		}
		return decision{reason: v1alpha1.ReasonAwaitsApproval, message: fmt.Sprintf("%s It is beyond the limits: %s. %s", report.Summary(q.plan), strings.Join(beyond, "; "), howToApprove(q))}
	}
	if q.spec.ApprovedPlan != "" {
		return decision{reason: v1alpha1.ReasonOtherPlan, message: fmt.Sprintf("%s approvedPlan names another plan than the newest, %s, so nothing is applied. %s", report.Summary(q.plan), q.spec.ApprovedPlan, howToApprove(q))}
	}
	return decision{reason: v1alpha1.ReasonAwaitsApproval, message: report.Summary(q.plan) + " " + howToApprove(q)}
}

func howToApprove(q question) string {
	how := "To apply it, set spec.approvedPlan: " + q.digest
	if q.plan.Destroy {
		how += " " + keepObjects
	}
	return how
}

// exceeds names the limits that a plan does not keep.
func exceeds(plan *plans.Plan, limits v1alpha1.Limits) []string {
	var out []string
	counts := plan.Counts()
	over := func(n int, limit *int32, noun string) {
		if limit != nil && n > int(*limit) {
			out = append(out, fmt.Sprintf("%s, and the limit is %d", words.Count(n, noun), *limit))
		}
	}
	over(counts.Destroy, &limits.Deletes, "delete")
	over(counts.Add+counts.Change+counts.Import, limits.Changes, "change")
	over(len(restarts(plan)), limits.Restarts, "service with pods that restart or stop")
	for _, p := range plan.Policies {
		if p.Status == plans.PolicyWarned {
			out = append(out, fmt.Sprintf("the policy %q warns", p.Name))
		}
	}
	if n := plan.Uncompared(); n > 0 {
		out = append(out, words.Count(n, "object")+" could not be compared")
	}
	return out
}

// disturbing are the effects on pods that run.
var disturbing = []plans.EffectKind{plans.EffectStop, plans.EffectRecreate, plans.EffectRestart, plans.EffectLeave, plans.EffectCutOff, plans.EffectScaleDown}

// restarts names the blocks whose pods restart or stop.
func restarts(plan *plans.Plan) []string {
	var out []string
	for _, i := range plan.Impact {
		if slices.ContainsFunc(i.Effects, func(e plans.Effect) bool { return slices.Contains(disturbing, e.Kind) }) {
			out = append(out, i.Block)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
