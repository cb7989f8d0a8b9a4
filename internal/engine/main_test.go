package engine_test

import (
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
