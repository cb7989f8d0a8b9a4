package openstack_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/providers"
)

// bench is a network on which pods of a StatefulSet run without Kubernetes, as processes of an
// unpacked image. Each pod has network, mount, PID and host name namespaces of its own. All
// processes end with the test.
type bench struct {
	*testing.T
	root   string // the unpacked image
	hosts  string // /etc/hosts of all pods
	holder int    // the first process of the network and of a PID namespace that has all others
	starts chan func()
}

// newBench unpacks an image and makes the network. It skips the test without KOLLA_REAL.
func newBench(t *testing.T, image string) *bench {
	t.Helper()
	if os.Getenv("KOLLA_REAL") == "" {
		t.Skip("NOT RUN: members of a cluster run as root, in namespaces, with the test images; run make test-real")
	}
	dir := t.TempDir()
	b := &bench{T: t, root: filepath.Join(dir, "root"), hosts: filepath.Join(dir, "hosts"), starts: make(chan func())}
	go func() {
		runtime.LockOSThread() // the kernel kills the processes when their thread ends
		for start := range b.starts {
			start()
		}
	}()
	t.Cleanup(func() { close(b.starts) })
	if out, err := exec.Command("../../bin/kolla-devimages", "unpack", "-out", "../../bin/images", "-to", b.root, image).CombinedOutput(); err != nil {
		t.Fatalf("unpacking image %s: %v\n%s", image, err, out)
	}
	b.holder = child(b.hold(exec.Command("unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-ec",
		"ip link add br0 type bridge; ip address add 10.91.0.1/24 dev br0; ip link set lo up; ip link set br0 up; echo up; exec sleep infinity")))
	return b
}

// begin starts a process that does not outlive the test, not even if the test is killed.
func (b *bench) begin(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	b.starts <- func() { started <- cmd.Start() }
	return <-started
}

// child returns the child of a process; 0: it has none.
func child(pid int) int {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	first, _, _ := strings.Cut(string(children), " ")
	n, _ := strconv.Atoi(first)
	return n
}

// hold starts a process that prints a line and then keeps namespaces until the test ends.
func (b *bench) hold(cmd *exec.Cmd) int {
	b.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := b.begin(cmd); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 64)); err != nil {
		b.Fatalf("%v: %v", cmd.Args, err)
	}
	return cmd.Process.Pid
}

// sh runs a script on the machine.
func (b *bench) sh(script string, args ...string) {
	b.Helper()
	if out, err := exec.Command("sh", append([]string{"-euc", script, "sh"}, args...)...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// pod is a pod of a StatefulSet.
type pod struct {
	b       *bench
	name    string
	link    string // its end of the network
	sandbox int    // a process in its network
	volume  string
	log     string

	mu      sync.Mutex
	running *exec.Cmd // the container
	stopped chan struct{}
	ended   chan struct{}
	exit    int
}

// pods adds members to the network, by their host names.
func (b *bench) pods(hosts []string) []*pod {
	b.Helper()
	out := make([]*pod, len(hosts))
	lines := "127.0.0.1 localhost\n"
	for i, host := range hosts {
		name, _, _ := strings.Cut(host, ".")
		p := &pod{b: b, name: name, link: fmt.Sprintf("m%d", 11+i), volume: filepath.Join(b.TempDir(), name), log: filepath.Join(b.TempDir(), "log")}
		lines += fmt.Sprintf("10.91.0.%d %s %s\n", 11+i, host, name)
		p.sandbox = b.hold(exec.Command("unshare", "--net", "sh", "-ec", "ip link set lo up; echo up; exec sleep infinity"))
		b.sh(`nsenter --target "$1" --net ip link add "$4" type veth peer name eth0 netns "$2"
nsenter --target "$1" --net ip link set "$4" master br0 up
nsenter --target "$2" --net ip address add "10.91.0.$3/24" dev eth0
nsenter --target "$2" --net ip link set eth0 up`, strconv.Itoa(b.holder), strconv.Itoa(p.sandbox), strconv.Itoa(11+i), p.link)
		out[i] = p
		b.Cleanup(func() {
			p.kill()
			if b.Failed() {
				text, _ := os.ReadFile(p.log)
				b.Logf("%s:\n%s", p.name, text[max(0, len(text)-6000):])
			}
		})
	}
	if err := os.WriteFile(b.hosts, []byte(lines), 0o644); err != nil {
		b.Fatal(err)
	}
	return out
}

// container runs a command in a pod, as a container runtime does.
const container = `
root=$1 hosts=$2 name=$3 volume=$4 path=$5 writable=$6 files=$7 user=$8
shift 8
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
mkdir -m 1777 "$root/dev/shm"
for device in null zero full random urandom; do : >"$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
hostname "$name"
for directory in /tmp /run $writable; do mkdir -p "$root$directory"; mount -t tmpfs -o mode=1777 tmpfs "$root$directory"; done
mkdir -p "$root$path"
mount --bind "$volume" "$root$path"
cp -a "$files/run/." "$root/run/"
for file in $(cd "$files/etc" && find . -type f); do
	to=$root$(chroot "$root" readlink -m "/etc/$file") # links lead elsewhere in the container
	mkdir -p "$(dirname "$to")"
	test -e "$to" || : >"$to"
	mount --bind "$files/etc/$file" "$to"
done
test -e "$root/etc/hosts" || : >"$root/etc/hosts"
mount --bind "$hosts" "$root/etc/hosts"
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid="$user" --regid="$user" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs env -i "$@"
`

// shape is how a StatefulSet makes its pods.
type shape struct {
	of    providers.Object
	spec  v1.PodSpec
	path  string // of the volume
	files string // directory with the files that are mounted below /etc and /run
}

// shape reads the pods of a StatefulSet. files are the mounted files by path.
func (b *bench) shape(of providers.Object, path string, files map[string]string) shape {
	b.Helper()
	spec, _, _ := podOf(b.T, of)
	s := shape{of, spec, path, b.TempDir()}
	for _, dir := range []string{"etc", "run"} {
		if err := os.MkdirAll(filepath.Join(s.files, dir), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(s.files, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(files[name]), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func (p *pod) command(s shape, c v1.Container, args ...string) *exec.Cmd {
	user := strconv.FormatInt(*s.spec.SecurityContext.RunAsUser, 10)
	var writable []string
	for _, m := range c.VolumeMounts {
		if i := slices.IndexFunc(s.spec.Volumes, func(v v1.Volume) bool { return v.Name == m.Name && v.EmptyDir != nil }); i >= 0 && m.MountPath != "/tmp" {
			writable = append(writable, m.MountPath)
		}
	}
	all := []string{
		fmt.Sprintf("--net=/proc/%d/ns/net", p.sandbox), fmt.Sprintf("--pid=/proc/%d/ns/pid", p.b.holder), "unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child",
		"sh", "-euc", container, "sh", p.b.root, p.b.hosts, p.name, p.volume, s.path, strings.Join(writable, " "), s.files, user,
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
	}
	for _, e := range c.Env {
		all = append(all, e.Name+"="+e.Value)
	}
	return exec.Command("nsenter", append(all, args...)...)
}

// start starts the pod with its init containers, and its container again whenever it ends.
func (p *pod) start(s shape) {
	p.b.Helper()
	p.b.sh(`mkdir -p "$1"; chown "$2:$2" "$1"`, p.volume, strconv.FormatInt(*s.spec.SecurityContext.RunAsUser, 10))
	p.stopped, p.ended = make(chan struct{}), make(chan struct{})
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.b.Fatal(err)
	}
	stopped, ended := p.stopped, p.ended
	go func() {
		defer close(ended)
		defer log.Close()
		for _, c := range append(slices.Clone(s.spec.InitContainers), s.spec.Containers[0]) {
			main := c.Name == s.spec.Containers[0].Name
			for {
				cmd := p.command(s, c, slices.Concat(c.Command, c.Args)...)
				cmd.Stdout, cmd.Stderr = log, log
				p.mu.Lock()
				select {
				case <-stopped:
					p.mu.Unlock()
					return
				default:
				}
				err := p.b.begin(cmd)
				p.running = cmd
				p.mu.Unlock()
				if err == nil {
					err = cmd.Wait()
				}
				p.mu.Lock()
				p.running, p.exit = nil, cmd.ProcessState.ExitCode()
				p.mu.Unlock()
				if !main && err == nil {
					break
				}
				fmt.Fprintf(log, "container %s ended: %v\n", c.Name, err)
				time.Sleep(time.Second)
			}
		}
	}()
}

// signal sends a signal to the first process of the container, below nsenter and unshare.
func (p *pod) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.running.Process == nil {
		return
	}
	if first := child(child(p.running.Process.Pid)); first > 0 {
		_ = syscall.Kill(first, s)
	}
}

// kill takes the power from the pod.
func (p *pod) kill() {
	if p.stopped == nil {
		return
	}
	p.mu.Lock()
	close(p.stopped)
	p.mu.Unlock()
	p.end()
}

// end kills the container, which may just be starting.
func (p *pod) end() {
	for p.signal(syscall.SIGKILL); ; p.signal(syscall.SIGKILL) {
		select {
		case <-p.ended:
			p.stopped = nil
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// delete ends the pod as Kubernetes does, and returns the exit code of its container.
func (p *pod) delete(grace time.Duration) int {
	p.mu.Lock()
	close(p.stopped)
	p.mu.Unlock()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(grace):
		p.b.Errorf("%s goes on after %v", p.name, grace)
	}
	p.end()
	return p.exit
}

// cut takes the pod out of the network, or puts it back: "down" or "up".
func (p *pod) cut(link string) {
	p.b.Helper()
	p.b.sh(`nsenter --target "$1" --net ip link set "$2" "$3"`, strconv.Itoa(p.b.holder), p.link, link)
}

// exec runs a program of the image in the pod's network.
func (p *pod) exec(s shape, args ...string) (string, error) {
	cmd := p.command(s, s.spec.Containers[0], args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%v: %w: %s", args, err, stderr.String())
	}
	return string(out), nil
}

// loses empties the volume of a pod that does not run.
func (p *pod) loses() {
	p.b.Helper()
	p.b.sh(`find "$1" -mindepth 1 -delete`, p.volume)
}

// said returns the log of the pod.
func (p *pod) said() string {
	text, _ := os.ReadFile(p.log)
	return string(text)
}

// within repeats a check until it returns no error, and logs how long it took.
func (b *bench) within(limit time.Duration, what string, holds func() error) {
	b.Helper()
	began := time.Now()
	for {
		err := holds()
		if err == nil {
			b.Logf("%s: %.1f s", what, time.Since(began).Seconds())
			return
		}
		if time.Since(began) > limit {
			b.Fatalf("%s: not within %v: %v", what, limit, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
