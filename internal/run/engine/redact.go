package engine

import (
	"errors"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// redactProblems masks secret values in problems.
func redactProblems(problems []plans.Problem, secrets *redaction.Values) {
	for i := range problems {
		problems[i].Summary, problems[i].Detail = secrets.Mixed(problems[i].Summary), secrets.Mixed(problems[i].Detail)
	}
}

// exact contains the unmasked parts of an action that an apply sends and compares.
type exact struct {
	changes []plans.Change
	yields  []plans.Yield
	removes string
}

// redactPlan masks secret values in all parts of a plan that other clients may have written: live
// values and their keys, values that webhooks changed, and names of field managers. It does not
// change the objects that an apply sends. It returns the unmasked parts that an apply needs; see
// carriedOut.
func redactPlan(plan *plans.Plan, secrets *redaction.Values) map[addrs.Object]exact {
	kept, masked := map[addrs.Object]exact{}, map[string]string{}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		kept[a.Address] = exact{a.Changes, a.Yields, a.Removes}
		from := author{secrets: secrets, object: a.Object, masked: masked}
		a.Yields = slices.Clone(a.Yields)
		for j := range a.Yields {
			y := &a.Yields[j]
			y.Path, y.Field, y.Manager = from.path(y.Path), from.path(y.Field), from.mask(y.Manager)
			y.Live, y.Want, y.Value = from.leaves(y.Live), from.leaves(y.Want), from.leaves(y.Value)
		}
		if a.Unchanged() && len(a.Yields) == 0 {
			continue // all its values are declared
		}
		a.Changes, a.Removes = from.changes(a.Changes), from.path(a.Removes)
		from.values(a.Values)
		from.reasons(a.Reasons)
		if a.Evidence.Kind == plans.Unverified {
			a.Evidence.Detail = secrets.Mixed(a.Evidence.Detail)
		}
	}
	for i := range plan.Foreign {
		plan.Foreign[i].Fields = (&author{secrets: secrets, masked: masked}).changes(plan.Foreign[i].Fields)
	}
	for i := range plan.Impact {
		for j := range plan.Impact[i].Effects {
			redactEffect(&plan.Impact[i].Effects[j], secrets)
		}
	}
	return kept
}

func redactEffect(effect *plans.Effect, secrets *redaction.Values) {
	from := author{secrets: secrets}
	from.reasons(effect.Why)
	for i := range effect.Causes {
		cause := &effect.Causes[i]
		cause.Name, cause.Before, cause.After = secrets.Text(cause.Name), secrets.Text(cause.Before), secrets.Text(cause.After)
		for j := range cause.Settings {
			cause.Settings[j] = secrets.Text(cause.Settings[j])
		}
	}
}

// carriedOut returns a plan with the exact parts of its actions, for an apply. The names of the
// writers of yielded fields stay masked, because the state records them.
func carriedOut(plan *plans.Plan, kept map[addrs.Object]exact) *plans.Plan {
	out := *plan
	out.Actions = slices.Clone(plan.Actions)
	for i := range out.Actions {
		a := &out.Actions[i]
		was, ok := kept[a.Address]
		if !ok || a.Verb == plans.None {
			continue
		}
		a.Changes, a.Yields, a.Removes = was.changes, slices.Clone(was.yields), was.removes
		for j, shown := range plan.Actions[i].Yields {
			a.Yields[j].Path, a.Yields[j].Manager = shown.Path, shown.Manager
		}
	}
	return &out
}

// redactedError is an error without secret values in its text.
type redactedError struct {
	error
	text string
}

// Error implements error.
func (e *redactedError) Error() string { return e.text }

// Unwrap returns the original error.
func (e *redactedError) Unwrap() error { return e.error }

// redactError masks secret values in the text of an action's error. Two types of errors contain
// names that other clients chose.
func redactError(err error, object *providers.Object, secrets *redaction.Values) error {
	if err == nil {
		return nil
	}
	from, text := author{secrets: secrets, object: object}, err.Error()
	var moved *executor.MovedError
	if errors.As(err, &moved) {
		clean := executor.MovedError{Ref: moved.Ref, Changes: from.changes(moved.Changes)}
		text = strings.ReplaceAll(text, moved.Error(), clean.Error())
	}
	var conflict *providers.ConflictError
	if errors.As(err, &conflict) {
		clean := providers.ConflictError{Ref: conflict.Ref}
		for _, c := range conflict.Conflicts {
			clean.Conflicts = append(clean.Conflicts, providers.Conflict{Manager: secrets.Text(c.Manager), Path: from.path(c.Path)})
		}
		text = strings.ReplaceAll(text, conflict.Error(), clean.Error())
	}
	return &redactedError{err, secrets.Mixed(text)}
}

// redactClaim masks secret values in the description of an object's origin.
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

// author distinguishes the values that an object declares from those of other clients.
type author struct {
	secrets  *redaction.Values
	object   *providers.Object // nil: no object is declared
	declared approval.Open     // nil: not computed yet
	masked   map[string]string // results of mask, which many objects share; nil: they are not kept
}

// mask masks secret values in a text, whoever wrote it.
func (a *author) mask(text string) string {
	if known, ok := a.masked[text]; ok {
		return known
	}
	out := a.secrets.Text(text)
	if a.masked != nil {
		a.masked[text] = out
	}
	return out
}

// changes returns changes with secret values masked. Without secret values they are the same slice.
func (a *author) changes(changes []plans.Change) []plans.Change {
	out, copied := changes, false
	for i, c := range changes {
		before, otherBefore := redaction.Tree(c.Before, a.text)
		after, otherAfter := redaction.Tree(c.After, a.text)
		path, manager := a.path(c.Path), a.mask(c.Manager)
		if !otherBefore && !otherAfter && path == c.Path && manager == c.Manager {
			continue
		}
		if !copied {
			out, copied = slices.Clone(changes), true
		}
		out[i].Path, out[i].Manager, out[i].Before, out[i].After = path, manager, before, after
	}
	return out
}

// reasons masks secret values in reasons.
func (a *author) reasons(reasons []plans.Reason) {
	for i := range reasons {
		r := &reasons[i]
		r.Path, r.Manager, r.Detail = a.path(r.Path), a.mask(r.Manager), a.secrets.Mixed(r.Detail)
	}
}

// values masks secret values in the values of an action.
func (a *author) values(v *plans.Values) {
	if v == nil {
		return
	}
	for _, part := range []*extract.Part{v.Before, v.After, v.Written} {
		if part == nil {
			continue
		}
		for _, side := range []*map[string]any{&part.Values, &part.Sensitive, &part.Unknown} {
			if *side != nil {
				*side = a.leaves(*side).(map[string]any)
			}
		}
	}
}

// path masks secret values in a path, or in a set of fields as JSON. Names that the object declares
// are not masked.
func (a *author) path(text string) string {
	if text == a.mask(text) {
		return text
	}
	open := a.open()
	declared := slices.DeleteFunc(approval.Step.FindAllStringIndex(text, -1), func(at []int) bool {
		return !open.Has(text[at[0]:at[1]])
	})
	return a.secrets.Around(text, declared)
}

// leaves masks secret values in the strings of a value. A line that the object declares openly is
// not masked.
func (a *author) leaves(value any) any {
	out, _ := redaction.Tree(value, a.text)
	return out
}

func (a *author) text(text string) string {
	if text == a.mask(text) {
		return text
	}
	open, lines := a.open(), strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if !open[strings.TrimSuffix(line, "\n")] {
			lines[i] = a.mask(line)
		}
	}
	return strings.Join(lines, "")
}

// open returns the names and lines that the object declares openly.
func (a *author) open() approval.Open {
	if a.declared == nil {
		a.declared = approval.OpenIn(a.object)
	}
	return a.declared
}
