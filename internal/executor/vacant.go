package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// OccupiedError says that a namespace is not deleted, because something is in it that
// the plan did not know of.
type OccupiedError struct {
	Ref       providers.Ref
	Occupants []string // "ConfigMap openstack/theirs"
}

func (e *OccupiedError) Error() string {
	const most = 4
	names := strings.Join(e.Occupants[:min(most, len(e.Occupants))], ", ")
	if more := len(e.Occupants) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s is not deleted: in it is what the plan does not delete: %s; make a new plan", e.Ref, names)
}

const (
	// collection is how long the cluster may take until it begins to delete what
	// belonged to objects that were deleted.
	collection = time.Minute
	// collectionPause is between two looks at how far it has come.
	collectionPause = time.Second
)

// vacant looks once more into a namespace that is to be deleted: the plan may be old,
// and the objects that it deletes have taken their time. What belonged to one of these
// is about to go too, and waited for. Of any other object it does nothing.
func (s *step) vacant(ctx context.Context) error {
	if s.action.Ref.GVK.GroupKind() != providers.NamespaceKind {
		return nil
	}
	going := planner.Going(s.plan.Actions)
	for start := time.Now(); ; {
		contents, err := s.Reader.Contents(ctx, s.action.Ref.Name)
		if err != nil {
			return fmt.Errorf("look into %s before it is deleted: %w", s.action.Ref, err)
		}
		occupants := planner.Occupants(contents, going)
		names := slices.Clone(contents.Unread)
		stays := len(names) > 0
		for _, o := range occupants {
			names = append(names, o.Ref.String())
			stays = stays || !o.Orphan
		}
		if len(names) == 0 {
			return nil
		}
		if stays || time.Since(start) > collection {
			return &OccupiedError{Ref: s.action.Ref, Occupants: names}
		}
		select {
		case <-time.After(collectionPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
