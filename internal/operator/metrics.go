package operator

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// These metrics describe Clouds. The label "cloud" is NAMESPACE/NAME. controller-runtime adds its own metrics.
var (
	readyMetric   = gauge("kolla_cloud_ready", "1 if the cloud is as declared and its services are ready.")
	driftMetric   = gauge("kolla_cloud_drifted_objects", "Objects that others changed since the last apply.")
	waitingMetric = gauge("kolla_cloud_plan_waits", "1 if a plan waits for approval.")
	stalledMetric = gauge("kolla_cloud_stalled", "1 if nothing goes on until a person changes something.")
	applyMetric   = gauge("kolla_cloud_last_apply_timestamp_seconds", "When the last apply ended.")
	failedMetric  = gauge("kolla_cloud_last_apply_failed", "1 if the last apply was not complete.")
	allMetrics    = []*prometheus.GaugeVec{readyMetric, driftMetric, waitingMetric, stalledMetric, applyMetric, failedMetric}
)

func gauge(name, help string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"cloud"})
	metrics.Registry.MustRegister(g)
	return g
}

// recordMetrics sets the metrics of a Cloud from its status.
func recordMetrics(cloud *v1alpha1.Cloud) {
	key, s := keyOf(cloud), cloud.Status
	set := func(g *prometheus.GaugeVec, value float64) { g.WithLabelValues(key).Set(value) }
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	set(readyMetric, is(meta.IsStatusConditionTrue(s.Conditions, v1alpha1.Ready)))
	set(stalledMetric, is(meta.IsStatusConditionTrue(s.Conditions, v1alpha1.Stalled)))
	set(waitingMetric, is(s.Plan != nil))
	drifted := 0.0
	if s.Drift != nil {
		drifted = float64(s.Drift.Objects)
	}
	set(driftMetric, drifted)
	if s.LastApply != nil {
		set(applyMetric, float64(s.LastApply.Ended.Unix()))
		set(failedMetric, is(s.LastApply.Result != "done"))
	}
}

func forgetMetrics(key string) {
	for _, g := range allMetrics {
		g.DeleteLabelValues(key)
	}
}
