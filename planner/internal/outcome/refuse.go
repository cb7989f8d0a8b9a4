package outcome

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
)

// Refuse adds a problem.
func (o *Outcome) Refuse(summary, detail string) {
	o.Problems = append(o.Problems, plans.ProblemOf(o.Object, summary, detail))
}

// Withdraw takes the decision back because of a problem.
func (o *Outcome) Withdraw(summary, detail string) {
	o.Action.Verb = ""
	o.Refuse(summary, detail)
}

// Reject adds why the server rejects the object.
func (o *Outcome) Reject(r dryrun.Refusal) {
	o.Problems = append(o.Problems, trial.Rejection(o.Object, r))
}

// Take takes over the answer about a new object. A refusal takes the decision back.
func (o *Outcome) Take(answer trial.Answer) {
	o.After, o.Action.Evidence = answer.After, answer.Evidence
	o.Problems = append(o.Problems, answer.Problems...)
	if answer.Refused {
		o.Action.Verb = ""
	}
}

// Assume expects the object as declared, because nobody can answer.
func (o *Outcome) Assume(manifest *unstructured.Unstructured) (err error) {
	o.After, err = dryrun.AsApplied(manifest)
	return err
}
