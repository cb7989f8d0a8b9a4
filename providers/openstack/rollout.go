package openstack

import (
	appsapi "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// rolledOut are the workloads of the service that another one waits for.
func (s *service) rolledOut(names []string) []lang.Address {
	var out []lang.Address
	for _, w := range s.decl.Workloads {
		for _, name := range names {
			if w.Name == name {
				out = append(out, s.address(w.Kind, s.workloadName(w)))
			}
		}
	}
	return out
}

// rolling starts a new pod before an old one ends, so that there are never too few;
// where a new one may need the place of an old one, that one ends first.
func rolling(w lang.Workload) *appsv1.RollingUpdateDeploymentApplyConfiguration {
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

func nothing(n intstr.IntOrString) bool { return n.String() == "0" || n.String() == "0%" }

func daemonSetUpdate(w lang.Workload) *appsv1.DaemonSetUpdateStrategyApplyConfiguration {
	if w.Update == "on-delete" {
		return appsv1.DaemonSetUpdateStrategy().WithType(appsapi.OnDeleteDaemonSetStrategyType)
	}
	strategy := appsv1.DaemonSetUpdateStrategy().WithType(appsapi.RollingUpdateDaemonSetStrategyType)
	if w.MaxUnavailable == "" && w.Surge == "" {
		return strategy
	}
	// Kubernetes takes one of the two.
	update := appsv1.RollingUpdateDaemonSet()
	if w.Surge != "" && !nothing(intstr.Parse(w.Surge)) {
		update.WithMaxUnavailable(intstr.FromInt32(0)).WithMaxSurge(intstr.Parse(w.Surge))
	} else if w.MaxUnavailable != "" {
		update.WithMaxUnavailable(intstr.Parse(w.MaxUnavailable))
	}
	return strategy.WithRollingUpdate(update)
}

// onRequest tells of how many pods may be missing while somebody has them replaced.
func onRequest(w lang.Workload) map[string]string {
	if w.Update != "on-delete" || w.MaxUnavailable == "" {
		return nil
	}
	return map[string]string{providers.AnnotationMaxUnavailable: w.MaxUnavailable}
}
