package openstack

import (
	"fmt"
	"slices"

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
)

const (
	// revisionHistory is how many old ReplicaSets and revisions the cluster keeps.
	revisionHistory = 3
	// progressDeadline is how long, in seconds, a rollout may stand still before it
	// counts as failed.
	progressDeadline = 600
)

func (s *service) workloadName(w configs.Workload) string { return s.dashed(s.decl.Name, w.Name) }

// workloads adds what runs all the time, and returns the addresses.
func (s *service) workloads(after []addrs.Object) []addrs.Object {
	var out []addrs.Object
	for _, w := range s.decl.Workloads {
		name := s.workloadName(w)
		t := s.newPod(name, w.Pod, w.Role, w.Claims...)
		o := s.object(s.workload(w, name, t), slices.Concat(t.dependsOn, after, s.rolledOut(w.After), s.restrainedBy(&w.Pod))...)
		o.From(workloadSource(s.decl, w))
		o.Lifecycle = lifecycleOf(w.Lifecycle)
		o.Deferred = t.deferred
		o.Timeout = w.Timeout
		o.ScaleDown = w.ScaleDown
		if w.Loss != "" {
			o.Holds, o.Loss = fmt.Sprintf("what others need (%s)", w.Loss), w.Loss
		}
		s.add(o)
		out = append(out, o.Address)
		if w.Replicas > 1 && w.Kind != "DaemonSet" {
			s.add(s.disruptionBudget(name))
		}
	}
	return out
}

// workloadSource is the user's line, not the catalogue's: that is where an
// operator can change something.
func workloadSource(decl *configs.Service, w configs.Workload) string {
	if w.Range.Filename == "" {
		return source(decl.Range)
	}
	return source(w.Range)
}

func (s *service) workload(w configs.Workload, name string, t *podTemplate) applyConfiguration {
	spec := t.spec(s.serving(w, t))
	s.spread(w, name, spec)
	selector := metav1.LabelSelector().WithMatchLabels(s.selector(name))
	template := t.template(spec)
	switch w.Kind {
	case "StatefulSet":
		return appsv1.StatefulSet(name, "").WithLabels(t.podLabels()).WithAnnotations(notes(w)).WithSpec(s.statefulSet(w, name).
			WithSelector(selector).WithTemplate(template))
	case "DaemonSet":
		return appsv1.DaemonSet(name, "").WithLabels(t.podLabels()).WithAnnotations(notes(w)).WithSpec(appsv1.DaemonSetSpec().
			WithSelector(selector).WithTemplate(template).
			WithRevisionHistoryLimit(revisionHistory).
			WithUpdateStrategy(daemonSetUpdate(w)))
	default:
		return appsv1.Deployment(name, "").WithLabels(t.podLabels()).WithSpec(appsv1.DeploymentSpec().
			WithReplicas(int32(w.Replicas)).
			WithSelector(selector).WithTemplate(template).
			WithRevisionHistoryLimit(revisionHistory).
			WithProgressDeadlineSeconds(int32(max(progressDeadline, w.Timeout))).
			WithStrategy(appsv1.DeploymentStrategy().
				WithType(appsapi.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(rolling(w))))
	}
}

// serving is the main container of a workload, with its ports and probes.
func (s *service) serving(w configs.Workload, t *podTemplate) *corev1.ContainerApplyConfiguration {
	c := t.main(w.Name)
	c.WithPorts(t.containerPorts(mainPorts(w))...)
	if w.Drain > 0 {
		// The process hears of the end only after the sleep: until then it serves
		// what nodes that have not heard of it yet still send.
		c.WithLifecycle(corev1.Lifecycle().WithPreStop(corev1.LifecycleHandler().
			WithSleep(corev1.SleepAction().WithSeconds(int64(w.Drain)))))
	}
	c.ReadinessProbe = t.probe(w.Ready)
	c.LivenessProbe = t.probe(w.Live)
	c.StartupProbe = t.probe(w.Startup)
	return c
}

// ports are the declared ports that a workload listens on.
func (s *service) ports(w configs.Workload) []configs.Port { return s.portsNamed(w.Pod.Ports) }

func (s *service) portsNamed(names []string) []configs.Port {
	var out []configs.Port
	for _, name := range names {
		for _, p := range s.decl.Ports {
			if p.Name == name {
				out = append(out, p)
			}
		}
	}
	return out
}

func (s *service) statefulSet(w configs.Workload, name string) *appsv1.StatefulSetSpecApplyConfiguration {
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
		spec.WithVolumeClaimTemplates(s.claim(claim))
	}
	return spec
}

// claim is the volume of each replica. Its labels are how a destroy finds the
// volumes that a StatefulSet leaves behind.
func (s *service) claim(c configs.Claim) *corev1.PersistentVolumeClaimApplyConfiguration {
	spec := corev1.PersistentVolumeClaimSpec().
		WithAccessModes(v1.ReadWriteOnce).
		WithVolumeMode(v1.PersistentVolumeFilesystem).
		WithResources(corev1.VolumeResourceRequirements().
			WithRequests(quantities(map[string]string{string(v1.ResourceStorage): c.Size})))
	if c.StorageClass != "" {
		spec.WithStorageClassName(c.StorageClass)
	}
	claim := corev1.PersistentVolumeClaim(c.Name, "").
		WithLabels(s.labels(s.decl.Name)).
		WithSpec(spec)
	claim.Namespace = nil // it is the StatefulSet's
	return claim
}

// disruptionBudget lets node maintenance take one replica at a time.
func (s *service) disruptionBudget(name string) providers.Object {
	return s.object(policyv1.PodDisruptionBudget(name, "").WithSpec(policyv1.PodDisruptionBudgetSpec().
		WithMaxUnavailable(intstr.FromInt32(1)).
		WithUnhealthyPodEvictionPolicy(policyapi.AlwaysAllow).
		WithSelector(metav1.LabelSelector().WithMatchLabels(s.selector(name)))))
}
