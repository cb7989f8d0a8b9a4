package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// verdict is what a dry run that the test makes itself says of an object.
type verdict struct {
	absent   bool     // there is no such object
	conflict bool     // another manager owns a field that would change
	refused  error    // the server does not take it
	differs  []string // top-level fields that would change: "spec", "metadata.labels"
	detail   string   // how they would
}

// judge asks the server, without any code of kolla's, what an apply would change.
func (w *world) judge(ctx context.Context, x *thing) (v verdict, err error) {
	for range 10 {
		live, err := w.at(x).Get(ctx, x.name, metav1.GetOptions{})
		if v.absent = apierrors.IsNotFound(err); err != nil && !v.absent {
			return v, fmt.Errorf("get %s: %w", x, err)
		}
		answer, err := w.dryRun(ctx, x, false)
		if apierrors.IsConflict(err) && isOwned(err) {
			v.conflict = true
			answer, err = w.dryRun(ctx, x, true)
		}
		if err != nil {
			v.refused = err
			return v, nil
		}
		if v.absent {
			return v, nil
		}
		if live.GetResourceVersion() != answer.GetResourceVersion() {
			continue // a controller wrote in between
		}
		v.compare(live, answer)
		return v, nil
	}
	return v, fmt.Errorf("%s changes all the time", x)
}

func (w *world) dryRun(ctx context.Context, x *thing, force bool) (*unstructured.Unstructured, error) {
	return w.at(x).Apply(ctx, x.name, w.sent(x), metav1.ApplyOptions{
		FieldManager: providers.FieldManager, Force: force, DryRun: []string{metav1.DryRunAll},
	})
}

// isOwned reports whether a conflict is about fields that others own.
func isOwned(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil &&
		slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
			return c.Type == metav1.CauseTypeFieldManagerConflict
		})
}

// compare finds the fields that differ, but for what the server writes down of
// each write.
func (v *verdict) compare(live, answer *unstructured.Unstructured) {
	before, after := plain(live), plain(answer)
	var details []string
	for _, field := range slices.Sorted(maps.Keys(merge(before, after))) {
		if !reflect.DeepEqual(before[field], after[field]) {
			v.differs = append(v.differs, field)
			details = append(details, fmt.Sprintf("%s\n  live   %s\n  answer %s", field, inJSON(before[field]), inJSON(after[field])))
		}
	}
	v.detail = strings.Join(details, "\n")
}

// plain is an object by top-level field, with metadata one level deeper.
func plain(u *unstructured.Unstructured) map[string]any {
	fields := maps.Clone(u.Object)
	metadata, _ := fields["metadata"].(map[string]any)
	delete(fields, "metadata")
	for name, value := range metadata {
		switch name {
		case "managedFields", "resourceVersion", "generation":
		default:
			fields["metadata."+name] = value
		}
	}
	return fields
}

func merge(a, b map[string]any) map[string]any {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func inJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// disagrees says where the plan's verdict on an object is not the server's; empty:
// nowhere. A nil action is that of an object with a problem.
func (v *verdict) disagrees(a *planner.Action, problem string) string {
	switch {
	case a == nil && problem == "":
		return "the plan says nothing of it"
	case v.refused != nil && a != nil && a.Verb != planner.Replace:
		return fmt.Sprintf("the server refuses it: %v", v.refused)
	case v.refused != nil:
		return ""
	case a == nil:
		return "the server takes it"
	case v.absent && over(a):
		return ""
	case v.absent && a.Verb != planner.Create && a.Verb != planner.Run:
		return "it is not in the cluster"
	case v.absent:
		return ""
	case len(v.differs) == 0 && (a.Verb == planner.None || a.Verb == planner.Adopt && len(a.Changes) == 0 && a.Force == v.conflict):
		return ""
	case len(v.differs) == 0:
		return "an apply would change nothing"
	case a.Verb != planner.Update && a.Verb != planner.Adopt:
		return "an apply would change " + v.detail
	case v.conflict != a.Force:
		return fmt.Sprintf("there is a conflict: %t", v.conflict)
	}
	if shown := topsOf(a.Changes); !slices.Equal(shown, v.differs) {
		return fmt.Sprintf("it shows changes of %q, and there are of %s", shown, v.detail)
	}
	return ""
}

// over reports whether the action is on a Job that was seen complete and has been
// cleaned up: it is not run again.
func over(a *planner.Action) bool {
	return a.Verb == planner.None && a.Object.Run() && a.Evidence.Kind == planner.Recorded
}

// topsOf are the top-level fields of changes, as a verdict has them.
func topsOf(changes []planner.Change) []string {
	tops := map[string]bool{}
	for _, c := range changes {
		end := strings.IndexAny(c.Path, ".[")
		if rest, ok := strings.CutPrefix(c.Path, "metadata."); ok {
			end = strings.IndexAny(rest, ".[")
			if end >= 0 {
				end += len("metadata.")
			}
		}
		if end < 0 {
			end = len(c.Path)
		}
		tops[c.Path[:end]] = true
	}
	return slices.Sorted(maps.Keys(tops))
}
