package cli

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/pod-security-admission/api"

	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// warnings are those of the API server. Until a plan is made, from the first that is
// read for it, they are gathered, to be part of it; otherwise each is printed as it
// comes.
type warnings struct {
	mu        sync.Mutex
	printer   *view.Printer
	gathering bool
	gathered  []kubernetes.Warning
	addresses map[providers.Ref]addrs.Object // of the plan's objects
}

// take is kubernetes.Options.Warn.
func (w *warnings) take(warning kubernetes.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gathering {
		w.gathered = append(w.gathered, warning)
		return
	}
	w.print(warning)
}

// gather begins to gather, until into is called.
func (w *warnings) gather() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gathering = true
}

// into makes what was gathered a part of the plan.
func (w *warnings) into(plan *plans.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addresses = map[providers.Ref]addrs.Object{}
	for i := range plan.Actions {
		w.addresses[plan.Actions[i].Ref] = plan.Actions[i].Address
	}
	for _, warning := range w.gathered {
		if !replaced(plan, warning) {
			plan.Warnings = append(plan.Warnings, w.notice(warning))
		}
	}
	w.gathering, w.gathered = false, nil
}

// replaced reports whether the server warns of pods by a Pod Security level that the plan
// replaces before it makes them. The plan has checked them against the new level.
func replaced(plan *plans.Plan, warning kubernetes.Warning) bool {
	if !strings.HasPrefix(warning.Text, "would violate PodSecurity") {
		return false
	}
	return slices.ContainsFunc(plan.Actions, func(a plans.Action) bool {
		return a.Ref.GVK.GroupKind() == kinds.Namespace && a.Ref.Name == warning.Ref.Namespace &&
			slices.ContainsFunc(a.Changes, func(c plans.Change) bool { return strings.Contains(c.Path, api.EnforceLevelLabel) })
	})
}

// flush prints what was gathered for a plan that could not be made.
func (w *warnings) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, warning := range w.gathered {
		w.print(warning)
	}
	w.gathering, w.gathered = false, nil
}

func (w *warnings) print(warning kubernetes.Warning) {
	w.printer.Problems([]plans.Problem{w.notice(warning).Problem()})
}

// notice names the object by its address in the plan, or else as it is in the cluster.
func (w *warnings) notice(warning kubernetes.Warning) plans.Notice {
	address, ok := w.addresses[warning.Ref]
	if !ok && warning.Ref != (providers.Ref{}) {
		warning.Text = warning.Ref.String() + ": " + warning.Text
	}
	return plans.Notice{Address: address, Text: warning.Text}
}
