package drift_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

var now = time.Date(2026, 11, 21, 3, 1, 0, 0, time.UTC)

func at(text string) addrs.Object {
	address, err := addrs.ParseObject(text)
	if err != nil {
		panic(err)
	}
	return address
}

func refOf(group, kind, name string) providers.Ref {
	return providers.Ref{GVK: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Namespace: "openstack", Name: name}
}

// samplePlan is a refresh-only plan with all kinds of drift.
func samplePlan() *plans.Plan {
	written := now.Add(-50 * time.Minute)
	return &plans.Plan{
		Tool: "v1.2.3", Created: now, Cloud: "prod", Namespace: "openstack", RefreshOnly: true, ConfigChanges: 3,
		Cluster: providers.Identity{Server: "https://10.0.0.10:6443"}, Elapsed: 412 * time.Millisecond,
		Actions: []plans.Action{
			{
				Address: at("service.glance/Deployment/glance-api"), Verb: plans.None, Ref: refOf("apps", "Deployment", "glance-api"),
				Evidence: plans.Evidence{Kind: plans.DryRun},
				Changes: []plans.Change{
					{Path: `spec.template.spec.containers["spy"]`, After: map[string]any{"name": "spy", "image": "spy:1"}, Drift: true, Manager: "kubectl-edit", Time: written},
					{Path: "spec.replicas", Before: int64(1), After: int64(3), Drift: true, Manager: "kubectl", Time: written},
				},
			},
			{Address: at("service.keystone/Service/keystone"), Verb: plans.Forget, Ref: refOf("", "Service", "keystone"), Reasons: []plans.Reason{{Kind: plans.ReasonGone}}},
			{
				Address: at("service.keystone/Secret/keystone-admin"), Verb: plans.None, Ref: refOf("", "Secret", "keystone-admin"),
				Reasons: []plans.Reason{{Kind: plans.ReasonReplaced, Path: `data["password"]`, Manager: "vault-agent", Time: written}},
			},
			{
				Address: at("manifest.note/Widget/note"), Verb: plans.None, Ref: refOf("example.org", "Widget", "note"),
				Evidence: plans.Evidence{Kind: plans.Unverified, Detail: "its webhook refuses dry runs", Advice: "Ask its owner."},
			},
			{Address: at("service.memcached/Service/memcached"), Verb: plans.None, Ref: refOf("", "Service", "memcached"), Evidence: plans.Evidence{Kind: plans.Fingerprint}},
		},
		Foreign: []plans.Foreign{
			{Address: at("service.memcached/Service/memcached"), Ref: refOf("", "Service", "memcached"), Reported: true, Fields: []plans.Change{{Path: "spec.externalIPs", Before: []any{"192.0.2.7"}}}},
			{Address: at("service.memcached/Service/memcached"), Fields: []plans.Change{{Path: "metadata.labels.team", Before: "blue"}}},
		},
	}
}

// sample is a look whose older half of drift was found two days ago.
func sample() *drift.Look {
	look := drift.Of(samplePlan())
	look.Requests = 12
	for i := range look.Fields {
		look.Fields[i].Since = now.Add(-time.Duration(i%2) * 48 * time.Hour)
	}
	look.Orphans = &drift.Orphans{
		Objects:   []drift.Orphan{{Ref: refOf("", "ConfigMap", "debug"), Labelled: true, Manager: "kubectl-create", Created: now.Add(-time.Hour)}},
		NotListed: []string{"perhaps a Lease of coordination.k8s.io/v1 (forbidden)"},
	}
	look.Certificates = []drift.Certificate{
		{Namespace: "openstack", Secret: "exposure-public-ca", Ends: now.Add(9 * 365 * 24 * time.Hour), Made: true},
		{Namespace: "openstack", Secret: "exposure-public", Ends: now.Add(20 * 24 * time.Hour), Soon: true, Made: true},
		{Namespace: "openstack", Secret: "exposure-web-tls", Ends: now.Add(60 * 24 * time.Hour), Issued: true},
	}
	drift.SortCertificates(look.Certificates)
	return look
}

func TestOf(t *testing.T) {
	look := drift.Of(samplePlan())
	var got []string
	for _, f := range look.Fields {
		got = append(got, strings.Join([]string{f.Address.Name, f.Path, f.Values(), f.Author(time.UTC)}, " | "))
	}
	want := []string{
		"glance-api | spec.replicas | 1 → 3 | by kubectl, 2026-11-21 02:11 UTC",
		`glance-api | spec.template.spec.containers["spy"] | added {"image":"spy:1","name":"spy"} | by kubectl edit, 2026-11-21 02:11 UTC`,
		`keystone-admin | data["password"] | (sensitive value) changed (an apply leaves it) | by vault-agent, 2026-11-21 02:11 UTC`,
		"keystone |  | the whole object | by an unknown client (a deletion leaves no record)",
		`memcached | spec.externalIPs | added ["192.0.2.7"] (an apply leaves it) | by an unknown client (no field manager recorded)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if look.Declared != 5 || look.Pending != 3 || look.Drifted() != 4 || len(look.NotCompared) != 1 {
		t.Errorf("declared %d, pending %d, drifted %d, not compared %v", look.Declared, look.Pending, look.Drifted(), look.NotCompared)
	}
	if diff := cmp.Diff([]string{"glance", "keystone", "manifest.note", "memcached"}, look.Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
}

// TestJSON checks the documents of docs/drift.md.
func TestJSON(t *testing.T) {
	page, err := os.ReadFile("../../../docs/drift.md")
	if err != nil {
		t.Fatal(err)
	}
	var look, past bytes.Buffer
	if err := sample().JSON(&look); err != nil {
		t.Fatal(err)
	}
	h := &drift.History{Cloud: "prod", Looked: now, Entries: []drift.Entry{
		{Address: "service.glance/Deployment/glance-api", Path: "spec.replicas", Change: drift.Changed, Manager: "kubectl", Value: "4e07408562bedb8b", First: now.Add(-48 * time.Hour), Last: now.Add(-time.Hour), Gone: now},
	}}
	if err := h.JSON(&past, now.Add(-7*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"look.json": look.String(), "history.json": past.String()} {
		golden.Compare(t, filepath.Join("testdata", name), []byte(got))
		if !strings.Contains(string(page), "```\n"+got+"```\n") {
			t.Errorf("docs/drift.md does not show %s", name)
		}
	}
}

// looked returns a look with one drifted field, and more fields if paths are given.
func looked(when time.Time, value any, more ...string) *drift.Look {
	look := &drift.Look{Cloud: "prod", At: when}
	for _, path := range append([]string{"spec.replicas"}, more...) {
		look.Fields = append(look.Fields, drift.Field{Address: at("service.glance/Deployment/glance-api"), Path: path, Change: drift.Changed, After: value, Manager: "kubectl"})
	}
	return look
}

func TestHistory(t *testing.T) {
	day := 24 * time.Hour
	storage := drift.FileOf(filepath.Join(t.TempDir(), "kolla.state.json"))
	add := func(look *drift.Look) *drift.History {
		t.Helper()
		h, err := drift.Read(storage)
		if err != nil {
			t.Fatal(err)
		}
		h.Add(look)
		if err := h.Write(storage); err != nil {
			t.Fatal(err)
		}
		return h
	}
	empty := func(when time.Time) *drift.Look { return &drift.Look{Cloud: "prod", At: when} }

	if set := add(empty(now)).Set(); set != "" {
		t.Errorf("without drift the set is %q", set)
	}
	first := looked(now.Add(day), "hunter2")
	one := add(first).Set()
	if one == "" || !first.Fields[0].Since.Equal(now.Add(day)) {
		t.Errorf("the set is %q, known since %s", one, first.Fields[0].Since)
	}
	again := looked(now.Add(2*day), "hunter2")
	if set := add(again).Set(); set != one || !again.Fields[0].Since.Equal(now.Add(day)) {
		t.Errorf("the same drift: set %q instead of %q, known since %s", set, one, again.Fields[0].Since)
	}
	if set := add(looked(now.Add(3*day), "other")).Set(); set == one {
		t.Error("another value gives the same set")
	}
	text, err := os.ReadFile(storage.String())
	if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "other") {
		t.Errorf("the history has a value, or cannot be read: %v\n%s", err, text)
	}

	// Drift of an object that cannot be compared stays in the history.
	unknown := empty(now.Add(4 * day))
	unknown.NotCompared = []drift.NotCompared{{Address: at("service.glance/Deployment/glance-api")}}
	if add(unknown).Set() == "" {
		t.Error("drift is gone because nobody could look")
	}
	h := add(empty(now.Add(5 * day)))
	if h.Set() != "" || len(h.Entries) != 1 || !h.Entries[0].Gone.Equal(now.Add(5*day)) || !h.Entries[0].Last.Equal(now.Add(3*day)) {
		t.Errorf("after the end of the drift: %+v", h.Entries)
	}
	if n := len(h.Since(now.Add(6 * day))); n != 0 {
		t.Errorf("%d entries since a later time", n)
	}
	// Drift that returns is a new entry. The old entry is kept for 90 days.
	returned := looked(now.Add(6*day), "hunter2")
	if h = add(returned); len(h.Entries) != 2 || !returned.Fields[0].Since.Equal(now.Add(6*day)) {
		t.Errorf("drift that returned: %+v", h.Entries)
	}
	if h = add(looked(now.Add(94*day), "hunter2")); len(h.Entries) != 2 {
		t.Errorf("after 89 days: %+v", h.Entries)
	}
	if h = add(looked(now.Add(96*day), "hunter2")); len(h.Entries) != 1 || !h.Entries[0].Gone.IsZero() {
		t.Errorf("after 91 days: %+v", h.Entries)
	}
	// Another cloud starts a new history.
	other := looked(now.Add(97*day), "x")
	other.Cloud = "other"
	if h = add(other); h.Cloud != "other" || len(h.Entries) != 1 || !h.Entries[0].First.Equal(other.At) {
		t.Errorf("another cloud: %+v", h)
	}
}

// TestLooksAtTheSameTime checks that a history stays valid while several looks read and write it,
// and that no temporary files are left.
func TestLooksAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for look := range 4 {
		wg.Go(func() {
			storage := drift.FileOf(filepath.Join(dir, "kolla.state.json"))
			for i := range 25 {
				var h *drift.History
				for range 20 {
					var err error
					if h, err = drift.Read(storage); err != nil {
						t.Errorf("look %d: %v", look, err)
					}
				}
				h.Add(looked(now.Add(time.Duration(i)*time.Minute), look, "spec.paused"))
				if err := h.Write(storage); err != nil {
					t.Errorf("look %d: %v", look, err)
				}
			}
		})
	}
	wg.Wait()
	h, err := drift.Read(drift.FileOf(filepath.Join(dir, "kolla.state.json")))
	if err != nil || len(h.Entries) != 2 || !h.Entries[0].First.Equal(now) {
		t.Errorf("%v, %+v", err, h.Entries)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".kolla")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestHistoryIsBounded checks that a history has a maximum size, and that entries of drift that is
// gone are removed first.
func TestHistoryIsBounded(t *testing.T) {
	paths := func(prefix string, n int) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("%s.%d", prefix, i))
		}
		return out
	}
	h := &drift.History{}
	h.Add(looked(now, "x", paths("old", 3000)...))
	h.Add(looked(now.Add(time.Hour), "x", paths("new", 4000)...))
	there := 0
	for _, e := range h.Entries {
		if e.Gone.IsZero() {
			there++
		}
	}
	if len(h.Entries) != 5000 || there != 4001 {
		t.Errorf("%d entries, %d of drift that is there", len(h.Entries), there)
	}
}

// TestSecretsHaveNoHash checks that a secret value cannot be guessed by means of the history.
func TestSecretsHaveNoHash(t *testing.T) {
	look := looked(now, "hunter2")
	look.Fields[0].Sensitive = true
	h := &drift.History{}
	h.Add(look)
	if h.Entries[0].Value != "" {
		t.Errorf("the history has the hash %s", h.Entries[0].Value)
	}
	before := h.Set()
	h.Add(look)
	if h.Set() != before {
		t.Error("the same value counts as another one")
	}
	look.Fields[0].Written = look.Fields[0].Written.Add(time.Minute)
	h.Add(look)
	if h.Set() == before {
		t.Error("a value that was written again gives no other set")
	}
}

func TestDamagedHistory(t *testing.T) {
	good := &drift.History{Format: 1}
	good.Add(looked(now, "x"))
	for name, test := range map[string]struct {
		damage func(string) string
		newer  bool
	}{
		"torn":        {func(s string) string { return s[:len(s)/2] }, false},
		"edited":      {func(s string) string { return strings.Replace(s, "kubectl", "nobody", 1) }, false},
		"empty":       {func(string) string { return "" }, false},
		"from future": {func(s string) string { return strings.Replace(s, `"format": 1`, `"format": 2`, 1) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			storage := drift.FileOf(filepath.Join(t.TempDir(), "kolla.state.json"))
			if err := good.Write(storage); err != nil {
				t.Fatal(err)
			}
			if h, err := drift.Read(storage); err != nil || len(h.Entries) != 1 {
				t.Fatalf("before the damage: %v", err)
			}
			text, err := os.ReadFile(storage.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(storage.String(), []byte(test.damage(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			h, err := drift.Read(storage)
			var damaged *drift.DamagedError
			if !errors.As(err, &damaged) || damaged.Newer != test.newer || len(h.Entries) != 0 {
				t.Errorf("%v, %+v", err, h)
			}
		})
	}
}

func TestFileOf(t *testing.T) {
	for path, want := range map[string]string{
		"kolla.state.json":      ".kolla/drift.json",
		"sites/a.json":          "sites/.kolla/drift.a.json",
		"b/kolla.state.json":    "b/.kolla/drift.json",
		"sites/kolla.state.two": "sites/.kolla/drift.kolla.state.two.json",
	} {
		if got := drift.FileOf(path).String(); got != want {
			t.Errorf("the history of %s is %s, want %s", path, got, want)
		}
	}
	if _, err := drift.FileOf(filepath.Join(t.TempDir(), "x")).Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a history that does not exist: %v", err)
	}
}

// samples parses metrics as Prometheus does.
func samples(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out := map[string]float64{}
	for name, family := range families {
		if family.GetHelp() == "" || family.GetType().String() != "GAUGE" {
			t.Errorf("%s: help %q, type %s", name, family.GetHelp(), family.GetType())
		}
		for _, m := range family.GetMetric() {
			key := name
			for _, l := range m.GetLabel() {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			out[key] = m.GetGauge().GetValue()
		}
	}
	return out
}

func TestMetrics(t *testing.T) {
	look := sample()
	look.Cloud = "pr\"o\\d\n"
	const cloud = " cloud=pr\"o\\d\n"
	want := map[string]float64{
		"kolla_drift_declared_objects" + cloud:               5,
		"kolla_drift_pending_changes" + cloud:                3,
		"kolla_drift_oldest_timestamp_seconds" + cloud:       float64(now.Add(-48 * time.Hour).Unix()),
		"kolla_drift_last_success_timestamp_seconds" + cloud: float64(now.Unix()),
		"kolla_drift_duration_seconds" + cloud:               0.412,
		"kolla_drift_requests" + cloud:                       12,
		"kolla_drift_failed" + cloud:                         0,
	}
	for service, numbers := range map[string][3]float64{"glance": {1, 2, 0}, "keystone": {2, 2, 0}, "manifest.note": {0, 0, 1}, "memcached": {1, 1, 0}} {
		for i, name := range []string{"objects", "fields", "not_compared_objects"} {
			want["kolla_drift_"+name+cloud+" service="+service] = numbers[i]
		}
	}
	for _, c := range look.Certificates {
		want["kolla_certificate_expiration_timestamp_seconds"+cloud+" namespace="+c.Namespace+" secret="+c.Secret] = float64(c.Ends.Unix())
	}
	text := drift.Metrics(look)
	golden.Compare(t, filepath.Join("testdata", "metrics.prom"), text)
	if diff := cmp.Diff(want, samples(t, text)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(string(text), drift.MetricsBegin) || !strings.HasSuffix(string(text), "\n# EOF\n") {
		t.Errorf("the text begins or ends otherwise:\n%s", text)
	}

	// Failures change nothing else in the metrics.
	want["kolla_drift_failed"+cloud] = 1
	for range 2 {
		text = drift.FailedMetrics(text, look.Cloud, time.Time{})
		if diff := cmp.Diff(want, samples(t, text)); diff != "" {
			t.Errorf("metrics after a failure (-want +got):\n%s", diff)
		}
	}
	none := map[string]float64{"kolla_drift_failed cloud=prod": 1, "kolla_drift_last_success_timestamp_seconds cloud=prod": float64(now.Unix())}
	if diff := cmp.Diff(none, samples(t, drift.FailedMetrics(nil, "prod", now))); diff != "" {
		t.Errorf("metrics after a failure without former ones (-want +got):\n%s", diff)
	}
	golden.Compare(t, filepath.Join("testdata", "metrics-failed.prom"), text)
	look.Fields = nil
	if _, ok := samples(t, drift.Metrics(look))["kolla_drift_oldest_timestamp_seconds"+cloud]; ok {
		t.Error("there is an oldest drift without drift")
	}
}

// TestLostPods checks that drift of a node's labels says which DaemonSets lost their pods there.
func TestLostPods(t *testing.T) {
	node := providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: "real-2"}
	plan := &plans.Plan{
		Actions: []plans.Action{{Ref: node, Verb: plans.None, Changes: []plans.Change{{Path: `metadata.labels["compute"]`, Before: "yes", Drift: true, Manager: "kubectl-label"}}}},
		Impact:  []plans.Impact{{Effects: []plans.Effect{{Kind: plans.EffectNodePods, Ref: node, Items: []string{"nova-compute", "ovn-controller"}, Grave: true}}}},
	}
	look := drift.Of(plan)
	const want = `removed "yes"; Node real-2 lost labels: the pods of 2 DaemonSets (nova-compute, ovn-controller) were removed there, and an apply brings them back`
	if got := look.Fields[0].Values(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, text := look.Notice(); !strings.Contains(text, "2 DaemonSets (nova-compute, ovn-controller)") {
		t.Errorf("the notice is\n%s", text)
	}
}

// TestPendingText checks that objects with values of a deleted Secret are not called changes of the
// configuration.
func TestPendingText(t *testing.T) {
	for want, look := range map[string]drift.Look{
		"": {},
		"32 changes of the configuration are pending: kolla plan":                                                                              {Pending: 32},
		"An apply changes 1 more object with values of the deleted or replaced Secrets: kolla plan":                                            {Readers: 1},
		"An apply changes 2 more objects with values of the deleted or replaced Secrets; 1 change of the configuration is pending: kolla plan": {Readers: 2, Pending: 1},
	} {
		if got := look.PendingText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestCertificateWarning checks the words about certificates that end.
func TestCertificateWarning(t *testing.T) {
	made, given := sample().Certificates[0], drift.Certificate{Namespace: "openstack", Secret: "brought", Ends: now.Add(-time.Hour), Soon: true}
	if made.Secret != "exposure-public" {
		t.Errorf("the first to end is %s", made.Secret)
	}
	if summary, detail := made.Warning(now); !strings.Contains(summary, "ends soon") || !strings.Contains(detail, "kolla apply renews it") {
		t.Errorf("%s: %s", summary, detail)
	}
	if summary, detail := given.Warning(now); !strings.Contains(summary, "has ended") || !strings.Contains(detail, "Replace it") {
		t.Errorf("%s: %s", summary, detail)
	}
	given.Issued = true
	if _, detail := given.Warning(now); !strings.Contains(detail, "kubectl -n openstack describe certificate brought") {
		t.Error(detail)
	}
}

func TestNotice(t *testing.T) {
	title, text := sample().Notice()
	if title != "kolla: 4 objects of cloud prod changed outside of kolla" {
		t.Errorf("the title is %q", title)
	}
	const line = "service.glance/Deployment/glance-api: spec.replicas changed (1 → 3) by kubectl, 2026-11-21 02:11 UTC; known since 2026-11-21 03:01 UTC\n"
	if !strings.HasPrefix(text, line) || !strings.HasSuffix(text, "1 object could not be compared.\nCluster https://10.0.0.10:6443. To see all: kolla drift. To put it right: kolla plan, then kolla apply.\n") {
		t.Errorf("the text is\n%s", text)
	}
	for _, value := range []string{"spy:1", "192.0.2.7", "sensitive"} {
		if strings.Contains(text, value) {
			t.Errorf("the text has the value %q", value)
		}
	}
	look := sample()
	for i := range 1000 {
		f := look.Fields[0]
		f.Path = fmt.Sprintf("metadata.annotations[%q]", strings.Repeat("x\n", 100)+fmt.Sprint(i))
		look.Fields = append(look.Fields, f)
	}
	if _, text := look.Notice(); len(text) > 3100 || !strings.Contains(text, "fields more\n") || strings.Count(text, "\n") > 22 {
		t.Errorf("the text has %d bytes:\n%s", len(text), text)
	}
	look = sample()
	look.Fields[0].Manager = "<https://evil.example|fix it here>[it](https://evil.example)@everyone"
	if _, text := look.Notice(); strings.ContainsAny(text, "<>") || strings.Contains(text, "](") || strings.Contains(text, "@everyone") {
		t.Errorf("a service for messages would show a link, or tell people:\n%s", text)
	}
	look.Fields = nil
	if title, text := look.Notice(); title != "kolla: the drift of cloud prod is gone" || strings.Contains(text, "\n") {
		t.Errorf("without drift: %q, %q", title, text)
	}
}

func TestOrphansOf(t *testing.T) {
	object := func(apiVersion, kind, name, uid string, labelled bool) metav1.PartialObjectMetadata {
		o := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}}
		o.Namespace, o.Name, o.UID, o.CreationTimestamp = "openstack", name, types.UID(uid), metav1.NewTime(now)
		o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-create", Time: &o.CreationTimestamp}}
		if labelled {
			o.Labels = map[string]string{providers.LabelCloud: "prod"}
		}
		return o
	}
	pod := object("v1", "Pod", "owned", "7", false)
	pod.OwnerReferences = []metav1.OwnerReference{{UID: "1"}}
	contents := providers.Contents{
		Objects: []metav1.PartialObjectMetadata{
			object("apps/v1", "StatefulSet", "mariadb", "1", true),
			object("v1", "PersistentVolumeClaim", "data-mariadb-0", "2", true),
			object("v1", "ConfigMap", "kube-root-ca.crt", "3", false),
			object("v1", "ConfigMap", "notes", "4", false),
			object("v1", "Secret", "left-behind", "5", true),
			pod,
		},
		Unread: []providers.Unread{{What: "perhaps a Lease"}},
	}
	role := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}}
	role.SetName("extra")
	role.SetUID("9")
	role.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	foreign := role.DeepCopy()
	foreign.SetName("of-another-cloud")
	foreign.SetUID("10")
	foreign.SetLabels(map[string]string{providers.LabelCloud: "other"})
	st := &state.State{Objects: []state.Object{{Kind: "StatefulSet", Namespace: "openstack", Name: "mariadb", UID: "1"}}}
	found := drift.OrphansOf(st, "prod", "openstack", contents, []*unstructured.Unstructured{role, foreign})
	var got []string
	for _, o := range found.Objects {
		got = append(got, fmt.Sprintf("%s %v %s", o.Ref, o.Labelled, o.Manager))
	}
	want := []string{"ClusterRole extra true ", "Secret openstack/left-behind true kubectl-create", "ConfigMap openstack/notes false kubectl-create"}
	if diff := cmp.Diff(want, got); diff != "" || len(found.NotListed) != 1 {
		t.Errorf("not listed %v; orphans (-want +got):\n%s", found.NotListed, diff)
	}
}
