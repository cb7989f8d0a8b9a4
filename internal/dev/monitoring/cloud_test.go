package monitoring

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/dns" // how the catalogue's Prometheus finds targets
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/scrape"
	"sigs.k8s.io/yaml"
)

const (
	catalogue   = "../../../providers/openstack/catalogue/"
	cloudAlerts = catalogue + "prometheus/alerts.yaml"
	goldenFile  = "../../../providers/openstack/testdata/metrics/services.golden.yaml"
)

// anyNamespace is in the queries of the alerts for others to replace.
const anyNamespace = `namespace=~".*"`

// exported returns the names of the metrics that the exporters of a cloud have, and Prometheus itself.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	var facts map[string][]string
	if err := yaml.UnmarshalStrict([]byte(read(t, "testdata/exporters.yaml")), &facts); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, list := range facts {
		for _, name := range list {
			names[name] = true
		}
	}
	return names
}

// cloudRules reads the alerts of the catalogue. All have texts and a section of docs/alerts.md, and read
// metrics that exist.
func cloudRules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(cloudAlerts, false, model.UTF8Validation, prom, logger)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	known, doc, out := exported(t), read(t, "../../../docs/alerts.md"), map[string]rulefmt.Rule{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			out[rule.Alert] = rule
			if rule.For == 0 || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("the rule %+v is not complete", rule)
			}
			if rule.Annotations["runbook_url"] != "docs/alerts.md#"+strings.ToLower(rule.Alert) || !strings.Contains(doc, "\n## "+rule.Alert+"\n") {
				t.Errorf("%s is not in docs/alerts.md", rule.Alert)
			}
			limited := strings.Count(rule.Expr, anyNamespace)
			for _, name := range used(t, rule.Expr) {
				if !known[name] {
					t.Errorf("%s reads %s, which no exporter has", rule.Alert, name)
				}
				if !strings.HasPrefix(name, "kolla_") && !strings.HasPrefix(name, "ceph_") { // these have the name of the cloud, or no namespace
					limited--
				}
			}
			if limited != 0 {
				t.Errorf("%s: not each metric has the matcher %s: %s", rule.Alert, anyNamespace, rule.Expr)
			}
		}
	}
	if sections := strings.Count(doc, "\n## "); sections != len(out)+1 { // TestTargetsGone has the other
		t.Errorf("docs/alerts.md has %d sections, and there are %d alerts", sections, len(out)+1)
	}
	return out
}

// TestCloudAlerts runs each alert of the catalogue over series with a sample for each minute. Each alert fires
// after its time and not earlier, and ends with its reason. Healthy series fire no alert.
func TestCloudAlerts(t *testing.T) {
	all := cloudRules(t)
	tested, silent, cleared := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, test := range []struct {
		alert, series string
		quiet, fires  time.Duration // fires is zero if the alert never fires
		summary       string
	}{
		{"KollaEndpointDown", `probe_success{probe="identity",instance="https://cloud:5000/v3"} 1 1 0x20 | 1`, 3 * time.Minute, 5 * time.Minute, "Clients outside get no answer from identity"},
		{"KollaEndpointDown", `probe_success{probe="identity"} 0 1x120`, 2 * time.Hour, 0, ""},
		{"KollaErrors", `haproxy_backend_http_responses_total{proxy="keystone.public",code="2xx",instance="a"} 0+90x60 | 5490+90
			haproxy_backend_http_responses_total{proxy="keystone.public",code="5xx",instance="a"} 0+10x60 | 600`, 10 * time.Minute, 12 * time.Minute, "keystone.public answers 10% of the requests with an error"},
		{"KollaErrors", `haproxy_backend_http_responses_total{proxy="keystone.public",code="2xx"} 0+96x120
			haproxy_backend_http_responses_total{proxy="keystone.public",code="5xx"} 0+4x120`, 2 * time.Hour, 0, ""},
		{"KollaErrors", `haproxy_backend_http_responses_total{proxy="idle",code="5xx"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaDatabaseDown", `mysql_up{job="mariadb-exporter",instance="a"} 1 0x20 | 1`, 2 * time.Minute, 3 * time.Minute, "A member of mariadb-exporter does not answer"},
		{"KollaDatabaseDown", `mysql_up{job="mariadb-exporter"} 1x120`, 2 * time.Hour, 0, ""},
		{"KollaDatabaseQuorumLost", `mysql_global_status_wsrep_cluster_status{job="mariadb-exporter",instance="a"} 1 0x20 | 1
			mysql_global_variables_wsrep_on{job="mariadb-exporter",instance="a"} 1x20 | 1`, time.Minute, 2 * time.Minute, "A member of mariadb-exporter is in no cluster with a majority"},
		// One server without a cluster.
		{"KollaDatabaseQuorumLost", `mysql_global_status_wsrep_cluster_status{job="mariadb-exporter",instance="a"} 0x120
			mysql_global_variables_wsrep_on{job="mariadb-exporter",instance="a"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaDatabaseBehind", `mysql_global_status_wsrep_local_recv_queue{job="mariadb-exporter"} 200x30 | 0`, 9 * time.Minute, 10 * time.Minute, "A member of mariadb-exporter is 200 changes behind the others"},
		{"KollaDatabaseBehind", `mysql_global_status_wsrep_local_recv_queue{job="mariadb-exporter"} 200 0x120`, 2 * time.Hour, 0, ""},
		{"KollaQueueMemberLost", `rabbitmq_unreachable_cluster_peers_count{job="rabbitmq-server",instance="a"} 0 1x20 | 0
			rabbitmq_unreachable_cluster_peers_count{job="rabbitmq-server",instance="b"} 0x20 | 0`, 2 * time.Minute, 3 * time.Minute, "Members of rabbitmq-server do not reach each other"},
		{"KollaQueueMemberLost", `rabbitmq_unreachable_cluster_peers_count{job="rabbitmq-server"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaQueueBlocked", `rabbitmq_alarms_free_disk_space_watermark{job="rabbitmq-server",instance="a"} 0 1x20 | 0
			rabbitmq_alarms_memory_used_watermark{job="rabbitmq-server",instance="a"} 0x20 | 0
			rabbitmq_alarms_file_descriptor_limit{job="rabbitmq-server",instance="a"} 0x20 | 0`, time.Minute, 2 * time.Minute, "rabbitmq-server takes no messages"},
		// RabbitMQ 4.3 has no alarm about files.
		{"KollaQueueBlocked", `rabbitmq_alarms_free_disk_space_watermark{job="rabbitmq-server",instance="a"} 0x20 | 0
			rabbitmq_alarms_memory_used_watermark{job="rabbitmq-server",instance="a"} 0 1x20 | 0`, time.Minute, 2 * time.Minute, "rabbitmq-server takes no messages"},
		{"KollaQueueBlocked", `rabbitmq_alarms_free_disk_space_watermark{job="rabbitmq-server"} 0x120
			rabbitmq_alarms_memory_used_watermark{job="rabbitmq-server"} 0x120
			rabbitmq_alarms_file_descriptor_limit{job="rabbitmq-server"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaNetworkDatabaseDown", `ovsdb_up{database="OVN_Northbound",member="ovn-nb-1"} 1x20 | 1
			ovsdb_connected{database="OVN_Northbound",member="ovn-nb-1"} 1 0x20 | 1`, 2 * time.Minute, 3 * time.Minute, "OVN_Northbound: member ovn-nb-1 does not work"},
		{"KollaNetworkDatabaseDown", `ovsdb_up{database="OVN_Southbound",member="ovn-sb-0"} 1 0x20 | 1`, 2 * time.Minute, 3 * time.Minute, "OVN_Southbound: member ovn-sb-0 does not work"},
		{"KollaNetworkDatabaseDown", `ovsdb_up{database="Open_vSwitch",member="local"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaAgentDown", `openstack_nova_agent_state{adminState="enabled",service="nova-compute",hostname="cmp-1"} 1 0x20 | 1`, 5 * time.Minute, 6 * time.Minute, "nova-compute on cmp-1 does not report"},
		{"KollaAgentDown", changing(`openstack_cinder_agent_state{adminState="enabled",service="cinder-volume",hostname="ctl-1",uuid="%d"}`, 20), 4 * time.Minute, 5 * time.Minute, "cinder-volume on ctl-1 does not report"},
		{"KollaAgentDown", `openstack_nova_agent_state{adminState="disabled",service="nova-compute",hostname="cmp-1"} 0x120
			openstack_neutron_agent_state{adminState="down",service="ovn-controller",hostname="cmp-1"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaDiskFills", `kubelet_volume_stats_available_bytes{persistentvolumeclaim="data-mariadb-server-0"} 10x60 | 50
			kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="data-mariadb-server-0"} 100x60 | 100`, 14 * time.Minute, 15 * time.Minute, "A volume is nearly full: data-mariadb-server-0"},
		{"KollaDiskFills", `rabbitmq_disk_space_available_bytes{job="rabbitmq-server"} 3x60 | 30
			rabbitmq_disk_space_available_limit_bytes{job="rabbitmq-server"} 1x60 | 1`, 14 * time.Minute, 15 * time.Minute, "A volume is nearly full: rabbitmq-server"},
		{"KollaDiskFills", `kubelet_volume_stats_available_bytes{persistentvolumeclaim="a"} 20x120
			kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="a"} 100x120`, 2 * time.Hour, 0, ""},
		{"KollaCephUnhealthy", `ceph_health_status{job="ceph",instance="a"} 0 2x2 stale
			ceph_health_status{job="ceph",instance="b"} _ _ _ 2x30 | 1`, 5 * time.Minute, 6 * time.Minute, "Ceph has an error"},
		{"KollaCephUnhealthy", `ceph_health_status{job="ceph",instance="a"} 1x120`, 2 * time.Hour, 0, ""},
		{"KollaCephFills", `ceph_health_detail{job="ceph",instance="a",name="OSD_NEARFULL",severity="HEALTH_WARN"} 0 1x30 | 0
			ceph_health_detail{job="ceph",instance="a",name="OSD_DOWN",severity="HEALTH_WARN"} 1x31 | 1`, 5 * time.Minute, 6 * time.Minute, "Ceph fills: OSD_NEARFULL"},
		{"KollaCephFills", `ceph_health_detail{job="ceph",instance="a",name="POOL_FULL",severity="HEALTH_WARN"} 0 1x30 | 0`, 5 * time.Minute, 6 * time.Minute, "Ceph fills: POOL_FULL"},
		{"KollaCephFills", `ceph_health_detail{job="ceph",instance="a",name="OSD_DOWN",severity="HEALTH_WARN"} 1x120
			ceph_health_detail{job="ceph",instance="a",name="OSD_NEARFULL",severity="HEALTH_WARN"} 1x3 0x120`, 2 * time.Hour, 0, ""},
		{"KollaCertificateEnds", `kolla_certificate_expiration_timestamp_seconds{secret="exposure-public"} 864000x70 | 8640000`, 59 * time.Minute, time.Hour, "A certificate ends in 9d 23h 0m 0s: exposure-public"},
		{"KollaCertificateEnds", `probe_ssl_earliest_cert_expiry{probe="identity"} 864000x70 | 8640000`, 59 * time.Minute, time.Hour, "A certificate ends in 9d 23h 0m 0s: identity"},
		{"KollaCertificateEnds", `kolla_certificate_expiration_timestamp_seconds{secret="exposure-public"} 8640000x120`, 2 * time.Hour, 0, ""},
		{"KollaBackupOld", `kube_cronjob_status_last_successful_time{namespace="kolla",cronjob="backup"} -200000x70 | 0`, 59 * time.Minute, time.Hour, "kolla/backup has made no backup for 2d 8h 33m 20s"},
		{"KollaBackupOld", `kube_cronjob_created{namespace="kolla",cronjob="backup"} -200000x120
			kube_cronjob_status_last_successful_time{namespace="kolla",cronjob="backup"} _x70 | 0
			kube_cronjob_status_last_successful_time{namespace="kolla",cronjob="other-backup"} 0x120`, 59 * time.Minute, time.Hour, "kolla/backup has made no backup for 2d 8h 33m 20s"},
		{"KollaBackupOld", `kube_cronjob_created{namespace="kolla",cronjob="backup"} -200000x120
			kube_cronjob_status_last_successful_time{namespace="kolla",cronjob="backup"} -100000x120`, 2 * time.Hour, 0, ""},
		{"KollaBackupOld", `kube_cronjob_status_last_successful_time{namespace="kolla",cronjob="backup"} -100000x120
			kube_cronjob_status_last_successful_time{namespace="kolla",cronjob="drift"} -900000x120`, 2 * time.Hour, 0, ""},
		{"KollaCloudDrifted", `kolla_cloud_drifted_objects{cloud="kolla/prod"} 2x70 | 0`, 59 * time.Minute, time.Hour, "2 objects of cloud kolla/prod were changed outside of kolla"},
		{"KollaCloudDrifted", `kolla_cloud_drifted_objects{cloud="kolla/prod"} 2x30 0x90`, 2 * time.Hour, 0, ""},
		{"KollaCheckFailed", `kolla_check_ok{cloud="prod",check="image"} 1 0x20 | 1
			kolla_check_ok{cloud="prod",check="token"} 1x20 | 1`, time.Minute, 2 * time.Minute, "Users of cloud prod cannot use it: image fails"},
		{"KollaCheckFailed", `kolla_check_ok{cloud="prod",check="image"} 1x120`, 2 * time.Hour, 0, ""},
		{"KollaCheckSkipped", `kolla_check_skipped{cloud="prod",check="server"} 0 1x20 | 0
			kolla_check_ok{cloud="prod",check="token"} 1x20 | 1
			kolla_check_ok{cloud="other",check="token"} 0x20 | 0`, time.Minute, 2 * time.Minute, "kolla check of cloud prod does not try server"},
		// The failure has an alert.
		{"KollaCheckSkipped", `kolla_check_skipped{cloud="prod",check="server"} 1x120
			kolla_check_skipped{cloud="prod",check="token"} 0x120
			kolla_check_ok{cloud="prod",check="token"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaCheckLeftBehind", `kolla_check_left_behind{cloud="prod"} 2x130 | 0`, 119 * time.Minute, 2 * time.Hour, "2 projects of kolla check of cloud prod cannot be removed"},
		{"KollaCheckLeftBehind", `kolla_check_left_behind{cloud="prod"} 1x90 0x30`, 2 * time.Hour, 0, ""},
		{"KollaCheckOld", `kolla_check_timestamp_seconds{cloud="prod"} -7000x20 | 0`, 8 * time.Minute, 9 * time.Minute, "kolla check of cloud prod wrote its last results 2h 5m 40s ago"},
		{"KollaCheckOld", `kolla_check_timestamp_seconds{cloud="prod"} 0x120`, 2 * time.Hour, 0, ""},
		{"KollaMetricsMissing", `up{job="ovn-exporter",instance="a"} 1 0x20 | 1`, 10 * time.Minute, 11 * time.Minute, "ovn-exporter serves no metrics"},
		{"KollaMetricsMissing", `up{job="ovn-exporter",instance="a"} 0 1x120`, 2 * time.Hour, 0, ""},
	} {
		name := test.alert
		if test.fires == 0 {
			name, silent[test.alert] = "not "+name, true
		} else {
			tested[test.alert] = true
		}
		if strings.Contains(test.series, goesOn) {
			cleared[test.alert] = true
		}
		t.Run(name, func(t *testing.T) {
			evaluate(t, all[test.alert], time.Minute, test.series, test.quiet, test.fires, test.summary)
		})
	}
	for _, seen := range []map[string]bool{tested, silent, cleared} {
		if got, want := slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
			t.Errorf("tested are %v, and there are %v", got, want)
		}
	}
}

// TestCloudAlertsOfNamespace checks that the alerts can be limited to a cloud, as docs/alerts.md says.
func TestCloudAlertsOfNamespace(t *testing.T) {
	for _, alert := range []string{"KollaMetricsMissing", "KollaDatabaseDown"} {
		rule := cloudRules(t)[alert]
		rule.Expr = strings.ReplaceAll(rule.Expr, anyNamespace, `namespace=~"openstack|kolla"`)
		rule.Annotations = map[string]string{"summary": "{{ $labels.namespace }}"}
		var series strings.Builder
		for _, metric := range []string{"up", "mysql_up"} {
			fmt.Fprintf(&series, "%[1]s{namespace=\"openstack\"} 0x20\n%[1]s{namespace=\"other\"} 0x20\n%[1]s 0x20\n", metric)
		}
		evaluate(t, rule, time.Minute, series.String(), time.Minute, 15*time.Minute, "openstack")
	}
}

// TestCloudAlertPlaces checks that alerts name the pod and the node, if the series have them.
func TestCloudAlertPlaces(t *testing.T) {
	all := cloudRules(t)
	for _, test := range []struct{ alert, series, want string }{
		{"KollaMetricsMissing", `up{job="ovn-exporter",instance="a",pod="ovn-exporter-0",node="ctl-1"} 0x20`, "ovn-exporter-0 on ctl-1 does not answer Prometheus, so that other alerts about it are silent."},
		{"KollaMetricsMissing", `up{job="ovn-exporter",instance="10.0.0.1:9476"} 0x20`, "10.0.0.1:9476 does not answer Prometheus, so that other alerts about it are silent."},
		{"KollaQueueBlocked", `rabbitmq_alarms_memory_used_watermark{instance="a",pod="rabbitmq-server-2",node="ctl-3"} 1x20`, "rabbitmq-server-2 on ctl-3 is short of memory, of disk or of open files, and publishers wait."},
		{"KollaDatabaseDown", `mysql_up{instance="a",pod="mariadb-exporter-1",node="ctl-3"} 0x20`, "Its exporter, mariadb-exporter-1, cannot log in. With one member, the whole cloud stands still."},
		{"KollaDatabaseQuorumLost", `mysql_global_status_wsrep_cluster_status{job="a",instance="a",pod="mariadb-exporter-1"} 0x20
			mysql_global_variables_wsrep_on{job="a",instance="a"} 1x20`, "The member of mariadb-exporter-1 refuses queries. If all members do, no API works."},
		{"KollaDatabaseBehind", `mysql_global_status_wsrep_local_recv_queue{instance="a",pod="mariadb-exporter-1"} 200x30`, "All members wait for that of mariadb-exporter-1, so that writes become slow."},
	} {
		rule := all[test.alert]
		rule.Annotations = map[string]string{"summary": rule.Annotations["description"]}
		evaluate(t, rule, time.Minute, test.series, 0, 15*time.Minute, test.want)
	}
}

// changing returns samples of 0. A label changes with each sample, as it does for some exporters.
func changing(series string, samples int) string {
	var out strings.Builder
	for i := range samples {
		fmt.Fprintf(&out, series+" %s0 stale\n", i, strings.Repeat("_ ", i))
	}
	return out.String()
}

// TestCloudDashboards parses the queries of the dashboards. All read metrics that exist.
func TestCloudDashboards(t *testing.T) {
	files, err := filepath.Glob(catalogue + "grafana/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("found %v: %v", files, err)
	}
	known, uids := exported(t), map[string]bool{}
	known["ALERTS"] = true
	for _, file := range files {
		var d dashboard
		if err := json.Unmarshal([]byte(read(t, file)), &d); err != nil {
			t.Fatal(err)
		}
		if d.Title == "" || uids[d.UID] {
			t.Errorf("%s: the title is %q, and the UID %q", file, d.Title, d.UID)
		}
		uids[d.UID] = true
		ids, declared := map[int]bool{}, map[string]bool{}
		for _, v := range d.Templating.List {
			declared["$"+v.Name] = true
		}
		for _, panel := range d.Panels {
			if ids[panel.ID] || panel.Title == "" || panel.GridPos.W == 0 || panel.GridPos.X+panel.GridPos.W > 24 || len(panel.Targets) == 0 {
				t.Errorf("%s: the panel %+v is not complete", file, panel)
			}
			ids[panel.ID] = true
			for _, target := range panel.Targets {
				for _, v := range regexp.MustCompile(`\$\w+`).FindAllString(target.Expr, -1) {
					if !declared[v] {
						t.Errorf("%s: %s has no variable %s", file, panel.Title, v)
					}
				}
				for _, name := range used(t, target.Expr) {
					if !known[name] {
						t.Errorf("%s: %s reads %s, which no exporter has", file, panel.Title, name)
					}
				}
			}
		}
	}
}

// rendered writes a file that kolla renders for Prometheus, and returns its name.
func rendered(t *testing.T, name string) string {
	t.Helper()
	for _, document := range strings.Split(read(t, goldenFile), "\n---\n") {
		var o struct {
			Manifest struct {
				Kind string
				Data map[string]string
			}
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		if text := o.Manifest.Data[name]; text != "" {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// TestTargetsGone checks that each workload has an alert, which fires when DNS has no pod of the workload.
func TestTargetsGone(t *testing.T) {
	groups, errs := rulefmt.ParseFile(rendered(t, "gone.yaml"), false, model.UTF8Validation, prom, logger)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if !strings.Contains(read(t, "../../../docs/alerts.md"), "\n## KollaTargetsGone\n") {
		t.Error("docs/alerts.md does not have KollaTargetsGone")
	}
	severities := map[string]string{}
	for _, rule := range groups.Groups[0].Rules {
		job := strings.TrimSuffix(strings.TrimPrefix(rule.Expr, `absent(up{job="`), `"})`)
		severities[job] = rule.Labels["severity"]
		evaluate(t, rule, time.Minute, `up{job="`+job+`",instance="a"} 1 1 stale _x10 | 1`, 6*time.Minute, 7*time.Minute, "No pod of "+job+" is there")
		evaluate(t, rule, time.Minute, `up{job="`+job+`",instance="a"} 0x120`, 2*time.Hour, 0, "")
	}
	for job, want := range map[string]string{"mariadb-exporter": "critical", "rabbitmq-server": "critical", "ovn-exporter": "warning", "exposure-public-exporter": "warning"} {
		if severities[job] != want {
			t.Errorf("the severity of %s is %q, want %q", job, severities[job], want)
		}
	}
	if severities["nova-compute-slow-exporter"] != "" {
		t.Error("there is an alert for an optional target")
	}
}

// TestCloudConfig has Prometheus read the configuration that kolla renders for it.
func TestCloudConfig(t *testing.T) {
	settings, err := config.LoadFile(rendered(t, "prometheus.yml"), false, logger)
	if err != nil {
		t.Fatal(err)
	}
	jobs, probes := map[string]bool{}, []string{}
	for _, s := range settings.ScrapeConfigs {
		jobs[s.JobName] = true
		if s.HonorLabels != (s.JobName == "ceph") {
			t.Errorf("%s keeps its labels: %v", s.JobName, s.HonorLabels)
		}
		if s.JobName == "probes" {
			probes = probesOf(t, s)
		}
		slow := time.Duration(s.ScrapeTimeout) == 45*time.Second && time.Duration(s.ScrapeInterval) == time.Minute
		if slow != (s.JobName == "openstack-exporter-server") {
			t.Errorf("%s is asked every %s, and may take %s", s.JobName, s.ScrapeInterval, s.ScrapeTimeout)
		}
	}
	for _, name := range []string{"prometheus", "mariadb-exporter", "rabbitmq-server", "exposure-public-exporter", "nova-compute-slow-exporter", "probes", "ceph"} {
		if !jobs[name] {
			t.Errorf("nothing reads metrics of %s: %v", name, slices.Sorted(maps.Keys(jobs)))
		}
	}
	want := []string{ // not of placement, by its probe, and of Grafana, which needs Prometheus
		"http://192.0.2.10:9292/healthcheck?answers glance", "http://192.0.2.10:5000/v3?answers keystone", "http://192.0.2.10:9696/healthcheck?answers neutron",
		"http://192.0.2.10:8774/?answers nova", "http://192.0.2.10:6080/vnc_lite.html?answers nova-vnc", "https://shop.example.org/?answers shop",
	}
	if diff := cmp.Diff(want, probes); diff != "" {
		t.Errorf("the probes (-want +got):\n%s", diff)
	}
	if len(settings.AlertingConfig.AlertmanagerConfigs) != 1 || len(settings.RuleFiles) != 3 {
		t.Errorf("alerts go to %v, from %v", settings.AlertingConfig.AlertmanagerConfigs, settings.RuleFiles)
	}
}

// probesOf returns what service.blackbox-exporter is asked for each target: URL?MODULE PROBE.
func probesOf(t *testing.T, s *config.ScrapeConfig) (out []string) {
	t.Helper()
	for _, group := range s.ServiceDiscoveryConfigs[0].(discovery.StaticConfig) {
		for _, target := range group.Targets {
			found, err := scrape.PopulateLabels(labels.NewBuilder(labels.EmptyLabels()), s, target, group.Labels)
			if err != nil {
				t.Fatal(err)
			}
			if at := found.Get("__address__"); at != "blackbox-exporter.openstack:9115" {
				t.Errorf("%s is asked", at)
			}
			out = append(out, found.Get("__param_target")+"?"+found.Get("__param_module")+" "+found.Get("probe"))
		}
	}
	return out
}
