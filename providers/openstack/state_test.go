package openstack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestState compares the objects of services with several members with golden files, in each release.
func TestState(t *testing.T) {
	inEachRelease(t, "testdata/state", "rabbitmq", "valkey")
}

// TestCoordination checks that Cinder asks all sentinels of Valkey for the primary, and has no locks
// there unless it is told so.
func TestCoordination(t *testing.T) {
	const option = "coordination backend_url"
	options := stackOptions(inRelease(t, "testdata/state", newest))
	for _, file := range []string{"cinder-api.conf", "cinder-scheduler.conf", "cinder-volume.conf"} {
		url := options["cinder "+file+" "+option]
		if !strings.HasPrefix(url, "redis://:") || !strings.HasSuffix(url,
			"@valkey-sentinel-0.valkey-sentinel.openstack:26379?sentinel=kolla&sentinel_fallback=valkey-sentinel-1.valkey-sentinel.openstack:26379&sentinel_fallback=valkey-sentinel-2.valkey-sentinel.openstack:26379") {
			t.Errorf("%s: backend_url is %q", file, url)
		}
	}
	if url := stackOptions(inRelease(t, "testdata/stacks", newest))["cinder cinder-api.conf "+option]; url != "" {
		t.Errorf("without an input, backend_url is %q", url)
	}
}

// TestStateInputs checks the errors for numbers of members that make no cluster, and for limits that
// servers would not understand.
func TestStateInputs(t *testing.T) {
	for text, want := range map[string]string{
		`service "rabbitmq" {}`:                                             "",
		`service "rabbitmq" { replicas = 3 }`:                               "",
		`service "rabbitmq" { replicas = 5 }`:                               "",
		`service "rabbitmq" { replicas = 2 }`:                               "Run one, three or five.",
		`service "rabbitmq" { replicas = 4 }`:                               "outlives the loss of no more members",
		`service "rabbitmq" { replicas = 7 }`:                               "server runs 5",
		`service "rabbitmq" { memory = "1.5Gi" }`:                           "a whole number with a unit, Mi or Gi",
		`service "rabbitmq" { disk_free_limit = "5G" }`:                     "a number with a unit",
		`service "valkey" {}`:                                               "",
		`service "valkey" { replicas = 4 }`:                                 "",
		`service "valkey" { replicas = 1 }`:                                 "fewer than three servers and three sentinels",
		`service "valkey" { memory = "1.5Gi" }`:                             "a whole number with a unit, Mi or Gi",
		"service \"valkey\" {\n  workload \"sentinel\" { replicas = 1 }\n}": "fewer than three servers and three sentinels",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte("cloud \"c\" {\n  release = \"2026.1\"\n}\n\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
		switch {
		case want == "" && len(diags) > 0:
			t.Errorf("%s: %v", text, diags)
		case want != "" && (len(diags) != 1 || !strings.Contains(diags[0].Detail, want) || diags[0].Subject == nil || diags[0].Subject.Start.Line != 5):
			t.Errorf("%s: %v, want %q at line 5", text, diags, want)
		}
	}
}
