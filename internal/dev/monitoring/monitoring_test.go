package monitoring

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/util/teststorage"
)

const (
	sampleFile    = "testdata/kolla_prod.prom"
	rulesFile     = "../../../examples/drift/prometheus/kolla-drift.rules.yml"
	dashboardFile = "../../../examples/drift/grafana/kolla-drift.json"
)

var (
	logger = promslog.NewNopLogger()
	prom   = parser.NewParser(parser.Options{})
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metrics returns the names of kolla drift's metrics.
func metrics(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (\S+) gauge$`).FindAllStringSubmatch(read(t, sampleFile), -1) {
		names = append(names, match[1])
	}
	return names
}

// TestOpenMetrics parses texts of kolla drift with Prometheus's parser of OpenMetrics: one with
// special characters, one after a failure, and the sample.
func TestOpenMetrics(t *testing.T) {
	texts, err := filepath.Glob("../../present/drift/testdata/*.prom")
	if err != nil || len(texts) != 2 {
		t.Fatalf("found %v: %v", texts, err)
	}
	known := append(metrics(t), "kolla_certificate_expiration_timestamp_seconds") // which the sample does not have
	for _, name := range append(texts, sampleFile) {
		p := textparse.NewOpenMetricsParser([]byte(read(t, name)), labels.NewSymbolTable())
		samples := 0
		entry, err := p.Next()
		for ; err == nil; entry, err = p.Next() {
			switch entry {
			case textparse.EntryType:
				if family, kind := p.Type(); kind != model.MetricTypeGauge || !slices.Contains(known, string(family)) {
					t.Errorf("%s: %s is a %s", name, family, kind)
				}
			case textparse.EntrySeries:
				var of labels.Labels
				p.Labels(&of)
				if samples++; of.Get("cloud") == "" {
					t.Errorf("%s: %s is of no cloud", name, of)
				}
			}
		}
		if !errors.Is(err, io.EOF) || samples < len(known) {
			t.Errorf("%s has %d samples: %v", name, samples, err)
		}
	}
}

// used returns the metrics that an expression reads.
func used(t *testing.T, text string) []string {
	t.Helper()
	expr, err := prom.ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var names []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names = append(names, selector.Name)
		}
		return nil
	})
	return names
}

// alerts reads the rules. It checks that all have a summary, a description and a severity, and read
// only metrics of kolla drift.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, prom, logger)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	known, out := metrics(t), map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			out[rule.Alert] = rule
			if rule.Alert == "" || rule.For == 0 || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("the rule %+v is not complete", rule)
			}
			for _, name := range used(t, rule.Expr) {
				if !slices.Contains(known, name) {
					t.Errorf("%s reads %s, which kolla drift does not write", rule.Alert, name)
				}
			}
		}
	}
	return out
}

// TestAlerts runs each alert over series of samples, one every five minutes. An alert fires
// when it should, with the right text, and not earlier, and ends with its reason.
func TestAlerts(t *testing.T) {
	all := alerts(t)
	cleared := map[string]bool{}
	for _, test := range []struct {
		name, alert, series string
		quiet, fires        time.Duration // fires is zero if the alert never fires
		summary             string
	}{
		{
			"drift", "KollaDrift", `kolla_drift_fields{cloud="prod",service="glance",instance="a"} 0 2x15 | 0
			kolla_drift_fields{cloud="prod",service="keystone",instance="a"} 0x16 | 0`,
			time.Hour, 70 * time.Minute, "glance of cloud prod was changed outside of kolla",
		},
		{"drift that goes", "KollaDrift", `kolla_drift_fields{cloud="prod",service="glance"} 2x8 0x30`, 2 * time.Hour, 0, ""},
		{
			"not compared", "KollaDriftNotCompared", `kolla_drift_not_compared_objects{cloud="prod",service="glance"} 1x14 | 0`,
			55 * time.Minute, 65 * time.Minute, "glance of cloud prod has objects that kolla cannot compare",
		},
		{"failed", "KollaDriftFailed", `kolla_drift_failed{cloud="prod"} 0x2 1x10 | 0`, 40 * time.Minute, 50 * time.Minute, "kolla cannot look for drift of cloud prod"},
		{"failed once", "KollaDriftFailed", `kolla_drift_failed{cloud="prod"} 0x2 1x3 0x30`, 2 * time.Hour, 0, ""},
		{
			"stale", "KollaDriftStale", `kolla_drift_last_success_timestamp_seconds{cloud="prod"} 0x16 | 5100+300`,
			time.Hour, 75 * time.Minute, "kolla has not looked for drift of cloud prod for 1h 15m 0s",
		},
		{"fresh", "KollaDriftStale", `kolla_drift_last_success_timestamp_seconds{cloud="prod"} 0+300x30`, 2 * time.Hour, 0, ""},
		{
			"gone", "KollaDriftGone", `kolla_drift_last_success_timestamp_seconds{cloud="prod"} 0x2 _x15 | 0
			kolla_drift_last_success_timestamp_seconds{cloud="test"} 0x30`,
			70 * time.Minute, 80 * time.Minute, "the metrics of kolla drift of cloud prod are gone",
		},
		{"unknown", "KollaDriftUnknown", `up 1x30
			kolla_drift_last_success_timestamp_seconds{cloud="prod"} _x15 | 0`, 55 * time.Minute, 65 * time.Minute, "No cloud has metrics of kolla drift"},
		{"known", "KollaDriftUnknown", `kolla_drift_last_success_timestamp_seconds{cloud="prod"} 0x30`, 2 * time.Hour, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.series, goesOn) {
				cleared[test.alert] = true
			}
			evaluate(t, all[test.alert], 5*time.Minute, test.series, test.quiet, test.fires, test.summary)
		})
	}
	if got, want := slices.Sorted(maps.Keys(cleared)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("tested until they end are %v, and there are %v", got, want)
	}
}

// goesOn stands in a series before the value that it has for the rest of the time, when the reason of an alert is gone.
const goesOn = " | "

// rest is enough samples for the rest of the time.
const rest = "x300"

// evaluate runs an alert over series of samples, one each step, for two hours. It must not fire up to quiet, and
// must fire once after fires, which is zero if it never does. If a series goes on, it must be over an hour after that.
func evaluate(t *testing.T, rule rulefmt.Rule, step time.Duration, series string, quiet, fires time.Duration, summary string) {
	t.Helper()
	expr, err := prom.ParseExpr(rule.Expr)
	if err != nil {
		t.Fatal(err)
	}
	alert := rules.NewAlertingRule(rule.Alert, expr, time.Duration(rule.For), 0, labels.FromMap(rule.Labels), labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, logger)
	storage := promqltest.LoadedStorage(t, "load "+model.Duration(step).String()+"\n"+indented(series))
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1000)
	end := 2 * time.Hour
	if strings.Contains(series, goesOn) {
		end = fires + time.Hour
	}
	for at := time.Duration(0); at <= end; at += step {
		if _, err := alert.Eval(t.Context(), 0, time.Unix(0, 0).Add(at), rules.EngineQueryFunc(engine, storage), &url.URL{}, 0); err != nil {
			t.Fatal(err)
		}
		var firing []*rules.Alert
		for _, a := range alert.ActiveAlerts() {
			if a.State == rules.StateFiring {
				firing = append(firing, a)
			}
		}
		switch {
		case at <= quiet && len(firing) > 0:
			t.Fatalf("it fires after %s: %+v", at, firing[0])
		case at == fires && at > 0 && (len(firing) != 1 || firing[0].Annotations.Get("summary") != summary):
			t.Fatalf("after %s these fire: %+v", at, firing)
		case at == end && strings.Contains(series, goesOn) && len(alert.ActiveAlerts()) > 0:
			t.Fatalf("after %s its reason is gone, and it is still there: %+v", at, alert.ActiveAlerts()[0])
		}
	}
}

func indented(series string) string {
	var out strings.Builder
	for line := range strings.Lines(series) {
		line = strings.TrimSpace(line)
		if before, after, found := strings.Cut(line, goesOn); found {
			line = before + " " + after + rest
		}
		out.WriteString("  " + line + "\n")
	}
	return out.String()
}

// dashboard contains the parts of a Grafana dashboard that the tests check.
type dashboard struct {
	Title, UID string
	Templating struct {
		List []struct {
			Name  string
			Query any
		}
	}
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr string }
	}
}

// TestDashboard has Prometheus's scraper read a file of kolla drift. Then it runs the queries
// of the dashboard: each has a result, and together they show all metrics.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatal(err)
	}
	storage := scraped(t)
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1000)
	shown, ids := map[string]bool{}, map[int]bool{}
	for _, panel := range d.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.GridPos.W == 0 || panel.GridPos.X+panel.GridPos.W > 24 || len(panel.Targets) == 0 {
			t.Errorf("the panel %+v is not complete", panel)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			text := strings.ReplaceAll(target.Expr, "$cloud", ".*") // as Grafana does if all clouds are selected
			for _, name := range used(t, text) {
				shown[name] = true
			}
			query, err := engine.NewInstantQuery(t.Context(), storage, nil, text, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			result := query.Exec(t.Context())
			if vector, err := result.Vector(); err != nil || len(vector) == 0 {
				t.Errorf("%s has no result: %v %v", target.Expr, result, err)
			}
			query.Close()
		}
	}
	if got, want := slices.Sorted(maps.Keys(shown)), slices.Sorted(slices.Values(metrics(t))); !slices.Equal(got, want) {
		t.Errorf("the dashboard shows %v, and there are %v", got, want)
	}
	if list := d.Templating.List; len(list) != 2 || list[0].Name != "datasource" || list[1].Name != "cloud" {
		t.Errorf("the variables are %+v", list)
	}
}

// scraped serves the sample on loopback, like node_exporter serves a file. It returns the storage
// of a Prometheus that has scraped it.
func scraped(t *testing.T) *teststorage.TestStorage {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write([]byte(read(t, sampleFile)))
	}))
	t.Cleanup(server.Close)
	storage := teststorage.New(t)
	manager, err := scrape.NewManager(&scrape.Options{DiscoveryReloadInterval: model.Duration(10 * time.Millisecond)}, logger, nil, storage, nil, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load("global: {scrape_interval: 100ms, scrape_timeout: 100ms}\nscrape_configs: [{job_name: node}]", logger)
	if err != nil {
		t.Fatal(err)
	}
	if err := manager.ApplyConfig(settings); err != nil {
		t.Fatal(err)
	}
	targets := make(chan map[string][]*targetgroup.Group)
	go func() { _ = manager.Run(targets) }()
	t.Cleanup(manager.Stop)
	address := strings.TrimPrefix(server.URL, "http://")
	targets <- map[string][]*targetgroup.Group{"node": {{Source: "0", Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(address)}}}}}

	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1000)
	for range 300 {
		if firstSample(t, engine, storage) {
			return storage
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("Prometheus has not read the metrics within 30 seconds")
	return nil
}

func firstSample(t *testing.T, engine *promql.Engine, storage *teststorage.TestStorage) bool {
	t.Helper()
	query, err := engine.NewInstantQuery(t.Context(), storage, nil, "kolla_drift_failed", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	vector, err := query.Exec(t.Context()).Vector()
	return err == nil && len(vector) > 0
}
