package decision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// prediction is the expected result of an apply to a live object.
type prediction struct {
	// applied is the result of a server-side apply of the declaration, as the server
	// answered or as predicted.
	applied *unstructured.Unstructured
	// final is applied without the additions of others.
	final    *unstructured.Unstructured
	evidence plans.Evidence
	// removed has the differences between applied and final.
	removed []fields.Difference
	// invalid is why the server refuses the apply; applied is predicted then. The
	// declaration may contradict the additions of others.
	invalid *dryrun.Refusal
	// denied is the refusal if admission denies the dry run, also without the additions of
	// others; applied is predicted then.
	denied *dryrun.Refusal
	// raced: somebody wrote to the object between the LIST and the dry run, and reading it
	// again failed.
	raced bool
	// again: the plan exists, and a write bound to the live object is about to follow.
	again bool
	// warned has the server's warnings about applied, and finally has those about final.
	warned, finally []string
}

// collect appends the warnings of the server, without duplicates.
func collect(into *[]string) func(string) {
	*into = nil
	return func(text string) {
		if !slices.Contains(*into, text) {
			*into = append(*into, text)
		}
	}
}

// findForeign finds the additions of others, and defaults that the server derived from an earlier
// declaration, and notes them in x. The outcome is nil unless there is a problem, or the object
// has to be replaced.
func findForeign(ctx context.Context, e *env, s *subject, x *prediction) (*outcome.Outcome, error) {
	x.final = x.applied
	if len(s.draft.Object.Unwanted) > 0 {
		return nil, removeUnwanted(&e.inv.Input, s, x)
	}
	if e.inv.Input.ForeignPolicy == plans.IgnoreForeign || !s.draft.Owned() || x.evidence.Kind == plans.Schema {
		return rejectInvalid(ctx, e, s, x)
	}
	if out, err := replaceForForeign(ctx, e, s); out != nil || err != nil {
		return out, err
	}
	if s.since.clean && x.invalid == nil && !ownership.LeavesBehind(&s.draft, x.applied) {
		if stale, err := ownership.MayBeStale(&s.draft, x.applied); !stale || err != nil {
			return nil, err
		}
	}
	paths, refusal, err := dryRunWithoutForeign(ctx, &e.inv.Input, s, x)
	switch {
	case err != nil:
		return nil, err
	case len(paths) == 0, refusal != nil && x.invalid != nil:
		return rejectInvalid(ctx, e, s, x)
	case refusal != nil && refusal.Denied && e.inv.Accepts(s.draft.Object):
		x.evidence, x.denied = refusal.Unverified(), refusal
		return findForeign(ctx, e, s, x)
	case refusal != nil:
		return keepOrReplace(ctx, e, s, x, paths, *refusal)
	}
	if err := recordRemovals(&e.inv.Input, s, x, paths); err != nil || s.draft.Action.Removes != "" {
		return nil, err
	}
	return rejectInvalid(ctx, e, s, x)
}

// removeUnwanted removes the labels that others set and the object must not have. No dry run is
// needed: an object is valid without them.
func removeUnwanted(in *inventory.Input, s *subject, x *prediction) error {
	var paths []fieldpath.Path
	for _, label := range s.draft.Object.Unwanted {
		paths = append(paths, fieldpath.MakePathOrDie("metadata", "labels", label))
	}
	x.final = fields.Without(x.applied, paths)
	return recordRemovals(in, s, x, paths)
}

// dryRunWithoutForeign asks the server for the object without its undeclared fields. The answer
// contains defaults again, and fields that a webhook sets with every write. Others added the
// remaining fields. paths are the fields that were left out; if there are none, no question was
// sent. refusal says why the server rejects the object without these fields.
func dryRunWithoutForeign(ctx context.Context, in *inventory.Input, s *subject, x *prediction) (paths []fieldpath.Path, refusal *dryrun.Refusal, err error) {
	x.final = x.applied
	if in.ForeignPolicy == plans.IgnoreForeign || !s.draft.Owned() || x.evidence.Kind == plans.Schema {
		return nil, nil, nil
	}
	if paths, err = ownership.Undeclared(ctx, in.Snapshot, &s.draft, historyOf(s), s.draft.Action.Yields, x.applied, false); err != nil || len(paths) == 0 {
		return nil, nil, err
	}
	if x.evidence.Kind == plans.Unverified {
		paths = ownership.WrittenByOthers(&s.draft, paths)
		x.final = fields.Without(x.applied, paths)
		return paths, nil, nil
	}
	// Fields that the system sets may be invalid without the additions. Then whole maps are left
	// out.
	whole, err := ownership.Undeclared(ctx, in.Snapshot, &s.draft, historyOf(s), s.draft.Action.Yields, x.applied, true)
	if err != nil {
		return nil, nil, err
	}
	rules, _, err := ownership.Aggregated(ctx, in.Snapshot, &s.draft)
	if err != nil {
		return nil, nil, err
	}
	// Some fields cannot be left out, and only the server knows which ones.
	for _, set := range [][]fieldpath.Path{paths, whole, ownership.WrittenByOthers(&s.draft, paths), ownership.WrittenByOthers(&s.draft, whole)} {
		if len(set) == 0 || refusal != nil && slices.EqualFunc(set, paths, fieldpath.Path.Equals) {
			continue
		}
		paths = set
		if refusal, err = tryWithout(ctx, in.Reader, s, x, paths, rules); err != nil || refusal == nil {
			return paths, nil, err
		}
	}
	return ownership.Certain(&s.draft, paths, *refusal), refusal, nil
}

// rejectInvalid refuses an object that the server does not accept for other reasons than the
// additions. The outcome is nil if the server accepts it, or if admission denies the dry run: the
// result of the apply is predicted then.
func rejectInvalid(ctx context.Context, e *env, s *subject, x *prediction) (*outcome.Outcome, error) {
	switch {
	case x.invalid == nil:
		return nil, nil
	case x.invalid.Denied:
		x.evidence, x.denied, x.invalid = x.invalid.Unverified(), x.invalid, nil
		return findForeign(ctx, e, s, x)
	}
	return refused(s, trial.Rejection(s.draft.Object, *x.invalid)), nil
}

// tryWithout asks the server for the object without the paths. rules are the rules that a
// controller gives back to a ClusterRole; see ownership.Aggregated.
func tryWithout(ctx context.Context, reader providers.Reader, s *subject, x *prediction, paths []fieldpath.Path, rules []any) (*dryrun.Refusal, error) {
	without := fields.Without(x.applied, paths)
	if slices.ContainsFunc(paths, ownership.AggregatedRules.Equals) && len(rules) > 0 {
		without.Object["rules"] = rules
	}
	trial := dryrun.WithoutAllocated(without, s.draft.Live)
	former := dryRunBase(s.draft.Live, x.applied)
	if x.invalid == nil && !x.again { // else the prediction may come from an old version
		former.SetResourceVersion(x.applied.GetResourceVersion())
	}
	answer, err := reader.DryRun(ctx, trial.Manifest, providers.DryRunOptions{Manager: s.draft.Manager, Over: former, Warn: collect(&x.finally)})
	if err == nil {
		answer = trial.Complete(answer)
		answer.SetManagedFields(x.applied.GetManagedFields())
		x.final = answer
		return nil, nil
	}
	r := dryrun.Classify(err)
	switch {
	case apierrors.IsConflict(err), r.World:
		return nil, err
	case r.Unasked != "", r.Permission != nil:
		x.evidence = r.Unverified()
		if r.Permission != nil {
			x.evidence = r.Forbidden()
		}
		x.final = fields.Without(x.applied, ownership.WrittenByOthers(&s.draft, paths))
		return nil, nil
	}
	return &r, nil
}

// dryRunBase returns the object that the patch of a dry run starts from. It has all fields of the
// live object and of the applied one, so that the patch can remove fields of both, and no
// resourceVersion.
func dryRunBase(live, applied *unstructured.Unstructured) *unstructured.Unstructured {
	u := applied.DeepCopy()
	for field, value := range live.Object {
		if _, there := u.Object[field]; !there {
			u.Object[field] = value
		}
	}
	metadata, _ := live.Object["metadata"].(map[string]any)
	into, _ := u.Object["metadata"].(map[string]any)
	for _, field := range []string{"annotations", "labels", "ownerReferences"} {
		_, there := into[field]
		if value, was := metadata[field]; was && !there && into != nil {
			into[field] = value
		}
	}
	u.SetResourceVersion("")
	return u
}

// keepOrReplace decides about additions that the server does not let kolla remove. The outcome
// is nil if the additions stay and are reported; otherwise the object has to be replaced.
func keepOrReplace(ctx context.Context, e *env, s *subject, x *prediction, paths []fieldpath.Path, r dryrun.Refusal) (*outcome.Outcome, error) {
	without := fields.Without(x.applied, paths)
	added, err := fields.Compare(x.applied, without)
	if err != nil {
		return nil, err
	}
	ownership.Attribute(&s.draft, historyOf(s), added)
	switch {
	case e.inv.Input.ForeignPolicy == plans.ReportForeign:
		report(s, without, added)
		return nil, nil
	case e.inv.Input.RefreshOnly:
		x.removed, err = foreignVersusNew(ctx, e, s, added)
		return nil, err
	}
	var problems []plans.Problem
	if len(r.Immutable) > 0 {
		out, err := replace(ctx, e, s, dryrun.Causes(s.draft.Live, without, s.draft.Manager, r.Immutable))
		if err != nil || !out.Withheld {
			return out, err
		}
		problems = out.Problems[len(s.draft.Problems):]
	} else {
		problems = []plans.Problem{plans.ProblemOf(s.draft.Object, fmt.Sprintf("others added fields to %s, and the cluster does not accept it without them", s.draft.Action.Ref),
			strings.Join(r.Lines(), "\n")+"\nRemove the fields by hand, or leave them there with ignore_fields in its lifecycle block.")}
		if r.Denied {
			problems[0].Detail += " " + trial.WithoutDryRun(s.draft.Object)
		}
	}
	// The problems are warnings: neither the rest of the plan nor the declared fields depend on the
	// additions.
	for _, problem := range problems {
		problem.Warning = true
		problem.Detail += "\nUntil then they stay there:\n" + ownership.Lines(added)
		s.draft.Problems = append(s.draft.Problems, problem)
	}
	report(s, without, added)
	return nil, nil
}

// report records the additions that stay, and the object as it would be without them.
func report(s *subject, without *unstructured.Unstructured, added []fields.Difference) {
	s.draft.Reported, s.draft.Unreported, s.draft.Action.Reported = append(s.draft.Reported, added...), without, true
}

// foreignVersusNew finds the additions by comparison with a dry run under a throw-away name. If the
// server rejects this dry run, the result is otherwise.
func foreignVersusNew(ctx context.Context, e *env, s *subject, otherwise []fields.Difference) ([]fields.Difference, error) {
	manifest, err := resolve(e, s)
	if err != nil {
		return nil, err
	}
	trial := dryrun.WithoutUnique(manifest, s.draft.Live)
	answer, err := e.inv.Input.Reader.DryRun(ctx, trial.Manifest, providers.DryRunOptions{Surrogate: true, Namespace: s.draft.Action.Ref.Namespace})
	if err != nil {
		return otherwise, nil
	}
	differences, err := fields.Compare(s.draft.Live, trial.Complete(answer))
	if err != nil {
		return nil, err
	}
	return addedTo(ctx, e, s, s.draft.Action.Yields, differences)
}

// addedTo returns the additions of others among the differences between the live object and a new
// object. kolla leaves the declared fields in yields to others.
func addedTo(ctx context.Context, e *env, s *subject, yields []plans.Yield, differences []fields.Difference) ([]fields.Difference, error) {
	if e.inv.Input.ForeignPolicy == plans.IgnoreForeign || !s.draft.Owned() || s.draft.Adopts() {
		return nil, nil
	}
	paths, err := ownership.Undeclared(ctx, e.inv.Input.Snapshot, &s.draft, historyOf(s), yields, s.draft.Live, true)
	if err != nil {
		return nil, err
	}
	added := slices.DeleteFunc(slices.Clone(differences), func(d fields.Difference) bool {
		return d.Before == nil || d.Hollow() || !slices.ContainsFunc(paths, func(path fieldpath.Path) bool { return fields.Overlap(path, d.At) }) ||
			fields.Touches(fields.OwnersOf(s.draft.Live, s.draft.Manager).Own, d.At)
	})
	ownership.Attribute(&s.draft, historyOf(s), added)
	return added, nil
}

// recordRemovals compares the applied object with the final one. The differences are the additions
// that the apply removes.
func recordRemovals(in *inventory.Input, s *subject, x *prediction, paths []fieldpath.Path) error {
	removed, err := fields.Compare(x.applied, x.final)
	if err != nil {
		return err
	}
	// With each change of an object, the API server increments fields such as metadata.generation.
	removed = slices.DeleteFunc(removed, func(d fields.Difference) bool {
		return x.invalid != nil && d.Hollow() ||
			proof.KeeperOf(x.applied, fields.Names(d.At)) == proof.System && !strings.HasPrefix(d.Path, "spec.") && !d.At.Equals(ownership.AggregatedRules)
	})
	ownership.Attribute(&s.draft, historyOf(s), removed)
	if in.ForeignPolicy == plans.ReportForeign {
		drift := slices.DeleteFunc(slices.Clone(removed), func(d fields.Difference) bool { return !d.Drift })
		if len(drift) > 0 && x.invalid != nil {
			return nil
		}
		if len(drift) > 0 {
			report(s, x.final, drift)
			x.final = x.applied
		}
		removed = slices.DeleteFunc(removed, func(d fields.Difference) bool { return d.Drift })
	}
	if x.invalid == nil {
		x.removed = removed
	}
	claimed := ownership.Claimed(paths, removed)
	if claimed.Empty() {
		return nil
	}
	if !proof.BuiltIn(s.draft.Action.Ref.GVK) {
		claimed = claimed.Union(ownership.Emptied(&s.draft, claimed, x.invalid != nil))
	}
	text, err := claimed.ToJSON()
	if err != nil {
		return fmt.Errorf("write down which fields others added: %w", err)
	}
	s.draft.Action.Removes = string(text)
	return nil
}

// replaceForForeign decides about additions that no update can remove: the object is replaced. A
// Pod or Job would run once more, so its additions are only reported.
func replaceForForeign(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	set, err := ownership.Unremovable(ctx, e.inv.Input.Snapshot, &s.draft, historyOf(s))
	if err != nil || len(set) == 0 {
		return nil, err
	}
	var reasons []plans.Reason
	for _, d := range set {
		reasons = append(reasons, plans.Reason{Kind: plans.ReasonImmutable, Path: d.Path})
	}
	switch {
	case s.draft.Object.IsJob(), proof.AddedToPod(s.draft.Live) != nil:
		s.draft.Stuck, s.draft.Action.Reported = set, true
		return nil, nil
	case s.draft.Adopts():
		return refusedFor(s, fmt.Sprintf("%s has %s, which is not declared, and which no update can remove", s.draft.Action.Ref, trial.PathsOf(reasons)),
			fmt.Sprintf("Declare it as it is: %v.", set[0].Before)), nil
	case e.inv.Input.ForeignPolicy == plans.ReportForeign && set[0].Drift:
		var paths []fieldpath.Path
		for _, d := range set {
			paths = append(paths, d.At)
		}
		report(s, fields.Without(s.draft.Live, paths), set)
		return nil, nil
	}
	out, err := replace(ctx, e, s, reasons)
	if err != nil || out.Withheld {
		return out, err
	}
	out.Action.Changes = append(out.Action.Changes, fields.Changes(set)...)
	slices.SortStableFunc(out.Action.Changes, func(a, b plans.Change) int { return strings.Compare(a.Path, b.Path) })
	out.Action.Reasons = append(out.Action.Reasons, ownership.Drift(set, s.draft.Adopts())...)
	return out, nil
}
