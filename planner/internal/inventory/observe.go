package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// Observe lists all kinds that the configuration and the state name. Afterwards it finds the
// services that have another name now, and the labels of nodes that have to stay.
func (inv *Inventory) Observe(ctx context.Context) error {
	in := &inv.Input
	group, inner := errgroup.WithContext(ctx)
	group.Go(crash.Catching(func() error { return in.Snapshot.Load(inner, needed(inv)...) }))
	group.Go(crash.Catching(func() error { return in.Snapshot.Try(inner, compared(inv)...) }))
	if !in.Destroy {
		group.Go(crash.Catching(func() (err error) {
			inv.Rules, err = proof.ReadRules(inner, in.Reader, in.Cluster, in.Now)
			return err
		}))
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("read the cluster: %w", err)
	}
	nameServices(inv)
	keepRoles(inv)
	return nil
}

// ObserveSelected reads the objects that only the selected part of a plan needs: the
// contents of the namespaces that the plan may delete, and the autoscalers of declared
// workloads. It also finds the former versions of selected objects. The problems are
// warnings.
func (inv *Inventory) ObserveSelected(ctx context.Context, selected func(addrs.Object) bool) ([]plans.Problem, error) {
	var err error
	if inv.Inside, err = readNamespaces(ctx, inv, selected); err != nil {
		return nil, fmt.Errorf("read the cluster: %w", err)
	}
	if inv.Input.Destroy {
		return nil, nil
	}
	inv.Former = formerVersions(inv, selected)
	var warnings []plans.Problem
	inv.scaled, warnings, err = readAutoscalers(ctx, &inv.Input)
	return warnings, err
}

// systemNamespaces belong to Kubernetes.
var systemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// SystemNamespace reports whether a namespace belongs to Kubernetes.
func SystemNamespace(name string) bool { return slices.Contains(systemNamespaces, name) }

// readNamespaces reads the contents of the namespaces that the plan may delete.
func readNamespaces(ctx context.Context, inv *Inventory, selected func(addrs.Object) bool) (map[string]providers.Contents, error) {
	inside := map[string]providers.Contents{}
	for _, live := range inv.Input.Snapshot.All(Namespaces) {
		name := live.GetName()
		if SystemNamespace(name) || !mayGo(inv, name, selected) {
			continue
		}
		contents, err := inv.Input.Reader.Contents(ctx, name)
		if err != nil {
			return nil, err
		}
		inside[name] = contents
	}
	return inside, nil
}

// mayGo reports whether the plan may delete a live namespace: the state knows it, it is
// selected, and it is not declared. A destroy ignores the declaration.
func mayGo(inv *Inventory, name string, selected func(addrs.Object) bool) bool {
	ref := providers.Ref{GVK: Namespaces, Name: name}
	r := inv.RecordByRef(ref)
	switch {
	case inv.Input.RefreshOnly, r == nil, !inv.Input.Destroy && inv.DeclarationByRef(ref) != nil:
		return false
	case !inv.Input.Destroy:
		return selected(inv.Successor(r))
	}
	return selected(r.RecordedAddress())
}

var autoscalers = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}

// readAutoscalers lists autoscalers, because an object does not name its autoscaler. It reads
// each namespace in which another manager has set replicas. If the list fails, replicas that
// an autoscaler may have set count as scaled.
func readAutoscalers(ctx context.Context, in *Input) (scaled map[providers.Ref]bool, warnings []plans.Problem, err error) {
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
		return nil, nil, nil
	}
	var unreadable *providers.UnreadableError
	switch err := in.Snapshot.Load(ctx, scopes...); {
	case errors.As(err, &unreadable):
		return likely, []plans.Problem{{
			Warning: true,
			Summary: "HorizontalPodAutoscalers cannot be read",
			Detail:  fmt.Sprintf("Replicas that are declared here were set by others. Where an autoscaler may have set them, they are left as they are: %v.", unreadable.Err),
		}}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("find out what autoscalers look after: %w", err)
	case in.Snapshot.Missing(autoscalers):
		return nil, nil, nil
	}
	return scaledBy(in.Snapshot.All(autoscalers)), nil, nil
}

// scaledBy returns the targets of the autoscalers.
func scaledBy(list []*unstructured.Unstructured) map[providers.Ref]bool {
	scaled := map[providers.Ref]bool{}
	for _, scaler := range list {
		target := func(field string) string {
			text, _, _ := unstructured.NestedString(scaler.Object, "spec", "scaleTargetRef", field)
			return text
		}
		scaled[versionless(providers.Ref{
			GVK:       schema.FromAPIVersionAndKind(target("apiVersion"), target("kind")),
			Namespace: scaler.GetNamespace(),
			Name:      target("name"),
		})] = true
	}
	return scaled
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

// versionless removes the version: an autoscaler may name another one.
func versionless(ref providers.Ref) providers.Ref {
	ref.GVK.Version = ""
	return ref
}
