package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
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

// maxMoves is how often an object may be changed by others between one look at
// it and the write that follows, before the write is given up.
const maxMoves = 5

// apply sends the manifest. Where the plan is bound to a version of the object and
// the object has another one by now, which a change of its status is enough for,
// the write goes on if it still does only what the plan says.
func (s *step) apply(ctx context.Context, manifest *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	for moves := 0; ; moves++ {
		live, err := s.Writer.Apply(ctx, manifest, options)
		var moved *providers.PreconditionError
		if !errors.As(err, &moved) || moved.Live == nil || moves == maxMoves {
			return live, err
		}
		if err := s.approve(ctx, manifest, moved.Live); err != nil {
			return nil, err
		}
		options.Precondition.ResourceVersion = moved.Live.GetResourceVersion()
	}
}

// approve compares what the manifest would change in the object as it is now with
// what the plan says. Where the plan could only predict that, so does approve.
func (s *step) approve(ctx context.Context, manifest, live *unstructured.Unstructured) error {
	manager := s.manager(s.action.Object.Partial)
	after, err := s.Reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: manager, Force: s.action.Force})
	if err != nil && s.action.Evidence.Kind == planner.Unverified {
		after, err = planner.Predict(live, manifest, manager, err)
	}
	if err != nil {
		return err
	}
	changes, err := planner.Diff(live, after)
	if err != nil {
		return err
	}
	approved := map[string]bool{}
	for _, change := range s.action.Changes {
		approved[essence(change)] = true
	}
	var others []planner.Change
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

// essence is what a change does, without who is to blame, in a form that is the
// same before and after the change went through a plan file, and whether or not a
// sensitive value has been made yet.
func essence(c planner.Change) string {
	if c.Sensitive && c.After == planner.Unknown {
		c.After = planner.Masked
	}
	raw, err := json.Marshal([]any{c.Path, c.Before, c.After, c.Sensitive})
	if err != nil {
		panic(fmt.Sprintf("the change of %s is not JSON: %v", c.Path, err))
	}
	return string(raw)
}
