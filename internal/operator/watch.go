package operator

import (
	"context"
	"maps"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// watching watches the metadata of the objects of one cloud, with the rights of its service account.
// Kinds without namespaces are not watched: the interval is for them.
type watching struct {
	cancel context.CancelFunc
	cache  cache.Cache
	kinds  map[schema.GroupVersionKind]bool
	notify func()
}

func (w *watching) stop() {
	if w != nil {
		w.cancel()
	}
}

// watch begins to watch the kinds of a plan. A kind that the service account may not watch is left to
// the interval.
func (w *work) watch(ctx context.Context, t *tenant, plan *plans.Plan) {
	if w.Changes == nil {
		return
	}
	if t.watching == nil {
		began, err := w.beginWatching(t, plan)
		if err != nil {
			w.Log.Warn("objects are not watched, so drift is found at the interval", "cloud", keyOf(w.cloud), "error", err)
			return
		}
		t.watching = began
	}
	t.watching.add(ctx, plan)
}

func (w *work) beginWatching(t *tenant, plan *plans.Plan) (*watching, error) {
	options := w.Kubernetes
	options.As = t.account
	config, err := kubernetes.Config(options)
	if err != nil {
		return nil, err
	}
	selector, err := labels.Parse(providers.LabelCloud + "=" + plan.Cloud)
	if err != nil {
		return nil, err
	}
	c, err := cache.New(config, cache.Options{
		DefaultNamespaces:           map[string]cache.Config{plan.Namespace: {}},
		DefaultLabelSelector:        selector,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		DefaultWatchErrorHandler: func(_ context.Context, r *toolscache.Reflector, err error) {
			w.Log.Debug("a kind is not watched", "kind", r.TypeDescription(), "error", err)
		},
	})
	if err != nil {
		return nil, err
	}
	// The context of a look ends with it, and the cache lives on.
	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), logr.Discard()))
	cloud := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Namespace: w.cloud.Namespace, Name: w.cloud.Name}}
	changes := w.Changes
	out := &watching{cancel: cancel, cache: c, kinds: map[schema.GroupVersionKind]bool{}, notify: func() {
		select {
		case changes <- event.GenericEvent{Object: cloud}:
		case <-ctx.Done():
		}
	}}
	go func() { _ = c.Start(ctx) }()
	return out, nil
}

// add watches the kinds of a plan that are not watched yet.
func (w *watching) add(ctx context.Context, plan *plans.Plan) {
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Ref.Namespace != plan.Namespace || w.kinds[a.Ref.GVK] {
			continue
		}
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(a.Ref.GVK)
		informer, err := w.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			continue
		}
		w.kinds[a.Ref.GVK] = true
		_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			UpdateFunc: func(before, after any) {
				if differs(before, after) {
					w.notify()
				}
			},
			DeleteFunc: func(any) { w.notify() },
		})
	}
}

// differs reports whether an object may have drifted: its specification, its labels or its annotations
// changed. Kinds without a generation have their content there, too, so each change counts.
func differs(before, after any) bool {
	b, errBefore := meta.Accessor(before)
	a, errAfter := meta.Accessor(after)
	if errBefore != nil || errAfter != nil {
		return true
	}
	if b.GetResourceVersion() == a.GetResourceVersion() {
		return false // a resync
	}
	if a.GetGeneration() == 0 {
		return true
	}
	return a.GetGeneration() != b.GetGeneration() || !maps.Equal(b.GetLabels(), a.GetLabels()) || !maps.Equal(a.GetAnnotations(), b.GetAnnotations())
}
