package decision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// prospect is the expected result of an apply to a live object.
type prospect struct {
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
	// again: the plan exists, and a write bound to the live object is about to follow.
	again bool
	// warned has the warnings of the server about applied, and finally those about final.
	warned, finally []string
}

// collect appends the warnings of the server, each text once.
func collect(into *[]string) func(string) {
	*into = nil
	return func(text string) {
		if !slices.Contains(*into, text) {
			*into = append(*into, text)
		}
	}
}

// takeOut finds the additions of others, and defaults that the server derived from an earlier
// declaration. decided: there is a problem, or the object has to be replaced.
func (p *decider) takeOut(ctx context.Context, s *subject, x *prospect) (decided bool, err error) {
	x.final = x.applied
	if p.inv.Input.ForeignPolicy == plans.IgnoreForeign || !s.out.Owned() || x.evidence.Kind == plans.Schema {
		return s.refused(x), nil
	}
	if decided, err := p.takeOutFixed(ctx, s); decided || err != nil {
		return decided, err
	}
	if s.clean && x.invalid == nil && !s.leavesBehind(x.applied) {
		if stale, err := s.mayBeStale(x.applied); !stale || err != nil {
			return false, err
		}
	}
	paths, refusal, err := p.separate(ctx, s, x)
	switch {
	case err != nil:
		return false, err
	case len(paths) == 0, refusal != nil && x.invalid != nil:
		return s.refused(x), nil
	case refusal != nil:
		return p.cannotTakeOut(ctx, s, x, paths, *refusal)
	}
	if err := p.reckon(s, x, paths); err != nil {
		return false, err
	}
	return s.out.Action.Removes == "" && s.refused(x), nil
}

// separate asks the server for the object without its undeclared fields. Defaults return, and
// so do fields that a webhook sets with every write. Somebody added the rest. paths are the
// fields that the question left out; without any, there was no question. A refusal is why the
// server does not accept the object without them.
func (p *decider) separate(ctx context.Context, s *subject, x *prospect) (paths []fieldpath.Path, refusal *dryrun.Refusal, err error) {
	x.final = x.applied
	if p.inv.Input.ForeignPolicy == plans.IgnoreForeign || !s.out.Owned() || x.evidence.Kind == plans.Schema {
		return nil, nil, nil
	}
	if paths, err = p.undeclaredIn(ctx, s, x.applied, false); err != nil || len(paths) == 0 {
		return nil, nil, err
	}
	if x.evidence.Kind == plans.Unverified {
		paths = s.writtenByOthers(paths)
		x.final = fields.Without(x.applied, paths)
		return paths, nil, nil
	}
	// Fields that the system sets may make no sense without the rest.
	whole, err := p.undeclaredIn(ctx, s, x.applied, true)
	if err != nil {
		return nil, nil, err
	}
	// Only the server knows that some fields cannot be left out.
	for _, set := range [][]fieldpath.Path{paths, whole, s.writtenByOthers(paths), s.writtenByOthers(whole)} {
		if len(set) == 0 || refusal != nil && slices.EqualFunc(set, paths, fieldpath.Path.Equals) {
			continue
		}
		paths = set
		if refusal, err = p.tryWithout(ctx, s, x, paths); err != nil || refusal == nil {
			return paths, nil, err
		}
	}
	return s.certain(paths, *refusal), refusal, nil
}

// refused adds the problem of an object that the server does not accept for other reasons than
// the additions.
func (s *subject) refused(x *prospect) bool {
	if x.invalid == nil {
		return false
	}
	s.out.Reject(*x.invalid)
	return true
}

// leavesBehind reports whether an apply would give up fields that others own too. They would
// stay.
func (s *subject) leavesBehind(applied *unstructured.Unstructured) bool {
	if !fields.WrittenThrough(s.out.Live, func(subresource string) bool { return subresource != "status" }) {
		return false
	}
	before := fields.OwnersOf(s.out.Live, s.out.Manager)
	dropped := before.Own.Difference(fields.OwnersOf(applied, s.out.Manager).Own)
	return slices.ContainsFunc(before.Others, func(o fields.Owner) bool { return !o.Fields.Intersection(dropped).Empty() })
}

// tryWithout asks the server for the object without the paths.
func (p *decider) tryWithout(ctx context.Context, s *subject, x *prospect, paths []fieldpath.Path) (*dryrun.Refusal, error) {
	rest := fields.Without(x.applied, paths)
	former := over(s.out.Live, x.applied)
	if x.invalid == nil && !x.again { // else it was predicted of a version that may be an old one
		former.SetResourceVersion(x.applied.GetResourceVersion())
	}
	answer, err := p.inv.Input.Reader.DryRun(ctx, rest, providers.DryRunOptions{Manager: s.out.Manager, Over: former, Warn: collect(&x.finally)})
	if err == nil {
		answer.SetManagedFields(x.applied.GetManagedFields())
		x.final = answer
		return nil, nil
	}
	r := dryrun.Classify(err)
	switch {
	case apierrors.IsConflict(err), r.World:
		return nil, err
	case r.Unasked != "", r.Permission != nil:
		x.evidence = plans.Evidence{Kind: plans.Unverified, Detail: r.Unasked}
		if r.Permission != nil {
			x.evidence = r.Forbidden()
		}
		x.final = fields.Without(x.applied, s.writtenByOthers(paths))
		return nil, nil
	}
	return &r, nil
}

// over returns the object that the patch of a dry run starts from. It has all fields of the
// live object and of the applied one, so that the patch can remove fields of both, and no
// resourceVersion.
func over(live, applied *unstructured.Unstructured) *unstructured.Unstructured {
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

// writtenByOthers keeps the paths that others certainly wrote.
func (s *subject) writtenByOthers(paths []fieldpath.Path) []fieldpath.Path {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	return slices.DeleteFunc(slices.Clone(paths), func(path fieldpath.Path) bool {
		_, written := owners.Other(path)
		return !written
	})
}

// certain keeps the paths that others certainly wrote, or that the server names as immutable:
// a default of the server is not refused.
func (s *subject) certain(paths []fieldpath.Path, r dryrun.Refusal) []fieldpath.Path {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	return slices.DeleteFunc(slices.Clone(paths), func(path fieldpath.Path) bool {
		_, written := owners.Other(path)
		return !written && !slices.ContainsFunc(r.Immutable, func(c metav1.StatusCause) bool { return c.Field == fields.Text(path) })
	})
}

// cannotTakeOut decides about additions that the server does not let kolla remove. decided:
// the object has to be replaced. Otherwise the additions stay and are reported.
func (p *decider) cannotTakeOut(ctx context.Context, s *subject, x *prospect, paths []fieldpath.Path, r dryrun.Refusal) (decided bool, err error) {
	added, err := fields.Compare(x.applied, fields.Without(x.applied, paths))
	if err != nil {
		return false, err
	}
	s.accuse(added)
	switch {
	case p.inv.Input.ForeignPolicy == plans.ReportForeign:
		s.report(fields.Without(x.applied, paths), added)
		return false, nil
	case p.inv.Input.RefreshOnly:
		x.removed, err = p.besideNew(ctx, s, added)
		return false, err
	}
	before, problems := s.out.Action, len(s.out.Problems)
	if len(r.Immutable) > 0 {
		err = p.replace(ctx, s, dryrun.Causes(s.out.Live, fields.Without(x.applied, paths), s.out.Manager, r.Immutable))
	} else {
		s.out.Refuse(fmt.Sprintf("others added to %s, and the cluster does not accept it without", s.out.Action.Ref),
			strings.Join(r.Lines(), "\n")+"\nRemove the fields by hand; or leave them there, with ignore_fields in its lifecycle block.")
	}
	if err != nil || s.out.Action.Verb != "" {
		return true, err
	}
	// Neither the rest of the plan nor the declared fields depend on it.
	s.out.Action, s.out.After = before, nil
	for i := range s.out.Problems[problems:] {
		s.out.Problems[problems+i].Warning = true
		s.out.Problems[problems+i].Detail += "\nUntil then they stay there:\n" + additionsText(added)
	}
	s.report(fields.Without(x.applied, paths), added)
	return false, nil
}

// report records the additions that stay, and the object as it would be without them.
func (s *subject) report(without *unstructured.Unstructured, added []fields.Difference) {
	s.out.Reported, s.out.Unreported, s.out.Action.Reported = append(s.out.Reported, added...), without, true
}

// additionsText lists who added which field, one line each.
func additionsText(added []fields.Difference) string {
	var lines []string
	for _, d := range added {
		line := "  " + d.Path
		if d.Manager != "" {
			line += ", by " + foreign.Name(d.Manager)
		}
		if !d.Time.IsZero() {
			line += d.Time.Format(", 2006-01-02 15:04 UTC")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// besideNew returns the additions by comparison with a dry run under a throw-away name. If the
// server refuses that, it returns otherwise.
func (p *decider) besideNew(ctx context.Context, s *subject, otherwise []fields.Difference) ([]fields.Difference, error) {
	manifest, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	trial := dryrun.WithoutUnique(manifest, s.out.Live)
	answer, err := p.inv.Input.Reader.DryRun(ctx, trial.Manifest, providers.DryRunOptions{Surrogate: true, Namespace: s.out.Action.Ref.Namespace})
	if err != nil {
		return otherwise, nil
	}
	differences, err := fields.Compare(s.out.Live, trial.Complete(answer))
	if err != nil {
		return nil, err
	}
	return p.addedTo(ctx, s, differences)
}

// addedTo keeps those differences between the live object and a new one that are additions of
// others.
func (p *decider) addedTo(ctx context.Context, s *subject, differences []fields.Difference) ([]fields.Difference, error) {
	if p.inv.Input.ForeignPolicy == plans.IgnoreForeign || !s.out.Owned() || s.out.Adopts() {
		return nil, nil
	}
	paths, err := p.undeclaredIn(ctx, s, s.out.Live, true)
	if err != nil {
		return nil, err
	}
	added := slices.DeleteFunc(slices.Clone(differences), func(d fields.Difference) bool {
		return d.Before == nil || d.Hollow() || !slices.ContainsFunc(paths, func(path fieldpath.Path) bool { return fields.Overlap(path, d.At) }) ||
			fields.Touches(fields.OwnersOf(s.out.Live, s.out.Manager).Own, d.At)
	})
	s.accuse(added)
	return added, nil
}

// accuse notes who added the fields, and when. A default that was right until the declaration
// changed has no author.
func (s *subject) accuse(added []fields.Difference) {
	if s.out.Adopts() {
		return
	}
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	edited := s.out.Record != nil && s.out.Record.State.Desired != s.out.Object.Digest()
	for i := range added {
		d := &added[i]
		by, written := owners.Other(d.At)
		if written || !s.clean && !(edited && derived(d.At)) {
			d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		}
	}
}

// reckon compares the applied object with the final one. The differences are the additions
// that the apply removes.
func (p *decider) reckon(s *subject, x *prospect, paths []fieldpath.Path) error {
	removed, err := fields.Compare(x.applied, x.final)
	if err != nil {
		return err
	}
	// The server counts the changes of some objects in such fields.
	removed = slices.DeleteFunc(removed, func(d fields.Difference) bool {
		return x.invalid != nil && d.Hollow() ||
			proof.KeeperOf(x.applied, fields.Names(d.At)) == proof.System && !strings.HasPrefix(d.Path, "spec.")
	})
	s.accuse(removed)
	if p.inv.Input.ForeignPolicy == plans.ReportForeign {
		drift := slices.DeleteFunc(slices.Clone(removed), func(d fields.Difference) bool { return !d.Drift })
		if len(drift) > 0 && x.invalid != nil {
			return nil
		}
		if len(drift) > 0 {
			s.report(x.final, drift)
			x.final = x.applied
		}
		removed = slices.DeleteFunc(removed, func(d fields.Difference) bool { return d.Drift })
	}
	if x.invalid == nil {
		x.removed = removed
	}
	fields := claimed(paths, removed)
	if fields.Empty() {
		return nil
	}
	if !proof.BuiltIn(s.out.Action.Ref.GVK) {
		fields = fields.Union(s.emptied(fields, x.invalid != nil))
	}
	text, err := fields.ToJSON()
	if err != nil {
		return fmt.Errorf("write down which fields others added: %w", err)
	}
	s.out.Action.Removes = string(text)
	return nil
}

// emptied returns the maps of a custom resource that are declared as empty and lose fields;
// own: also fields of kolla's own. An apply has to remove them first, whoever else owns them;
// see fields.Bare.
func (s *subject) emptied(removed *fieldpath.Set, own bool) *fieldpath.Set {
	set := fieldpath.NewSet()
	find := func(path fieldpath.Path) {
		for n := 1; n < len(path); n++ {
			if declared, there := fields.Lookup(s.out.Object.Manifest.Object, path[:n]); there && fields.Empty(declared) {
				set.Insert(path.Copy())
				set.Insert(path[:n].Copy())
			}
		}
	}
	removed.Iterate(find)
	if own {
		fields.OwnersOf(s.out.Live, s.out.Manager).Own.Leaves().Iterate(find)
	}
	return set
}

// claimed returns the fields that kolla has to own before its apply can remove them: the paths
// that differ, and the parents that would be left empty.
func claimed(paths []fieldpath.Path, removed []fields.Difference) *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, path := range paths {
		for _, d := range removed {
			if !fields.Overlap(d.At, path) {
				continue
			}
			set.Insert(path)
			if d.After == nil && len(d.At) < len(path) {
				set.Insert(d.At)
			}
		}
	}
	return set
}
