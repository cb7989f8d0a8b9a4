package openstack

import (
	"cmp"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang"
)

// place says on which nodes the pod may run, and whom it makes room for.
func (t *podTemplate) place(spec *corev1.PodSpecApplyConfiguration) {
	for _, role := range t.config.Roles {
		if role.Name == t.role {
			spec.WithNodeSelector(role.Labels)
		}
	}
	for _, toleration := range t.pod.Tolerations {
		spec.WithTolerations(tolerated(toleration))
	}
	if t.pod.Priority != "" {
		spec.WithPriorityClassName(t.pod.Priority)
	}
}

func tolerated(t lang.Toleration) *corev1.TolerationApplyConfiguration {
	out := corev1.Toleration().WithOperator(v1.TolerationOperator(t.Operator))
	if t.Key != "" {
		out.WithKey(t.Key)
	}
	if t.Value != "" {
		out.WithValue(t.Value)
	}
	if t.Effect != "" {
		out.WithEffect(v1.TaintEffect(t.Effect))
	}
	return out
}

// spread keeps the pods of a workload apart.
func (s *service) spread(w lang.Workload, name string, spec *corev1.PodSpecApplyConfiguration) {
	if w.Kind == "DaemonSet" || w.Replicas < 2 {
		return
	}
	selector := metav1.LabelSelector().WithMatchLabels(s.selector(name))
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
