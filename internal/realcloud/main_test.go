package realcloud_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain leaves everything out where real nodes cannot be, and says so.
// `make test-real` sets the variable, after it has seen to all that they need.
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
