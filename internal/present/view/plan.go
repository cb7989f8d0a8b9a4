package view

import (
	"errors"
	"time"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/terminal"
	"kolla.openstack.org/kolla/planner/plans"
)

// PlanOptions choose how much of a plan is shown.
type PlanOptions struct {
	Full    bool // every declared field of new objects, and whole values
	Compact bool // one line for each action
	Summary bool // the impact and the dangers, without objects
	// Saved: the plan comes from a file. Now is the present time, and Applied says that the
	// plan was applied already.
	Saved   bool
	Now     time.Time
	Applied bool
}

// Plan prints a plan to standard output. The error is that of writing.
func (p *Printer) Plan(plan *plans.Plan, options PlanOptions) error {
	p.Events.Plan(plan)
	lines := terminal.Plan(document(plan, p.Zone, options), options.terminal(), p.Out)
	return errors.Join(p.Out.Print(lines), p.Events.Err())
}

// About describes a plan in a few lines on standard error: the target, the number of changes
// and the dangers. It is for a decision, after a plan that may be longer than the screen, and
// for a saved plan that is carried out without being shown. server is the URL of the cluster,
// context the context of the kubeconfig, which may be empty.
func (p *Printer) About(plan *plans.Plan, server, context string, options PlanOptions) {
	p.tell(terminal.About(document(plan, p.Zone, options), server, context, options.terminal(), p.Err))
}

// document returns the report of a plan at the present time. A new plan is read when it is made.
func document(plan *plans.Plan, zone *time.Location, options PlanOptions) *report.Plan {
	at := report.Moment{Zone: zone}
	if options.Saved {
		at.Now = options.Now
	}
	return report.Of(plan, at)
}

func (o PlanOptions) terminal() terminal.Options {
	return terminal.Options{Full: o.Full, Compact: o.Compact, Summary: o.Summary, Saved: o.Saved, Applied: o.Applied}
}
