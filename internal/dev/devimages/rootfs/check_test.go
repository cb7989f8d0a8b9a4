package rootfs_test

import (
	"os"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/devimages/rootfs"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rootfs.Verb {
		os.Exit(rootfs.Run(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestCheck checks that the error about a missing requirement says how to meet it.
func TestCheck(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := rootfs.Check(t.Context(), t.TempDir())
	want := "mmdebstrap is missing: apt-get install mmdebstrap"
	if os.Geteuid() != 0 {
		want = "needs root"
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one with %q", err, want)
	}
}

func TestCheckOverlay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: it takes root to mount an overlay")
	}
	const complaint = "no overlayfs with its layers in "
	// No file can be written to this directory.
	err := rootfs.Check(t.Context(), "/proc/self/task")
	if err == nil || !strings.Contains(err.Error(), complaint+"/proc/self/task (-cache can name") {
		t.Errorf("error is %v", err)
	}

	work := t.TempDir()
	err = rootfs.Check(t.Context(), work)
	if err != nil && strings.Contains(err.Error(), complaint) {
		t.Skip("NOT RUN: the temporary directory of this machine holds no layers of overlays:", err)
	}
	if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), work) {
		t.Errorf("the mount is left (%v):\n%s", err, mounts)
	}
}
