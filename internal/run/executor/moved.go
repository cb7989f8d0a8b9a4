package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// MovedError reports that an object has changed since the plan was made, and that the
// action would now make changes that the plan does not show.
type MovedError struct {
	Ref providers.Ref
	// Changes are the changes that the plan does not show.
	Changes []plans.Change
}

func (e *MovedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was changed since the plan was made. An apply would now also change ", e.Ref)
	for i, change := range e.Changes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(change.Path)
		if !change.Sensitive && !change.Text {
			fmt.Fprintf(&b, " (%s → %s)", brief(change.Before), brief(change.After))
		}
		if change.Manager != "" {
			b.WriteString(providers.WrittenBy("", change.Manager, change.Time))
		}
	}
	b.WriteString("; make a new plan")
	return b.String()
}

// maxBrief is the length of a value in an error, in characters.
const maxBrief = 60

// brief returns a value as JSON, or its beginning.
func brief(v any) string {
	if v == nil {
		return "nothing"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a value of a plan is not JSON: %v", err))
	}
	if text := []rune(string(raw)); len(text) > maxBrief {
		return string(text[:maxBrief-1]) + "…"
	}
	return string(raw)
}

// sending is the write of the manifest of one action.
type sending struct {
	run    *run
	action *plans.Action
	moved  bool // others have changed the object since the plan was made
	// claimed is the object's fingerprint after the claim of additions; empty: there was none.
	claimed string
	// wrote: a claim changed the object before its apply.
	wrote bool
}

// apply sends the manifest. If the write is bound to a version of the object and the
// object has another one by now, apply writes nevertheless, provided that the changes are
// those of the plan. A change of the status is enough to give an object another version.
func (s *sending) apply(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	if s.removesLabels() {
		// The write is not bound to a version of the plan, and the label may belong to another
		// cloud by now.
		live, err := s.run.options.Reader.Get(ctx, s.action.Ref)
		if err == nil {
			err = s.approve(ctx, manifest, live)
		}
		if err != nil {
			return nil, err
		}
		options.Precondition.ResourceVersion = live.GetResourceVersion()
	}
	for contention := providers.Contend(); ; {
		live, err := s.applyOnce(ctx, manifest, options)
		var moved *providers.PreconditionError
		if !errors.As(err, &moved) || moved.Live == nil || !contention.Again(ctx) {
			return live, err
		}
		// After a claim, Reassess would find other changes than the plan: the plan compared the
		// update and the removal of additions separately, and the next apply makes both at once.
		seen := s.fingerprint(moved.Live, options.Manager)
		if seen == "" || seen != s.claimed {
			s.moved = s.moved || seen == "" || seen != s.action.Seen
			if err := s.approve(ctx, manifest, moved.Live); err != nil {
				return nil, err
			}
		}
		options.Precondition.ResourceVersion = moved.Live.GetResourceVersion()
	}
}

// removesLabels reports whether the plan removes labels of others from a partial object.
func (s *sending) removesLabels() bool {
	return s.action.Object != nil && len(s.action.Object.Unwanted) > 0
}

// fingerprint returns a hash of the fields that kolla applied and of the fields that other clients
// added. A change of the status does not change the hash.
func (s *sending) fingerprint(live *unstructured.Unstructured, manager string) string {
	return s.run.rules.Fingerprint(live, nil, manager, s.run.terms(s.action)).Owned
}

// terms returns the settings under which the plan compared the object of an action.
func (r *run) terms(a *plans.Action) proof.Terms {
	return proof.TermsOf(a.Object, a.Scaled, r.plan.ForeignPolicy == plans.IgnoreForeign)
}

// applyOnce sends the manifest for one version of the object. If the plan removes fields
// that others added, the manager claims them first: the server then removes them, because
// the manager owns and no longer applies them.
func (s *sending) applyOnce(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	if s.action.Removes != "" && !options.New {
		live, err := s.run.options.Writer.Claim(ctx, s.action.Ref, options.Precondition, options.Manager, s.action.Removes)
		if err != nil {
			return nil, err
		}
		s.wrote = true
		s.claimed = s.fingerprint(live, options.Manager)
		options.Precondition.ResourceVersion = live.GetResourceVersion()
		if options.Precondition.ResourceVersion, err = s.applyBare(ctx, manifest, options); err != nil {
			return nil, err
		}
	}
	return s.run.options.Writer.Apply(ctx, manifest, options)
}

// applyBare sends a custom resource without the fields that are declared as empty and that
// others have filled, if there are any. It returns the resulting version of the object.
func (s *sending) applyBare(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (string, error) {
	version := options.Precondition.ResourceVersion
	if proof.BuiltIn(manifest.GroupVersionKind()) {
		return version, nil
	}
	bare, differs, err := fields.Bare(manifest, s.action.Removes)
	if err != nil || !differs {
		return version, err
	}
	live, err := s.run.options.Writer.Apply(ctx, bare, options)
	if err != nil {
		return "", err
	}
	return live.GetResourceVersion(), nil
}

// approve returns a *MovedError if an apply would now make changes that the plan does not
// show. Removing fields that others have added since the plan is such a change.
func (s *sending) approve(ctx context.Context, manifest, live *unstructured.Unstructured) error {
	changes, err := planner.Reassess(ctx, s.run.options.Reader, s.run.plan, s.action, manifest, live, s.moved || s.action.Removes != "")
	if err != nil {
		return err
	}
	essence := Essence
	if s.removesLabels() && s.claimed == "" { // the plan has judged the authors, too
		essence = func(c plans.Change) string { return Essence(c) + c.Manager }
	}
	approved := map[string]bool{}
	for _, change := range s.action.Changes {
		approved[essence(change)] = true
	}
	var others []plans.Change
	for _, change := range changes {
		if !approved[essence(change)] {
			others = append(others, change)
		}
	}
	if len(others) > 0 {
		return &MovedError{Ref: s.action.Ref, Changes: others}
	}
	return nil
}

// Essence returns a text for the effect of a change, without its author. The text is the
// same before and after a plan file was saved and loaded, and whether or not a sensitive
// value exists already.
func Essence(c plans.Change) string {
	if c.Sensitive && c.After == plans.Unknown {
		c.After = plans.Masked
	}
	raw, err := json.Marshal([]any{c.Path, c.Before, c.After, c.Sensitive})
	if err != nil {
		panic(fmt.Sprintf("the change of %s is not JSON: %v", c.Path, err))
	}
	return string(raw)
}
