package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// MovedError says that an object changed since the plan was made, in such a way
// that the plan would now do something else than what was shown.
type MovedError struct {
	Ref providers.Ref
	// Changes are those that the plan would make now and did not show.
	Changes []planner.Change
}

func (e *MovedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s was changed since the plan was made, and something else than planned would now happen to ", e.Ref)
	for i, change := range e.Changes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(change.Path)
	}
	b.WriteString("; make a new plan")
	return b.String()
}

// apply sends the manifest. Where the plan is bound to a version of the object and
// the object has another one by now, which a change of its status is enough for,
// the write goes on if it still does only what the plan says.
func (s *step) apply(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	for contention := providers.Contend(); ; {
		live, err := s.applyOnce(ctx, manifest, options)
		var moved *providers.PreconditionError
		if !errors.As(err, &moved) || moved.Live == nil || !contention.Again(ctx) {
			return live, err
		}
		seen := s.rules.Check(moved.Live, nil, options.Manager, s.plan.Terms(s.action)).Owned
		s.moved = s.moved || seen == "" || seen != s.action.Seen
		if err := s.approve(ctx, manifest, moved.Live); err != nil {
			return nil, err
		}
		options.Precondition.ResourceVersion = moved.Live.GetResourceVersion()
	}
}

// applyOnce sends the manifest to the one version of the object. What others added, and
// the plan takes out, is the manager's own first: what it owned and does not apply any
// more, the server takes away.
func (s *step) applyOnce(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	if s.action.Removes != "" && !options.New {
		version, err := s.Writer.Claim(ctx, s.action.Ref, options.Precondition, options.Manager, s.action.Removes)
		if err != nil {
			return nil, err
		}
		options.Precondition.ResourceVersion = version
		if options.Precondition.ResourceVersion, err = s.applyBare(ctx, manifest, options); err != nil {
			return nil, err
		}
	}
	return s.Writer.Apply(ctx, manifest, options)
}

// applyBare sends a custom resource without what is declared as empty and others have
// filled, if that is needed. It returns the version of the object to go on with.
func (s *step) applyBare(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (string, error) {
	version := options.Precondition.ResourceVersion
	if proof.BuiltIn(manifest.GroupVersionKind()) {
		return version, nil
	}
	bare, differs, err := planner.Bare(manifest, s.action.Removes)
	if err != nil || !differs {
		return version, err
	}
	live, err := s.Writer.Apply(ctx, bare, options)
	if err != nil {
		return "", err
	}
	return live.GetResourceVersion(), nil
}

// approve compares what an apply would change in the object as it is now with what the
// plan says. What others have added since then counts: the plan does not show it.
func (s *step) approve(ctx context.Context, manifest, live *unstructured.Unstructured) error {
	changes, err := s.plan.Reassess(ctx, s.Reader, s.action, manifest, live, s.moved || s.action.Removes != "")
	if err != nil {
		return err
	}
	approved := map[string]bool{}
	for _, change := range s.action.Changes {
		approved[Essence(change)] = true
	}
	var others []planner.Change
	for _, change := range changes {
		if !approved[Essence(change)] {
			others = append(others, change)
		}
	}
	if len(others) > 0 {
		return &MovedError{Ref: s.action.Ref, Changes: others}
	}
	return nil
}

// Essence is what a change does, without who is to blame, in a form that is the
// same before and after the change went through a plan file, and whether or not a
// sensitive value has been made yet.
func Essence(c planner.Change) string {
	if c.Sensitive && c.After == planner.Unknown {
		c.After = planner.Masked
	}
	raw, err := json.Marshal([]any{c.Path, c.Before, c.After, c.Sensitive})
	if err != nil {
		panic(fmt.Sprintf("the change of %s is not JSON: %v", c.Path, err))
	}
	return string(raw)
}
