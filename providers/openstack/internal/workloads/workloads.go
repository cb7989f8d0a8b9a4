package workloads

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	appsapi "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyapi "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1 "k8s.io/client-go/applyconfigurations/policy/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/pods"
)

const (
	// revisionHistory is the number of old ReplicaSets and revisions that the cluster keeps.
	revisionHistory = 3
	// progressDeadline is the time in seconds without progress after which a rollout has
	// failed.
	progressDeadline = 600
)

// workloads returns the workloads of the service and the objects that only their pods need, and
// the addresses of the workloads that others wait for. They start when the objects of after are ready.
func workloads(in Input, after []addrs.Object) (objects []providers.Object, made []addrs.Object, diags hcl.Diagnostics) {
	s := in.Pods.Service
	for _, w := range s.Decl.Workloads {
		name := s.Workload(w)
		p := pods.New(in.Pods, name, w.Pod, w.Role, w.Claims...)
		if now := followed(in, w, name); now != "" {
			p.Note(providers.AnnotationFollows, now)
		}
		o := s.Object(workload(s, w, name, p), slices.Concat(p.DependsOn, after, waitsFor(s, w), in.Levels.BeforePod(&w.Pod))...)
		o.Stage = w.Stage
		o.From(sourceOf(s.Decl, w))
		o.Lifecycle = object.Lifecycle(w.Lifecycle)
		o.Deferred = p.Deferred
		o.Timeout = w.Timeout
		o.Places = claimPlaces(w)
		o.ScaleDown = w.ScaleDown
		if w.Loss != "" {
			o.Holds, o.Loss = fmt.Sprintf("what others need (%s)", w.Loss), w.Loss
		}
		objects, diags = append(append(objects, p.Objects...), o), append(diags, p.Diags...)
		if w.Stage == "" && !onlyMeasures(w) { // an object is at the earliest in the stage of what it needs
			made = append(made, o.Address)
		}
		if w.Replicas > 1 && w.Kind != "DaemonSet" {
			objects = append(objects, disruptionBudget(s, name))
		}
	}
	return objects, made, diags
}

// onlyMeasures reports whether the pods of a workload serve metrics and nothing else. Nothing waits for them.
func onlyMeasures(w configs.Workload) bool {
	return w.Metrics != nil && len(w.Pod.Ports) == 1 && w.Pod.Ports[0] == w.Metrics.Port
}

// claimPlaces returns the places of the sizes of a workload's claims, for Object.Places.
func claimPlaces(w configs.Workload) map[string]string {
	places := map[string]string{}
	for _, claim := range w.Claims {
		if claim.Range.Filename != "" {
			places[providers.ClaimPlace(claim.Name)] = object.Source(claim.Range)
		}
	}
	return places
}

// sourceOf returns the place of a workload in the user's configuration, where an operator
// can change it. For workloads of the catalogue it is the place of the service.
func sourceOf(decl *configs.Service, w configs.Workload) string {
	if w.Range.Filename == "" {
		return object.Source(decl.Range)
	}
	return object.Source(w.Range)
}

// workload returns the Deployment, StatefulSet or DaemonSet of a workload.
func workload(s object.Service, w configs.Workload, name string, p *pods.Pod) object.Configuration {
	spec := p.Spec(serving(s, w, p))
	selector := metav1.LabelSelector().WithMatchLabels(s.Selector(name))
	spread(w, selector, spec)
	template := p.Template(spec)
	switch w.Kind {
	case "StatefulSet":
		return appsv1.StatefulSet(name, "").WithLabels(s.PodLabels(name)).WithAnnotations(notes(w)).WithSpec(statefulSet(s, w, name).
			WithSelector(selector).WithTemplate(template))
	case "DaemonSet":
		return appsv1.DaemonSet(name, "").WithLabels(s.PodLabels(name)).WithAnnotations(notes(w)).WithSpec(appsv1.DaemonSetSpec().
			WithSelector(selector).WithTemplate(template).
			WithRevisionHistoryLimit(revisionHistory).
			WithUpdateStrategy(daemonSetUpdate(w)))
	default:
		return appsv1.Deployment(name, "").WithLabels(s.PodLabels(name)).WithSpec(appsv1.DeploymentSpec().
			WithReplicas(int32(w.Replicas)).
			WithSelector(selector).WithTemplate(template).
			WithRevisionHistoryLimit(revisionHistory).
			WithProgressDeadlineSeconds(int32(max(progressDeadline, w.Timeout))).
			WithStrategy(appsv1.DeploymentStrategy().
				WithType(appsapi.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(rolling(w))))
	}
}

// serving returns the main container of a workload, with its ports and probes.
func serving(s object.Service, w configs.Workload, p *pods.Pod) *corev1.ContainerApplyConfiguration {
	c := p.Main(w.Name)
	c.WithPorts(pods.Ports(s.Ports(mainPorts(w)))...)
	if w.Drain > 0 {
		// The process is told to stop only after the sleep. Until then it serves requests from
		// nodes that do not know yet that the pod ends.
		c.WithLifecycle(corev1.Lifecycle().WithPreStop(corev1.LifecycleHandler().
			WithSleep(corev1.SleepAction().WithSeconds(int64(w.Drain)))))
	}
	c.ReadinessProbe = pods.Probe(w.Ready)
	c.LivenessProbe = pods.Probe(w.Live)
	c.StartupProbe = pods.Probe(w.Startup)
	return c
}

// mainPorts returns the names of the ports of a workload's main container.
func mainPorts(w configs.Workload) []string {
	return slices.DeleteFunc(slices.Clone(w.Pod.Ports), func(name string) bool { return object.SidecarListens(w, name) })
}

// statefulSet returns the specification of a StatefulSet, without its pods.
func statefulSet(s object.Service, w configs.Workload, name string) *appsv1.StatefulSetSpecApplyConfiguration {
	update := appsapi.RollingUpdateStatefulSetStrategyType
	if w.Update == "on-delete" {
		update = appsapi.OnDeleteStatefulSetStrategyType
	}
	order := appsapi.ParallelPodManagement
	if w.OneByOne {
		order = appsapi.OrderedReadyPodManagement
	}
	spec := appsv1.StatefulSetSpec().
		WithReplicas(int32(w.Replicas)).
		WithServiceName(name).
		WithPodManagementPolicy(order).
		WithRevisionHistoryLimit(revisionHistory).
		WithUpdateStrategy(appsv1.StatefulSetUpdateStrategy().WithType(update))
	for _, claim := range w.Claims {
		if claim.Existing == "" {
			spec.WithVolumeClaimTemplates(claimOf(s, claim))
		}
	}
	return spec
}

// claimOf returns the volume claim of each replica. A destroy finds the volumes that a
// StatefulSet leaves behind by the labels.
func claimOf(s object.Service, c configs.Claim) *corev1.PersistentVolumeClaimApplyConfiguration {
	spec := corev1.PersistentVolumeClaimSpec().
		WithAccessModes(v1.ReadWriteOnce).
		WithVolumeMode(v1.PersistentVolumeFilesystem).
		WithResources(corev1.VolumeResourceRequirements().
			WithRequests(pods.Quantities(map[string]string{string(v1.ResourceStorage): c.Size})))
	if c.StorageClass != "" {
		spec.WithStorageClassName(c.StorageClass)
	}
	claim := corev1.PersistentVolumeClaim(c.Name, "").
		WithLabels(s.Labels()).
		WithSpec(spec)
	claim.Namespace = nil // the StatefulSet's namespace applies
	return claim
}

// disruptionBudget returns a budget that lets node maintenance evict one replica at a time.
func disruptionBudget(s object.Service, name string) providers.Object {
	return s.Object(policyv1.PodDisruptionBudget(name, "").WithSpec(policyv1.PodDisruptionBudgetSpec().
		WithMaxUnavailable(intstr.FromInt32(1)).
		WithUnhealthyPodEvictionPolicy(policyapi.AlwaysAllow).
		WithSelector(metav1.LabelSelector().WithMatchLabels(s.Selector(name)))))
}
