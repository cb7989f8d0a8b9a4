package openstack_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack"
)

// nodesOfMetrics returns facts about the nodes of testdata/metrics.
func nodesOfMetrics() openstack.Facts {
	f := openstack.Offline()
	for i, name := range []string{"ctl-1", "ctl-2", "ctl-3", "cmp-1", "cmp-2", "n2"} {
		f.Nodes = append(f.Nodes, openstack.Node{Name: name, Addresses: []string{fmt.Sprintf("198.51.100.%d", i+1)}})
	}
	return f
}

// measured returns the objects that only a cloud with metrics has, and the NetworkPolicies of services
// with metrics.
func measured(objects []providers.Object) []providers.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o providers.Object) bool {
		policy := o.Address.Kind == "NetworkPolicy" && strings.HasPrefix(serviceOf(o), "mariadb")
		own := slices.Contains([]string{"prometheus", "alertmanager", "blackbox-exporter", "openstack-exporter", "grafana"}, serviceOf(o))
		if strings.Contains(o.Address.Name, ".json-") || strings.Contains(o.Address.Name, "alerts.yaml-") {
			return true // they are files of the catalogue
		}
		return !policy && !own && !strings.Contains(o.Address.Name, "exporter") && !strings.HasSuffix(o.Address.Name, "-metrics")
	})
}

// TestMetrics compares the exporters of a cloud, and the objects by which a Prometheus finds metrics, with
// golden files. The cloud has four managed services with metrics and HAProxy.
func TestMetrics(t *testing.T) {
	found := measured(render(t, inRelease(t, "testdata/metrics", "2025.1"), nodesOfMetrics()))
	golden.Compare(t, "testdata/metrics/services.golden.yaml", dump(t, found))
	monitors := slices.DeleteFunc(measured(render(t, inRelease(t, "testdata/metrics", "2025.1", "mode=monitors"), nodesOfMetrics())), func(o providers.Object) bool {
		return o.Address.Kind != kinds.PodMonitor.Kind
	})
	golden.Compare(t, "testdata/metrics/monitors.golden.yaml", dump(t, monitors))
	if services := slices.DeleteFunc(found, func(o providers.Object) bool { return !strings.HasSuffix(o.Address.Name, "-metrics") }); len(monitors) != len(services) || len(monitors) < 8 {
		t.Errorf("there are %d PodMonitors, and %d Services", len(monitors), len(services))
	}
}

// TestPrometheusWarnings checks that the catalogue's Prometheus warns about a mode in which it finds nothing,
// and about an exporter with nothing to ask.
func TestPrometheusWarnings(t *testing.T) {
	source, err := os.ReadFile("testdata/metrics/cloud.hcl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := bytes.ReplaceAll(source, []byte(`var.mode == "services"`), []byte("true"))
	text = regexp.MustCompile(`(?m)^ +(probes|expose) .*\n`).ReplaceAll(text, nil)
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue(), Vars: []lang.Var{{Assignment: "mode=monitors"}}})
	for _, want := range []string{"This Prometheus reads no PodMonitors", "service.blackbox-exporter has nothing to ask"} {
		if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return strings.Contains(d.Detail, want) }) {
			t.Errorf("got %v, want %q", diags, want)
		}
	}
}

// TestMetricsAreInPods checks that no pod in the network of its node serves metrics, where no NetworkPolicy
// protects them, and that HAProxy and the pod that passes its metrics on have the same directory of the node.
func TestMetricsAreInPods(t *testing.T) {
	objects := render(t, inRelease(t, "testdata/metrics", "2025.1"), nodesOfMetrics())
	pods := func(o providers.Object) (spec map[string]any, component string) {
		spec, _, _ = unstructured.NestedMap(o.Manifest.Object, "spec", "template", "spec")
		component, _, _ = unstructured.NestedString(o.Manifest.Object, "spec", "template", "metadata", "labels", "app.kubernetes.io/component")
		return spec, component
	}
	found := 0
	for _, o := range objects {
		selected, _, _ := unstructured.NestedString(o.Manifest.Object, "spec", "selector", "app.kubernetes.io/component")
		if o.Address.Kind != "Service" || !strings.HasSuffix(o.Address.Name, "-metrics") {
			continue
		}
		for _, of := range objects {
			spec, component := pods(of)
			if component != selected || of.Address.Kind == "Job" {
				continue
			}
			found++
			if spec["hostNetwork"] == true {
				t.Errorf("%s serves metrics in the network of its node", of.Address)
			}
		}
	}
	if found < 8 {
		t.Errorf("there are %d workloads with metrics", found)
	}
	var dirs []string
	for _, name := range []string{"DaemonSet/exposure-public-keepalived", "DaemonSet/exposure-public-exporter"} {
		spec, _ := pods(find(t, objects, name))
		for _, v := range spec["volumes"].([]any) {
			if path, ok, _ := unstructured.NestedString(v.(map[string]any), "hostPath", "path"); ok {
				dirs = append(dirs, path)
			}
		}
	}
	if want := []string{"/run/kolla/openstack/exposure-public", "/run/kolla/openstack/exposure-public"}; !slices.Equal(dirs, want) {
		t.Errorf("the directories are %v, want %v", dirs, want)
	}
}

// TestRunbooks checks that alerts name the page of the cloud about them.
func TestRunbooks(t *testing.T) {
	for _, o := range render(t, inRelease(t, "testdata/metrics", "2025.1"), nodesOfMetrics()) {
		if !strings.Contains(o.Address.Name, "alerts.yaml-") {
			continue
		}
		text, _, _ := unstructured.NestedString(o.Manifest.Object, "data", "alerts.yaml")
		if !strings.Contains(text, "runbook_url: https://handbook.example.org/alerts#kollaerrors\n") || strings.Contains(text, "runbook_url: docs") {
			t.Errorf("the alerts are:\n%s", text)
		}
		return
	}
	t.Error("there are no alerts")
}

// TestNothingWaitsForExporters checks that an exporter that does not start holds up nothing else.
func TestNothingWaitsForExporters(t *testing.T) {
	exporters := 0
	objects := render(t, inRelease(t, "testdata/metrics", "2025.1"), nodesOfMetrics())
	for _, o := range objects {
		if kinds.RunsPods(o.Ref().GVK.GroupKind()) && o.Address.Kind != "Job" && strings.HasSuffix(o.Address.Name, "-exporter") {
			exporters++
			for _, other := range objects {
				if slices.Contains(other.DependsOn, o.Address) {
					t.Errorf("%s waits for %s", other.Address, o.Address)
				}
			}
		}
	}
	if exporters < 6 {
		t.Errorf("there are %d exporters", exporters)
	}
}

// TestMetricsRestartNothing checks that the pods of a cloud stay the same when metrics are turned on, except
// those of HAProxy, which serves them itself.
func TestMetricsRestartNothing(t *testing.T) {
	source, err := os.ReadFile("testdata/metrics/cloud.hcl")
	if err != nil {
		t.Fatal(err)
	}
	source, _, _ = bytes.Cut(source, []byte("service \"prometheus\""))
	without := regexp.MustCompile(`(?ms)^  metrics \{.*?^  \}\n`).ReplaceAll(source, nil)
	off, on := t.TempDir(), t.TempDir()
	for dir, text := range map[string][]byte{off: without, on: source} {
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with := map[addrs.Object]map[string]any{}
	for _, o := range render(t, inRelease(t, on, "2025.1"), nodesOfMetrics()) {
		with[o.Address] = o.Manifest.Object
	}
	compared := 0
	for _, before := range render(t, inRelease(t, off, "2025.1"), nodesOfMetrics()) {
		if !kinds.RunsPods(before.Ref().GVK.GroupKind()) || serviceOf(before) == "exposure-public" {
			continue
		}
		compared++
		if diff := cmp.Diff(before.Manifest.Object, with[before.Address]); diff != "" {
			t.Errorf("%s changes with metrics (-without +with):\n%s", before.Address, diff)
		}
	}
	if more := measured(render(t, inRelease(t, off, "2025.1"), nodesOfMetrics())); len(more) > 1 || compared < 20 {
		t.Errorf("compared %d objects; without metrics there are %v", compared, more)
	}
}

// TestMonitorsNeedTheOperator checks that a cluster without PodMonitors is an error, unless a manifest brings
// the kind.
func TestMonitorsNeedTheOperator(t *testing.T) {
	config := inRelease(t, "testdata/metrics", "2025.1", "mode=monitors")
	missing := func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
		if scope.GVK.Kind == kinds.PodMonitor.Kind {
			return nil, &meta.NoKindMatchError{GroupKind: scope.GVK.GroupKind()}
		}
		return nil, nil
	}
	if !slices.ContainsFunc(openstack.ServedBy(config), func(s providers.Scope) bool { return s.GVK.GroupKind() == kinds.PodMonitor }) {
		t.Error("nobody asks for the kind")
	}
	diags, err := openstack.CheckServed(config, missing)
	want := `testdata/metrics/cloud.hcl:21,3-10: The cluster does not have the Prometheus Operator; The mode "monitors" needs the kind PodMonitor of monitoring.coreos.com/v1. Install the operator first, or set the mode to "services".`
	if err != nil || diags.Error() != want {
		t.Errorf("got %v, %v; want %s", diags, err, want)
	}
	config.Manifests = append(config.Manifests, configs.Manifest{Objects: []configs.ManifestObject{{Content: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": kinds.CustomResourceDefinition.Kind,
		"metadata": map[string]any{"name": "podmonitors." + kinds.PodMonitor.Group},
	}}}})
	if diags, err := openstack.CheckServed(config, missing); err != nil || len(diags) > 0 {
		t.Errorf("with the definition in a manifest: %v, %v", diags, err)
	}
}

// TestExporterOfMember checks that an exporter gets the address of the member with the number of its pod.
func TestExporterOfMember(t *testing.T) {
	for pod, want := range map[string]string{"a-0": "--at=one:1", "a-b-2": "--at=three:1"} {
		t.Setenv("POD", pod)
		t.Setenv("FLAG", "--at")
		t.Setenv("MEMBERS", "one:1 two:1 three:1")
		if got, err := runScript(t, "exporter.sh", nil, "exporter", "echo", "-n"); err != nil || got != want {
			t.Errorf("%s: %q, %v", pod, got, err)
		}
	}
}

// ovsdb answers as a cluster whose second member is away.
const ovsdb = `
case "$3 $4" in
"tcp:two"*) exit 1 ;;
*_Server*) echo '[{"rows":[{"connected":true,"leader":false,"index":12}]}]' ;;
*Chassis*) echo '[{"rows":[{"name":"a"},{"name":"b"}]}]' ;;
*Interface*) echo '[{"rows":[{"name":"tap\"1","type":"","error":["set",[]],"statistics":["map",[["rx_bytes",7],["collisions",1]]]}]}]' ;;
esac
`

// hangingOVSDB answers as a cluster whose first two members hang. The third answers only while the others
// are being asked, and the hanging ones must not be asked for anything else.
const hangingOVSDB = `
case "$3 $4" in
"tcp:one"*_Server* | "tcp:two"*_Server*)
  echo $$ > "$ASKED/new.${3%%.*}" && mv "$ASKED/new.${3%%.*}" "$ASKED/${3%%.*}"
  exec sleep 600 ;;
"tcp:one"* | "tcp:two"*) echo '[{"rows":[]}]' ;;
*_Server*)
  until [ -e "$ASKED/tcp:one" ] && [ -e "$ASKED/tcp:two" ]; do sleep 0.1; done
  kill -0 "$(cat "$ASKED/tcp:one")" && kill -0 "$(cat "$ASKED/tcp:two")" || exit 1
  echo '[{"rows":[{"connected":true,"leader":true,"index":12}]}]' ;;
*Chassis*) echo '[{"rows":[{"name":"a"},{"name":"b"}]}]' ;;
esac
`

// collectOVSDB runs the script with the metrics of OVSDB once, with a program in the place of ovsdb-client.
func collectOVSDB(t *testing.T, client string, databases ...string) string {
	t.Helper()
	python, script := metricsScript(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ovsdb-client"), []byte("#!/bin/sh\n"+client), 0o700); err != nil {
		t.Fatal(err)
	}
	if i := strings.LastIndex(script, "Server(("); i >= 0 {
		script = script[:strings.LastIndex(script[:i], "\n")+1] + "print(collect(DATABASES), end='')"
	}
	c := exec.Command(python, append([]string{"-c", script, "0"}, databases...)...)
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ASKED="+t.TempDir())
	got, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	return string(got)
}

// metricsScript returns Python and the script with the metrics of OVSDB.
func metricsScript(t *testing.T) (python, script string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT RUN: there is no python3")
	}
	source, err := fs.ReadFile(openstack.Catalogue(), "openvswitch/metrics.py")
	if err != nil {
		t.Fatal(err)
	}
	return python, string(source)
}

// TestMetricsOfOVSDB checks the metrics of the databases of OVN and of Open vSwitch.
func TestMetricsOfOVSDB(t *testing.T) {
	got := collectOVSDB(t, ovsdb, "OVN_Southbound=tcp:one.x:1,tcp:two.x:1", "Open_vSwitch=unix:/db.sock")
	const want = `# TYPE ovsdb_up gauge
ovsdb_up{database="OVN_Southbound",member="one"} 1
ovsdb_up{database="OVN_Southbound",member="two"} 0
ovsdb_up{database="Open_vSwitch",member="local"} 1
# TYPE ovsdb_connected gauge
ovsdb_connected{database="OVN_Southbound",member="one"} 1
ovsdb_connected{database="Open_vSwitch",member="local"} 1
# TYPE ovsdb_leader gauge
ovsdb_leader{database="OVN_Southbound",member="one"} 0
ovsdb_leader{database="Open_vSwitch",member="local"} 0
# TYPE ovsdb_index gauge
ovsdb_index{database="OVN_Southbound",member="one"} 12
ovsdb_index{database="Open_vSwitch",member="local"} 12
# TYPE ovn_chassis gauge
ovn_chassis{} 2
# TYPE ovs_interface_error gauge
ovs_interface_error{interface="tap\"1",type="system"} 0
# TYPE ovs_interface_rx_bytes_total counter
ovs_interface_rx_bytes_total{interface="tap\"1",type="system"} 7
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestMetricsOfHangingOVSDB checks that a member that hangs does not delay the metrics of the others. The script
// asks all members at the same time, and asks for chassis only members that have answered.
func TestMetricsOfHangingOVSDB(t *testing.T) {
	got := collectOVSDB(t, hangingOVSDB, "OVN_Southbound=tcp:one.x:1,tcp:two.x:1,tcp:three.x:1")
	const want = `# TYPE ovsdb_up gauge
ovsdb_up{database="OVN_Southbound",member="one"} 0
ovsdb_up{database="OVN_Southbound",member="two"} 0
ovsdb_up{database="OVN_Southbound",member="three"} 1
# TYPE ovsdb_connected gauge
ovsdb_connected{database="OVN_Southbound",member="three"} 1
# TYPE ovsdb_leader gauge
ovsdb_leader{database="OVN_Southbound",member="three"} 1
# TYPE ovsdb_index gauge
ovsdb_index{database="OVN_Southbound",member="three"} 12
# TYPE ovn_chassis gauge
ovn_chassis{} 2
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestMetricsOfOVSDBAddresses checks that the metrics are served on IPv4 and IPv6.
func TestMetricsOfOVSDBAddresses(t *testing.T) {
	python, script := metricsScript(t)
	free, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Skip("NOT RUN: there is no IPv6")
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	c := exec.Command(python, "-c", script, port, "OVN_Southbound=tcp:one.x:1")
	c.Stderr = t.Output()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = c.Wait()
	})
	for _, host := range []string{"127.0.0.1", "::1"} {
		var resp *http.Response
		for range 100 { // until it listens
			if resp, err = http.Get("http://" + net.JoinHostPort(host, port) + "/"); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		resp.Body.Close()
	}
}
