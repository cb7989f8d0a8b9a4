// Package live_test holds tests of command lines against a real API server that run within the test:
// they count requests, and change what a command reads. They have a cluster of their own, so that
// nobody else's requests are in its audit log.
package live_test

import (
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
