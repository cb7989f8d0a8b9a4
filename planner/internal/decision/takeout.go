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

// prospect is what an apply makes of a live object.
type prospect struct {
	// applied is what a server-side apply of what is declared gives, by the server's
	// word or predicted.
	applied *unstructured.Unstructured
	// final is that without what others added; the same where they added nothing.
	final    *unstructured.Unstructured
	evidence plans.Evidence
	// removed are the differences between the two.
	removed []fields.Difference
	// invalid is why the server does not accept applied, which is predicted then: what is
	// declared may be at odds with what others added.
	invalid *dryrun.Refusal
	// again: it is worked out once more, for a write that is bound to the live object.
	again bool
	// warned is what the server warned of with applied, and finally with final.
	warned, finally []string
}

// collect takes what the server warns of, each text once.
func collect(into *[]string) func(string) {
	*into = nil
	return func(text string) {
		if !slices.Contains(*into, text) {
			*into = append(*into, text)
		}
	}
}

// takeOut finds the fields that others added, and defaults that the server derived from an
// earlier declaration. decided: there is a problem, or the object has to be replaced.
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

// separate asks the server what the object would be without its undeclared fields. Defaults
// come back, and so do fields that a webhook sets with every write: the rest was added by
// somebody. paths are the fields that the question left out; without any, nothing was asked.
// A refusal is the server's reason not to accept the object without them.
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
	// What the system keeps may be of no use without the rest.
	whole, err := p.undeclaredIn(ctx, s, x.applied, true)
	if err != nil {
		return nil, nil, err
	}
	// Of some fields only the server knows that they cannot be left out.
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

// refused names the problem of an object that the server does not accept, if that is not
// because of what others added.
func (s *subject) refused(x *prospect) bool {
	if x.invalid == nil {
		return false
	}
	s.out.Reject(*x.invalid)
	return true
}

// leavesBehind reports whether an apply would give up fields that others own as well, so
// that they would stay.
func (s *subject) leavesBehind(applied *unstructured.Unstructured) bool {
	if !fields.WrittenThrough(s.out.Live, func(subresource string) bool { return subresource != "status" }) {
		return false
	}
	before := fields.OwnersOf(s.out.Live, s.out.Manager)
	dropped := before.Own.Difference(fields.OwnersOf(applied, s.out.Manager).Own)
	return slices.ContainsFunc(before.Others, func(o fields.Owner) bool { return !o.Fields.Intersection(dropped).Empty() })
}

// tryWithout asks the server what the object would be without the paths.
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

// over is the object that a patch in a dry run starts from: it has every field of the live
// object and of the applied one, so that the patch can remove fields of either. It has no
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

// writtenByOthers keeps the paths that somebody else is known to have written.
func (s *subject) writtenByOthers(paths []fieldpath.Path) []fieldpath.Path {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	return slices.DeleteFunc(slices.Clone(paths), func(path fieldpath.Path) bool {
		_, written := owners.Other(path)
		return !written
	})
}

// certain keeps the paths that others are known to have written, or that the server names as
// what makes the object immutable: it gives no such default.
func (s *subject) certain(paths []fieldpath.Path, r dryrun.Refusal) []fieldpath.Path {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	return slices.DeleteFunc(slices.Clone(paths), func(path fieldpath.Path) bool {
		_, written := owners.Other(path)
		return !written && !slices.ContainsFunc(r.Immutable, func(c metav1.StatusCause) bool { return c.Field == fields.Text(path) })
	})
}

// cannotTakeOut decides about an object from which the server does not let the additions be
// removed. decided: the object has to be replaced. Otherwise the fields stay, and are
// reported.
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
	// The rest of the plan does not depend on it, nor do the declared fields.
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

// additionsText says who added what, one field a line.
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

// besideNew is what others added to an object, by what the server makes of the manifest under
// a throw-away name; or otherwise, where it does not take that.
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

// addedTo keeps of the differences between the live object and a new one those that are
// there because others added something.
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

// accuse writes into the differences who added the fields, and when. A default that nobody
// wrote, and that was right until the declaration changed, has nobody to name.
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

// reckon compares the applied object with the final one: the differences are what others
// added, and what the apply removes.
func (p *decider) reckon(s *subject, x *prospect, paths []fieldpath.Path) error {
	removed, err := fields.Compare(x.applied, x.final)
	if err != nil {
		return err
	}
	// The server counts each change of some objects in them.
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

// emptied are the maps of a custom resource that are declared as empty and that something is
// removed from; own says whether that may be something of kolla's own. They count among what
// an apply removes, because they have to go first, whoever else owns them; see fields.Bare.
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

// claimed are the fields that have to be kolla's for its next apply to remove them: those
// of the paths that differ, and what would be left empty above them.
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
