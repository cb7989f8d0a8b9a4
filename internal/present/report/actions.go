package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Once is the comment on a new job, which Terraform has no word for. Facts about the job say
// it too.
const Once = "a job: runs once"

// skipped is the comment on a job that counts as run.
const skipped = "does not run: its service is new and begins with this image, or goes back to it"

// actionOf converts an action.
func actionOf(plan *plans.Plan, a *plans.Action, names *names) *Action {
	changes := a.Changes
	switch {
	case a.Verb == plans.Delete && !a.Partial:
		changes = nil
	case a.MovedFrom() != "": // the head says it
		changes = slices.DeleteFunc(slices.Clone(changes), plans.Change.NotesMove)
	}
	out := &Action{
		Object: objectOf(a, changes, func(c plans.Change) string { return fieldNote(a, c) }),
		Head:   headOf(a), Sign: signOf(a), Risk: riskOf(a), Todo: todo(a), More: more(plan, a), Create: creates(a),
		Comments: comments(a), Holds: a.Holds, Why: why(a), Evidence: evidenceOf(a), names: names, own: names.own(a.Address),
	}
	out.Object.Gone = a.Has(plans.ReasonGone)
	switch {
	case a.Verb != plans.Delete || a.Holds != "":
	case a.Finished:
		out.minor = "finished Job"
	case a.Address.Kind == "ConfigMap":
		out.minor = "ConfigMap"
	}
	out.Relocation, _ = relocationOf(a)
	source := a.Declared()
	if a.Object != nil {
		out.Within = cmp.Or(a.Object.Within, a.Object.Source)
		if out.Create && !a.Object.Partial {
			out.object = a.Object
		}
	}
	if a.Supersedes != (addrs.Object{}) {
		out.Place, out.PlaceOfMany = "in place of "+a.Supersedes.Name, "each in place of its older version"
		if source != "" {
			out.Place += ", " + source
		}
	}
	if a.Has(plans.ReasonImmutable) && source != "" {
		out.Place = "declared at " + source
	}
	return out
}

// signOf returns the sign of an action; NoSign if the object does not change.
func signOf(a *plans.Action) Sign {
	switch a.Verb {
	case plans.Create, plans.Run:
		return Add
	case plans.Replace:
		return Replace
	case plans.Update, plans.Adopt:
		return Change
	case plans.Delete:
		if a.Partial {
			return Change
		}
		return Remove
	case plans.Forget:
		if a.Releases {
			return Change
		}
	}
	return NoSign
}

// todo returns the group of an action in a short plan.
func todo(a *plans.Action) string {
	switch sign := signOf(a); {
	case sign == NoSign:
		return "without a change"
	case a.Prunes():
		return "to prune"
	case sign == Add:
		return "to create"
	case sign == Replace:
		return "to replace"
	case sign == Remove:
		return "to destroy"
	default:
		return "to change"
	}
}

// more distinguishes an object from others of the same kind and name, by a group that is not
// Kubernetes' own and by a namespace that is not the cloud's.
func more(plan *plans.Plan, a *plans.Action) string {
	out := ""
	if group := a.Ref.GVK.Group; strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") {
		out = fmt.Sprintf(" (%s)", a.Ref.GVK.GroupVersion())
	}
	if namespace := a.Ref.Namespace; namespace != "" && plan.Namespace != "" && namespace != plan.Namespace {
		out += " in namespace " + namespace
	}
	return out
}

// headOf returns the sentence by which programs recognize an action.
func headOf(a *plans.Action) Head {
	if a.OnlyMoves() {
		return Head{Before: a.MovedFrom() + " has moved to "}
	}
	switch a.Verb {
	case plans.Create, plans.Run:
		return Head{After: " will be created"}
	case plans.Update:
		return Head{After: " will be updated in-place"}
	case plans.Replace:
		switch {
		case a.Has(plans.ReasonRequested):
			return Head{After: " ", Danger: "will be replaced, as requested"}
		case slices.ContainsFunc(a.Reasons, plans.Reason.Triggered):
			return Head{After: " ", Danger: "will be replaced due to changes in replace_triggered_by"}
		case harmless(a), a.KeepsPods:
			return Head{After: " must be replaced"}
		}
		return Head{After: " ", Danger: "must be replaced"}
	case plans.Delete:
		switch {
		case a.Partial:
			return Head{After: " will be updated in-place"}
		case a.Prunes():
			return Head{After: " will be pruned"}
		}
		return Head{After: " will be ", Danger: "destroyed"}
	case plans.None:
		return Head{After: " is there already and will be used again"}
	case plans.Adopt:
		if a.MovedFrom() != "" || a.ChangesValues() {
			return Head{After: " will be updated in-place"}
		}
		return Head{After: " will be imported"}
	case plans.Forget:
		if a.Has(plans.ReasonGone, plans.ReasonUnfinished) {
			return Head{After: " is gone, and is forgotten"}
		}
		return Head{After: " will no longer be managed by kolla, but will not be destroyed"}
	default:
		return Head{After: fmt.Sprintf(" %s", a.Verb)}
	}
}

// comments are reasons and remarks, the most important first.
func comments(a *plans.Action) []string {
	var out []string
	if a.Verb == plans.Create && a.Object != nil && a.Object.Manifest != nil && a.Object.Skipped() {
		out = append(out, skipped)
	}
	if a.Verb == plans.Run {
		out = append(out, Once)
		if a.Has(plans.ReasonRequested) {
			out = append(out, "it runs again, as requested with -replace")
		}
	}
	if a.Verb == plans.Delete && a.Partial {
		out = append(out, "kolla removes its fields; the object stays")
	}
	if a.KeepsPods {
		out = append(out, podsStay)
	}
	out = append(out, reasons(a)...)
	if a.Holds != "" {
		out = append(out, "what it holds is lost: "+a.Holds)
	}
	if a.ValuesCopiedTo != (addrs.Object{}) {
		out = append(out, takenAlong(a))
	}
	if a.Force {
		out = append(out, "takes fields from other managers by force")
	}
	switch {
	case a.Deferred() && a.Evidence.Kind == plans.Rendered:
		out = append(out, "not known without a cluster: "+strings.Join(a.Object.Deferred, ", "))
	case a.Deferred():
		out = append(out, "waits for "+strings.Join(a.Object.Deferred, ", "))
	case a.Evidence.Kind == plans.Unverified:
		out = append(out, "not checked by the server, see below")
	}
	return out
}

// why gives the reasons of an action in a single line.
func why(a *plans.Action) string {
	parts := reasons(a)
	if a.Has(plans.ReasonRenamed) {
		parts = nil // Destroyed.Renamed says it once for all
	}
	if a.Verb == plans.Replace && a.Has(plans.ReasonRequested) {
		parts = append([]string{"as requested with -replace"}, parts...)
	}
	if a.ValuesCopiedTo != (addrs.Object{}) {
		parts = append(parts, takenAlong(a))
	}
	out := strings.Join(parts, "; ")
	switch {
	case a.KeepsPods:
		out = "made again (" + podsStay + "): " + out
	case a.Verb == plans.Replace:
		out = "made again: " + out
	}
	return out
}

// podsStay is the note on an action with KeepsPods.
const podsStay = "its pods keep running, and its volumes stay"

// reasons returns the reasons of an action in words.
func reasons(a *plans.Action) []string {
	var out []string
	for _, r := range a.Reasons {
		c := because(r)
		if r.Kind == plans.ReasonRenamed && r.Detail == "" {
			c = "its service " + c
		}
		if c != "" && !a.OnlyMoves() { // the head says where it moved from
			out = append(out, c)
		}
	}
	return out
}

// fieldNote returns the remark about the change of a field.
func fieldNote(a *plans.Action, c plans.Change) string {
	switch {
	case forces(a, c):
		return "# forces replacement"
	case c.Drift && c.Before != nil && c.After == nil && c.Edited:
		return "# added outside of kolla, or your change"
	case c.Drift && c.Before != nil && c.After == nil:
		return "# added outside of kolla"
	case c.Drift && c.Edited && hasLines(c):
		return "# put back, together with your change"
	case c.Drift && c.Edited:
		return "# put back, or your change"
	case c.Drift:
		return "# put back"
	case c.Manager != "":
		return "# until " + Tool(c.Manager) + " sets it again"
	case a.Object != nil && a.Object.Causes[c.Path] != "":
		return "# because of " + a.Object.Causes[c.Path]
	default:
		return ""
	}
}
