package network

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

var podMonitors = kinds.PodMonitor.WithVersion("v1")

// podMonitor is an apply configuration for the Prometheus Operator.
type podMonitor struct {
	metav1.TypeMetaApplyConfiguration    `json:",inline"`
	*metav1.ObjectMetaApplyConfiguration `json:"metadata"`
	Spec                                 map[string]any `json:"spec"`
}

func (m podMonitor) GetAPIVersion() *string { return m.APIVersion }
func (m podMonitor) GetKind() *string       { return m.Kind }
func (m podMonitor) GetName() *string       { return m.Name }

// Metrics returns the objects by which a Prometheus finds the metrics of a service. The pods do not
// change, so that nothing restarts when metrics are turned on or off.
func Metrics(s object.Service) (out []providers.Object) {
	how := s.Cloud.Decl.Metrics
	for _, w := range s.Decl.Workloads {
		if how == nil || w.Metrics == nil {
			continue
		}
		for _, p := range s.Ports([]string{w.Metrics.Port}) {
			name := configs.MetricsService(s.Decl.Name, w.Name)
			selector := s.Selector(s.Workload(w))
			if how.Mode == configs.ScrapeMonitors {
				out = append(out, s.Object(monitor(s, name, selector, w, p)))
			} else {
				out = append(out, s.Object(discovery(name, selector, w, p)))
			}
		}
	}
	return out
}

// discovery returns the headless Service of some pods. A Prometheus sees also pods that are not ready.
func discovery(name string, selector map[string]string, w configs.Workload, p configs.Port) *corev1.ServiceApplyConfiguration {
	annotations := map[string]string{
		"prometheus.io/scrape": "true",
		"prometheus.io/port":   strconv.Itoa(p.Number),
		"prometheus.io/path":   w.Metrics.Path,
	}
	if w.Metrics.Interval > 0 {
		annotations["prometheus.io/scrape-interval"] = seconds(w.Metrics.Interval)
	}
	if w.Metrics.Timeout > 0 {
		annotations["prometheus.io/scrape-timeout"] = seconds(w.Metrics.Timeout)
	}
	return corev1.Service(name, "").
		WithAnnotations(annotations).
		WithSpec(corev1.ServiceSpec().WithSelector(selector).WithType(v1.ServiceTypeClusterIP).
			WithClusterIP(v1.ClusterIPNone).WithPublishNotReadyAddresses(true).
			WithPorts(corev1.ServicePort().WithName("metrics").WithProtocol(v1.ProtocolTCP).
				WithPort(int32(p.Number)).WithTargetPort(intstr.FromInt32(int32(p.Number)))))
}

// seconds returns a duration as Prometheus writes it.
func seconds(n int) string { return strconv.Itoa(n) + "s" }

// monitor returns the PodMonitor of some pods. The job of the metrics is the workload, as with the
// Prometheus of the catalogue. They also get the name of the node.
func monitor(s object.Service, name string, selector map[string]string, w configs.Workload, p configs.Port) podMonitor {
	relabel := []any{
		map[string]any{"targetLabel": "job", "replacement": s.Workload(w)},
		map[string]any{"targetLabel": "node", "sourceLabels": []any{"__meta_kubernetes_pod_node_name"}},
	}
	endpoint := map[string]any{"port": p.Name, "path": w.Metrics.Path, "relabelings": relabel}
	if w.Metrics.Interval > 0 {
		endpoint["interval"] = seconds(w.Metrics.Interval)
	}
	if w.Metrics.Timeout > 0 {
		endpoint["scrapeTimeout"] = seconds(w.Metrics.Timeout)
	}
	return podMonitor{
		*metav1.TypeMeta().WithAPIVersion(podMonitors.GroupVersion().String()).WithKind(podMonitors.Kind),
		metav1.ObjectMeta().WithName(name).WithLabels(s.Cloud.Decl.Metrics.Labels),
		map[string]any{
			"selector":            map[string]any{"matchLabels": selector},
			"podMetricsEndpoints": []any{endpoint},
		},
	}
}

// checkMonitors looks for the Prometheus Operator, if the cloud needs it.
func checkMonitors(config *configs.Config, list lister) (hcl.Diagnostics, error) {
	_, err := list(monitors(config))
	if !meta.IsNoMatchError(err) {
		return nil, err
	}
	if brings(config, podMonitors.GroupKind()) {
		return nil, nil
	}
	return hcl.Diagnostics{object.Error(config.Cloud.Metrics.Range, "The cluster does not have the Prometheus Operator",
		fmt.Sprintf("The mode %q needs the kind %s of %s. Install the operator first, or set the mode to %q.", configs.ScrapeMonitors, podMonitors.Kind, podMonitors.GroupVersion(), configs.ScrapeServices))}, nil
}

// usesMonitors reports whether the cloud has PodMonitors.
func usesMonitors(config *configs.Config) bool {
	return config.Cloud.Metrics != nil && config.Cloud.Metrics.Mode == configs.ScrapeMonitors
}

// monitors is the list of the PodMonitors.
func monitors(config *configs.Config) providers.Scope {
	return providers.Scope{GVK: podMonitors, Namespace: config.Cloud.Namespace}
}
