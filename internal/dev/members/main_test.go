package members_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// apart is the environment variable of a process with mounts of its own.
const apart = "KOLLA_TEST_APART"

// prepare makes mounts for network namespaces and temporary files, and runs the test.
const prepare = `
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
mount -t tmpfs -o mode=1777 tmpfs /mnt
export TMPDIR=/mnt
exec "$@"
`

// TestMain skips all tests with a message if real nodes are not available, which need root and the
// images, too. The process of the tests has mounts of its own: so nothing stays of them, even if they
// are killed.
func TestMain(m *testing.M) {
	if os.Getenv("KOLLA_REAL") == "" {
		fmt.Println("members of clusters are not tested: they need root; run make test-members")
		return
	}
	if os.Getenv(apart) != "" {
		os.Exit(m.Run())
	}
	fmt.Println(startApart())
	os.Exit(1)
}

// startApart replaces this process. It returns only when that fails.
func startApart() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return err
	}
	args := append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-ec", prepare, "sh", self}, os.Args[1:]...)
	return fmt.Errorf("start unshare: %w", syscall.Exec(unshare, args, append(os.Environ(), apart+"=1")))
}
