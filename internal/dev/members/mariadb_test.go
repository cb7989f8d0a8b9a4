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

// password of the administrator has what is special in SQL and in option files.
const password = `it's a \ "password" #1`

// cloudWith is a cloud with one service.
const cloudWith = `
cloud "members" {
  release  = "2025.1"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla"
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
func shapeOf(t testing.TB, replicas int) shape {
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
	network network
	root    string
	dir     string
	members []*member
	client  *member // its container is the proxy
}

func newCluster(t testing.TB, replicas int) *cluster {
	t.Helper()
	c := &cluster{dir: t.TempDir()}
	c.root = filepath.Join(c.dir, "root")
	top := filepath.Join("..", "..", "..", "bin")
	unpack := exec.Command(filepath.Join(top, "kolla-devimages"), "unpack", "-out", filepath.Join(top, "images"), "-to", c.root, "mariadb-server", "haproxy")
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
		m := &member{whole: t, number: i, netns: c.network.of(i), root: c.root, dir: filepath.Join(c.dir, strconv.Itoa(i))}
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
func (c *cluster) shape(t testing.TB, replicas int) {
	t.Helper()
	s := shapeOf(t, replicas)
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
				t.Fatal(err)
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
			command := slices.Concat(step.Command, step.Args)
			if step.RestartPolicy == nil {
				m.beside = append(m.beside, command)
				continue
			}
			m.sidecar = command
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

func (c *cluster) start(t testing.TB, members ...int) {
	t.Helper()
	for _, i := range members {
		c.members[i].start(t)
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
func (c *cluster) synced(t testing.TB) {
	t.Helper()
	began := time.Now()
	eventually(t, func() error {
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
	t.Logf("all are in sync after %v", time.Since(began).Round(time.Second))
}

// writer writes numbers through the proxy, one after the other, and remembers those that were
// answered.
type writer struct {
	c       *cluster
	next    int
	stop    chan struct{}
	stopped chan struct{}

	mu       sync.Mutex
	answered []int
	longest  time.Duration // between two answers
}

// through is a client of the service that runs a statement through the proxy.
func through(statement string) []string {
	return []string{"mariadb", "--no-defaults", "--host=127.0.0.1", "--user=root", "--password=" + password, "--connect-timeout=5", "--execute=" + statement}
}

// sql runs a statement through the proxy.
func (c *cluster) sql(statement string) error {
	_, err := c.client.exec(slices.Concat([]string{"timeout", "20"}, through(statement))...)
	return err
}

// writing starts to write.
func (w *writer) writing() {
	w.stop, w.stopped, w.longest = make(chan struct{}), make(chan struct{}), 0
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
				w.add(w.next, time.Since(last))
				last = time.Now()
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
}

func (w *writer) add(number int, after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = append(w.answered, number)
	w.longest = max(w.longest, after)
}

// count returns how many numbers were answered so far.
func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.answered)
}

// goesOn waits until some more numbers are written.
func (w *writer) goesOn(t *testing.T) {
	t.Helper()
	want := w.count() + 10
	eventually(t, func() error {
		if got := w.count(); got < want {
			return fmt.Errorf("%d numbers are written, want %d", got, want)
		}
		return nil
	})
}

// ends stops writing.
func (w *writer) ends() {
	close(w.stop)
	<-w.stopped
}

// kept checks that every member has all numbers that were answered, and that all have the same.
func (w *writer) kept(t *testing.T) {
	t.Helper()
	var first string
	for _, m := range w.c.members {
		got, err := m.query("SET SESSION wsrep_sync_wait = 1; SELECT n FROM kept.numbers ORDER BY n")
		if err != nil {
			t.Fatal(err)
		}
		if m.number == 0 {
			first = got
		} else if got != first {
			t.Errorf("member %d has other numbers than member 0", m.number)
		}
		there := map[string]bool{}
		for _, n := range strings.Fields(got) {
			there[n] = true
		}
		for _, n := range w.answered {
			if !there[strconv.Itoa(n)] {
				t.Errorf("member %d has lost %d", m.number, n)
			}
		}
	}
}

// maxOutage is the limit for failing writes after the member is killed to which clients write.
const maxOutage = time.Minute

// maxWait is the limit for a client without timeouts that writes meanwhile.
const maxWait = 30 * time.Second

// TestMariaDB makes a cluster of MariaDB of one member, and takes it through what may happen to it.
// After each step all members have every number whose writing was answered. Each step needs nothing of
// those before it: `-run TestMariaDB/one_member_cut_off` takes one.
func TestMariaDB(t *testing.T) {
	c := newCluster(t, 3)
	w := &writer{c: c}
	c.becomesThree(t, w)
	for _, step := range []struct {
		name string
		do   func(*testing.T, *cluster, *writer)
	}{
		{"power cut while clients write", powerIsCut},
		{"all stop in order", allStop},
		{"volume of member 0 lost", volumeIsLost},
		{"two volumes lost", volumesAreLost},
		{"the writer killed", writerIsKilled},
		{"the writer stops in order", writerStops},
		{"clients leave the last member", clientsLeaveTheLast},
		{"two of three killed", twoAreKilled},
		{"one member cut off", memberIsCutOff},
		{"joiner and donor killed", copyIsCut},
		{"killed at any moment", anyAreKilled},
		{"three, one, three", membersLeave},
		{"two histories", historyIsChosen},
		{"back after the others began", memberIsBehind},
	} {
		ok := t.Run(step.name, func(t *testing.T) {
			began := time.Now()
			step.do(t, c, w)
			c.synced(t)
			eventually(t, func() error { return c.sql("SELECT 1") })
			w.kept(t)
			t.Logf("%v", time.Since(began).Round(time.Second))
		})
		if !ok {
			t.FailNow()
		}
	}
}

// becomesThree makes a cluster of one server, while it still runs.
func (c *cluster) becomesThree(t *testing.T, w *writer) {
	t.Helper()
	c.shape(t, 1)
	c.start(t, 0)
	eventually(t, func() error {
		_, err := c.members[0].query("CREATE DATABASE IF NOT EXISTS kept; CREATE TABLE IF NOT EXISTS kept.numbers (n INT PRIMARY KEY); INSERT IGNORE INTO kept.numbers VALUES (0)")
		return err
	})
	w.add(0, 0)
	c.grows(t)
	c.client.start(t)
	c.synced(t)
	eventually(t, func() error { return c.sql("SELECT 1") })
	w.kept(t)
}

// grows makes three members of one, as a StatefulSet does: the first one is replaced when the others
// are ready.
func (c *cluster) grows(t testing.TB) {
	t.Helper()
	c.shape(t, 3)
	c.start(t, 1, 2)
	for _, i := range []int{1, 2} {
		eventually(t, c.members[i].ready)
	}
	c.members[0].stop()
	c.start(t, 0)
}

func powerIsCut(t *testing.T, c *cluster, w *writer) {
	w.writing()
	w.goesOn(t)
	c.each((*member).cut)
	w.ends()
	for _, i := range []int{2, 0, 1} {
		c.start(t, i)
		time.Sleep(3 * time.Second)
	}
}

func allStop(t *testing.T, c *cluster, w *writer) {
	w.writing()
	w.goesOn(t)
	c.each((*member).stop)
	w.ends()
	c.start(t, 0, 1, 2)
}

func volumeIsLost(t *testing.T, c *cluster, _ *writer) {
	c.each((*member).cut)
	c.members[0].loses(t)
	c.start(t, 0, 1, 2)
}

// volumesAreLost checks that members without data wait for the one that has them.
func volumesAreLost(t *testing.T, c *cluster, _ *writer) {
	c.each((*member).cut)
	for _, m := range c.members[:2] {
		m.loses(t)
		m.forget(t)
	}
	c.start(t, 0, 1)
	for _, m := range c.members[:2] {
		m.says(t, "Waits for all members")
		if entries, _ := filepath.Glob(filepath.Join(m.dir, "data", "mysql")); len(entries) > 0 {
			t.Errorf("member %d has a new database, although member 2 has data", m.number)
		}
	}
	c.start(t, 2)
}

func writerIsKilled(t *testing.T, c *cluster, w *writer) {
	w.writing()
	w.goesOn(t)
	waits := c.waits(t, 10)
	time.Sleep(2 * time.Second)
	c.members[0].cut()
	w.goesOn(t)
	c.start(t, 0)
	eventually(t, c.members[0].ready)
	time.Sleep(5 * time.Second) // and clients go back to it
	for _, wait := range waits() {
		if wait > maxWait {
			t.Errorf("a client without a timeout waited for %v, want at most %v", wait.Round(100*time.Millisecond), maxWait)
		}
	}
	w.ends()
	t.Logf("MEASURED: %v without a write when the member is killed to which clients write", w.longest.Round(100*time.Millisecond))
	if w.longest > maxOutage {
		t.Errorf("no write for %v, want at most %v", w.longest, maxOutage)
	}
}

// waits lets clients without timeouts write at the same time, each over a new connection. The result ends
// them and returns the longest time that each waited for an answer or an error.
func (c *cluster) waits(t *testing.T, clients int) (end func() []time.Duration) {
	t.Helper()
	if err := c.sql("CREATE TABLE IF NOT EXISTS kept.waits (n INT AUTO_INCREMENT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	stop, longest := make(chan struct{}), make([]time.Duration, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				_, err := c.client.exec("mariadb", "--no-defaults", "--host=127.0.0.1", "--user=root", "--password="+password,
					"--execute=BEGIN; INSERT INTO kept.waits VALUES (); SELECT SLEEP(0.2); COMMIT")
				if took := time.Since(began); took > longest[i] {
					longest[i] = took
					t.Logf("client %d waited for %v: %v", i, took.Round(100*time.Millisecond), err)
				}
			}
		})
	}
	return func() []time.Duration {
		close(stop)
		all.Wait()
		return longest
	}
}

func writerStops(t *testing.T, c *cluster, w *writer) {
	w.writing()
	w.goesOn(t)
	c.members[0].stop()
	w.goesOn(t)
	w.ends()
	t.Logf("MEASURED: %v without a write when the member stops in order to which clients write", w.longest.Round(100*time.Millisecond))
	if w.longest > maxOutage {
		t.Errorf("no write for %v, want at most %v", w.longest, maxOutage)
	}
	c.start(t, 0)
}

// clientsLeaveTheLast checks that the clients of the last member are cut off when one before it, which
// is not the first, is ready again.
func clientsLeaveTheLast(t *testing.T, c *cluster, _ *writer) {
	c.members[0].stop()
	c.members[1].stop()
	eventually(t, func() error { return c.sql("SELECT 1") })
	query := func() chan error {
		end := make(chan error, 1)
		go func() {
			_, err := c.client.exec(through("SELECT SLEEP(3000)")...)
			end <- err
		}()
		return end
	}
	isCut := func(end chan error) {
		t.Helper()
		select {
		case <-end:
		case <-time.After(patience):
			t.Error("a client stays with the last member")
		}
	}
	for _, first := range []int{1, 0} {
		end := query()
		eventually(t, func() error { return c.sql("SELECT 1") })
		select {
		case err := <-end:
			t.Fatalf("the query ended by itself: %v", err)
		default:
		}
		c.start(t, first)
		eventually(t, c.members[first].ready)
		isCut(end)
	}
}

// twoAreKilled checks that a member that has lost the majority finds the others again.
func twoAreKilled(t *testing.T, c *cluster, w *writer) {
	w.writing()
	w.goesOn(t)
	c.members[1].crash()
	c.members[2].crash()
	time.Sleep(5 * time.Second)
	w.ends()
}

func memberIsCutOff(t *testing.T, c *cluster, w *writer) {
	w.writing()
	w.goesOn(t)
	c.network.connect(t, 0, "down")
	eventually(t, func() error {
		if c.members[0].ready() == nil {
			return errors.New("a member without the others is ready")
		}
		return nil
	})
	w.goesOn(t)
	w.ends()
	t.Logf("MEASURED: %v without a write when the network of the member is cut to which clients write", w.longest.Round(100*time.Millisecond))
	c.network.connect(t, 0, "up")
}

// copyIsCut kills the joiner while it gets a copy, and then the donor. The half copy is never taken for
// data.
func copyIsCut(t *testing.T, c *cluster, w *writer) {
	m := c.members[1]
	m.cut()
	m.loses(t)
	copies := func() error {
		_, err := os.Stat(filepath.Join(m.dir, "data", ".sst"))
		return err
	}
	m.start(t)
	eventually(t, copies)
	m.cut()
	m.forget(t)
	m.start(t)
	m.says(t, "has partial")
	eventually(t, copies)
	w.writing()
	c.members[2].crash()
	w.goesOn(t)
	w.ends()
}

func anyAreKilled(t *testing.T, c *cluster, w *writer) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	w.writing()
	for range 12 {
		time.Sleep(time.Duration(chance.IntN(12000)) * time.Millisecond)
		for _, i := range chance.Perm(3)[:1+chance.IntN(3)] {
			c.members[i].crash()
		}
	}
	w.ends()
}

// membersLeave goes from three members to one, which writes, and back to three with the old volumes.
func membersLeave(t *testing.T, c *cluster, w *writer) {
	c.members[2].stop()
	c.members[1].stop()
	eventually(t, c.members[0].ready)
	c.members[0].stop()
	c.shape(t, 1)
	c.start(t, 0)
	const alone = 1000000
	eventually(t, func() error {
		_, err := c.members[0].query(fmt.Sprintf("INSERT IGNORE INTO kept.numbers VALUES (%d)", alone))
		return err
	})
	w.add(alone, 0)
	c.grows(t)
}

// historyIsChosen gives a member data of another history. All wait, and say with which command to go on.
func historyIsChosen(t *testing.T, c *cluster, _ *writer) {
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
	for _, m := range c.members {
		m.forget(t)
	}
	c.start(t, 0, 1, 2)
	for _, m := range c.members {
		m.says(t, "different data")
	}
	c.members[0].follows(t, "different data")
	c.members[2].follows(t, "would be lost")
	// Member 1 may have stopped later than member 0.
	eventually(t, func() error {
		if c.members[1].ready() != nil && !strings.Contains(c.members[1].said(), "would be lost") {
			return errors.New("member 1 neither joins nor says why")
		}
		return nil
	})
	if c.members[1].ready() != nil {
		c.members[1].follows(t, "would be lost")
	}
}

// memberIsBehind makes two members begin without the third, which has more data of the same history. When
// it comes back, it does not take the new data for the continuation of its own.
func memberIsBehind(t *testing.T, c *cluster, w *writer) {
	const lost = 2000000
	c.members[0].stop()
	c.members[1].stop()
	for _, m := range c.members {
		m.forget(t)
	}
	if _, err := c.members[2].query(fmt.Sprintf("INSERT INTO kept.numbers VALUES (%d)", lost)); err != nil {
		t.Fatal(err)
	}
	c.members[2].cut()
	c.start(t, 0, 1)
	c.members[1].follows(t, "have lost their data for good")
	eventually(t, c.members[0].ready) // it stopped first, so that it has nothing else
	w.writing()
	for range 5 {
		w.goesOn(t)
	}
	w.ends()
	c.start(t, 2)
	c.members[2].follows(t, "would be lost")
	eventually(t, c.members[2].ready)
	got, err := c.members[2].query(fmt.Sprintf("SELECT n FROM kept.numbers WHERE n = %d", lost))
	if err != nil || strings.TrimSpace(got) != "" {
		t.Errorf("the member still has %q, %v", got, err)
	}
}

// command matches the command of a message of a member.
var command = regexp.MustCompile(`kubectl -n openstack exec mariadb-server-\d -c server -- sh -c '(.*)'`)

// says waits until a member's log has a text.
func (m *member) says(t *testing.T, want string) {
	t.Helper()
	eventually(t, func() error {
		if said := m.said(); !strings.Contains(said, want) {
			return fmt.Errorf("member %d does not say %q:\n%s", m.number, want, said)
		}
		return nil
	})
}

// follows runs the command of a message in the member's log. Without it, the member does not get ready.
func (m *member) follows(t *testing.T, message string) {
	t.Helper()
	m.says(t, message)
	if m.ready() == nil {
		t.Errorf("member %d is ready before its command %q", m.number, message)
	}
	for line := range strings.Lines(m.said()) {
		if found := command.FindStringSubmatch(line); found != nil && strings.Contains(line, message) {
			if _, err := m.exec("sh", "-c", found[1]); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("member %d names no command:\n%s", m.number, m.said())
}
