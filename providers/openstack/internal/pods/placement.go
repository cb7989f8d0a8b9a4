package pods

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// place sets the nodes on which a pod may run, and its priority.
func place(spec *corev1.PodSpecApplyConfiguration, pod configs.Pod, roles []configs.Role, of string) {
	var tolerations []configs.Toleration
	for _, role := range roles {
		if role.Name == of {
			spec.WithNodeSelector(role.Labels)
			tolerations = tolerationsOf(role.Tolerated())
		}
	}
	for _, toleration := range pod.Tolerations {
		if !slices.Contains(tolerations, toleration) {
			tolerations = append(tolerations, toleration)
		}
	}
	for _, toleration := range tolerations {
		spec.WithTolerations(tolerated(toleration))
	}
	if pod.Priority != "" {
		spec.WithPriorityClassName(pod.Priority)
	}
}

// tolerationsOf returns the tolerations for some taints.
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
