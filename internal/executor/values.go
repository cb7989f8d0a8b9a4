package executor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

var secrets = providers.SecretKind.WithVersion("v1")

// values are the values of the Secrets in the cluster: as they were when the apply
// began, and those that it has written itself.
type values struct {
	reader   providers.Reader
	snapshot *providers.Snapshot

	mu      sync.Mutex
	written map[providers.Ref]map[string][]byte
}

// readValues lists the Secrets that values to be written are in or come from. A
// namespace that is not there yet holds none.
func readValues(ctx context.Context, reader providers.Reader, actions []planner.Action) (*values, error) {
	var scopes []providers.Scope
	for i := range actions {
		scopes = append(scopes, scopesOfValues(&actions[i])...)
	}
	snapshot := providers.NewSnapshot(reader)
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, fmt.Errorf("read the Secrets that values come from: %w", err)
	}
	return &values{reader: reader, snapshot: snapshot, written: map[providers.Ref]map[string][]byte{}}, nil
}

// scopesOfValues are the Secrets of the namespaces that values to be written are
// in or come from; none when no values are to be written.
func scopesOfValues(a *planner.Action) []providers.Scope {
	if !writes(a) || a.Object == nil || len(a.Object.Data) == 0 {
		return nil
	}
	scopes := []providers.Scope{{GVK: secrets, Namespace: a.Ref.Namespace}}
	for _, data := range a.Object.Data {
		for _, part := range data.Parts {
			if part.From != nil {
				scopes = append(scopes, providers.Scope{GVK: secrets, Namespace: part.From.Namespace})
			}
		}
	}
	return scopes
}

// resolve gives the manifest to be sent. Values that there are already are kept. Those
// that others make may have come since the apply began.
func (v *values) resolve(ctx context.Context, a *planner.Action) (*unstructured.Unstructured, error) {
	o := a.Object
	manifest, missing, err := o.Resolve(v.get, true)
	if err == nil && len(missing) > 0 {
		later := providers.NewSnapshot(v.reader)
		if err := later.Load(ctx, scopesOfValues(a)...); err != nil {
			return nil, fmt.Errorf("read the Secrets that values come from: %w", err)
		}
		manifest, missing, err = o.Resolve(func(namespace, name string) map[string][]byte {
			if known := v.get(namespace, name); known != nil {
				return known
			}
			return providers.ValuesOf(later.Get(providers.Ref{GVK: secrets, Namespace: namespace, Name: name}))
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
	ref := providers.Ref{GVK: secrets, Namespace: namespace, Name: name}
	v.mu.Lock()
	defer v.mu.Unlock()
	if written, ok := v.written[ref]; ok {
		return written
	}
	return providers.ValuesOf(v.snapshot.Get(ref))
}

// keep remembers the values of a Secret that was written.
func (v *values) keep(o *providers.Object, live *unstructured.Unstructured) {
	if len(o.Data) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written[o.Ref()] = providers.ValuesOf(live)
}
