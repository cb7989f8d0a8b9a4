package openstack

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// place says on which nodes the pod may run, and whom it makes room for.
func (t *podTemplate) place(spec *corev1.PodSpecApplyConfiguration) {
	var tolerations []configs.Toleration
	for _, role := range t.config.Roles {
		if role.Name == t.role {
			spec.WithNodeSelector(role.Labels)
			tolerations = tolerationsOf(role.Tolerated())
		}
	}
	for _, toleration := range t.pod.Tolerations {
		if !slices.Contains(tolerations, toleration) {
			tolerations = append(tolerations, toleration)
		}
	}
	for _, toleration := range tolerations {
		spec.WithTolerations(tolerated(toleration))
	}
	if t.pod.Priority != "" {
		spec.WithPriorityClassName(t.pod.Priority)
	}
}

// tolerationsOf are those that taints need.
func tolerationsOf(taints []configs.Taint) []configs.Toleration {
	var out []configs.Toleration
	for _, t := range taints {
		toleration := configs.Toleration{Key: t.Key, Operator: "Exists", Effect: t.Effect}
		if t.Value != "" {
			toleration.Operator, toleration.Value = "Equal", t.Value
		}
		out = append(out, toleration)
	}
	return out
}

func tolerated(t configs.Toleration) *corev1.TolerationApplyConfiguration {
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
func (s *service) spread(w configs.Workload, name string, spec *corev1.PodSpecApplyConfiguration) {
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
