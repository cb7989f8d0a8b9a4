package inventory

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// Observe lists all kinds that the configuration and the state name. Afterwards it finds the
// services that have another name now, and the labels of nodes that must stay.
func (inv *Inventory) Observe(ctx context.Context) error {
	in := &inv.Input
	group, inner := errgroup.WithContext(ctx)
	group.Go(crash.Catching(func() error { return in.Snapshot.Load(inner, needed(inv)...) }))
	group.Go(crash.Catching(func() error { return in.Snapshot.Try(inner, slices.Concat(compared(inv), claimed(inv))...) }))
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
	inv.scaling, warnings, err = readAutoscalers(ctx, inv, selected)
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
