package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Read reads the objects of a data block, in the order of their names. Plans use the same
// lists.
func (c *Cluster) Read(ctx context.Context, q configs.DataQuery) ([]map[string]any, error) {
	if err := c.unreadable(); err != nil {
		return nil, err
	}
	found, err := c.find(ctx, q)
	if err == nil {
		return contents(found), nil
	}
	read := readError(err)
	var unreachable *kubernetes.UnreachableError
	if c.client == nil || errors.As(err, &unreachable) {
		c.giveUp(read) // reads of other data blocks then fail at once, with the same error
	}
	return nil, read
}

// readError adds the next step to an error of find.
func readError(err error) *configs.ReadError {
	read := &configs.ReadError{NoKind: meta.IsNoMatchError(err), Detail: failure.Sentence(err.Error()) + "."}
	var (
		complete  *configs.ReadError
		ambiguous *kubernetes.AmbiguousKindError
	)
	summary, detail, explained := failure.Explain(err)
	switch {
	case errors.As(err, &complete):
		return complete
	case errors.As(err, &ambiguous):
		read.Detail = failure.Sentence(ambiguous.Error()) + fmt.Sprintf(". Say which one with api_version = %q.", ambiguous.Groups[0])
	case explained:
		read.Detail = failure.Sentence(summary) + ". " + detail
	}
	return read
}

// find lists the objects of a data block.
func (c *Cluster) find(ctx context.Context, q configs.DataQuery) ([]*unstructured.Unstructured, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	kind, namespaced, err := kindOf(ctx, client, q)
	if err != nil {
		return nil, err
	}
	namespace := ""
	switch {
	case namespaced:
		namespace = cmp.Or(q.Namespace, q.Home)
	case q.Namespace != "":
		return nil, &configs.ReadError{Detail: fmt.Sprintf("Objects of the kind %s live in no namespace. Take the argument namespace away.", q.Kind)}
	}
	snapshot := c.Snapshot()
	if err := snapshot.Load(ctx, providers.Scope{GVK: kind, Namespace: namespace}); err != nil {
		return nil, err
	}
	if snapshot.Missing(kind) {
		return nil, kubernetes.NoKind(kind)
	}
	if q.Name != "" {
		if live := snapshot.Get(providers.Ref{GVK: kind, Namespace: namespace, Name: q.Name}); live != nil {
			return []*unstructured.Unstructured{live}, nil
		}
		return nil, nil
	}
	found := slices.DeleteFunc(snapshot.All(kind), func(u *unstructured.Unstructured) bool {
		return u.GetNamespace() != namespace || !k8slabels.SelectorFromSet(q.Labels).Matches(k8slabels.Set(u.GetLabels()))
	})
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found, nil
}

// kindOf asks the server for the kind of a data block.
func kindOf(ctx context.Context, client *kubernetes.Client, q configs.DataQuery) (kind schema.GroupVersionKind, namespaced bool, err error) {
	if q.APIVersion == "" {
		return client.KindNamed(ctx, q.Kind)
	}
	kind = schema.FromAPIVersionAndKind(q.APIVersion, q.Kind)
	namespaced, err = client.Namespaced(ctx, kind)
	return kind, namespaced, err
}

// contents returns objects as the server has them.
func contents(found []*unstructured.Unstructured) []map[string]any {
	out := make([]map[string]any, 0, len(found))
	for _, u := range found {
		out = append(out, u.Object)
	}
	return out
}

// overtaken returns the data blocks that have to wait, because the plan changes the objects that
// they read. It returns nil if all of them already wait.
func overtaken(loaded Loaded, plan *plans.Plan) map[string]bool {
	later := map[string]bool{}
	for name := range loaded.Loading.Later {
		later[name] = true
	}
	for _, d := range loaded.Config.Data {
		if d.Deferred || len(d.Needs) == 0 {
			continue
		}
		if plan.Writes(func(a *plans.Action) bool { return slices.Contains(d.Needs, a.Address.Block) && reads(d, a) }) {
			later[d.Block] = true
		}
	}
	if len(later) == len(loaded.Loading.Later) {
		return nil
	}
	return later
}

// reads reports whether a data block reads the object of an action.
func reads(d configs.Data, a *plans.Action) bool {
	group := schema.FromAPIVersionAndKind(d.APIVersion, d.Kind).Group
	switch {
	case a.Ref.GVK.Kind != d.Kind, d.APIVersion != "" && a.Ref.GVK.Group != group:
		return false
	case a.Ref.Namespace != "" && a.Ref.Namespace != cmp.Or(d.Namespace, d.Home):
		return false
	case d.Name != "":
		return a.Ref.Name == d.Name
	}
	return k8slabels.SelectorFromSet(d.Labels).Matches(k8slabels.Set(a.Object.Manifest.GetLabels()))
}
