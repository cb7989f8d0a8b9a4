package smoke

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// jsonFormat is the version of the JSON. A new minor version only adds keys.
const jsonFormat = "1.0"

type (
	reportJSON struct {
		Format   string      `json:"format_version"`
		Cloud    string      `json:"cloud"`
		Keystone string      `json:"keystone_url"`
		Began    time.Time   `json:"began"`
		Clean    bool        `json:"clean"`
		Stopped  bool        `json:"interrupted"`
		OK       int         `json:"ok_count"`
		Failed   int         `json:"failed_count"`
		Skipped  int         `json:"skipped_count"`
		Checks   []checkJSON `json:"checks"`
		Causes   []string    `json:"causes"`
		Left     []string    `json:"left_behind"`
	}
	checkJSON struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Result      Outcome  `json:"result"`
		Seconds     float64  `json:"seconds"`
		Problem     string   `json:"problem,omitempty"`
		Request     *Request `json:"request,omitempty"`
		Next        string   `json:"next,omitempty"`
	}
)

// JSON writes the report as JSON.
func (r *Report) JSON(out io.Writer) error {
	doc := reportJSON{
		Format: jsonFormat, Cloud: r.Cloud, Keystone: r.Keystone, Began: r.Began.UTC(), Clean: r.Clean(), Stopped: r.Interrupted, OK: r.Count(OK), Failed: r.Count(Failed), Skipped: r.Count(Skipped),
		Checks: []checkJSON{}, Causes: append([]string{}, r.Causes...), Left: append([]string{}, r.Left...),
	}
	for _, result := range r.Results {
		doc.Checks = append(doc.Checks, checkJSON{result.Check.Name, result.Check.Description, result.Outcome, seconds(result.Took), result.Problem, result.Request, result.Next})
	}
	return foreign.JSON(out, doc, "  ")
}

// seconds returns a duration in seconds, to the millisecond.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// MetricsBegin is the beginning of each text of Metrics.
const MetricsBegin = "# HELP kolla_check_"

// Metrics returns the metrics of a run in the text format of Prometheus. Checks that were skipped have only that.
func (r *Report) Metrics() ([]byte, error) {
	registry := prometheus.NewRegistry()
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kolla_check_" + name, Help: help}, append([]string{"cloud"}, labels...))
		registry.MustRegister(g)
		return g
	}
	good := gauge("ok", "Whether the check of the cloud from outside succeeded: 1 or 0.", "check")
	took := gauge("seconds", "How long the check took.", "check")
	skipped := gauge("skipped", "Whether the check was skipped: 1 or 0. Checks of services that are not declared or not exposed, and those of -skip, are not there.", "check")
	for _, result := range r.Results {
		if result.Unasked {
			continue
		}
		skipped.WithLabelValues(r.Cloud, result.Check.Name).Set(number(result.Outcome == Skipped))
		if result.Outcome == Skipped {
			continue
		}
		good.WithLabelValues(r.Cloud, result.Check.Name).Set(number(result.Outcome == OK))
		took.WithLabelValues(r.Cloud, result.Check.Name).Set(seconds(result.Took))
	}
	gauge("left_behind", "Projects of checks that could not be removed.").WithLabelValues(r.Cloud).Set(float64(len(r.Left)))
	gauge("timestamp_seconds", "When the last run of the checks began.").WithLabelValues(r.Cloud).Set(float64(r.Began.Unix()))
	families, err := registry.Gather()
	var text bytes.Buffer
	for _, family := range families {
		_, written := expfmt.MetricFamilyToText(&text, family)
		err = errors.Join(err, written)
	}
	return text.Bytes(), err
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
