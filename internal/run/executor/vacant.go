package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// OccupiedError reports that a namespace was not deleted, because it contains objects that
// the plan does not delete.
type OccupiedError struct {
	Ref       providers.Ref
	Occupants []string // "ConfigMap openstack/theirs"
}

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("%s is not deleted, because it contains objects that the plan does not delete: %s; make a new plan", e.Ref, words.Few(e.Occupants, 4))
}

const (
	// collection is how long the garbage collector of the cluster may take to delete
	// the dependents of deleted objects.
	collection = time.Minute
	// collectionPause is the pause before the first check. It doubles with each check, up
	// to collectionPauseMost.
	collectionPause     = time.Second
	collectionPauseMost = 8 * time.Second
)

// checkNamespaceEmpty checks the contents of a namespace just before its deletion, because others
// may have created objects since the plan. It waits until the garbage collector has deleted
// dependents of deleted objects. It does nothing for other kinds of objects, and for a namespace
// that the operator named to be deleted with all its contents.
func checkNamespaceEmpty(ctx context.Context, r *run, a *plans.Action) error {
	if a.Ref.GVK.GroupKind() != kinds.Namespace || a.Occupied {
		return nil
	}
	going := plans.Going(r.plan.Actions)
	for deadline := time.Now().Add(collection); ; {
		contents, err := r.options.Reader.Contents(ctx, a.Ref.Name)
		if err != nil {
			return fmt.Errorf("look into %s before it is deleted: %w", a.Ref, err)
		}
		occupants := contents.Occupants(going)
		names := plans.Unlisted(contents, r.plan.Actions)
		stays := len(names) > 0
		for _, o := range occupants {
			names = append(names, o.Ref.String())
			stays = stays || !o.Orphan
		}
		if len(names) == 0 {
			return nil
		}
		if stays || time.Now().After(deadline) {
			return &OccupiedError{Ref: a.Ref, Occupants: names}
		}
		if err := collected(ctx, r.options.Reader, occupants, deadline); err != nil {
			return err
		}
	}
}

// collected waits until the objects are gone, or the deadline has passed. It lists only
// their kinds, because listing a whole namespace costs a request for each kind.
func collected(ctx context.Context, reader providers.Reader, orphans []providers.Occupant, deadline time.Time) error {
	for pause := collectionPause; len(orphans) > 0 && time.Now().Before(deadline); pause = min(2*pause, collectionPauseMost) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		var err error
		if orphans, err = present(ctx, reader, orphans); err != nil {
			return err
		}
	}
	return nil
}

// present returns the objects that still exist.
func present(ctx context.Context, reader providers.Reader, objects []providers.Occupant) ([]providers.Occupant, error) {
	there := map[providers.Ref]bool{}
	listed := map[schema.GroupVersionKind]bool{}
	for _, o := range objects {
		kind := o.Ref.GVK
		if listed[kind] {
			continue
		}
		listed[kind] = true
		list, err := reader.List(ctx, kind, o.Ref.Namespace)
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("see what is left in namespace %s: %w", o.Ref.Namespace, err)
		}
		for _, u := range list {
			there[providers.RefOf(u)] = true
		}
	}
	return slices.DeleteFunc(objects, func(o providers.Occupant) bool { return !there[o.Ref] }), nil
}
