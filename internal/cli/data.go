package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// readData reads for the data blocks of the configuration. It shares the LISTs with the
// plan.
func (w *workspace) readData(q configs.DataQuery) ([]map[string]any, error) {
	if w.unread != nil {
		return nil, w.unread
	}
	ctx := w.flags.Context
	found, err := w.find(ctx, q)
	if err == nil {
		return contents(found), nil
	}
	read := &configs.ReadError{NoKind: meta.IsNoMatchError(err), Detail: sentence(err.Error()) + "."}
	var (
		told        *configs.ReadError
		ambiguous   *kubernetes.AmbiguousKindError
		unreachable *kubernetes.UnreachableError
	)
	summary, detail, explained := kubernetes.Explain(err)
	switch {
	case errors.As(err, &told):
		return nil, told
	case errors.As(err, &ambiguous):
		read.Detail = sentence(ambiguous.Error()) + fmt.Sprintf(". Say which one with api_version = %q.", ambiguous.Groups[0])
	case explained:
		read.Detail = sentence(summary) + ". " + detail
	}
	if w.client == nil || errors.As(err, &unreachable) {
		w.unread = read // nobody has to wait for the same once more
	}
	return nil, read
}

// find lists what is asked for.
func (w *workspace) find(ctx context.Context, q configs.DataQuery) ([]*unstructured.Unstructured, error) {
	if err := w.dial(); err != nil {
		return nil, err
	}
	kind, namespaced, err := w.kindOf(ctx, q)
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
	snapshot := w.shared()
	if err := snapshot.Load(ctx, providers.Scope{GVK: kind, Namespace: namespace}); err != nil {
		return nil, err
	}
	if snapshot.Missing(kind) {
		return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	if q.Name != "" {
		if live := snapshot.Get(providers.Ref{GVK: kind, Namespace: namespace, Name: q.Name}); live != nil {
			return []*unstructured.Unstructured{live}, nil
		}
		return nil, nil
	}
	found := slices.DeleteFunc(snapshot.All(kind), func(u *unstructured.Unstructured) bool {
		return u.GetNamespace() != namespace || !includes(u.GetLabels(), q.Labels)
	})
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found, nil
}

func (w *workspace) kindOf(ctx context.Context, q configs.DataQuery) (kind schema.GroupVersionKind, namespaced bool, err error) {
	if q.APIVersion == "" {
		return w.client.KindNamed(ctx, q.Kind)
	}
	kind = schema.FromAPIVersionAndKind(q.APIVersion, q.Kind)
	namespaced, err = w.client.Namespaced(ctx, kind)
	return kind, namespaced, err
}

// contents are objects as the server has them.
func contents(found []*unstructured.Unstructured) []map[string]any {
	out := make([]map[string]any, 0, len(found))
	for _, u := range found {
		out = append(out, u.Object)
	}
	return out
}

// includes reports whether labels have all of the wanted ones.
func includes(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// overtaken notes the data that the plan changes by what they depend on: what was read
// of them is not what will be there. It reports whether there are any that nobody knew
// of.
func (w *workspace) overtaken(plan *plans.Plan) bool {
	before := len(w.later)
	for _, d := range w.config.Data {
		if d.Deferred || len(d.Needs) == 0 {
			continue
		}
		if plan.Writes(func(a *plans.Action) bool { return slices.Contains(d.Needs, a.Address.Block) && reads(d, a) }) {
			if w.later == nil {
				w.later = map[string]bool{}
			}
			w.later[d.Block] = true
		}
	}
	return len(w.later) > before
}

// reads reports whether what an action writes is what a data block reads.
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
	return includes(a.Object.Manifest.GetLabels(), d.Labels)
}
