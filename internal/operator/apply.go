package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/run/apply"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// apply carries out a plan that may be applied. It returns when to look again.
func (w *work) apply(ctx context.Context, t *tenant, l *look, record *v1alpha1.CloudPlan, q question) (after time.Duration, err error) {
	cloud := w.cloud
	session, err := l.store.Lock(ctx, state.LockInfo{Operation: "apply", Version: w.Version, Operator: keyOf(cloud)}, 0)
	var locked *state.LockedError
	if errors.As(err, &locked) {
		return 0, failed(v1alpha1.ReasonLocked, "%v", err)
	}
	if err != nil {
		return 0, t.explained(err, w.Version, v1alpha1.ReasonApplyFailed)
	}
	defer func() {
		if failure := session.Close(); failure != nil && err == nil {
			err = t.explained(failure, w.Version, v1alpha1.ReasonApplyFailed)
		}
	}()
	if now := session.State(); now.Lineage != l.state.Lineage || now.Serial != l.state.Serial {
		return soon, nil // somebody was faster: the plan is made again
	}
	if err := l.engine.AskPods(ctx, l.made); err != nil {
		return 0, t.explained(err, w.Version, v1alpha1.ReasonApplyFailed)
	}
	if refusal := w.refusal(t, l); refusal != nil {
		w.conclude(ctx, record, v1alpha1.Refused, refusal.Error())
		return 0, refusal
	}
	d := decide(q) // the pods may have told of more, and policies of that
	if !d.apply {
		return w.await(d), nil
	}
	if l.made.Rebuilt != nil {
		session.Seed(l.made.Rebuilt)
	}
	if !l.made.Plan.Destroy && !q.reverts {
		if err := w.keep(ctx, cloud, l, false); err != nil {
			return 0, err
		}
	}
	started := metav1.Now()
	w.begin(ctx, record, d.by, started)
	w.settle(v1alpha1.Stalled)
	w.set(v1alpha1.Reconciling, metav1.ConditionTrue, v1alpha1.ReasonApplying, fmt.Sprintf("Applying %s: %s", record.Name, report.Summary(l.made.Plan)))
	w.set(v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonApplying, fmt.Sprintf("%s is applied, allowed by %s.", record.Name, d.by))
	w.event(corev1.EventTypeNormal, v1alpha1.ReasonApplying, "%s: %s Allowed by %s.", record.Name, report.Summary(l.made.Plan), d.by)
	if err := w.save(ctx); err != nil {
		return 0, err
	}
	until, cancel := w.untilSuspended(ctx)
	defer cancel()
	done, err := apply.Run(until, l.engine, session, l.made, w.applyOptions(ctx, record, l.input.tree.Revision))
	return w.applied(context.WithoutCancel(ctx), t, l, record, started, done, err)
}

// applied records the result of an apply.
func (w *work) applied(ctx context.Context, t *tenant, l *look, record *v1alpha1.CloudPlan, started metav1.Time, done *apply.Outcome, err error) (time.Duration, error) {
	cloud := w.cloud
	status := &v1alpha1.ApplyStatus{Plan: record.Name, Revision: l.input.tree.Revision, Started: started, Ended: metav1.Now()}
	cloud.Status.LastApply = status
	cloud.Status.Managed = cloud.Status.Managed || done != nil
	w.settle(v1alpha1.Reconciling)
	var why *stop
	switch {
	case err != nil:
		errors.As(t.explained(err, w.Version, v1alpha1.ReasonApplyFailed), &why)
		if why == nil { // interrupted before it began
			why = &stop{reason: v1alpha1.ReasonInterrupted, message: "The apply was interrupted before it began."}
		}
	case done.Total.Interrupted:
		why = &stop{reason: v1alpha1.ReasonInterrupted, message: inWords(done.Total)}
	case !done.Total.Complete():
		why = &stop{reason: v1alpha1.ReasonApplyFailed, message: inWords(done.Total)}
	}
	if why == nil {
		status.Result, status.Message = string(state.Done), short(inWords(done.Total))
		w.conclude(ctx, record, v1alpha1.Applied, status.Message)
		w.event(corev1.EventTypeNormal, "Applied", "%s: %s", record.Name, status.Message)
		cloud.Status.Plan, cloud.Status.Failures = nil, 0
		w.set(v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonProgressing, status.Message)
		if l.made.Plan.Destroy {
			return soon, nil
		}
		return soon, w.keep(ctx, cloud, l, true)
	}
	cloud.Status.Failures++
	status.Result, status.Message = string(state.Failed), short(why.message)
	if why.reason == v1alpha1.ReasonInterrupted {
		status.Result = string(state.Interrupted)
	}
	w.conclude(ctx, record, v1alpha1.Failed, why.message)
	return 0, why
}

// inWords says what an apply has done, what jobs warn of, and what failed.
func inWords(total applied.Result) string {
	verdict, rest := total.Verdict()
	lines := []string{verdict + rest}
	for _, m := range total.Messages {
		lines = append(lines, m.Address.String()+": "+m.Detail)
	}
	for _, f := range total.Failed {
		line := f.Address.String() + ": " + f.Reason
		if f.Source != "" {
			line = f.Source + ": " + line
		}
		lines = append(lines, line)
		if n := len(f.Others); n > 0 {
			lines = append(lines, words.Count(n, "other object")+": the same")
		}
		lines = append(lines, f.Detail...)
		if f.Advice != "" {
			lines = append(lines, f.Advice)
		}
	}
	return strings.Join(lines, "\n")
}

// applyOptions reports the progress of an apply in the status.
func (w *work) applyOptions(ctx context.Context, record *v1alpha1.CloudPlan, revision string) apply.Options {
	var o apply.Options
	o.Timeout = w.cloud.Spec.Timeout.Duration
	o.Commit = commitOf(revision)
	o.Progress = func(plan *plans.Plan) (func(plans.Event), func()) {
		p := progressOf(plan)
		return p.observe, w.tell(ctx, record.Name, p)
	}
	return o
}

// commitOf returns the commit of a revision of Git; empty: it is of another source.
func commitOf(revision string) string {
	_, commit, _ := strings.Cut(revision, "@sha1:")
	return commit
}

// untilSuspended returns a context that also ends when a person suspends the Cloud.
func (w *work) untilSuspended(ctx context.Context) (context.Context, context.CancelFunc) {
	until, cancel := context.WithCancel(ctx)
	key := client.ObjectKeyFromObject(w.cloud)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-until.Done():
				return
			case <-tick.C:
				var now v1alpha1.Cloud
				if err := w.Client.Get(until, key, &now); err == nil && now.Spec.Suspend {
					cancel()
				}
			}
		}
	}()
	return until, cancel
}
