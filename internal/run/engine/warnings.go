package engine

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/pod-security-admission/api"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Warnings are the warnings of the API server. Between Gather and Into they are collected
// for the plan. At all other times each is shown when it comes.
type Warnings struct {
	mu        sync.Mutex
	reporter  Reporter
	gathering bool
	gathered  []kubernetes.Warning
	addresses map[providers.Ref]addrs.Object // of the plan's objects
}

// take is kubernetes.Options.Warn.
func (w *Warnings) take(warning kubernetes.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gathering {
		w.gathered = append(w.gathered, warning)
		return
	}
	w.show(warning)
}

// Gather collects warnings from now on.
func (w *Warnings) Gather() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gathering = true
}

// into adds the collected warnings to the plan.
func (w *Warnings) into(plan *plans.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addresses = map[providers.Ref]addrs.Object{}
	for i := range plan.Actions {
		w.addresses[plan.Actions[i].Ref] = plan.Actions[i].Address
	}
	for _, warning := range w.gathered {
		if !replaced(plan, warning) && !placeholder(plan, warning) {
			plan.Warnings = append(plan.Warnings, w.notice(warning))
		}
	}
	w.gathering, w.gathered = false, nil
}

// replaced reports whether a warning comes from a Pod Security level that the plan
// replaces before it creates the pods. The plan has checked them against the new level.
func replaced(plan *plans.Plan, warning kubernetes.Warning) bool {
	if !strings.HasPrefix(warning.Text, "would violate PodSecurity") {
		return false
	}
	return slices.ContainsFunc(plan.Actions, func(a plans.Action) bool {
		return a.Ref.GVK.GroupKind() == kinds.Namespace && a.Ref.Name == warning.Ref.Namespace &&
			slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return strings.Contains(c.Path, api.EnforceLevelLabel) })
	})
}

// placeholder reports whether a warning is about the text that a dry run has in place of a certificate,
// which only an apply makes.
func placeholder(plan *plans.Plan, warning kubernetes.Warning) bool {
	return strings.HasPrefix(warning.Text, "tls: ") && slices.ContainsFunc(plan.Actions, func(a plans.Action) bool {
		return a.Ref == warning.Ref && a.Object != nil && a.Object.Certified()
	})
}

// Flush shows the collected warnings, if there is no plan to add them to.
func (w *Warnings) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, warning := range w.gathered {
		w.show(warning)
	}
	w.gathering, w.gathered = false, nil
}

func (w *Warnings) show(warning kubernetes.Warning) {
	w.reporter.Problems([]plans.Problem{w.notice(warning).Problem()})
}

// notice names the object by its address in the plan, or else by its name in the cluster.
func (w *Warnings) notice(warning kubernetes.Warning) plans.Notice {
	address, ok := w.addresses[warning.Ref]
	if !ok && warning.Ref != (providers.Ref{}) {
		warning.Text = warning.Ref.String() + ": " + warning.Text
	}
	return plans.Notice{Address: address, Text: warning.Text}
}
