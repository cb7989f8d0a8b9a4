package openstack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack"
)

const powersFromElsewhere = `
cloud "c" {
  release = "2026.1"
  # pod_security
}

service "memcached" {
  # host_network

  patch "Service/memcached" {
    object = { spec = { publishNotReadyAddresses = true } }
  }

  patch "StatefulSet/memcached-server" {
    object = { spec = { template = { spec = { hostIPC = true } } } }
  }
}

definition "node" {
  workload "agent" {
    kind         = "DaemonSet"
    image        = "agent"
    host_network = true
  }
}

service "node" {}

manifest "tool" {
  object = { apiVersion = "apps/v1", kind = "ReplicaSet", metadata = { name = "tool" }, spec = { template = { spec = { hostPID = true, containers = [{ name = "tool", image = "tool" }] } } } }
}

manifest "far" {
  object = { apiVersion = "v1", kind = "Pod", metadata = { name = "far", namespace = "default" }, spec = { hostPID = true } }
}

manifest "file" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "tool" } }
}
`

// TestRefused checks the warnings about pods that the policies of the namespace will refuse: pods
// that get powers from a patch, or from a kind of manifest that may not give powers. A plan and a
// check of the configuration must give the same warnings.
func TestRefused(t *testing.T) {
	said := func(pairs ...string) []string {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.NewReplacer(pairs...).Replace(powersFromElsewhere)), 0o600); err != nil {
			t.Fatal(err)
		}
		config := load(t, dir)
		_, diags := openstack.Render(config, facts())
		if _, checked := openstack.Check(config, facts()); cmp.Diff(diags, checked) != "" {
			t.Errorf("a check finds something else (-rendered +checked):\n%s", cmp.Diff(diags, checked))
		}
		var out []string
		for _, d := range diags {
			if d.Summary == "Pods that will be refused" {
				out = append(out, strings.Split(string(config.Files[d.Subject.Filename].Bytes), "\n")[d.Subject.Start.Line-1]+": "+d.Detail)
			}
		}
		return out
	}
	got := said()
	if len(got) != 2 || !strings.HasPrefix(got[0], `  patch "StatefulSet/memcached-server"`) || !strings.Contains(got[0], "hostIPC=true") || !strings.Contains(got[0], `pod_security = "privileged"`) ||
		!strings.Contains(got[1], "ReplicaSet/tool") || !strings.Contains(got[1], "hostPID=true") {
		t.Errorf("warnings: %q", got)
	}
	if got := said("# pod_security", `pod_security = "privileged"`); len(got) > 0 {
		t.Errorf("with pod_security: %q", got)
	}
	if got := said("# host_network", "workload \"server\" {\n    host_network = true\n  }"); len(got) != 1 {
		t.Errorf("where the service may have powers: %q", got)
	}
}
