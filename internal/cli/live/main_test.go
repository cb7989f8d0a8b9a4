// Package live_test runs command lines in the test process against a real API server. The tests
// count requests, and change objects that a command reads. They have their own cluster, so that its
// audit log contains only their requests.
package live_test

import (
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
