package realcloud_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMetrics turns metrics on in a cloud that runs, with a Prometheus of its own. The Prometheus and the exporter
// of MariaDB are those of Debian. Debian has no exporter for Memcached.
func TestMetrics(t *testing.T) {
	c := newCloud(t, "real-keystone", 3)
	take(t, c, []step{
		{"apply", func(t *testing.T, c *cloud) { c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m") }},
		{"turned on", metricsAreTurnedOn},
		{"alert", alertFiresAndClears},
		{"cost", metricsCostLittle},
		{"turned off", metricsAreTurnedOff},
	})
}

const (
	withoutMetrics = "  release  = \"2025.1\"\n"
	withMetrics    = withoutMetrics + "\n  metrics {\n    mode = \"services\"\n  }\n"
	ownPrometheus  = "\nservice \"prometheus\" {\n  role     = role.control\n  interval = 5\n  optional = [\"memcached-exporter-metrics\"]\n}\n"
)

// sample is one result of a query.
type sample struct {
	Metric map[string]string
	Value  []any // the time and the value
}

func (s sample) value(t *testing.T) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// query asks Prometheus, through the API server.
func (c *cloud) query(t *testing.T, text string) ([]sample, error) {
	t.Helper()
	r := finish(t, c.mayFail(t, "get", "--raw", "/api/v1/namespaces/openstack/services/prometheus:9090/proxy/api/v1/query?query="+url.QueryEscape(text)))
	var answer struct{ Data struct{ Result []sample } }
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", r.out, err)
	}
	return answer.Data.Result, nil
}

// awaitSamples waits until a query has a number of results.
func (c *cloud) awaitSamples(t *testing.T, text string, want int) (found []sample) {
	t.Helper()
	eventually(t, func() (err error) {
		if found, err = c.query(t, text); err == nil && len(found) != want {
			err = fmt.Errorf("%s has the results %v, want %d", text, found, want)
		}
		return err
	})
	return found
}

// started returns when each pod of the services that were there before started.
func (c *cloud) started(t *testing.T) string {
	t.Helper()
	return c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/component in (mariadb-server,rabbitmq-server,memcached-server,keystone-api)",
		"-o", `jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}{"\n"}{end}`)
}

// metricsAreTurnedOn checks that all targets answer, and that nothing restarted.
func metricsAreTurnedOn(t *testing.T, c *cloud) {
	before := c.started(t)
	c.edit(t, withoutMetrics, withMetrics)
	c.edit(t, "service \"memcached\" {\n", "service \"memcached\" {\n  workload \"exporter\" {\n    enabled = false\n  }\n")
	c.write(t, "prometheus.hcl", ownPrometheus)
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m")
	if now := c.started(t); now != before {
		t.Errorf("pods restarted:\n%s\nnow:\n%s", before, now)
	}
	c.awaitSamples(t, "up == 1", 3) // with Prometheus itself
	c.awaitSamples(t, "mysql_up == 1", 1)
	c.awaitSamples(t, "rabbitmq_connections", 1)
	c.awaitSamples(t, `ALERTS{alertstate="firing"}`, 0)
	c.noChanges(t)
}

// alertFiresAndClears stops the database.
func alertFiresAndClears(t *testing.T, c *cloud) {
	const alert = `ALERTS{alertname="KollaDatabaseDown",alertstate="firing"}`
	began := time.Now()
	c.kubectl(t, "scale", "statefulset/mariadb-server", "--replicas=0")
	c.awaitSamples(t, alert, 1)
	measured(t, "an alert fires after the database was stopped", time.Since(began).Round(time.Second))
	began = time.Now()
	c.kubectl(t, "scale", "statefulset/mariadb-server", "--replicas=1")
	c.awaitSamples(t, alert, 0)
	measured(t, "the alert clears after the database was started", time.Since(began).Round(time.Second))
}

// metricsCostLittle prints how much is measured, and what that costs.
func metricsCostLittle(t *testing.T, c *cloud) {
	for name, text := range map[string]string{
		"samples of a scrape":            "sum by (job) (scrape_samples_scraped)",
		"seconds of a scrape":            "max by (job) (scrape_duration_seconds)",
		"MB of memory for metrics":       "sum by (job) (process_resident_memory_bytes{job!~\"rabbitmq.*\"}) / 1e6",
		"processors in use for metrics":  "sum by (job) (rate(process_cpu_seconds_total[1m]))",
		"series in the memory in all":    "prometheus_tsdb_head_series",
		"bytes of samples on the volume": "prometheus_tsdb_wal_storage_size_bytes",
	} {
		found, err := c.query(t, text)
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %v, %v", text, found, err)
		}
		for _, s := range found {
			measured(t, strings.TrimSpace(name+" "+s.Metric["job"]), fmt.Sprintf("%.3g", s.value(t)))
		}
	}
}

// metricsAreTurnedOff checks that nothing of metrics is left, and that nothing restarted.
func metricsAreTurnedOff(t *testing.T, c *cloud) {
	before := c.started(t)
	c.edit(t, withMetrics, withoutMetrics)
	c.edit(t, "  workload \"exporter\" {\n    enabled = false\n  }\n", "")
	c.write(t, "prometheus.hcl", "")
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m", "-delete-data=*")
	if now := c.started(t); now != before {
		t.Errorf("pods restarted:\n%s\nnow:\n%s", before, now)
	}
	eventually(t, func() error { // pods take a while to stop
		if left := c.kubectl(t, "get", "services,pods", "-o", "name"); strings.Contains(left, "exporter") || strings.Contains(left, "-metrics") || strings.Contains(left, "prometheus") {
			return fmt.Errorf("metrics left some of these behind:\n%s", left)
		}
		return nil
	})
	c.noChanges(t)
}
