package engine_test

import (
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
