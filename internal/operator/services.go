package operator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/state"
)

// showServices puts the services into the status, and into their CloudServices.
func (w *work) showServices(ctx context.Context, t *tenant, l *look) error {
	recorded := make([]*state.Object, len(l.state.Objects))
	for i := range l.state.Objects {
		recorded[i] = &l.state.Objects[i]
	}
	snapshot := t.cluster.Snapshot()
	found, err := status.Of(ctx, l.state, recorded, snapshot, t.client.Inspect(snapshot))
	if err != nil {
		return t.explained(err, w.Version, v1alpha1.ReasonPlanFailed)
	}
	var services []v1alpha1.ServiceStatus
	var whole []status.Service
	for _, s := range found.Services {
		if addrs.TypeOf(s.Address) == "service" {
			services, whole = append(services, serviceStatus(s)), append(whole, s)
		}
	}
	w.cloud.Status.Services = services
	planned := map[string][]string{}
	for _, i := range report.ImpactOf(l.made.Plan) {
		planned[i.Block] = i.Lines
	}
	changed := map[string]metav1.Time{}
	for i := range l.state.Objects {
		block := blockOf(l.state.Objects[i].Address)
		if at := metav1.NewTime(l.state.Objects[i].Applied.Truncate(time.Second)); changed[block].Time.Before(at.Time) {
			changed[block] = at
		}
	}
	return w.writeServices(ctx, whole, services, found.Release, planned, changed)
}

func blockOf(address string) string {
	a, err := addrs.ParseObject(address)
	if err != nil {
		return ""
	}
	return a.Block
}

func serviceStatus(s status.Service) v1alpha1.ServiceStatus {
	out := v1alpha1.ServiceStatus{Name: s.Address, Ready: s.Ready()}
	var versions, waits []string
	ready, desired := 0, 0
	for _, workload := range s.Workloads {
		if workload.Pods != nil {
			ready, desired = ready+workload.Pods.Ready, desired+workload.Pods.Desired
		}
		if v := workload.Versions(); v != "" {
			versions = append(versions, v)
		}
		if !workload.Ready {
			waits = append(waits, workload.Address.Name+": "+cmp.Or(workload.Reason, "not ready"))
		}
	}
	slices.Sort(versions)
	out.Version, out.WaitsFor = strings.Join(slices.Compact(versions), ", "), strings.Join(waits, "\n")
	if desired > 0 {
		out.Pods = fmt.Sprintf("%d/%d", ready, desired)
	}
	return out
}

// serviceName returns the name of the CloudService of a block: "prod-keystone" for service.keystone.
func serviceName(cloud, address string) string {
	name := strings.NewReplacer(`["`, "-", `"]`, "", ".", "-", "_", "-").Replace(strings.TrimPrefix(address, "service."))
	return cloud + "-" + strings.ToLower(name)
}

// newService makes the CloudService of a block, or returns the one that the cache does not have yet. If an object
// of another service has the name, "a-b-c" of a-b and c as well as of a and b-c, a hash makes it another one.
func (w *work) newService(ctx context.Context, address string) (*v1alpha1.CloudService, error) {
	spec := v1alpha1.CloudServiceSpec{Cloud: w.cloud.Name, Service: address}
	plain := serviceName(spec.Cloud, address)
	hash := sha256.Sum256([]byte(spec.Cloud + "/" + address))
	for _, name := range []string{plain, fmt.Sprintf("%s-%x", plain, hash[:4])} {
		object := &v1alpha1.CloudService{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.cloud.Namespace, Name: name, Labels: map[string]string{v1alpha1.LabelCloud: spec.Cloud}},
			Spec:       spec,
		}
		if err := controllerutil.SetControllerReference(w.cloud, object, w.Client.Scheme()); err != nil {
			return nil, fmt.Errorf("own CloudService %s: %w", name, err)
		}
		err := w.Client.Create(ctx, object)
		if apierrors.IsAlreadyExists(err) {
			err = w.Reader.Get(ctx, client.ObjectKeyFromObject(object), object)
		}
		if err != nil {
			return nil, fmt.Errorf("create CloudService %s: %w", name, err)
		}
		if object.Spec.Cloud == spec.Cloud && object.Spec.Service == spec.Service {
			return object, nil
		}
	}
	return nil, fmt.Errorf("the CloudService %s in namespace %s is of another service: delete it", plain, w.cloud.Namespace)
}

// writeServices makes the CloudServices, and deletes those of services that are gone and are not held.
func (w *work) writeServices(ctx context.Context, whole []status.Service, services []v1alpha1.ServiceStatus, release string, planned map[string][]string, changed map[string]metav1.Time) error {
	var list v1alpha1.CloudServiceList
	if err := w.Client.List(ctx, &list, client.InNamespace(w.cloud.Namespace)); err != nil {
		return fmt.Errorf("list CloudServices: %w", err)
	}
	known := map[string]*v1alpha1.CloudService{}
	for i := range list.Items {
		if s := &list.Items[i]; s.Spec.Cloud == w.cloud.Name {
			known[s.Spec.Service] = s
		}
	}
	for i, s := range services {
		object := known[s.Name]
		delete(known, s.Name)
		if object == nil {
			var err error
			if object, err = w.newService(ctx, s.Name); err != nil {
				return err
			}
		}
		before := object.DeepCopy()
		var images []string
		for _, workload := range whole[i].Workloads {
			for _, image := range workload.Images {
				images = append(images, image.Name)
			}
		}
		slices.Sort(images)
		object.Status.ObservedGeneration = object.Generation
		object.Status.Pods, object.Status.Version, object.Status.WaitsFor = s.Pods, s.Version, s.WaitsFor
		object.Status.Images, object.Status.Release, object.Status.Public = slices.Compact(images), release, whole[i].Public
		object.Status.Planned, object.Status.LastChange = planned[s.Name], nil
		if at, ok := changed[s.Name]; ok {
			object.Status.LastChange = &at
		}
		setServiceConditions(object, s)
		if equality.Semantic.DeepEqual(before.Status, object.Status) {
			continue
		}
		if err := w.Client.Status().Patch(ctx, object, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("write the status of CloudService %s: %w", object.Name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if known[name].Spec.Hold {
			continue
		}
		if err := w.Client.Delete(ctx, known[name]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete CloudService %s: %w", known[name].Name, err)
		}
	}
	return nil
}

func setServiceConditions(object *v1alpha1.CloudService, s v1alpha1.ServiceStatus) {
	ready := metav1.Condition{Type: v1alpha1.Ready, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAsDeclared, Message: "All workloads are ready.", ObservedGeneration: object.Generation}
	if !s.Ready {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, v1alpha1.ReasonNotReady, short(s.WaitsFor)
	}
	meta.SetStatusCondition(&object.Status.Conditions, ready)
	if !object.Spec.Hold {
		meta.RemoveStatusCondition(&object.Status.Conditions, v1alpha1.Held)
		return
	}
	meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{
		Type: v1alpha1.Held, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonHeld, ObservedGeneration: object.Generation,
		Message: "spec.hold is true: plans leave this service out, and services that depend on it.",
	})
}
