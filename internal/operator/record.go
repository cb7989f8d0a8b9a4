package operator

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/planner/plans"
)

// Keys of the Secret beside a CloudPlan.
const (
	keyPage = "page.md"
	// KeyPlan has the plan file, for plans.Read.
	KeyPlan = "plan"
)

// pageSize is the most bytes of the page in a CloudPlan.
const pageSize = 128 << 10

// record makes the CloudPlan of a plan, or returns the newest one if it shows the same.
func (w *work) record(ctx context.Context, l *look) (*v1alpha1.CloudPlan, error) {
	cloud, plan := w.cloud, l.made.Plan
	all, err := w.plans(ctx)
	if err != nil {
		return nil, err
	}
	var found *v1alpha1.CloudPlan
	if len(all) > 0 {
		newest := &all[len(all)-1]
		if newest.Spec.Digest == l.digest && slices.Contains([]v1alpha1.Phase{v1alpha1.Waiting, v1alpha1.Refused}, newest.Status.Phase) {
			found = newest
		}
		cloud.Status.Plans = max(cloud.Status.Plans, newest.Spec.Number)
	}
	for i := range all { // this look is the only one
		if all[i].Status.Phase == v1alpha1.Applying {
			w.conclude(ctx, &all[i], v1alpha1.Failed, "The operator ended during the apply.")
		}
	}
	if found == nil {
		if found, err = w.newRecord(ctx, l, cloud.Status.Plans+1); err != nil {
			return nil, err
		}
		if err := w.supersede(ctx, found.Name, found.Name+" took its place"); err != nil {
			return nil, err
		}
		if err := w.prune(ctx, append(all, *found)); err != nil {
			return nil, err
		}
	}
	cloud.Status.Plans = found.Spec.Number
	cloud.Status.Plan = &v1alpha1.PlanStatus{
		Name: found.Name, Digest: l.digest, Summary: found.Spec.Summary, Dangers: found.Spec.Dangers, Restarts: found.Spec.Restarts,
		Made: found.CreationTimestamp, Destroy: plan.Destroy,
	}
	return found, nil
}

// newRecord writes the Secret of a plan, and the CloudPlan, which is the owner of the Secret.
func (w *work) newRecord(ctx context.Context, l *look, number int64) (*v1alpha1.CloudPlan, error) {
	cloud, plan := w.cloud, l.made.Plan
	doc := report.Of(plan, report.Moment{Zone: time.UTC})
	dangers := doc.Dangers(false)
	name := fmt.Sprintf("%s-%d", cloud.Name, number)
	var file bytes.Buffer
	if err := plans.Write(&file, plan); err != nil {
		return nil, err
	}
	entries := map[string][]byte{KeyPlan: file.Bytes(), keyPage: []byte(markdown.Plan(doc, markdown.Options{Full: true}))}
	record := &v1alpha1.CloudPlan{
		ObjectMeta: metav1.ObjectMeta{Namespace: cloud.Namespace, Name: name, Labels: map[string]string{v1alpha1.LabelCloud: cloud.Name}},
		Spec: v1alpha1.CloudPlanSpec{
			Cloud: cloud.Name, Number: number, Digest: l.digest, Revision: l.input.tree.Revision,
			Summary: report.Summary(plan), Dangers: dangers, DangerCount: int32(len(dangers)), Warnings: warningsOf(plan), Restarts: restarts(plan), Destroy: plan.Destroy,
			Page:   markdown.Plan(doc, markdown.Options{Budget: pageSize}),
			Secret: name, Parts: int32(len(split(entries, partSize))),
		},
	}
	if err := controllerutil.SetControllerReference(cloud, record, w.Client.Scheme()); err != nil {
		return nil, fmt.Errorf("own CloudPlan %s: %w", name, err)
	}
	if err := w.Client.Create(ctx, record); err != nil {
		if !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("create CloudPlan %s: %w", name, err)
		}
		// The cache of objects is behind, or a former operator was killed before the status had the number.
		return w.newRecord(ctx, l, number+1)
	}
	if err := w.putParts(ctx, cloud, record, name, entries); err != nil {
		return nil, err
	}
	before := record.DeepCopy()
	record.Status.Phase = v1alpha1.Waiting
	if err := w.Client.Status().Patch(ctx, record, client.MergeFrom(before)); err != nil {
		return nil, fmt.Errorf("write the status of CloudPlan %s: %w", name, err)
	}
	w.event("Normal", v1alpha1.ReasonPlanned, "%s: %s", name, record.Spec.Summary)
	return record, nil
}

// plans lists the CloudPlans of the Cloud, the oldest first.
func (w *work) plans(ctx context.Context) ([]v1alpha1.CloudPlan, error) {
	var list v1alpha1.CloudPlanList
	// The list of the server, and not of the cache: the numbers must not be used twice.
	err := w.Reader.List(ctx, &list, client.InNamespace(w.cloud.Namespace), client.MatchingLabels{v1alpha1.LabelCloud: w.cloud.Name})
	if err != nil {
		return nil, fmt.Errorf("list CloudPlans: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.CloudPlan) int { return int(a.Spec.Number - b.Spec.Number) })
	return list.Items, nil
}

// supersede ends all plans that wait, but for one.
func (w *work) supersede(ctx context.Context, but, why string) error {
	all, err := w.plans(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		p := &all[i]
		if p.Name != but && slices.Contains([]v1alpha1.Phase{"", v1alpha1.Waiting, v1alpha1.Refused}, p.Status.Phase) {
			w.conclude(ctx, p, v1alpha1.Superseded, why)
		}
	}
	return nil
}

// prune deletes the oldest plans, and their Secrets with them. The plan that a person approved stays: an apply that was
// interrupted goes on with it.
func (w *work) prune(ctx context.Context, all []v1alpha1.CloudPlan) error {
	limit := max(int(w.cloud.Spec.History), 1)
	for i := range max(0, len(all)-limit) {
		if all[i].Spec.Digest == w.cloud.Spec.ApprovedPlan {
			continue
		}
		if err := w.Client.Delete(ctx, &all[i], client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete CloudPlan %s: %w", all[i].Name, err)
		}
	}
	return nil
}

// begin records that a plan is applied, and who allowed it.
func (w *work) begin(ctx context.Context, record *v1alpha1.CloudPlan, by string, at metav1.Time) {
	w.update(ctx, record, func(s *v1alpha1.CloudPlanStatus) {
		s.Phase, s.Approved, s.Started, s.Message = v1alpha1.Applying, by, &at, ""
	})
}

// conclude records what became of a plan.
func (w *work) conclude(ctx context.Context, record *v1alpha1.CloudPlan, phase v1alpha1.Phase, message string) {
	w.update(ctx, record, func(s *v1alpha1.CloudPlanStatus) {
		s.Phase, s.Message = phase, short(message)
		if phase == v1alpha1.Applied || phase == v1alpha1.Failed {
			now := metav1.Now()
			s.Ended = &now
		}
	})
}

// update changes the status of a plan. A failure is logged: the plan itself is not at stake.
func (w *work) update(ctx context.Context, record *v1alpha1.CloudPlan, change func(*v1alpha1.CloudPlanStatus)) {
	before := record.DeepCopy()
	if change(&record.Status); equality.Semantic.DeepEqual(before.Status, record.Status) {
		return
	}
	if err := w.Client.Status().Patch(ctx, record, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		w.Log.Error("the outcome of a plan was not recorded", "plan", record.Name, "error", err)
	}
}

// question collects what decides about a plan.
func (w *work) question(ctx context.Context, l *look, record *v1alpha1.CloudPlan, current bool) question {
	// A plan that is allowed again after a refusal waits again.
	if record.Status.Phase == v1alpha1.Refused {
		w.conclude(ctx, record, v1alpha1.Waiting, "")
	}
	q := question{plan: l.made.Plan, digest: l.digest, spec: w.cloud.Spec, reverts: current, approver: approver(w.cloud)}
	all, err := w.plans(ctx)
	if err != nil || len(all) < 2 {
		return q
	}
	// The approved plan may be an earlier plan whose apply was interrupted, perhaps several times. Then this plan
	// continues it, if each of its actions is also an action of the approved plan. Other kinds of approval need no
	// such check.
	i := slices.IndexFunc(all, func(p v1alpha1.CloudPlan) bool { return p.Name == record.Name })
	for i--; i >= 0 && all[i].Status.Phase != v1alpha1.Applied; i-- {
		if all[i].Status.Phase != v1alpha1.Failed || all[i].Spec.Digest != w.cloud.Spec.ApprovedPlan {
			continue
		}
		data, err := ReadParts(ctx, w.Reader, w.cloud.Namespace, all[i].Spec.Secret)
		if err != nil || data == nil {
			return q
		}
		allowed, err := plans.Read(data[KeyPlan])
		q.resumes = err == nil && approval.Covers(allowed, l.made.Plan)
		return q
	}
	return q
}

// approver returns the field manager that set approvedPlan.
func approver(cloud *v1alpha1.Cloud) string {
	for _, m := range cloud.ManagedFields {
		if m.Subresource == "" && m.FieldsV1 != nil && strings.Contains(string(m.FieldsV1.GetRawBytes()), `"f:approvedPlan"`) {
			return m.Manager
		}
	}
	return "somebody"
}
