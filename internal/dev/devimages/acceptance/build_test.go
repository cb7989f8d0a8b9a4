package acceptance_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/devimages/imageset"
	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

// maxBytes limits the disk space of all images of a release and their cache.
const maxBytes = 5_000_000_000

func TestAcceptance(t *testing.T) {
	wanted := os.Getenv("KOLLA_DEVIMAGES_ACCEPTANCE")
	if wanted == "" {
		t.Skip("NOT RUN: building the images takes root, mmdebstrap, a Debian mirror and minutes; set KOLLA_DEVIMAGES_ACCEPTANCE to the names of images, or to all")
	}
	b := newBuilder(t, os.Getenv("KOLLA_DEVIMAGES_RELEASE"))
	if wanted != "all" {
		b.images = strings.Fields(wanted)
	}
	t.Run("killed", b.killed)
	t.Run("not root", b.notRoot)
	if !t.Run("built", b.built) {
		t.FailNow()
	}
	t.Run("unchanged", b.unchanged)
	for layer, works := range map[string]func(container){
		"barbican":       barbican,
		"ceph":           ceph,
		"chromium":       func(c container) { c.succeeds("chromium", "--version"); c.succeeds("chromedriver", "--version") },
		"cinder":         cinder,
		"glance":         glance,
		"haproxy":        func(c container) { c.succeeds("haproxy", "-v") },
		"heat":           heat,
		"horizon":        horizon,
		"keepalived":     func(c container) { c.succeeds("keepalived", "-v") },
		"keystone":       keystone,
		"libvirt":        b.libvirt,
		"mariadb-server": mariadb,
		"memcached":      memcached,
		"neutron":        neutron,
		"nova":           nova,
		"openstack-base": func(c container) { c.succeeds("openstack", "--version") },
		"ovn":            ovn,
		"placement":      placement,
		"prometheus":     func(c container) { c.succeeds("/opt/prometheus/prometheus", "--version") },
		"prometheus-mysqld-exporter": func(c container) {
			c.succeeds("/opt/mysqld_exporter/mysqld_exporter", "--version")
		},
		"rabbitmq": rabbitmq,
		"rsyslog":  func(c container) { c.succeeds("rsyslogd", "-v") },
		"valkey":   valkey,
		"tempest":  func(c container) { c.succeeds("tempest", "--version") },
	} {
		t.Run(layer, func(t *testing.T) { b.works(t, layer, works) })
	}
}

// works runs a test in each image that has the layer on top.
func (b builder) works(t *testing.T, layer string, works func(container)) {
	var root string
	for _, image := range recipe.Images() {
		if image.Layer != layer || image.File != "" || len(b.images) > 0 && !slices.Contains(b.images, image.Name) {
			continue
		}
		fresh := root == ""
		if fresh { // all of these images have the same layers
			root = filepath.Join(t.TempDir(), "root")
			if err := imageset.Unpack(t.Context(), b.out, root, []string{image.Name}); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(image.Name, func(t *testing.T) {
			c := container{T: t, image: image.Name, root: root, config: config(t, b.out, image.Name)}
			if fresh {
				c.clean()
			}
			works(c)
		})
	}
}

// builder contains the program, its directories, the release and the images to build. No images: all
// of them.
type builder struct {
	program, out, cache string
	release             recipe.Release
	images              []string
}

// build returns the arguments of a build.
func (b builder) build() []string {
	return append([]string{"build", "-release", b.release.Name, "-out", b.out, "-cache", b.cache}, b.images...)
}

func newBuilder(t *testing.T, name string) builder {
	t.Helper()
	release, err := recipe.FindRelease(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := builder{
		release: release,
		images:  release.Images,
		program: filepath.Join(dir, "kolla-devimages"),
		out:     filepath.Join(dir, "out"),
		cache:   os.Getenv("KOLLA_DEVIMAGES_CACHE"),
	}
	if b.cache == "" {
		b.cache = filepath.Join(dir, "cache")
	}
	if out, err := exec.Command("go", "build", "-o", b.program, "..").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return b
}

// run runs the program and returns its output.
func (b builder) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(b.program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kolla-devimages %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// killed kills a build in the middle. It checks that no process of the build goes on, and that the
// next build removes the leftovers.
func (b builder) killed(t *testing.T) {
	cache := t.TempDir()
	cmd := exec.Command(b.program, "build", "-out", filepath.Join(cache, "out"), "-cache", cache, "memcached")
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(progress)
	if !lines.Scan() || !strings.Contains(lines.Text(), "mmdebstrap") {
		t.Errorf("the build begins with %q", lines.Text())
	}
	eventually(t, func() error {
		if made, _ := filepath.Glob(filepath.Join(cache, "tmp", "*", "upper", "usr", "bin", "*")); len(made) > 0 {
			return nil
		}
		return errors.New("the build makes nothing")
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the error says that it was killed

	eventually(t, func() error { return nobodyUses(cache) })
	if err := os.WriteFile(filepath.Join(cache, "pause"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	b.run(t, "build", "-out", filepath.Join(cache, "out"), "-cache", cache, "-binaries", cache, "pause")
	if left, _ := os.ReadDir(filepath.Join(cache, "tmp")); len(left) > 0 {
		t.Errorf("left of the killed build: %v", left)
	}
}

// nobodyUses returns an error if a process has a mount below the directory, or the directory in its
// arguments.
func nobodyUses(dir string) error {
	for _, name := range []string{"mountinfo", "cmdline"} {
		files, err := filepath.Glob("/proc/[0-9]*/" + name)
		if err != nil {
			return err
		}
		for _, file := range files {
			content, _ := os.ReadFile(file) // some processes have ended
			if bytes.Contains(content, []byte(dir)) {
				return fmt.Errorf("%s: %q", file, content)
			}
		}
	}
	return nil
}

func (b builder) notRoot(t *testing.T) {
	cache := t.TempDir()
	const nobody = 65534
	if err := os.Chown(cache, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{cache, filepath.Dir(b.program)} {
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(b.program, "build", "-out", filepath.Join(cache, "out"), "-cache", cache)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "making images needs root") {
		t.Errorf("%v: %s", err, out)
	}
}

// built builds the images and checks the disk space that they take.
func (b builder) built(t *testing.T) {
	began := time.Now()
	out := b.run(t, b.build()...)
	t.Logf("built in %.0f s\n%s%s", time.Since(began).Seconds(), out, b.run(t, "list", "-out", b.out))
	if used := bytesBelow(t, filepath.Join(b.cache, b.release.Name)) + bytesBelow(t, b.out); used > maxBytes {
		t.Errorf("%d bytes are used, want %d at most", used, maxBytes)
	}
	if err := nobodyUses(b.cache); err != nil {
		t.Error("in use after the build:", err)
	}
}

func bytesBelow(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// unchanged builds again, and checks that nothing is made and that the index is the same.
func (b builder) unchanged(t *testing.T) {
	index := filepath.Join(b.out, "index.json")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if out := b.run(t, b.build()...); strings.Contains(out, "apt-get") {
		t.Errorf("nothing has changed, and it was built:\n%s", out)
	}
	after, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Errorf("nothing has changed, but the index:\n%s\n%s", before, after)
	}
}

// eventually repeats a check until it returns no error. It ends a test that would hang.
func eventually(t *testing.T, holds func() error) {
	t.Helper()
	const pause = 200 * time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}
