package members_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// patience limits the time that a test waits. It is no measure of speed.
const patience = 5 * time.Minute

// inside prepares the file system of a container, and runs a program in it, which ends with the test.
// $1 is the root file system, $2 a directory with the content of volumes and files by their paths, $3 the
// user.
const inside = `
root=$1
volumes=$2
user=$3
shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero full random urandom; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/1 "$root/dev/stdout"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=0755 tmpfs "$root/run"
for directory in /run/mysqld /run/secrets/root; do mkdir -p -m 0777 "$root$directory"; done
(cd "$volumes" && find . -mindepth 1 -type f -path './files/*') | while read -r file; do
	to=$root$(chroot "$root" readlink -m "/${file#./files/}") # links lead elsewhere in the container
	if [ -e "$to" ]; then
		mount --bind "$volumes/$file" "$to"
	else
		cat "$volumes/$file" >"$to"
	fi
done
if [ -d "$volumes/data" ]; then mount --bind "$volumes/data" "$root/var/lib/mysql"; fi
exec chroot "$root" setpriv --reuid="$user" --regid="$user" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs --pdeathsig=KILL env -i "$@"
`

// network connects the members. It is a network namespace with a bridge, and one for each member.
type network string

func newNetwork(t testing.TB, members int) network {
	t.Helper()
	n := network("kolla-members")
	n.namespace(t, string(n))
	ip(t, "-n", string(n), "link", "add", "br0", "type", "bridge")
	ip(t, "-n", string(n), "link", "set", "br0", "up")
	for i := range members {
		own := n.of(i)
		n.namespace(t, own)
		ip(t, "-n", own, "link", "add", "eth0", "type", "veth", "peer", "name", n.port(i), "netns", string(n))
		ip(t, "-n", own, "link", "set", "eth0", "up")
		ip(t, "-n", own, "address", "add", address(i)+"/24", "dev", "eth0")
		ip(t, "-n", string(n), "link", "set", n.port(i), "master", "br0", "up")
	}
	return n
}

// namespace makes a network namespace, until the test ends.
func (n network) namespace(t testing.TB, name string) {
	t.Helper()
	ip(t, "netns", "add", name)
	t.Cleanup(func() { ip(t, "netns", "del", name) })
	ip(t, "-n", name, "link", "set", "lo", "up")
}

func (n network) of(member int) string   { return fmt.Sprintf("%s-%d", n, member) }
func (n network) port(member int) string { return fmt.Sprintf("member%d", member) }

// connect connects a member with the others ("up"), or takes it from them ("down").
func (n network) connect(t testing.TB, member int, state string) {
	t.Helper()
	ip(t, "-n", string(n), "link", "set", n.port(member), state)
}

func ip(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Errorf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func address(member int) string { return fmt.Sprintf("10.91.0.%d", 10+member) }

// process is a container that runs.
type process struct {
	cmd *exec.Cmd
	pid int // of its first process, in the namespaces of the test
	end chan struct{}
}

// run starts a container in a network namespace. It may have ended when run returns.
func run(netns, root, volumes, user string, log *os.File, env map[string]string, argv []string) (*process, error) {
	env = maps.Clone(env)
	env["PATH"] = path
	args := []string{"netns", "exec", netns, "unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "sh", "-euc", inside, "sh", root, volumes, user}
	for key, value := range env {
		args = append(args, key+"="+value)
	}
	p := &process{cmd: exec.Command("ip", append(args, argv...)...), end: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // tests end it in many ways
		close(p.end)
	}()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case <-p.end:
			return p, nil
		case <-time.After(10 * time.Millisecond):
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid))
		pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
		if err != nil {
			continue
		}
		if own, err := os.Readlink(fmt.Sprintf("/proc/%d/root", pid)); err == nil && own != "/" {
			p.pid = pid // its file system is ready
			return p, nil
		}
	}
	return nil, fmt.Errorf("no container after %v", patience)
}

// kill ends all processes of the container, as a power cut does.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.end
}

// signal sends a signal to the first process, unless it has ended.
func (p *process) signal(signal syscall.Signal) {
	select {
	case <-p.end:
	default:
		_ = syscall.Kill(p.pid, signal)
	}
}

// terminate asks the container to end, and kills it after the grace period.
func (p *process) terminate(grace time.Duration) {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.end:
	case <-time.After(grace):
		p.kill()
	}
}

// exec runs a program in the container, as its user.
func (p *process) exec(user string, argv ...string) (string, error) {
	args := append([]string{
		"--target", strconv.Itoa(p.pid), "--mount", "--pid", "--net", "--uts", "--ipc", "--root", "--wd",
		"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "env", "-i", "PATH=" + path,
	}, argv...)
	cmd := exec.Command("nsenter", args...)
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, errors.String())
	}
	return out.String(), nil
}

// member is the pod of a member, with what a kubelet does: it starts the container again when it
// ends or is not alive.
type member struct {
	whole     testing.TB // the test, of which steps are parts
	number    int
	netns     string
	root      string
	dir       string // with its volume, files and log
	container corev1.Container
	env       map[string]string
	beside    [][]string // commands of init steps, before the container
	sidecar   []string   // command beside it

	mu      sync.Mutex
	process *process
	down    bool          // the node has no power
	over    chan struct{} // closed when nothing starts the container again
}

// path is where programs are found in the images.
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const userID = "42434"

// start starts the pod until cut or stop is called.
func (m *member) start(t testing.TB) {
	t.Helper()
	m.mu.Lock()
	m.down, m.over = false, make(chan struct{})
	over := m.over
	m.mu.Unlock()
	go func() {
		defer close(over)
		m.supervise()
	}()
	eventually(t, func() error {
		if m.running() == nil {
			return fmt.Errorf("member %d does not run", m.number)
		}
		return nil
	})
}

// supervise runs the container again and again.
func (m *member) supervise() {
	for {
		log, err := os.OpenFile(m.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			m.whole.Error(err)
			return
		}
		for _, step := range m.beside {
			if p := m.begin(log, step); p != nil {
				<-p.end
			}
		}
		p := m.begin(log, slices.Concat(m.container.Command, m.container.Args))
		if p == nil {
			return
		}
		if m.sidecar != nil {
			go func() { _, _ = p.exec(userID, append(m.environment(), m.sidecar...)...) }() // ends with the container
		}
		m.look(p)
		_ = log.Close()
		m.mu.Lock()
		m.process = nil
		down := m.down
		m.mu.Unlock()
		if down {
			return
		}
		time.Sleep(time.Second)
	}
}

// begin starts a container of the pod, or returns nil if the power is off.
func (m *member) begin(log *os.File, argv []string) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil
	}
	p, err := run(m.netns, m.root, m.dir, userID, log, m.env, argv)
	if err != nil {
		m.whole.Error(err)
		return nil
	}
	m.process = p
	return p
}

// look asks whether the container is alive, until it has ended.
func (m *member) look(p *process) {
	probe := m.container.LivenessProbe
	failed := int32(0)
	for {
		select {
		case <-p.end:
			return
		case <-time.After(time.Duration(probe.PeriodSeconds) * time.Second):
		}
		if probe.Exec == nil {
			continue
		}
		if _, err := p.exec(userID, probe.Exec.Command...); err == nil {
			failed = 0
		} else if failed++; failed >= probe.FailureThreshold {
			m.whole.Logf("member %d is not alive and starts again", m.number)
			p.terminate(30 * time.Second)
		}
	}
}

func (m *member) environment() []string {
	var out []string
	for key, value := range m.env {
		out = append(out, key+"="+value)
	}
	return append(out, "sh", "-c", `exec "$@"`, "sh")
}

func (m *member) running() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

func (m *member) log() string { return filepath.Join(m.dir, "log") }

// off marks the pod as one that does not start again, and returns what runs.
func (m *member) off() *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = true
	return m.process
}

// cut takes the power. Restart keeps the pod.
func (m *member) cut() {
	if p := m.off(); p != nil {
		p.kill()
	}
	m.ended()
}

// stop ends the pod in order.
func (m *member) stop() {
	if p := m.off(); p != nil {
		p.terminate(2 * time.Minute)
	}
	m.ended()
}

// ended waits until nothing starts the container again.
func (m *member) ended() {
	m.mu.Lock()
	over := m.over
	m.mu.Unlock()
	if over != nil {
		<-over
	}
}

// crash kills the container. The kubelet starts it again.
func (m *member) crash() {
	if p := m.running(); p != nil {
		p.kill()
	}
}

// loses empties the volume.
func (m *member) loses(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(m.dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(m.dir, "data", entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// exec runs a program in the container.
func (m *member) exec(argv ...string) (string, error) {
	p := m.running()
	if p == nil {
		return "", fmt.Errorf("member %d does not run", m.number)
	}
	return p.exec(userID, argv...)
}

// ready asks the readiness probe.
func (m *member) ready() error {
	_, err := m.exec(m.container.ReadinessProbe.Exec.Command...)
	return err
}

// query returns the answer of this member's server.
func (m *member) query(sql string) (string, error) {
	return m.exec("mariadb", "--defaults-file=/etc/mysql/my.cnf", "--user=mysql", "--batch", "--skip-column-names", "--execute="+sql)
}

// said returns the log.
func (m *member) said() string {
	content, _ := os.ReadFile(m.log()) // none before the first start
	return string(content)
}

// forget empties the log.
func (m *member) forget(t *testing.T) {
	t.Helper()
	if err := os.Truncate(m.log(), 0); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// eventually repeats a check until it returns no error.
func eventually(t testing.TB, holds func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(500 * time.Millisecond) {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}
