// Package operator keeps Clouds as their sources declare them. A Reconciler looks at one Cloud at a
// time: it fetches the source, makes the plan that kolla plan would make, decides whether that may be
// applied, and applies it as kolla apply does, with the rights of the Cloud's service account.
// docs/operator.md is for its users.
package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"kolla.openstack.org/kolla/internal/operator/source"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Reconciler brings Clouds to what their sources declare.
type Reconciler struct {
	Client client.Client
	// Namespace is the only namespace with Clouds; empty: all.
	Namespace string
	// Reader reads without a cache.
	Reader     client.Reader
	Kubernetes kubernetes.Options // of the operator itself
	Events     events.EventRecorder
	Version    string
	Log        *slog.Logger
	// Changes gets a Cloud whose objects changed in the cluster.
	Changes chan event.GenericEvent

	mu      sync.Mutex
	tenants map[string]*tenant
	trees   map[string]*source.Tree // the last fetch of each Cloud
}

func keyOf(o client.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// work is one look at a Cloud.
type work struct {
	*Reconciler
	cloud *v1alpha1.Cloud
	base  *v1alpha1.Cloud // as the server has it
	news  []news
}

// Reconcile is part of reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cloud := &v1alpha1.Cloud{}
	if err := r.Client.Get(ctx, request.NamespacedName, cloud); err != nil {
		if apierrors.IsNotFound(err) {
			r.drop(request.String())
			forgetMetrics(request.String())
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w := &work{Reconciler: r, cloud: cloud, base: cloud.DeepCopy()}
	if cloud.DeletionTimestamp.IsZero() {
		if controllerutil.AddFinalizer(cloud, v1alpha1.Finalizer) {
			if err := r.Client.Patch(ctx, cloud, client.MergeFrom(w.base)); err != nil {
				return ctrl.Result{}, err
			}
			w.base = cloud.DeepCopy()
		}
	} else if !controllerutil.ContainsFinalizer(cloud, v1alpha1.Finalizer) {
		return ctrl.Result{}, nil
	}
	after, err := w.run(ctx)
	if ctx.Err() != nil {
		return ctrl.Result{}, nil // the manager stops
	}
	if err != nil {
		after = w.stopped(err)
	}
	recordMetrics(cloud)
	w.notify(ctx)
	if err := w.save(ctx); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// save writes the status if it has changed.
func (w *work) save(ctx context.Context) error {
	w.cloud.Status.ObservedGeneration = w.cloud.Generation
	if equality.Semantic.DeepEqual(w.cloud.Status, w.base.Status) {
		return nil
	}
	// The answer has the present spec, and this look is about the one at its beginning.
	if err := w.Client.Status().Patch(ctx, w.cloud.DeepCopy(), client.MergeFrom(w.base)); err != nil {
		return fmt.Errorf("write the status of Cloud %s: %w", keyOf(w.cloud), err)
	}
	w.base = w.cloud.DeepCopy()
	return nil
}

// set sets a condition.
func (w *work) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&w.cloud.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: short(message), ObservedGeneration: w.cloud.Generation,
	})
}

// settle ends the conditions that exist only while they are true.
func (w *work) settle(kinds ...string) {
	for _, kind := range kinds {
		meta.RemoveStatusCondition(&w.cloud.Status.Conditions, kind)
	}
}

// stopped records why a look ended, and returns when to look again.
func (w *work) stopped(err error) time.Duration {
	var s *stop
	if !errors.As(err, &s) {
		s = &stop{reason: v1alpha1.ReasonPlanFailed, message: err.Error()}
	}
	w.settle(v1alpha1.Reconciling)
	w.set(v1alpha1.Ready, metav1.ConditionFalse, s.reason, s.message)
	w.set(v1alpha1.Planned, metav1.ConditionFalse, s.reason, s.message)
	if s.stalled {
		w.set(v1alpha1.Stalled, metav1.ConditionTrue, s.reason, s.message)
	} else {
		w.settle(v1alpha1.Stalled)
	}
	w.changed(w.base, v1alpha1.Ready, corev1.EventTypeWarning)
	if s.stalled && s.reason != v1alpha1.ReasonConflict && s.reason != v1alpha1.ReasonInvalidSource {
		return w.cloud.Spec.Interval.Duration
	}
	return w.retry()
}

// retry returns when to try again: after spec.retryInterval, and after more failed applies in a row later
// and later, up to spec.interval.
func (w *work) retry() time.Duration {
	const most = 16 // doublings
	after := w.cloud.Spec.RetryInterval.Duration << min(max(w.cloud.Status.Failures-1, 0), most)
	return max(min(after, w.cloud.Spec.Interval.Duration), w.cloud.Spec.RetryInterval.Duration)
}

// changed sends an Event if a condition has another reason or message than before.
func (w *work) changed(before *v1alpha1.Cloud, kind, level string) {
	now, old := meta.FindStatusCondition(w.cloud.Status.Conditions, kind), meta.FindStatusCondition(before.Status.Conditions, kind)
	if now != nil && (old == nil || old.Reason != now.Reason || old.Message != now.Message) {
		w.event(level, now.Reason, "%s", now.Message)
		w.news = append(w.news, news{now.Reason, now.Message})
	}
}

func (w *work) event(level, reason, format string, args ...any) {
	const maxNote = 1024 // bytes that the API permits
	note := fmt.Sprintf(format, args...)
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote-4], "") + " ..."
	}
	w.Events.Eventf(w.cloud, nil, level, reason, "Reconcile", "%s", note)
}

// run looks at the Cloud, and returns when to look again.
func (w *work) run(ctx context.Context) (time.Duration, error) {
	cloud := w.cloud
	l := looking{resumed: w.handleRequests()}
	deleting := !cloud.DeletionTimestamp.IsZero()
	if deleting {
		if cloud.Spec.DeletionPolicy == v1alpha1.OrphanObjects || !cloud.Status.Managed {
			return 0, w.release(ctx) // without an apply, there is nothing to destroy
		}
		along, after, err := w.deletedAlong(ctx)
		if err != nil || after > 0 {
			return after, err
		}
		if along {
			w.Log.Warn(goesAlong, "cloud", keyOf(cloud))
			return 0, w.release(ctx)
		}
	}
	if cloud.Spec.Suspend {
		w.settle(v1alpha1.Reconciling, v1alpha1.Stalled)
		w.set(v1alpha1.Ready, metav1.ConditionUnknown, v1alpha1.ReasonSuspended, "spec.suspend is true: nothing is planned or applied.")
		w.changed(w.base, v1alpha1.Ready, corev1.EventTypeNormal)
		return 0, nil
	}
	var err error
	if l.tenant, err = w.tenantOf(cloud); err != nil {
		return 0, failed(v1alpha1.ReasonUnreachable, "%v", err)
	}
	var services v1alpha1.CloudServiceList
	if err := w.Client.List(ctx, &services, client.InNamespace(cloud.Namespace)); err != nil {
		return 0, fmt.Errorf("list CloudServices: %w", err)
	}
	if !deleting {
		l.holds = holdsOf(services.Items, cloud.Name)
	}
	applied := w.kept(ctx, cloud)
	inForce := applied.inForce(w.Version, l.holds)
	fetched, failure := w.fetch(ctx)
	switch {
	case failure != nil && deleting && applied != nil:
		return w.proceed(ctx, applied, l)
	case failure == nil && (deleting || fetched.same(applied)):
		l.current = inForce && fetched.same(applied)
		return w.proceed(ctx, fetched, l)
	case failure == nil && cloud.Spec.Approval == v1alpha1.Drift && inForce:
		// Changes of others are put back before the change of the source is planned.
		if after, err := w.repair(ctx, applied, l); err == nil && after > 0 {
			return after, nil
		}
		return w.proceed(ctx, fetched, l)
	case failure == nil:
		after, err := w.proceed(ctx, fetched, l)
		var s *stop
		if !errors.As(err, &s) || s.reason != v1alpha1.ReasonInvalidSource {
			return after, err
		}
		failure = err
	}
	// The source cannot be used now. What was applied last stays in force.
	if inForce {
		if after, err := w.repair(ctx, applied, l); err == nil && after > 0 {
			return after, nil
		}
	}
	return 0, failure
}

// repair compares the cluster with the input that was applied last. It returns zero if there is nothing
// to do, and leaves the conditions to what follows.
func (w *work) repair(ctx context.Context, applied *input, l looking) (time.Duration, error) {
	l.current, l.first = true, true
	return w.proceed(ctx, applied, l)
}

// looking is the way to look at an input.
type looking struct {
	tenant  *tenant
	holds   []string
	resumed bool // the operator gets the cloud back from the command line
	// current: the last complete apply had this input.
	current bool
	// first: see repair.
	first bool
}

// handleRequests notes the annotations that ask for something. It reports whether the operator gets the
// cloud back from the command line.
func (w *work) handleRequests() (resumed bool) {
	w.cloud.Status.LastReconcile = w.cloud.Annotations[v1alpha1.AnnotationReconcile]
	asks := w.cloud.Annotations[v1alpha1.AnnotationResume]
	return asks != "" && asks != w.cloud.Status.LastResume
}

// fetch fetches the source and the variables.
func (w *work) fetch(ctx context.Context) (*input, error) {
	cloud := w.cloud
	from := objects{w.Reader, cloud.Namespace}
	w.mu.Lock()
	before := w.trees[keyOf(cloud)]
	w.mu.Unlock()
	tree, err := source.Fetch(ctx, cloud.Spec.Source, from, before)
	if err != nil {
		return nil, failed(v1alpha1.ReasonSourceFailed, "%v", err)
	}
	w.mu.Lock()
	if w.trees == nil {
		w.trees = map[string]*source.Tree{}
	}
	w.trees[keyOf(cloud)] = tree
	w.mu.Unlock()
	cloud.Status.Source.Revision = tree.Revision
	values, origins, err := variablesOf(ctx, cloud.Spec, from)
	if err != nil {
		return nil, failed(v1alpha1.ReasonInvalidVariables, "%v", err)
	}
	return &input{tree, values, about{Revision: tree.Revision, Tool: w.Version, Path: cloud.Spec.Path, Origins: origins}}, nil
}

// soon is when to look again after an apply.
const soon = time.Second

// proceed plans an input, and applies the plan if it may be.
func (w *work) proceed(ctx context.Context, in *input, how looking) (time.Duration, error) {
	cloud, t, resumed := w.cloud, how.tenant, how.resumed
	l, err := w.plan(ctx, t, cloud, in, how.holds)
	if err != nil {
		return 0, err
	}
	if err := w.claim(ctx, l, how.first); err != nil {
		return 0, err
	}
	if last, taken := takenOver(cloud, l.state); taken && !resumed {
		return 0, stalled(v1alpha1.ReasonTakenOver, "%s took this cloud over with `kolla %s -take-over` at %s. The operator leaves it alone until `kolla operator resume -n %s %s`", last.Who, last.Operation, last.Began.Format(time.RFC3339), cloud.Namespace, cloud.Name)
	}
	other := l.state.Operator()
	if resumed {
		cloud.Status.LastResume, cloud.Status.Managed = cloud.Annotations[v1alpha1.AnnotationResume], false
		cloud.Status.Follows = other
	}
	switch {
	case other == keyOf(cloud):
		cloud.Status.Managed = true
	case other != "" && other != cloud.Status.Follows:
		return 0, stalled(v1alpha1.ReasonConflict, "Cloud %s of an operator manages this cloud. If that Cloud is gone, `kolla operator resume -n %s %s` goes on here", other, cloud.Namespace, cloud.Name)
	}
	plan := l.made.Plan
	cloud.Status.Warnings = warningsOf(plan)
	w.showDrift(plan)
	if err := w.showServices(ctx, t, l); err != nil {
		return 0, err
	}
	w.watch(ctx, t, plan)
	switch {
	case plan.Empty() && how.first:
		return 0, nil
	case plan.Empty():
		return w.idle(ctx, l)
	}
	record, err := w.record(ctx, l)
	if err != nil {
		return 0, err
	}
	if refusal := w.refusal(t, l); refusal != nil {
		w.conclude(ctx, record, v1alpha1.Refused, refusal.Error())
		return 0, refusal
	}
	w.set(v1alpha1.Planned, metav1.ConditionTrue, v1alpha1.ReasonPlanned, report.Summary(plan))
	q := w.question(ctx, l, record, how.current)
	d := decide(q)
	if d.apply {
		return w.apply(ctx, t, l, record, q)
	}
	if how.first { // the plan of the source follows, and shows this too
		return 0, nil
	}
	return w.await(d), nil
}

// await says that a plan waits for a person.
func (w *work) await(d decision) time.Duration {
	w.settle(v1alpha1.Reconciling, v1alpha1.Stalled)
	w.set(v1alpha1.Ready, metav1.ConditionFalse, d.reason, d.message)
	w.changed(w.base, v1alpha1.Ready, corev1.EventTypeNormal)
	return w.cloud.Spec.Interval.Duration
}

// optionsOfClouds says how a Cloud has the options that errors of plans name.
const optionsOfClouds = "A Cloud has spec.deleteData for -delete-data, and spec.hold of a CloudService for -exclude. The plan of a destroy is one with -keep-data unless spec.approval is automatic."

// refusal returns why a plan must not be applied; nil: it may be.
func (w *work) refusal(t *tenant, l *look) error {
	t.messages.take()
	if err := l.engine.Enforce(l.made); err != nil {
		refused := t.explained(err, w.Version, v1alpha1.ReasonRefused)
		if s := new(stop); errors.As(refused, &s) && strings.Contains(s.message, "-delete-data") {
			s.message += "\n\n" + optionsOfClouds
		}
		return refused
	}
	if forbidden := l.made.Plan.Forbidden(); len(forbidden) > 0 {
		evidence := forbidden[0].Evidence
		return stalled(v1alpha1.ReasonRefused, "the service account %s may not write %d of the objects of this plan. The first is %s: %s. `kolla rbac -serviceaccount=%s:%s` prints all rights that it needs",
			w.cloud.Spec.ServiceAccountName, len(forbidden), forbidden[0].Address, evidence.Detail, w.cloud.Namespace, w.cloud.Spec.ServiceAccountName)
	}
	return nil
}

// showDrift puts the changes of others into the status.
func (w *work) showDrift(plan *plans.Plan) {
	found := drift.Of(plan)
	if len(found.Fields) == 0 {
		w.cloud.Status.Drift = nil
		w.set(v1alpha1.Drifted, metav1.ConditionFalse, v1alpha1.ReasonNoDrift, "Nobody else changed the objects since the last apply.")
		return
	}
	objects := found.Objects()
	total := 0
	for _, n := range objects {
		total += n
	}
	var lines []string
	for _, f := range found.Fields {
		lines = append(lines, fmt.Sprintf("%s: %s", f.Address, cmp.Or(f.Path, string(f.Change))))
	}
	const maxLines = 10
	status := &v1alpha1.DriftStatus{Objects: int32(total), Fields: int32(len(found.Fields)), What: lines[:min(len(lines), maxLines)]}
	w.cloud.Status.Drift = status
	w.set(v1alpha1.Drifted, metav1.ConditionTrue, v1alpha1.ReasonDrift, strings.Join(status.What, "\n"))
	w.changed(w.base, v1alpha1.Drifted, corev1.EventTypeWarning)
}

// idle records that there is nothing to do.
func (w *work) idle(ctx context.Context, l *look) (time.Duration, error) {
	cloud := w.cloud
	if err := w.supersede(ctx, "", "nothing is left to do"); err != nil {
		return 0, err
	}
	cloud.Status.Plan = nil
	w.settle(v1alpha1.Reconciling, v1alpha1.Stalled)
	w.set(v1alpha1.Planned, metav1.ConditionTrue, v1alpha1.ReasonNoChanges, report.Summary(l.made.Plan))
	if l.made.Plan.Destroy {
		return 0, w.release(ctx)
	}
	if err := w.keep(ctx, cloud, l, true); err != nil {
		return 0, err
	}
	cloud.Status.Failures = 0
	var waiting []string
	for _, s := range cloud.Status.Services {
		if !s.Ready {
			waiting = append(waiting, s.Name+": "+s.WaitsFor)
		}
	}
	if len(waiting) > 0 {
		w.set(v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonNotReady, strings.Join(waiting, "\n"))
		w.changed(w.base, v1alpha1.Ready, corev1.EventTypeWarning)
		return min(cloud.Spec.RetryInterval.Duration, cloud.Spec.Interval.Duration), nil
	}
	w.set(v1alpha1.Ready, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared, report.Summary(l.made.Plan))
	w.changed(w.base, v1alpha1.Ready, corev1.EventTypeNormal)
	return cloud.Spec.Interval.Duration, nil
}
