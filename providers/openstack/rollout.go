package openstack

import (
	"cmp"
	"encoding/json"

	appsapi "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// rolledOut are the workloads of the service that another one waits for.
func (s *service) rolledOut(names []string) []addrs.Object {
	var out []addrs.Object
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

func nothing(n intstr.IntOrString) bool { return n.String() == "0" || n.String() == "0%" }

func daemonSetUpdate(w configs.Workload) *appsv1.DaemonSetUpdateStrategyApplyConfiguration {
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

// notes are the annotations of a StatefulSet or DaemonSet: how many of its pods may be
// missing while somebody has them replaced, and what is run in them before it goes.
func notes(w configs.Workload) map[string]string {
	out := map[string]string{}
	if w.Update == "on-delete" && w.MaxUnavailable != "" {
		out[providers.AnnotationMaxUnavailable] = w.MaxUnavailable
	}
	for annotation, c := range map[string]*configs.PodCommand{providers.AnnotationCarries: w.Carries, providers.AnnotationLeave: w.Leave} {
		if c == nil {
			continue
		}
		text, err := json.Marshal(providers.PodCommand{What: c.What, Container: cmp.Or(c.Container, w.Name), Command: c.Command, Seconds: c.Timeout})
		if err != nil {
			panic(err) // strings and numbers only
		}
		out[annotation] = string(text)
	}
	return out
}
