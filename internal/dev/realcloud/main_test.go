package realcloud_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain skips all tests with a message if real nodes are not available. `make test-real`
// prepares all that the nodes need and then sets the variable.
func TestMain(m *testing.M) {
	if given := os.Getenv(loadVariable); given != "" {
		runLoad(given)
		return
	}
	if os.Getenv("KOLLA_REAL") == "" {
		fmt.Println("the real cloud is not tested: real nodes need root; run make test-real")
		return
	}
	os.Exit(m.Run())
}
