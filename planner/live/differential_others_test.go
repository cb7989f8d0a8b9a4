package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// finalizer keeps an object for one step, as finalizers of other controllers do.
const finalizer = "example.org/keep"

// people and strangers are field managers. kolla always takes back the fields that people take.
var (
	people    = []string{"kubectl-edit", "kubectl-patch", "k9s"}
	strangers = []string{"autoscaler", "argocd", "before-first-apply"}
)

// meddle lets another client write to the object, and describes the write. The server may reject
// it. With steady, the declaration has not changed in this round, so the object is not going to be
// deleted.
func (w *world) meddle(ctx context.Context, x *thing, g *generator, steady bool) (string, error) {
	manager := pick(g, people...)
	if w.force && g.maybe() {
		manager = pick(g, strangers...)
	}
	if x.held {
		x.held = false
		return "take the finalizer off", w.patch(ctx, x, manager, `{"metadata":{"finalizers":null}}`)
	}
	var (
		what string
		err  error
	)
	which := g.IntN(11)
	if x.kind.Kind == "Ingress" && g.maybe() {
		which = 7
	}
	switch which {
	case 0:
		what, err = "apply a label and an annotation of their own", w.applied(ctx, x, manager, map[string]any{
			"labels": map[string]any{"foreign": pick(g, "a", "b")}, "annotations": map[string]any{"note": g.text()},
		})
	case 1:
		what, err = "patch labels", w.patch(ctx, x, manager, `{"metadata":{"labels":{"tier":"green","foreign":null}}}`)
	case 2:
		if !steady {
			return "nothing", nil
		}
		what, err = "put a finalizer on", w.patch(ctx, x, manager, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
		x.held = err == nil
	case 3:
		what, err = "scale", w.scale(ctx, x, manager, g.IntN(4))
	case 4:
		what, err = "write the status", w.writeStatus(ctx, x, manager)
	case 5:
		what, err = "delete", w.remove(ctx, x)
	case 6:
		what, err = w.reapply(ctx, x, manager, g)
	case 7:
		what, err = w.empower(ctx, x, manager)
	default:
		what, err = w.update(ctx, x, manager, g)
	}
	what = fmt.Sprintf("%s: %s", manager, what)
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return fmt.Sprintf("%s (refused: %v)", what, err), nil
	}
	return what, err
}

func (w *world) patch(ctx context.Context, x *thing, manager, patch string, subresource ...string) error {
	_, err := w.at(x).Patch(ctx, x.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresource...)
	return err
}

// applied applies only metadata as another manager. For some kinds, this creates the object.
func (w *world) applied(ctx context.Context, x *thing, manager string, metadata map[string]any) error {
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
	u.SetGroupVersionKind(x.kind.GroupVersionKind)
	u.SetName(x.name)
	_, err := w.at(x).Apply(ctx, x.name, u, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}

// reapply applies the declaration, or a variant of it, as another manager. From then on, both
// managers own fields.
func (w *world) reapply(ctx context.Context, x *thing, manager string, g *generator) (string, error) {
	u := w.sent(x)
	what := "apply the same"
	if g.maybe() {
		content := copied(u.Object)
		what = "apply the same with another " + takeOver(g, content, w.encoded(x.kind, x.declare(g)), 5)
		u = &unstructured.Unstructured{Object: content}
	}
	_, err := w.at(x).Apply(ctx, x.name, u, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return what, err
}

// empower sets a field that few declarations set and that gives power over the object: the class of
// an Ingress, or the source of a workload's images.
func (w *world) empower(ctx context.Context, x *thing, manager string) (string, error) {
	switch x.kind.Kind {
	case "Ingress":
		return "take the Ingress", w.patch(ctx, x, manager, `{"spec":{"ingressClassName":"theirs"}}`)
	case "Deployment", "StatefulSet", "DaemonSet":
		_, err := w.at(x).Patch(ctx, x.name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/imagePullPolicy","value":"Never"}]`), metav1.PatchOptions{FieldManager: manager})
		return "keep the image", err
	}
	return "nothing", nil
}

func (w *world) scale(ctx context.Context, x *thing, manager string, replicas int) error {
	if !x.kind.scale {
		return nil
	}
	return w.patch(ctx, x, manager, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas), "scale")
}

func (w *world) writeStatus(ctx context.Context, x *thing, manager string) error {
	if !x.kind.status {
		return nil
	}
	return w.patch(ctx, x, manager, `{"status":{"conditions":[{"type":"Foreign","status":"True","reason":"Test","message":"ü","lastTransitionTime":"2026-01-01T00:00:00Z","lastProbeTime":null}]}}`, "status")
}

// remove deletes the object, and waits until it is gone.
func (w *world) remove(ctx context.Context, x *thing) error {
	background := metav1.DeletePropagationBackground
	zero := int64(0)
	err := w.at(x).Delete(ctx, x.name, metav1.DeleteOptions{PropagationPolicy: &background, GracePeriodSeconds: &zero})
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := w.at(x).Get(ctx, x.name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// update reads the object, changes part of it, and writes the whole object back.
func (w *world) update(ctx context.Context, x *thing, manager string, g *generator) (string, error) {
	live, err := w.at(x).Get(ctx, x.name, metav1.GetOptions{})
	if err != nil {
		return "update", err
	}
	what := disturb(g, live.Object)
	_, err = w.at(x).Update(ctx, live, metav1.UpdateOptions{FieldManager: manager})
	return "update: " + what, err
}

// disturb changes or removes a part of the object, except its identity, and describes the change.
func disturb(g *generator, object map[string]any) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(name string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name)
	})
	if len(names) == 0 {
		return "nothing"
	}
	var (
		path   = pick(g, names...)
		set    = func(v any) { object[path] = v }
		remove = func() { delete(object, path) }
		at     = object[path]
		where  = path
	)
	for range 8 {
		switch v := at.(type) {
		case map[string]any:
			if len(v) == 0 {
				remove()
				return "remove " + where
			}
			key := pick(g, slices.Sorted(maps.Keys(v))...)
			set, remove, at, where = func(n any) { v[key] = n }, func() { delete(v, key) }, v[key], where+"."+key
		case []any:
			if len(v) == 0 {
				remove()
				return "remove " + where
			}
			i := g.IntN(len(v))
			if outer := set; g.IntN(3) == 0 {
				outer(slices.Delete(slices.Clone(v), i, i+1))
				return fmt.Sprintf("remove %s[%d]", where, i)
			}
			set, remove, at, where = func(n any) { v[i] = n }, func() { v[i] = nil }, v[i], fmt.Sprintf("%s[%d]", where, i)
		default:
			if g.IntN(4) == 0 {
				remove()
				return "remove " + where
			}
			other := another(v)
			set(other)
			return fmt.Sprintf("set %s from %v to %v", where, v, other)
		}
	}
	remove()
	return "remove " + where
}

// another returns a different value of the same type.
func another(v any) any {
	switch v := v.(type) {
	case string:
		return v + "z"
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 0.5
	case json.Number:
		return "z"
	}
	return nil
}
