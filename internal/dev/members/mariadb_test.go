package members_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// variable makes the tests run. They need root, and the images.
const variable = "KOLLA_MEMBERS"

// password of the administrator has what is special in SQL and in option files.
const password = `it's a \ "password" #1`

// cloudWith is a cloud with one service.
const cloudWith = `
cloud "members" {
  release = "2025.1"
  distro  = "debian-trixie"
}

role "control" { nodes = ["a", "b", "c", "d", "e"] }

service "mariadb" {
  role            = role.control
  replicas        = %d
  buffer_pool     = "64M"
  write_set_cache = "64M"
}
`

// shape has what the definition says about the pods of a number of members.
type shape struct {
	pod   corev1.PodSpec
	files map[string]string // config files by their paths
	proxy corev1.PodSpec
}

// shapeOf renders the definition.
func shapeOf(t *testing.T, replicas int) shape {
	t.Helper()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), fmt.Appendf(nil, cloudWith, replicas), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	objects, diags := openstack.Render(config, openstack.Offline())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	out := shape{files: map[string]string{}}
	configs := map[string]map[string]string{}
	for _, o := range objects {
		switch o.Address.Kind {
		case "ConfigMap":
			configs[o.Address.Name], _, err = unstructured.NestedStringMap(o.Manifest.Object, "data")
		case "StatefulSet":
			var set appsv1.StatefulSet
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Manifest.Object, &set)
			out.pod = set.Spec.Template.Spec
		case "Deployment":
			var proxy appsv1.Deployment
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Manifest.Object, &proxy)
			out.proxy = proxy.Spec.Template.Spec
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range []corev1.PodSpec{out.pod, out.proxy} {
		for _, volume := range pod.Volumes {
			for _, c := range pod.Containers {
				for _, mount := range c.VolumeMounts {
					if volume.ConfigMap != nil && mount.Name == volume.Name {
						out.files[mount.MountPath] = configs[volume.ConfigMap.Name][mount.SubPath]
					}
				}
			}
		}
	}
	return out
}

// cluster is the members of a service, and a client with a proxy beside it.
type cluster struct {
	*testing.T
	network network
	root    string
	dir     string
	members []*member
	client  *member // its container is the proxy
}

func newCluster(t *testing.T, replicas int) *cluster {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skipf("NOT RUN: members of clusters need root and the images; set %s, or run make test-members", variable)
	}
	c := &cluster{T: t, dir: t.TempDir()}
	c.root = filepath.Join(c.dir, "root")
	top := filepath.Join("..", "..", "..", "bin")
	unpack := exec.Command(filepath.Join(top, "kolla-devimages"), "unpack", "-out", filepath.Join(top, "images"), "-to", c.root, "mariadb-server", "haproxy")
	if root := os.Getenv(variable); root != "1" {
		unpack = exec.Command("cp", "-a", "--reflink=auto", root, c.root)
	}
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{"etc/hosts", "etc/haproxy/haproxy.cfg"} {
		path := filepath.Join(c.root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	c.network = newNetwork(t, replicas+1)
	for i := range replicas + 1 {
		m := &member{t: t, number: i, netns: c.network.of(i), root: c.root, dir: filepath.Join(c.dir, strconv.Itoa(i))}
		if err := errors.Join(os.MkdirAll(filepath.Join(m.dir, "data"), 0o755), os.Chown(filepath.Join(m.dir, "data"), 42434, 42434)); err != nil {
			t.Fatal(err)
		}
		c.members = append(c.members, m)
		t.Cleanup(m.cut)
	}
	c.client = c.members[replicas]
	c.members = c.members[:replicas]
	t.Cleanup(func() {
		for _, m := range c.members {
			if t.Failed() {
				t.Logf("log of member %d:\n%s", m.number, m.said())
			}
		}
	})
	return c
}

// shape gives all members the containers that the definition has for a number of replicas. They
// have to be started after that.
func (c *cluster) shape(replicas int) {
	c.Helper()
	s := shapeOf(c.T, replicas)
	hosts := "127.0.0.1 localhost\n"
	for _, m := range c.members {
		name := fmt.Sprintf("mariadb-server-%d", m.number)
		hosts += fmt.Sprintf("%s %s.mariadb-server.openstack %[2]s.openstack\n", address(m.number), name)
	}
	files := map[string]string{"/etc/hosts": hosts, "/run/secrets/root/value": password}
	for path, content := range s.files {
		files[path] = content
	}
	for _, m := range append(slices.Clone(c.members), c.client) {
		for path, content := range files {
			file := filepath.Join(m.dir, "files", path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
				c.Fatal(err)
			}
		}
	}
	for _, m := range c.members {
		m.container, m.beside, m.sidecar = s.pod.Containers[0], nil, nil
		m.env = map[string]string{"HOSTNAME": fmt.Sprintf("mariadb-server-%d", m.number)}
		for _, e := range m.container.Env {
			if m.env[e.Name] = e.Value; e.ValueFrom != nil {
				m.env[e.Name] = address(m.number)
			}
		}
		for _, step := range s.pod.InitContainers {
			if step.RestartPolicy == nil {
				m.beside = append(m.beside, step.Command)
				continue
			}
			m.sidecar = step.Command
			for _, e := range step.Env {
				m.env[e.Name] = e.Value
			}
		}
	}
	if replicas > 1 {
		c.client.container, c.client.env = s.proxy.Containers[0], map[string]string{}
		if c.client.container.LivenessProbe == nil {
			c.client.container.LivenessProbe = &corev1.Probe{PeriodSeconds: 10}
		}
	}
}

func (c *cluster) start(members ...int) {
	c.Helper()
	for _, i := range members {
		c.members[i].start()
	}
}

// each does something with all members at once.
func (c *cluster) each(do func(*member)) {
	var all sync.WaitGroup
	for _, m := range c.members {
		all.Go(func() { do(m) })
	}
	all.Wait()
}

// synced waits until all members are ready, in one cluster.
func (c *cluster) synced() {
	c.Helper()
	began := time.Now()
	eventually(c.T, func() error {
		var first string
		for _, m := range c.members {
			if err := m.ready(); err != nil {
				return fmt.Errorf("member %d is not ready: %w", m.number, err)
			}
			got, err := m.query("SHOW STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_cluster_state_uuid')")
			if err != nil {
				return err
			}
			if m.number == 0 {
				first = got
			}
			if got != first || !strings.Contains(got, fmt.Sprintf("wsrep_cluster_size\t%d", len(c.members))) {
				return fmt.Errorf("member %d is in %s, member 0 in %s", m.number, got, first)
			}
		}
		return nil
	})
	c.Logf("all are in sync after %v", time.Since(began).Round(time.Second))
}

// writer writes numbers through the proxy, one after the other, and remembers those that were
// answered.
type writer struct {
	c        *cluster
	next     int
	answered []int
	longest  time.Duration
	stop     chan struct{}
	stopped  chan struct{}
}

// sql runs a statement through the proxy, as a client of the service.
func (c *cluster) sql(statement string) error {
	_, err := c.client.exec("timeout", "20", "mariadb", "--no-defaults", "--host=127.0.0.1", "--user=root", "--password="+password, "--connect-timeout=5", "--execute="+statement)
	return err
}

// writing starts to write.
func (w *writer) writing() {
	w.stop, w.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.stopped)
		last := time.Now()
		for {
			select {
			case <-w.stop:
				return
			default:
			}
			w.next++
			if w.c.sql(fmt.Sprintf("INSERT INTO kept.numbers VALUES (%d)", w.next)) == nil {
				w.answered = append(w.answered, w.next)
				w.longest = max(w.longest, time.Since(last))
				last = time.Now()
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
}

func (w *writer) ends() {
	close(w.stop)
	<-w.stopped
}

// kept checks that every member has all numbers that were answered, and that all have the same.
func (w *writer) kept() {
	w.c.Helper()
	var first string
	for _, m := range w.c.members {
		got, err := m.query("SET SESSION wsrep_sync_wait = 1; SELECT n FROM kept.numbers ORDER BY n")
		if err != nil {
			w.c.Fatal(err)
		}
		if m.number == 0 {
			first = got
		} else if got != first {
			w.c.Errorf("member %d has other numbers than member 0", m.number)
		}
		there := map[string]bool{}
		for _, n := range strings.Fields(got) {
			there[n] = true
		}
		for _, n := range w.answered {
			if !there[strconv.Itoa(n)] {
				w.c.Errorf("member %d has lost %d", m.number, n)
			}
		}
	}
}

// TestMariaDB takes a cluster of MariaDB through what may happen to it. After each step all members
// have every number whose writing was answered.
func TestMariaDB(t *testing.T) {
	c := newCluster(t, 3)
	all := []int{0, 1, 2}
	w := &writer{c: c}
	step := func(name string, do func()) {
		began := time.Now()
		do()
		c.synced()
		eventually(t, func() error { return c.sql("SELECT 1") })
		w.kept()
		if t.Failed() {
			t.FailNow()
		}
		t.Logf("%s: %v", name, time.Since(began).Round(time.Second))
	}

	// One member becomes three, while it still runs.
	c.shape(1)
	c.start(0)
	eventually(t, func() error {
		_, err := c.members[0].query("CREATE DATABASE IF NOT EXISTS kept; CREATE TABLE IF NOT EXISTS kept.numbers (n INT PRIMARY KEY); INSERT IGNORE INTO kept.numbers VALUES (0)")
		return err
	})
	w.answered = append(w.answered, 0)
	step("one member becomes three", func() {
		c.shape(3) // member 0 runs on as it is until the others are ready, as in a StatefulSet
		c.client.start()
		c.start(1, 2)
		for _, i := range []int{1, 2} {
			eventually(t, c.members[i].ready)
		}
		c.members[0].stop()
		c.members[0].start()
	})

	step("power cut while clients write", func() {
		w.writing()
		time.Sleep(3 * time.Second)
		c.each((*member).cut)
		w.ends()
		c.start(2)
		time.Sleep(3 * time.Second)
		c.start(0)
		time.Sleep(3 * time.Second)
		c.start(1)
	})
	step("all stop in order", func() {
		w.writing()
		c.each((*member).stop)
		w.ends()
		c.start(all...)
	})
	step("volume of member 0 lost", func() {
		c.each((*member).cut)
		c.members[0].loses()
		c.start(all...)
	})
	step("two volumes lost", func() {
		c.each((*member).cut)
		c.members[0].loses()
		c.members[1].loses()
		c.start(0, 1)
		eventually(t, func() error { return saysWaits(c.members[0], c.members[1]) })
		for _, m := range c.members[:2] {
			if entries, _ := filepath.Glob(filepath.Join(m.dir, "data", "mysql")); len(entries) > 0 {
				t.Errorf("member %d has a new database, although member 2 has data", m.number)
			}
		}
		c.start(2)
	})
	step("the writer killed", func() {
		w.longest = 0
		w.writing()
		time.Sleep(3 * time.Second)
		c.members[0].cut()
		time.Sleep(20 * time.Second)
		w.ends()
		t.Logf("MEASURED: %v without a write when the member is killed to which clients write", w.longest.Round(100*time.Millisecond))
		c.start(0)
	})
	step("the writer stops in order", func() {
		w.longest = 0
		w.writing()
		time.Sleep(3 * time.Second)
		c.members[0].stop()
		time.Sleep(5 * time.Second)
		w.ends()
		t.Logf("MEASURED: %v without a write when the member stops in order to which clients write", w.longest.Round(100*time.Millisecond))
		c.start(0)
	})
	step("two of three killed", func() {
		w.writing()
		c.members[1].crash()
		c.members[2].crash()
		time.Sleep(5 * time.Second)
		w.ends()
	})
	step("one member cut off", func() {
		c.network.connect(0, "down")
		eventually(t, func() error {
			if c.members[0].ready() == nil {
				return errors.New("a member without the others is ready")
			}
			return nil
		})
		w.writing()
		time.Sleep(20 * time.Second)
		before := len(w.answered)
		w.ends()
		if before == 0 {
			t.Error("nobody writes")
		}
		c.network.connect(0, "up")
	})
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	step("killed at any moment", func() {
		w.writing()
		for range 12 {
			time.Sleep(time.Duration(chance.IntN(12000)) * time.Millisecond)
			for _, i := range chance.Perm(3)[:1+chance.IntN(3)] {
				c.members[i].crash()
			}
		}
		w.ends()
	})
	step("three, one, three", func() {
		c.members[2].stop()
		c.members[1].stop()
		eventually(t, func() error {
			_, err := c.members[0].exec("test", "-e", "/var/lib/mysql/alone")
			return err
		})
		c.members[0].stop()
		c.shape(1)
		c.start(0)
		eventually(t, func() error {
			_, err := c.members[0].query("INSERT IGNORE INTO kept.numbers VALUES (1000000)")
			return err
		})
		w.answered = append(w.answered, 1000000)
		c.members[0].stop()
		c.shape(3)
		c.start(all...) // the others have their old volumes
	})
	step("two histories", func() {
		c.each((*member).stop)
		state := filepath.Join(c.members[2].dir, "data", "grastate.dat")
		content, err := os.ReadFile(state)
		if err != nil {
			t.Fatal(err)
		}
		other := regexp.MustCompile(`uuid: .*`).ReplaceAll(content, []byte("uuid:    aaaaaaaa-0000-11f0-8000-000000000001"))
		if err := os.WriteFile(state, other, 0o644); err != nil {
			t.Fatal(err)
		}
		c.each((*member).forget)
		c.start(all...)
		command := regexp.MustCompile(`kubectl -n openstack exec mariadb-server-\d -c server -- sh -c '(.*)'`)
		says := func(m *member, want string) string {
			var found []string
			eventually(t, func() error {
				if found = command.FindStringSubmatch(m.said()); found == nil || !strings.Contains(m.said(), want) {
					return fmt.Errorf("member %d says:\n%s", m.number, m.said())
				}
				return nil
			})
			return found[1]
		}
		begin := says(c.members[0], "different data")
		says(c.members[1], "different data")
		says(c.members[2], "different data")
		c.members[2].forget()
		if _, err := c.members[0].exec("sh", "-c", begin); err != nil {
			t.Fatal(err)
		}
		discard := says(c.members[2], "would be lost")
		if err := c.members[2].ready(); err == nil {
			t.Error("a member of another history is ready")
		}
		if _, err := c.members[2].exec("sh", "-c", discard); err != nil {
			t.Fatal(err)
		}
	})
}

// saysWaits returns an error until members say that they wait for others.
func saysWaits(members ...*member) error {
	for _, m := range members {
		if !strings.Contains(m.said(), "Waits for all members") {
			return fmt.Errorf("member %d does not wait:\n%s", m.number, m.said())
		}
	}
	return nil
}
