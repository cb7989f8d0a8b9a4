package rendering

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Decide decides about each selected object. It asks no server: it knows the most common immutable
// fields, and no defaults.
func Decide(_ context.Context, inv *inventory.Inventory, set selection.Set) ([]*outcome.Outcome, []plans.Problem, error) {
	var out []*outcome.Outcome
	for _, object := range set.Objects(inv.Input.Objects) {
		o, err := decide(inv, object)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, o)
	}
	return out, nil, outcome.Supersede(inv, out)
}

func decide(inv *inventory.Inventory, object *providers.Object) (*outcome.Outcome, error) {
	after, err := applied(object, inv.Input.Cloud)
	if err != nil {
		return nil, err
	}
	o := &outcome.Outcome{
		Object: object, Manager: providers.ManagerOf(inv.Input.Cloud, object.Partial),
		Record: inv.RecordForObject(object), Live: inv.Input.Snapshot.Get(object.Ref()), Ours: true,
	}
	o.Action = plans.Action{
		Address: object.Address, Object: object, Ref: object.Ref(), DependsOn: selection.Dependencies(object),
		Evidence: plans.Evidence{Kind: plans.Rendered}, Verb: plans.None,
	}
	if o.Live == nil && object.Partial {
		o.Live = bare(object.Manifest)
	}
	moved := o.Record.MovedFrom(object.Address)
	switch {
	case o.Live == nil:
		o.Action.Verb, o.Action.Reasons = plans.Create, []plans.Reason{{Kind: plans.ReasonNew}}
		if object.IsJob() && !object.Skipped() {
			o.Action.Verb = plans.Run
		}
	case object.IsJob() && o.Versioned() && !moved:
		return o, nil
	}
	if o.Action.Changes, err = fields.Diff(o.Live, after); err != nil {
		return nil, fmt.Errorf("compare %s: %w", object.Address, err)
	}
	if o.Live == nil {
		o.After = after
		return o, nil
	}
	fixed := fixedChanges(object.Ref().GVK.GroupKind(), o.Live, o.Action.Changes)
	if len(fixed) > 0 && object.IsJob() && object.RunDigest() == (&providers.Object{Manifest: o.Live}).RunDigest() {
		o.Action.Changes = nil // a finished Job does not run again
	}
	if len(o.Action.Changes) > 0 {
		o.After = after
		o.Action.Verb, o.Action.Reasons = plans.Update, []plans.Reason{{Kind: plans.ReasonConfig}}
		if len(fixed) > 0 {
			o.Action.Verb, o.Action.Reasons = plans.Replace, fixed
			o.Action.Holds = inventory.Holds(o.Live, object.Holds)
		}
	}
	if moved {
		if o.Action.Verb == plans.None {
			o.Action.Verb = plans.Adopt
		}
		o.Action.Reasons = append(o.Action.Reasons, plans.Reason{Kind: plans.ReasonMoved, Detail: o.Record.State.Address})
	}
	return o, nil
}

// bare returns an object that exists without any fields of kolla's.
func bare(manifest *unstructured.Unstructured) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(manifest.GroupVersionKind())
	u.SetNamespace(manifest.GetNamespace())
	u.SetName(manifest.GetName())
	return u
}

// fixed are the immutable fields by kind.
var fixed = map[schema.GroupKind][]string{
	kinds.Deployment:            {"spec.selector"},
	kinds.DaemonSet:             {"spec.selector"},
	kinds.StatefulSet:           {"spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"},
	kinds.Job:                   {"spec.selector", "spec.template", "spec.completionMode"},
	kinds.Service:               {"spec.clusterIP", "spec.clusterIPs"},
	kinds.Secret:                {"type"},
	kinds.PersistentVolumeClaim: {"spec.accessModes", "spec.storageClassName", "spec.volumeName", "spec.volumeMode", "spec.selector"},
	kinds.StorageClass:          {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"},
	kinds.RoleBinding:           {"roleRef"},
	kinds.ClusterRoleBinding:    {"roleRef"},
}

// fixedChanges returns the reasons to replace an object instead of changing it.
func fixedChanges(kind schema.GroupKind, live *unstructured.Unstructured, changes []plans.Change) []plans.Reason {
	paths := fixed[kind]
	if immutable, _, _ := unstructured.NestedBool(live.Object, "immutable"); immutable {
		paths = append(slices.Clone(paths), "data", "binaryData", "immutable")
	}
	var out []plans.Reason
	for _, path := range paths {
		if slices.ContainsFunc(changes, func(c plans.Change) bool { return fields.Within(c.Path, path) }) {
			out = append(out, plans.Reason{Kind: plans.ReasonImmutable, Path: path})
		}
	}
	return out
}
