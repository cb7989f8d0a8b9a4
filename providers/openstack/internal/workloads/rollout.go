package workloads

import (
	"cmp"
	"slices"

	appsapi "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// waitsFor returns the addresses of the workloads of the same service on which a workload waits.
func waitsFor(s object.Service, w configs.Workload) []addrs.Object {
	var out []addrs.Object
	for _, other := range s.Decl.Workloads {
		if slices.Contains(w.After, other.Name) {
			out = append(out, s.Address(other.Kind, s.Workload(other)))
		}
	}
	return out
}

// rolling returns an update strategy that starts a new pod before an old one ends, so that
// there are never too few. If the new pod may need the place of an old one, the old one ends
// first.
func rolling(w configs.Workload) *appsv1.RollingUpdateDeploymentApplyConfiguration {
	unavailable, surge := intstr.FromInt32(0), intstr.FromInt32(1)
	if w.Pod.HostNetwork || w.SpreadRequired {
		unavailable, surge = surge, unavailable
	}
	if w.MaxUnavailable != "" {
		unavailable = intstr.Parse(w.MaxUnavailable)
	}
	if w.Surge != "" {
		surge = intstr.Parse(w.Surge)
	}
	if w.MaxUnavailable == "" && nothing(surge) {
		unavailable = intstr.FromInt32(1)
	}
	if w.Surge == "" && nothing(unavailable) {
		surge = intstr.FromInt32(1)
	}
	return appsv1.RollingUpdateDeployment().WithMaxUnavailable(unavailable).WithMaxSurge(surge)
}

// nothing reports whether a number or share of pods is zero.
func nothing(n intstr.IntOrString) bool { return n.String() == "0" || n.String() == "0%" }

// daemonSetUpdate returns the update strategy of a DaemonSet.
func daemonSetUpdate(w configs.Workload) *appsv1.DaemonSetUpdateStrategyApplyConfiguration {
	if w.Update == "on-delete" {
		return appsv1.DaemonSetUpdateStrategy().WithType(appsapi.OnDeleteDaemonSetStrategyType)
	}
	strategy := appsv1.DaemonSetUpdateStrategy().WithType(appsapi.RollingUpdateDaemonSetStrategyType)
	if w.MaxUnavailable == "" && w.Surge == "" {
		return strategy
	}
	// Kubernetes accepts only one of the two.
	update := appsv1.RollingUpdateDaemonSet()
	if w.Surge != "" && !nothing(intstr.Parse(w.Surge)) {
		update.WithMaxUnavailable(intstr.FromInt32(0)).WithMaxSurge(intstr.Parse(w.Surge))
	} else if w.MaxUnavailable != "" {
		update.WithMaxUnavailable(intstr.Parse(w.MaxUnavailable))
	}
	return strategy.WithRollingUpdate(update)
}

// notes returns the annotations of a StatefulSet or DaemonSet: how many pods may be missing
// while kolla replaces them on request, whether it does so first, and the commands that kolla runs in a pod before
// removing it, or to save its data, and the version of that data.
func notes(w configs.Workload) map[string]string {
	out := map[string]string{}
	if w.Update == "on-delete" && w.MaxUnavailable != "" {
		out[providers.AnnotationMaxUnavailable] = w.MaxUnavailable
	}
	if w.Update == "on-delete" && w.RolloutFirst {
		out[providers.AnnotationRolloutFirst] = "true"
	}
	for annotation, c := range map[string]*configs.PodCommand{providers.AnnotationCarries: w.Carries, providers.AnnotationLeave: w.Leave} {
		if c == nil {
			continue
		}
		out[annotation] = object.JSON(providers.PodCommand{What: c.What, Container: cmp.Or(c.Container, w.Name), Command: c.Command, Seconds: c.Timeout})
	}
	if v := w.DataVersion; v != nil {
		out[providers.AnnotationDataVersion] = object.JSON(providers.DataVersion(*v))
	}
	if b := w.Backup; b != nil {
		out[providers.AnnotationBackup] = object.JSON(providers.Backup{
			What: b.What, Container: cmp.Or(b.Container, w.Name), Save: b.Save, Stage: b.Stage, Restore: b.Restore,
			Offline: b.Offline, Mismatch: b.Mismatch,
		})
	}
	return out
}

// spread keeps the replicas of a workload on different nodes, and in different values of the
// label SpreadBy.
func spread(w configs.Workload, selector *metav1.LabelSelectorApplyConfiguration, spec *corev1.PodSpecApplyConfiguration) {
	if w.Kind == "DaemonSet" || w.Replicas < 2 {
		return
	}
	if w.SpreadRequired {
		spec.WithAffinity(corev1.Affinity().WithPodAntiAffinity(corev1.PodAntiAffinity().
			WithRequiredDuringSchedulingIgnoredDuringExecution(
				corev1.PodAffinityTerm().WithTopologyKey(cmp.Or(w.SpreadBy, v1.LabelHostname)).WithLabelSelector(selector))))
		return
	}
	for _, key := range []string{w.SpreadBy, v1.LabelHostname} {
		if key == "" {
			continue
		}
		spec.WithTopologySpreadConstraints(corev1.TopologySpreadConstraint().
			WithMaxSkew(1).
			WithTopologyKey(key).
			WithWhenUnsatisfiable(v1.ScheduleAnyway).
			WithLabelSelector(selector))
	}
}
