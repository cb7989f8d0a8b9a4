package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// off is the address at which controller-runtime does not listen.
const off = "0"

// endingTime is how long the operator may take to let Clouds go while it ends.
const endingTime = 10 * time.Second

// Name names the operator, its field manager and its Lease.
const Name = "kolla-operator"

// Options say how the operator runs.
type Options struct {
	Kubernetes kubernetes.Options
	// Namespace is the only namespace with Clouds; empty: all.
	Namespace string
	// LeaseNamespace has the Lease of the leader; empty: there is no election.
	LeaseNamespace string
	// Metrics and Health are addresses to listen at, ":8080"; empty: nothing listens.
	Metrics, Health string
	// Workers is how many Clouds are worked on at once.
	Workers int
	Version string
	Log     *slog.Logger
}

// Scheme has the kinds that the operator reads and writes.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// Run runs the operator until the context ends. An apply that runs then finishes its present writes.
func Run(ctx context.Context, o Options) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	o.Kubernetes.Secrets = &redaction.Values{}
	config, err := kubernetes.Config(o.Kubernetes)
	if err != nil {
		return err
	}
	logger := logr.FromSlogHandler(o.Log.Handler())
	log.SetLogger(logger)
	namespaces := map[string]cache.Config{}
	if o.Namespace != "" {
		namespaces[o.Namespace] = cache.Config{}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Logger:                        logger,
		Cache:                         cache.Options{DefaultNamespaces: namespaces},
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}, FieldOwner: Name},
		Metrics:                       metricsserver.Options{BindAddress: cmp.Or(o.Metrics, off)},
		HealthProbeBindAddress:        cmp.Or(o.Health, off),
		LeaderElection:                o.LeaseNamespace != "",
		LeaderElectionID:              Name,
		LeaderElectionNamespace:       o.LeaseNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("start the operator: %w", err)
	}
	r := &Reconciler{
		Client: manager.GetClient(), Namespace: o.Namespace, Reader: manager.GetAPIReader(), Kubernetes: o.Kubernetes, Events: manager.GetEventRecorder(Name),
		Version: o.Version, Log: o.Log, Changes: make(chan event.GenericEvent),
	}
	if err := r.setUp(manager, max(o.Workers, 1)); err != nil {
		return fmt.Errorf("start the operator: %w", err)
	}
	for _, add := range []func(string, healthz.Checker) error{manager.AddHealthzCheck, manager.AddReadyzCheck} {
		if err := add("ping", healthz.Ping); err != nil {
			return fmt.Errorf("start the operator: %w", err)
		}
	}
	err = manager.Start(ctx)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endingTime)
	defer cancel()
	return errors.Join(err, r.letAllGo(ending))
}

// setUp registers the reconciler and what it watches.
func (r *Reconciler) setUp(manager ctrl.Manager, workers int) error {
	asks := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).
		Named("cloud").
		For(&v1alpha1.Cloud{}, builder.WithPredicates(asks)).
		Watches(&v1alpha1.CloudService{}, handler.EnqueueRequestsFromMapFunc(ofService), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.users("ConfigMap"))).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.users("Secret"))).
		WatchesRawSource(source.Channel(r.Changes, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, SkipNameValidation: new(true)}).
		Complete(r)
}

func ofService(_ context.Context, o client.Object) []ctrl.Request {
	s, ok := o.(*v1alpha1.CloudService)
	if !ok {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: s.Namespace, Name: s.Spec.Cloud}}}
}

// users returns the Clouds that name a ConfigMap or Secret.
func (r *Reconciler) users(kind string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		var all v1alpha1.CloudList
		if err := r.Client.List(ctx, &all, client.InNamespace(o.GetNamespace())); err != nil {
			return nil
		}
		var out []ctrl.Request
		for i := range all.Items {
			if slices.Contains(named(all.Items[i].Spec, kind), o.GetName()) {
				out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
			}
		}
		return out
	}
}

// named returns the names of the ConfigMaps or Secrets that a Cloud reads.
func named(spec v1alpha1.CloudSpec, kind string) []string {
	var refs []*v1alpha1.Reference
	if kind == "ConfigMap" {
		for i := range spec.Source.ConfigMaps {
			refs = append(refs, &spec.Source.ConfigMaps[i])
		}
	}
	for i := range spec.VariablesFrom {
		v := &spec.VariablesFrom[i]
		refs = append(refs, map[string]*v1alpha1.Reference{"ConfigMap": v.ConfigMap, "Secret": v.Secret}[kind])
	}
	if kind == "Secret" {
		if spec.Source.Git != nil {
			refs = append(refs, spec.Source.Git.SecretRef)
		}
		if spec.Source.OCI != nil {
			refs = append(refs, spec.Source.OCI.SecretRef)
		}
		for i := range spec.Notify {
			refs = append(refs, &spec.Notify[i])
		}
	}
	var out []string
	for _, ref := range refs {
		if ref != nil {
			out = append(out, ref.Name)
		}
	}
	return out
}
