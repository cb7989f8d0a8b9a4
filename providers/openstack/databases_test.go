package openstack_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/configs"
)

// TestLostDatabase checks that daemons stop waiting for a database that has lost power, and that
// jobs may change a table for as long as necessary.
func TestLostDatabase(t *testing.T) {
	for name, config := range map[string]*configs.Config{
		"compute-kit": load(t, "../../examples/compute-kit"),
		"cells":       inRelease(t, "testdata/servers", newest),
	} {
		limited, unlimited := 0, 0
		options := stackOptions(config)
		for option := range options {
			file, isConnection := strings.CutSuffix(option, "database connection")
			if !isConnection || options[file+"database max_retries"] == "" {
				continue
			}
			got, want := options[file+"database connection_parameters"], "read_timeout=60"
			if strings.HasSuffix(strings.Fields(file)[1], "-db.conf") && !strings.HasPrefix(file, "nova-compute") {
				want = ""
				unlimited++
			} else {
				limited++
			}
			if got != want {
				t.Errorf("%s: %s has %q, want %q", name, file, got, want)
			}
		}
		if limited < 10 || unlimited < 5 {
			t.Errorf("%s: %d files of daemons and %d of jobs name a database", name, limited, unlimited)
		}
	}
}
