package report

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// were gives "1 object was" or "2 objects were".
func were(n int) string {
	return words.Count(n, "object") + words.Plural(n, " was", " were")
}

// staying says why a plan leaves the fields that others added.
func staying(plan *plans.Plan) string {
	if plan.ForeignPolicy == plans.ReportForeign {
		return "Fields that others added stay, because foreign = \"report\"."
	}
	return "Fields that others added stay: only replacing the object removes them (-replace)."
}

// Summary returns the line by which programs recognize the kind of a plan. An object that is not
// ready is no change.
func Summary(plan *plans.Plan) string {
	if c := plan.Counts(); c != (plans.Counts{}) || plan.Changes() {
		return counted(plan, c)
	}
	switch {
	case plan.Renderings != nil:
		return "No differences. Without a cluster, both versions are rendered the same."
	case len(plan.Errors) > 0:
		return "Errors: no changes could be planned."
	case plan.Destroy && len(plan.Kept) > 0:
		return "No changes. The objects that are left hold data and are kept."
	case plan.Destroy:
		return "No changes. No objects need to be destroyed."
	case plan.RefreshOnly && plan.Drifted() && plan.Tally().NotCompared > 0:
		return fmt.Sprintf("%s changed outside of kolla, and %s could not be compared.", were(plan.Tally().Changed), words.Count(plan.Tally().NotCompared, "object"))
	case plan.Tally().NotCompared > 0:
		return fmt.Sprintf("No changes were found, but %s could not be compared.", words.Count(plan.Tally().NotCompared, "object"))
	case plan.Stays() > 0 && !plan.RefreshOnly:
		return fmt.Sprintf("No changes will be made, but not all is as declared: %s what stays.", words.Plural(plan.Stays(), "a warning says", "warnings say"))
	case plan.Drifted() && !plan.RefreshOnly:
		return "No changes will be made. " + staying(plan)
	case plan.RefreshOnly && plan.Drifted():
		return were(plan.Tally().Changed) + " changed outside of kolla. The state needs no update."
	case plan.RefreshOnly:
		return "No changes. The state knows the cluster as it is."
	case plan.Selection.Restricts() && len(plan.Actions) == 0:
		return "No changes. Nothing is selected: -exclude also excludes everything that depends on the excluded objects."
	case plan.ForeignPolicy == plans.IgnoreForeign:
		return "No changes. Declared fields match the configuration; fields that others added were not compared (foreign = \"ignore\")."
	case plan.Selection.Restricts():
		return "No changes. What was selected matches the configuration."
	default:
		return "No changes. Your infrastructure matches the configuration."
	}
}

// counted returns the summary of a plan with changes.
func counted(plan *plans.Plan, c plans.Counts) string {
	sentence := "Plan: "
	if plan.Renderings != nil {
		sentence = "Diff: "
	}
	if c.Import > 0 {
		sentence += fmt.Sprintf("%d to import, ", c.Import)
	}
	sentence += fmt.Sprintf("%d to add, %d to change, %d to destroy", c.Add, c.Change, c.Destroy)
	if c.Forget > 0 {
		sentence += fmt.Sprintf(", %d to forget", c.Forget)
	}
	if c.Move > 0 {
		sentence += fmt.Sprintf(", %d to move", c.Move)
	}
	if c.Prune > 0 {
		sentence += fmt.Sprintf(", %d to prune", c.Prune)
	}
	if plan.Renderings != nil {
		return sentence + "; rendered without a cluster."
	}
	if c.Deferred > 0 {
		sentence += fmt.Sprintf(". What becomes of %d of them is known after the apply of the rest", c.Deferred)
	}
	return sentence + "."
}

// outputCounts returns a sentence after the summary with the number of outputs that change;
// empty for none.
func outputCounts(plan *plans.Plan) string {
	n := 0
	for _, c := range plan.Outputs {
		if c.Action() != output.NoOp {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s %s.", words.Count(n, "output"), words.Plural(n, "changes", "change"))
}

// outputs returns the outputs that a plan changes.
func outputs(plan *plans.Plan) []Output {
	if !output.Changes(plan.Outputs) {
		return nil
	}
	var out []Output
	for _, c := range plan.Outputs {
		o := Output{Name: c.Name, Sign: Add, Before: outputText(c.Before, false), After: outputText(c.After, c.Unknown)}
		switch c.Action() {
		case output.NoOp:
			continue
		case output.Update:
			o.Sign = Change
		case output.Delete:
			o.Sign = Remove
		}
		out = append(out, o)
	}
	return out
}

// outputText returns the value of an output on one line.
func outputText(o *state.Output, unknown bool) string {
	switch {
	case o == nil:
		return ""
	case o.Sensitive:
		return plans.Masked
	case unknown:
		return plans.Unknown
	}
	return Value(OutputValue(o))
}

// OutputValue returns the value of an output in JSON; nil if the state does not contain it.
func OutputValue(o *state.Output) any {
	if o == nil || o.Sensitive || len(o.Value) == 0 {
		return nil
	}
	return o.Value
}
