package engine

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/redaction"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// redactProblems takes secret values out of the words about objects.
func redactProblems(problems []plans.Problem, secrets *redaction.Values) {
	for i := range problems {
		problems[i].Summary, problems[i].Detail = secrets.Mixed(problems[i].Summary), secrets.Mixed(problems[i].Detail)
	}
}

// redactPlan takes secret values out of everything in a plan that others may have written: live
// values, what webhooks made of declared ones, and names of field managers. The objects that an
// apply sends stay as they are.
func redactPlan(plan *plans.Plan, secrets *redaction.Values) {
	for i := range plan.Actions {
		a := &plan.Actions[i]
		from := author{secrets: secrets, object: a.Object}
		for j := range a.Yields {
			y := &a.Yields[j]
			y.Manager, y.Live, y.Want = secrets.Text(y.Manager), from.leaves(y.Live), from.leaves(y.Want)
		}
		if a.Unchanged() && len(a.Yields) == 0 {
			continue // all that it has is declared
		}
		from.changes(a.Changes)
		from.values(a.Values)
		redactReasons(a.Reasons, secrets)
		if a.Evidence.Kind == plans.Unverified {
			a.Evidence.Detail = secrets.Mixed(a.Evidence.Detail)
		}
	}
	for i := range plan.Foreign {
		(&author{secrets: secrets}).changes(plan.Foreign[i].Fields)
	}
	for i := range plan.Impact {
		for j := range plan.Impact[i].Effects {
			effect := &plan.Impact[i].Effects[j]
			redactReasons(effect.Why, secrets)
			for k := range effect.Carried {
				carried := &effect.Carried[k]
				carried.Unknown = secrets.Text(carried.Unknown)
				for n := range carried.Items {
					carried.Items[n] = secrets.Text(carried.Items[n])
				}
			}
		}
	}
}

func redactReasons(reasons []plans.Reason, secrets *redaction.Values) {
	for i := range reasons {
		reasons[i].Manager, reasons[i].Detail = secrets.Text(reasons[i].Manager), secrets.Mixed(reasons[i].Detail)
	}
}

// redactClaim takes secret values out of what an object says of its origin.
func redactClaim(c *planner.Claimant, secrets *redaction.Values) {
	for i := range c.Writers {
		c.Writers[i].Manager = secrets.Text(c.Writers[i].Manager)
	}
	for _, clauses := range [][]string{c.Doubts, c.Remarks} {
		for i := range clauses {
			clauses[i] = secrets.Mixed(clauses[i])
		}
	}
}

// reassess is planner.Reassess, with the same values as in a plan.
func (e *Engine) reassess(ctx context.Context, reader providers.Reader, plan *plans.Plan, a *plans.Action, manifest, live *unstructured.Unstructured, additions bool) ([]plans.Change, error) {
	changes, err := planner.Reassess(ctx, reader, plan, a, manifest, live, additions)
	(&author{secrets: e.Cluster.Secrets, object: a.Object}).changes(changes)
	return changes, err
}

// author tells the values that an object declares from those of others.
type author struct {
	secrets  *redaction.Values
	object   *providers.Object // nil: none is declared
	declared map[string]bool   // lines; nil: not known yet
}

// changes takes secret values out of differences.
func (a *author) changes(changes []plans.Change) {
	for i := range changes {
		c := &changes[i]
		c.Manager, c.Before, c.After = a.secrets.Text(c.Manager), a.leaves(c.Before), a.leaves(c.After)
	}
}

// values takes secret values out of the sides of an action.
func (a *author) values(v *plans.Values) {
	if v == nil {
		return
	}
	for _, part := range []*extract.Part{v.Before, v.After, v.Written} {
		if part != nil {
			part.Values = a.leaves(part.Values).(map[string]any)
		}
	}
}

// leaves takes secret values out of the strings of a value. A line that the object declares
// in the open stays.
func (a *author) leaves(value any) any { return redaction.Tree(value, a.text) }

func (a *author) text(text string) string {
	if text == a.secrets.Text(text) {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if !a.declares(line) {
			lines[i] = a.secrets.Text(line)
		}
	}
	return strings.Join(lines, "")
}

// declares reports whether the object has the line itself.
func (a *author) declares(line string) bool {
	if a.object == nil || a.object.Manifest == nil {
		return false
	}
	if a.declared == nil {
		a.declared = map[string]bool{}
		redaction.Tree(a.object.Manifest.Object, func(text string) string {
			for line := range strings.Lines(text) {
				a.declared[strings.TrimSuffix(line, "\n")] = true
			}
			return text
		})
	}
	return a.declared[strings.TrimSuffix(line, "\n")]
}
