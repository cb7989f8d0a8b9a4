package drift

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MetricsBegin is the beginning of each text of Metrics and FailedMetrics.
const MetricsBegin = "# HELP kolla_drift_"

// ContentType is the media type of the metrics.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// gauge is a metric of the Prometheus text format, which is also valid as OpenMetrics.
type gauge struct{ name, help string }

var (
	gaugeObjects     = gauge{"kolla_drift_objects", "Objects that were changed outside of kolla."}
	gaugeFields      = gauge{"kolla_drift_fields", "Fields that were changed outside of kolla. A deleted object counts as one."}
	gaugeNotCompared = gauge{"kolla_drift_not_compared_objects", "Objects that could not be compared."}
	gaugeDeclared    = gauge{"kolla_drift_declared_objects", "Objects that kolla looked for."}
	gaugePending     = gauge{"kolla_drift_pending_changes", "Objects that the configuration changes and that were not applied yet."}
	gaugeOldest      = gauge{"kolla_drift_oldest_timestamp_seconds", "When the oldest drift was first seen. There is none without drift."}
	gaugeCertificate = gauge{"kolla_certificate_expiration_timestamp_seconds", "When the certificate in a Secret of the cloud ends."}
	gaugeSuccess     = gauge{"kolla_drift_last_success_timestamp_seconds", "When kolla last compared the cloud with the cluster."}
	gaugeDuration    = gauge{"kolla_drift_duration_seconds", "How long the last comparison took."}
	gaugeRequests    = gauge{"kolla_drift_requests", "Requests of the last comparison to the API server."}
	gaugeFailed      = gauge{"kolla_drift_failed", "Whether the last comparison failed: 1 or 0. After a failure the other metrics are those of the last success."}
)

// metrics collects a text.
type metrics struct {
	bytes.Buffer
	cloud string
}

// head begins a gauge.
func (m *metrics) head(g gauge) {
	fmt.Fprintf(m, "# HELP %s %s\n# TYPE %s gauge\n", g.name, g.help, g.name)
}

// whole writes a gauge of the whole cloud.
func (m *metrics) whole(g gauge, value float64) {
	m.head(g)
	fmt.Fprintf(m, "%s{cloud=%s} %s\n", g.name, label(m.cloud), number(value))
}

// byService writes a gauge with a sample for each service, even if it is zero.
func (m *metrics) byService(g gauge, services []string, values map[string]int) {
	m.head(g)
	for _, service := range services {
		fmt.Fprintf(m, "%s{cloud=%s,service=%s} %d\n", g.name, label(m.cloud), label(service), values[service])
	}
}

// label quotes a label's value.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\uFFFD")) + `"`
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// seconds formats a time as seconds since 1970, to the millisecond.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// Metrics returns the metrics of a successful look.
func Metrics(look *Look) []byte {
	fields, uncompared := map[string]int{}, map[string]int{}
	for _, f := range look.Fields {
		fields[Service(f.Address)]++
	}
	for _, n := range look.NotCompared {
		uncompared[Service(n.Address)]++
	}
	m := metrics{cloud: look.Cloud}
	m.byService(gaugeObjects, look.Services, look.Objects())
	m.byService(gaugeFields, look.Services, fields)
	m.byService(gaugeNotCompared, look.Services, uncompared)
	m.whole(gaugeDeclared, float64(look.Declared))
	m.whole(gaugePending, float64(look.Pending))
	if oldest := look.Oldest(); !oldest.IsZero() {
		m.whole(gaugeOldest, seconds(oldest))
	}
	if len(look.Certificates) > 0 {
		m.head(gaugeCertificate)
	}
	for _, c := range look.Certificates {
		fmt.Fprintf(&m, "%s{cloud=%s,namespace=%s,secret=%s} %s\n", gaugeCertificate.name, label(m.cloud), label(c.Namespace), label(c.Secret), number(seconds(c.Ends)))
	}
	m.whole(gaugeSuccess, seconds(look.At))
	m.whole(gaugeDuration, look.Took.Round(time.Microsecond).Seconds())
	m.whole(gaugeRequests, float64(look.Requests))
	m.whole(gaugeFailed, 0)
	m.WriteString("# EOF\n")
	return m.Bytes()
}

// Failure returns the metric that a failed look sets.
func Failure(cloud string) []byte {
	m := metrics{cloud: cloud}
	m.whole(gaugeFailed, 1)
	return m.Bytes()
}

// FailedMetrics returns the metrics after a failed look: the metrics of the last success, from
// former, and the failure. Without former metrics, looked is the time of the last success; zero:
// the time is unknown.
func FailedMetrics(former []byte, cloud string, looked time.Time) []byte {
	m := metrics{cloud: cloud}
	for line := range strings.Lines(string(former)) {
		words := strings.Fields(line)
		ours := strings.HasPrefix(line, gaugeFailed.name) || len(words) > 2 && words[0] == "#" && words[2] == gaugeFailed.name
		if !ours && strings.TrimSpace(line) != "# EOF" {
			m.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	if m.Len() == 0 && !looked.IsZero() {
		m.whole(gaugeSuccess, seconds(looked))
	}
	m.Write(Failure(cloud))
	m.WriteString("# EOF\n")
	return m.Bytes()
}
