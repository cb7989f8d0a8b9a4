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

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// verdict is the result of the test's own dry run of an object.
type verdict struct {
	absent   bool     // there is no such object
	conflict bool     // another manager owns a field that would change
	refused  error    // the server rejects the object
	differs  []string // top-level fields that would change: "spec", "metadata.labels"
	detail   string   // the fields that differ, before and after
	// added are the top-level fields in which the object, once applied, would differ from a fresh
	// object with the same declaration.
	added []string
	// unborn: the server would reject a fresh object with the declaration. Only the fields that
	// others added make the present object valid.
	unborn bool
	// headless: the object is a Service that lacks its cluster IP. Only a new Service gets one.
	headless bool
	// live and answer are the compared objects; nil: nothing was compared.
	live, answer *unstructured.Unstructured
}

// judge asks the server, without any code of kolla's, what an apply would change.
func (w *world) judge(ctx context.Context, x *thing) (v verdict, err error) {
	for range 10 {
		live, err := w.at(x).Get(ctx, x.name, metav1.GetOptions{})
		if v.absent = apierrors.IsNotFound(err); err != nil && !v.absent {
			return v, fmt.Errorf("get %s: %w", x, err)
		}
		token := "" // the token of an object that kolla created; kolla sends the token again
		if !v.absent {
			token = trust.Token(live)
		}
		answer, err := w.dryRun(ctx, x, token, false)
		if apierrors.IsConflict(err) && isOwned(err) {
			v.conflict = true
			answer, err = w.dryRun(ctx, x, token, true)
		}
		if err != nil {
			v.refused = err
			return v, nil
		}
		v.answer = answer
		if v.absent {
			return v, nil
		}
		if live.GetResourceVersion() != answer.GetResourceVersion() {
			continue // a controller wrote in between
		}
		v.live = live
		address, _, _ := unstructured.NestedString(live.Object, "spec", "clusterIP")
		_, declared, _ := unstructured.NestedString(w.sent(x).Object, "spec", "clusterIP")
		v.headless = address == "None" && !declared
		v.compare(live, answer)
		return v, w.freshen(ctx, x, &v, answer)
	}
	return v, fmt.Errorf("%s changes all the time", x)
}

func (w *world) dryRun(ctx context.Context, x *thing, token string, force bool) (*unstructured.Unstructured, error) {
	return w.at(x).Apply(ctx, x.name, trust.WithToken(w.sent(x), token), metav1.ApplyOptions{
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

// compare finds the fields that differ, except the metadata that the server updates at every write.
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

// unlike are the kinds for which the test makes no fresh object: others can change fields that the
// declaration does not decide, or the object is only valid under its own name.
var unlike = []string{"Pod", "Job", "Lease"}

// kept are the fields that the server or controllers may set permanently.
var kept = map[string][][]string{
	"Service":               {{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"spec", "ipFamilies"}, {"spec", "ipFamilyPolicy"}, {"spec", "healthCheckNodePort"}},
	"ServiceAccount":        {{"secrets"}, {"imagePullSecrets"}},
	"PersistentVolumeClaim": {{"spec", "volumeName"}, {"spec", "storageClassName"}, {"spec", "volumeMode"}, {"spec", "dataSource"}, {"spec", "dataSourceRef"}},
}

// freshen finds the fields in which the object, once applied, would differ from a fresh one.
// Another client must have set them.
func (w *world) freshen(ctx context.Context, x *thing, v *verdict, answer *unstructured.Unstructured) error {
	if slices.Contains(unlike, x.kind.Kind) {
		return nil
	}
	fresh := w.sent(x)
	fresh.SetName(x.name + "-fresh")
	fresh, err := w.at(x).Apply(ctx, fresh.GetName(), fresh, metav1.ApplyOptions{FieldManager: providers.FieldManager, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		// Other errors come from a quota, or from a node port that the object itself uses.
		v.unborn = apierrors.IsInvalid(err)
		return nil
	}
	before, after := content(answer), content(fresh)
	for _, field := range slices.Sorted(maps.Keys(merge(before, after))) {
		if !reflect.DeepEqual(full(before[field]), full(after[field])) {
			v.added = append(v.added, field)
			v.detail += fmt.Sprintf("\n%s\n  applied %s\n  fresh   %s", field, inJSON(before[field]), inJSON(after[field]))
		}
	}
	return nil
}

// full returns a value without its empty fields, which mean the same as missing ones. Elements of
// lists stay: an empty rule of a policy applies to everybody.
func full(value any) any {
	switch value := value.(type) {
	case map[string]any:
		var fields map[string]any
		for name, inner := range value {
			if inner = full(inner); inner == nil {
				continue
			}
			if fields == nil {
				fields = map[string]any{}
			}
			fields[name] = inner
		}
		if fields == nil {
			return nil
		}
		return fields
	case []any:
		if len(value) == 0 {
			return nil
		}
		all := make([]any, len(value))
		for i := range value {
			all[i] = full(value[i])
		}
		return all
	}
	return value
}

// content returns an object without its metadata, its status and the fields in kept.
func content(u *unstructured.Unstructured) map[string]any {
	u = u.DeepCopy()
	for _, path := range kept[u.GetKind()] {
		unstructured.RemoveNestedField(u.Object, path...)
	}
	ports, _, _ := unstructured.NestedSlice(u.Object, "spec", "ports")
	for _, port := range ports {
		delete(port.(map[string]any), "nodePort")
	}
	if u.GetKind() == "Service" {
		_ = unstructured.SetNestedSlice(u.Object, ports, "spec", "ports")
	}
	delete(u.Object, "metadata")
	delete(u.Object, "status")
	return u.Object
}

// plain returns the top-level fields of an object, with metadata split one level deeper.
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

// disagrees says how the plan's verdict on an object differs from the server's; empty: it does not.
// The action is nil if the plan has a problem with the object.
func (v *verdict) disagrees(a *plans.Action, problem string) string {
	switch {
	case a == nil && problem == "":
		return "the plan says nothing of it"
	case v.refused != nil && a != nil && a.Removes != "":
		return "" // The apply removes the fields for which the server refuses the object.
	case v.refused != nil && a != nil && a.Verb != plans.Replace:
		return fmt.Sprintf("the server refuses it: %v", v.refused)
	case v.refused != nil:
		return ""
	case a == nil && (len(v.added) > 0 || v.unborn || v.headless):
		return "" // the fields that others added cannot be removed
	case a == nil:
		return "the server takes it"
	case v.absent && over(a):
		return ""
	case v.absent && a.Verb != plans.Create && a.Verb != plans.Run:
		return "it is not in the cluster"
	case v.absent:
		return ""
	case a.Verb == plans.Replace && (len(v.added) > 0 || v.headless):
		return ""
	case len(v.differs)+len(v.added) == 0 && (a.Verb == plans.None || a.Verb == plans.Adopt && len(a.Changes) == 0 && a.Force == v.conflict):
		return ""
	case len(v.differs)+len(v.added) == 0:
		return "an apply would change nothing"
	case a.Verb != plans.Update && a.Verb != plans.Adopt:
		return "an apply would change " + v.detail
	case v.conflict != a.Force:
		return fmt.Sprintf("there is a conflict: %t", v.conflict)
	}
	want := slices.Compact(slices.Sorted(slices.Values(slices.Concat(v.differs, v.added))))
	if shown := topsOf(a.Changes); !slices.Equal(shown, want) {
		return fmt.Sprintf("it shows changes of %q, and there are of %s", shown, v.detail)
	}
	return ""
}

// over reports whether the action is on a completed Job that has been cleaned up. Such a Job does
// not run again.
func over(a *plans.Action) bool {
	return a.Verb == plans.None && a.Object.IsJob() && a.Evidence.Kind == plans.Recorded
}

// topsOf returns the top-level fields of changes, in the form that verdict uses.
func topsOf(changes []plans.Change) []string {
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
