package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

var autoscalers = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}

// scaling has the targets of autoscalers, without the versions of their kinds.
type scaling struct {
	scaled map[providers.Ref]bool
	// ended has the targets that the plan takes from their autoscalers, with the actions that do
	// so: autoscalers are deleted, or get other targets.
	ended map[providers.Ref][]addrs.Object
}

// Scaled reports whether an autoscaler sets the replicas of the object, also after the plan.
func (inv *Inventory) Scaled(ref providers.Ref) bool { return inv.scaling.scaled[versionless(ref)] }

// Unscaled returns the actions that take the object from its autoscalers; nil: no action does, or
// another autoscaler remains.
func (inv *Inventory) Unscaled(ref providers.Ref) []addrs.Object {
	return inv.scaling.ended[versionless(ref)]
}

// readAutoscalers lists autoscalers, because an object does not name its autoscaler. It reads
// each namespace in which another manager has set replicas. If the list fails, replicas that
// an autoscaler may have set count as scaled.
func readAutoscalers(ctx context.Context, inv *Inventory, selected func(addrs.Object) bool) (found scaling, warnings []plans.Problem, err error) {
	in := &inv.Input
	replicas := fieldpath.MakePathOrDie("spec", "replicas")
	var scopes []providers.Scope
	likely := map[providers.Ref]bool{}
	for i := range in.Objects {
		live := in.Snapshot.Get(in.Objects[i].Ref())
		if otherReplicas(in.Objects[i].Manifest, live) {
			scopes = append(scopes, providers.Scope{GVK: autoscalers, Namespace: live.GetNamespace()})
		}
		if !fields.WrittenThrough(live, func(subresource string) bool { return subresource != "status" }) {
			continue
		}
		for _, other := range fields.OwnersOf(live, providers.FieldManager).Others {
			if other.Fields.Has(replicas) {
				scopes = append(scopes, providers.Scope{GVK: autoscalers, Namespace: live.GetNamespace()})
				likely[versionless(providers.RefOf(live))] = other.Scales(replicas)
			}
		}
	}
	if len(scopes) == 0 {
		return scaling{}, nil, nil
	}
	var unreadable *providers.UnreadableError
	switch err := in.Snapshot.Load(ctx, scopes...); {
	case errors.As(err, &unreadable):
		return scaling{scaled: likely}, []plans.Problem{{
			Warning: true,
			Summary: "HorizontalPodAutoscalers cannot be read",
			Detail:  fmt.Sprintf("Replicas that are declared here were set by others. Where an autoscaler may have set them, they are left as they are: %v.", unreadable.Err),
		}}, nil
	case err != nil:
		return scaling{}, nil, fmt.Errorf("find out what autoscalers look after: %w", err)
	case in.Snapshot.Missing(autoscalers):
		return scaling{}, nil, nil
	}
	return scalingBy(inv, in.Snapshot.All(autoscalers), selected), nil, nil
}

// scalingBy returns the targets of autoscalers after the plan, and those that the plan takes from
// the live autoscalers.
func scalingBy(inv *Inventory, live []*unstructured.Unstructured, selected func(addrs.Object) bool) scaling {
	s := scaling{scaled: map[providers.Ref]bool{}, ended: map[providers.Ref][]addrs.Object{}}
	for _, scaler := range live {
		target := targetOf(scaler)
		if by, ends := endOf(inv, scaler, selected); ends {
			s.ended[target] = append(s.ended[target], by)
		} else {
			s.scaled[target] = true
		}
	}
	for i := range inv.Input.Objects {
		// A new autoscaler may replace a live one.
		o := &inv.Input.Objects[i]
		if o.Ref().GVK.GroupKind() != autoscalers.GroupKind() || inv.Input.RefreshOnly || !selected(o.Address) {
			continue
		}
		if target := targetOf(o.Manifest); s.ended[target] != nil {
			s.scaled[target] = true
		}
	}
	maps.DeleteFunc(s.ended, func(target providers.Ref, _ []addrs.Object) bool { return s.scaled[target] })
	return s
}

// endOf returns the action of the plan after which a live autoscaler no longer scales its
// target: it is deleted, alone or with the object that controls it, or gets another target.
func endOf(inv *Inventory, scaler *unstructured.Unstructured, selected func(addrs.Object) bool) (by addrs.Object, ends bool) {
	if inv.Input.RefreshOnly {
		return addrs.Object{}, false
	}
	ref := providers.RefOf(scaler)
	if o := inv.DeclarationByRef(ref); o != nil {
		return o.Address, selected(o.Address) && targetOf(o.Manifest) != targetOf(scaler)
	}
	uid := scaler.GetUID()
	if owner := metav1.GetControllerOf(scaler); owner != nil {
		ref = providers.Ref{GVK: schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind), Namespace: ref.Namespace, Name: owner.Name}
		uid = owner.UID
	}
	r := inv.RecordByRef(ref)
	if r == nil || r.State.UID != string(uid) || inv.DeclarationByRef(ref) != nil || !selected(inv.Successor(r)) {
		return addrs.Object{}, false
	}
	if live := inv.Input.Snapshot.Get(r.Ref); live == nil || live.GetLabels()[providers.LabelCloud] != inv.Input.Cloud {
		return addrs.Object{}, false // the plan leaves it alone
	}
	_, released := Released(inv.Input.Removals, r.RecordedAddress())
	return r.RecordedAddress(), !released
}

// targetOf returns the object that an autoscaler scales.
func targetOf(scaler *unstructured.Unstructured) providers.Ref {
	target := func(field string) string {
		text, _, _ := unstructured.NestedString(scaler.Object, "spec", "scaleTargetRef", field)
		return text
	}
	return versionless(providers.Ref{
		GVK:       schema.FromAPIVersionAndKind(target("apiVersion"), target("kind")),
		Namespace: scaler.GetNamespace(),
		Name:      target("name"),
	})
}

// otherReplicas reports whether a live object has other replicas than declared, or than the
// default. The API server does not record who scaled an object to 0.
func otherReplicas(manifest, live *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	is, there, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "replicas")
	want, declared, _ := unstructured.NestedFieldNoCopy(manifest.Object, "spec", "replicas")
	if !declared {
		want = int64(1)
	}
	return there && fmt.Sprint(is) != fmt.Sprint(want)
}

// versionless removes the version, because an autoscaler may name another version of the kind.
func versionless(ref providers.Ref) providers.Ref {
	ref.GVK.Version = ""
	return ref
}
