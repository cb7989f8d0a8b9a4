package executor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/secrets"
)

var secretKind = kinds.Secret.WithVersion("v1")

// values contains the values of Secrets in the cluster: those at the start of the apply, and those
// that the apply has written.
type values struct {
	reader   providers.Reader
	snapshot *providers.Snapshot
	// planned has the UIDs of the Secrets in the plan when it was made; empty: the Secret
	// did not exist. Values of another Secret with the same name are not read.
	planned map[providers.Ref]types.UID

	mu      sync.Mutex
	written map[providers.Ref]map[string][]byte
}

// readValues lists the Secrets that will be written with values, and those that the values
// come from.
func readValues(ctx context.Context, reader providers.Reader, actions []plans.Action) (*values, error) {
	var scopes []providers.Scope
	for i := range actions {
		scopes = append(scopes, scopesOfValues(&actions[i])...)
	}
	snapshot := providers.NewSnapshot(reader)
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, fmt.Errorf("read the Secrets that values come from: %w", err)
	}
	v := &values{reader: reader, snapshot: snapshot, planned: map[providers.Ref]types.UID{}, written: map[providers.Ref]map[string][]byte{}}
	for i := range actions {
		if a := &actions[i]; a.Object != nil && a.Ref.GVK == secretKind {
			v.planned[a.Ref] = a.Prior.UID
		}
	}
	return v, nil
}

// valuesOf returns the values of a Secret in the snapshot. It returns nil when the Secret
// has another UID than the plan saw.
func (v *values) valuesOf(snapshot *providers.Snapshot, ref providers.Ref) map[string][]byte {
	live := snapshot.Get(ref)
	if uid, planned := v.planned[ref]; planned && live != nil && live.GetUID() != uid {
		return nil
	}
	return providers.ValuesOf(live)
}

// scopesOfValues returns the scopes of the Secrets that the action writes values to, and
// that the values come from; none if it writes no values.
func scopesOfValues(a *plans.Action) []providers.Scope {
	if !writes(a) || a.Object == nil || len(a.Object.Data) == 0 {
		return nil
	}
	scopes := []providers.Scope{{GVK: secretKind, Namespace: a.Ref.Namespace}}
	for _, data := range a.Object.Data {
		for _, part := range data.Parts {
			if part.From != nil {
				scopes = append(scopes, providers.Scope{GVK: secretKind, Namespace: part.From.Namespace})
			}
		}
	}
	return scopes
}

// resolve returns the manifest to be sent. It keeps existing values. If values are missing,
// it lists the Secrets again: others may have made them since the start of the apply.
func (v *values) resolve(ctx context.Context, a *plans.Action) (*unstructured.Unstructured, error) {
	o := a.Object
	manifest, missing, err := secrets.Resolve(o, v.get, true)
	if err == nil && len(missing) > 0 {
		later := providers.NewSnapshot(v.reader)
		if err := later.Load(ctx, scopesOfValues(a)...); err != nil {
			return nil, fmt.Errorf("read the Secrets that values come from: %w", err)
		}
		manifest, missing, err = secrets.Resolve(o, func(namespace, name string) map[string][]byte {
			if known := v.get(namespace, name); known != nil {
				return known
			}
			return v.valuesOf(later, providers.Ref{GVK: secretKind, Namespace: namespace, Name: name})
		}, true)
	}
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: the values that %s is made from are not in the cluster", o.Ref(), strings.Join(missing, ", "))
	}
	return manifest, nil
}

func (v *values) get(namespace, name string) map[string][]byte {
	ref := providers.Ref{GVK: secretKind, Namespace: namespace, Name: name}
	v.mu.Lock()
	defer v.mu.Unlock()
	if written, ok := v.written[ref]; ok {
		return written
	}
	return v.valuesOf(v.snapshot, ref)
}

// keep stores the values of a Secret that the apply has written.
func (v *values) keep(o *providers.Object, live *unstructured.Unstructured) {
	if len(o.Data) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written[o.Ref()] = providers.ValuesOf(live)
}
