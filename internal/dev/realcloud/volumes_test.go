package realcloud_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const cephAddress = "10.200.0.103"

// cephService describes the test's Ceph in a configuration.
const cephService = `
service "ceph" {
  external = { host = "` + cephAddress + `" }
  keyrings = {
    glance          = file("ceph/glance.keyring")
    cinder          = file("ceph/cinder.keyring")
    "cinder-backup" = file("ceph/cinder-backup.keyring")
  }
}
`

// ceph runs a small Ceph on a machine outside of the cluster until the test ends. Images,
// volumes and backups are kept in it.
func (c *cloud) ceph(t *testing.T) {
	t.Helper()
	c.script(t, "ceph.sh")
	cmd, err := c.cluster.Outside(context.WithoutCancel(t.Context()), cephAddress, filepath.Join(c.root, "bin", "outside"), "sh", "ceph.sh", cephAddress)
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	eventually(t, func() error {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("Ceph has ended: %v\n%s", err, log)
		default:
		}
		_, err := os.Stat(filepath.Join(c.dir, "ceph", "ready"))
		return err
	})
	measured(t, "from nothing to a Ceph with pools and users", time.Since(began).Round(time.Second))
	c.write(t, "ceph.hcl", cephService)
	c.edit(t, "service \"glance\" {\n", "service \"glance\" {\n  stores = { rbd = { type = \"rbd\" } }\n")
	c.edit(t, "service \"cinder\" {\n", "service \"cinder\" {\n  backup = {}\n")
}

// rbd runs Ceph's own client and returns its output.
func (c *cloud) rbd(t *testing.T, args ...string) string {
	t.Helper()
	r := c.outside(t, []string{"CEPH_CONF=ceph/ceph.conf"}, append([]string{"rbd"}, args...)...)
	if r.code != 0 {
		t.Fatalf("rbd %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
	return strings.TrimSpace(r.out)
}

// volume creates a volume and returns its name in the backend.
func (c *cloud) volume(t *testing.T, name string, args ...string) string {
	t.Helper()
	id := c.value(t, append([]string{"volume", "create", "--size", "1", name, "-f", "value", "-c", "id"}, args...)...)
	c.awaitStatus(t, "available", "volume", "show", id, "-f", "value", "-c", "status")
	return "volume-" + id
}

// delete deletes a volume by its name in the backend.
func (c *cloud) delete(t *testing.T, name string) {
	t.Helper()
	c.value(t, "volume", "delete", strings.TrimPrefix(name, "volume-"))
}

// volumesAreMade checks that each backend creates volumes, and NFS also snapshots of them, and volumes from
// snapshots and from other volumes.
func volumesAreMade(t *testing.T, c *cloud) {
	c.answerAll(t)
	for _, backend := range []string{"rbd", "nas"} {
		c.value(t, "volume", "type", "create", backend, "--property", "volume_backend_name="+backend)
	}
	block := c.volume(t, "block", "--type", "rbd")
	if kept := c.rbd(t, "ls", "volumes"); kept != block {
		t.Errorf("the pool of volumes holds %q, want %s", kept, block)
	}
	file := c.volume(t, "file", "--type", "nas")
	c.kubectl(t, "exec", "cinder-volume-0", "--", "sh", "-c", "ls /var/lib/cinder/mnt/*/"+file)
	c.value(t, "volume", "snapshot", "create", "--volume", "file", "of-file", "-f", "value", "-c", "id")
	c.awaitStatus(t, "available", "volume", "snapshot", "show", "of-file", "-f", "value", "-c", "status")
	from := c.volume(t, "from-snapshot", "--snapshot", "of-file")
	c.value(t, "volume", "snapshot", "delete", "of-file")
	clone := c.volume(t, "clone", "--source", "from-snapshot")
	c.kubectl(t, "exec", "cinder-volume-0", "--", "sh", "-c", "ls /var/lib/cinder/mnt/*/"+from+" /var/lib/cinder/mnt/*/"+clone)
	for _, volume := range []string{block, clone, from} {
		c.delete(t, volume)
	}
	eventually(t, func() error { // Cinder deletes no volume with a snapshot
		if r := c.openstack(t, "volume", "snapshot", "show", "of-file"); r.code == 0 {
			return errors.New("the snapshot is still there")
		}
		return nil
	})
	c.delete(t, file)
}

// volumeHoldsImage checks that a volume made from an image contains the image.
func volumeHoldsImage(t *testing.T, c *cloud) {
	c.wantImage(t, c.volume(t, "from-image", "--type", "rbd", "--image", imageName))
}

// wantImage compares a volume with the image.
func (c *cloud) wantImage(t *testing.T, volume string) {
	t.Helper()
	const exported = "volume.bin"
	c.rbd(t, "export", "--no-progress", "volumes/"+volume, exported)
	defer os.Remove(filepath.Join(c.dir, exported))
	want, err := os.ReadFile(filepath.Join(c.dir, "up.bin"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(c.dir, exported))
	if err != nil || len(got) != 1<<30 || !bytes.HasPrefix(got, want) {
		t.Errorf("the volume of %d bytes does not begin with the image: %v", len(got), err)
	}
}

// backupComesBack restores a backup into another volume.
func backupComesBack(t *testing.T, c *cloud) {
	c.value(t, "volume", "backup", "create", "--name", "backup", "from-image", "-f", "value", "-c", "id")
	c.awaitStatus(t, "available", "volume", "backup", "show", "backup", "-f", "value", "-c", "status")
	if kept := c.rbd(t, "ls", "backups"); kept == "" {
		t.Error("the pool of backups is empty")
	}
	restored := c.volume(t, "restored", "--type", "rbd")
	c.value(t, "volume", "backup", "restore", "--force", "backup", "restored")
	c.awaitStatus(t, "available", "volume", "show", "restored", "-f", "value", "-c", "status")
	c.wantImage(t, restored)
}
