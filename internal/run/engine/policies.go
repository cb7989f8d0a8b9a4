package engine

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/policy"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// checkOverrides refuses to override policies that do not exist.
func (o Options) checkOverrides(config *configs.Config) error {
	var names []string
	for _, p := range config.Policies {
		names = append(names, p.Name)
	}
	for _, name := range o.OverridePolicies {
		if !slices.Contains(names, name) {
			return failure.New(fmt.Sprintf("There is no policy %q", name), words.WithHint(words.DidYouMean(name, names),
				fmt.Sprintf("-override-policy names it. %s", words.Known("policy", names))))
		}
	}
	return nil
}

// judge evaluates the policies for a plan. The results become a part of the plan, and the
// diagnostics are for Enforce.
func (m *PlanResult) judge() {
	config := m.Loaded.Config
	if len(config.Policies) == 0 {
		return
	}
	facts := policy.Facts(m.Plan)
	m.judged, m.Plan.Policies = nil, nil
	for _, p := range config.Policies {
		result := plans.PolicyResult{Name: p.Name, Source: fmt.Sprintf("%s:%d", p.Range.Filename, p.Range.Start.Line), Status: plans.PolicyPassed}
		if found := p.Judge(facts); found != nil {
			result.Message = found.Detail
			switch {
			case !p.Denies:
				result.Status = plans.PolicyWarned
			case slices.Contains(m.Options.OverridePolicies, p.Name):
				result.Status = plans.PolicyOverridden
				found.Severity, found.Summary = hcl.DiagWarning, fmt.Sprintf("Policy %q denies this plan, and is overridden", p.Name)
			default:
				result.Status = plans.PolicyDenied
				found.Detail += fmt.Sprintf("\n\nChange the configuration. In an emergency, -override-policy=%s goes on in spite of it.", p.Name)
			}
			m.judged = append(m.judged, found)
		}
		m.Plan.Policies = append(m.Plan.Policies, result)
	}
}

// Enforce reports the policies that a plan does not meet, and the errors of the plan. The error is
// ErrReported if the plan must not be applied.
func (e *Engine) Enforce(made *PlanResult) error {
	if len(made.judged) > 0 {
		e.Reporter.Diagnostics(made.judged, made.Loaded.Config.Files)
	}
	var problems []plans.Problem
	for _, n := range made.Plan.Errors {
		problem := n.Problem()
		problem.Warning = false
		problems = append(problems, problem)
	}
	if len(problems) > 0 {
		e.Reporter.Problems(problems)
	}
	if made.Plan.Denied() || len(problems) > 0 {
		return ErrReported
	}
	return nil
}

// checkPolicies refuses a saved plan that was judged by policies which are not here.
func checkPolicies(saved *plans.Plan, config *configs.Config) error {
	for _, judged := range saved.Policies {
		if !slices.ContainsFunc(config.Policies, func(p configs.Policy) bool { return p.Name == judged.Name }) {
			return failure.New(fmt.Sprintf("The plan was made with the policy %q, which is not here", judged.Name),
				fmt.Sprintf("By the plan file, the policy is at %s. Name its file with -policy again, or make a new plan.", judged.Source))
		}
	}
	return nil
}
