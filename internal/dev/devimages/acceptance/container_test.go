package acceptance_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"kolla.openstack.org/kolla/internal/dev/devimages/imageset"
)

// container is an unpacked image. Its programs run in their own namespaces, with only a loopback
// interface.
type container struct {
	*testing.T
	image  string // its name
	root   string
	config v1.Config
}

// config returns the configuration of an image.
func config(t *testing.T, out, image string) v1.Config {
	t.Helper()
	entries, err := imageset.List(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.Contains(entry.Reference, "/"+image+":") {
			continue
		}
		stored, err := layout.Path(out).Image(entry.Digest)
		if err != nil {
			t.Fatal(err)
		}
		file, err := stored.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		return file.Config
	}
	t.Fatalf("there is no image %s in %s", image, out)
	return v1.Config{}
}

// inside prepares a container like a runtime does, then runs a program in it. $1 is the root
// directory. $2 lists the only writable directories; empty: all are writable. The remaining
// arguments are the program.
const inside = `
root=$1
writable=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount -t tmpfs tmpfs "$root/dev"
mkdir -m 1777 "$root/dev/shm"
mkdir "$root/dev/net"
for device in null zero full random urandom net/tun; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
hostname container
echo '127.0.0.1 localhost container' >"$root/etc/hosts"
chroot "$root" ip link set lo up
for directory in $writable; do
	mkdir -p "$root$directory"
	mount -t tmpfs -o mode=0777 tmpfs "$root$directory"
done
test -z "$writable" || mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"
`

// command returns a program in the container. The user is the image's if it is empty. env extends
// the environment of the image.
func (c container) command(user string, env []string, args ...string) *exec.Cmd {
	if user == "" {
		user = c.config.User
	}
	if user == "" {
		user = "root"
	}
	return c.confined("", []string{"--reuid=" + user, "--regid=" + user, "--init-groups"}, user, env, args...)
}

// confined returns a program in the container. writable lists the only writable directories; empty:
// all are writable. privileges are options of setpriv.
func (c container) confined(writable string, privileges []string, user string, env []string, args ...string) *exec.Cmd {
	script := []string{
		"--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child",
		"sh", "-euc", inside, "sh", c.root, writable, "setpriv",
	}
	script = append(script, privileges...)
	script = append(script, "env", "-i", "HOME="+c.home(user))
	script = append(script, c.config.Env...)
	script = append(script, env...)
	cmd := exec.Command("unshare", append(script, args...)...)
	// The cleanup kills the whole process group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (c container) home(user string) string {
	return c.account(user)[5]
}

// account returns the fields of a user's line in /etc/passwd.
func (c container) account(user string) []string {
	c.Helper()
	for line := range strings.SplitSeq(c.read("etc/passwd"), "\n") {
		if fields := strings.Split(line, ":"); len(fields) == 7 && fields[0] == user {
			return fields
		}
	}
	c.Fatalf("there is no user %s", user)
	return nil
}

func (c container) read(name string) string {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil {
		c.Fatal(err)
	}
	return string(content)
}

// succeeds runs a program as root and fails the test if the program fails.
func (c container) succeeds(args ...string) {
	c.Helper()
	if out, err := c.command("root", nil, args...).CombinedOutput(); err != nil {
		c.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// configure writes the files that Kolla mounts into a container: config.json and the config files.
func (c container) configure(command, owner string, files map[string]string) {
	c.Helper()
	type file struct {
		Source string `json:"source"`
		Dest   string `json:"dest"`
		Owner  string `json:"owner"`
		Perm   string `json:"perm"`
	}
	config := struct {
		Command string `json:"command"`
		Files   []file `json:"config_files,omitempty"`
	}{Command: command}
	staging := filepath.Join(c.root, "var/lib/kolla/config_files")
	for dest, content := range files {
		source := path.Base(dest)
		config.Files = append(config.Files, file{"/var/lib/kolla/config_files/" + source, dest, owner, "0600"})
		if err := os.WriteFile(filepath.Join(staging, source), []byte(content), 0o644); err != nil {
			c.Fatal(err)
		}
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(staging, "config.json"), encoded, 0o644); err != nil {
		c.Fatal(err)
	}
}

// once runs the image with an environment and without options, and waits until it ends.
func (c container) once(env ...string) {
	c.Helper()
	out, err := c.service(env...).CombinedOutput()
	if err != nil {
		c.Fatalf("%s: %v\n%s", strings.Join(env, " "), err, out)
	}
}

func (c container) service(env ...string) *exec.Cmd {
	env = append([]string{"KOLLA_CONFIG_STRATEGY=COPY_ALWAYS"}, env...)
	args := append(append([]string{}, c.config.Entrypoint...), c.config.Cmd...)
	return c.command("", env, args...)
}

// running is a container whose service runs.
type running struct {
	container
	pid int // of the container's first process
	log *os.File
	end chan error
}

// logged returns the output so far.
func (r running) logged() string {
	r.Helper()
	content, err := os.ReadFile(r.log.Name())
	if err != nil {
		r.Fatal(err)
	}
	return string(content)
}

// start runs the image with an environment and without options, until the test ends.
func (c container) start(env ...string) running {
	c.Helper()
	return c.begin(c.service(env...))
}

// direct runs a program like in a hardened pod, until the test ends: as the service's user, without
// capabilities and any way to gain some, with a read-only root directory except for some
// directories, and without Kolla's start script. files are the files that a runtime would mount.
func (c container) direct(user, writable string, files map[string]string, args ...string) running {
	c.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(c.root, name), []byte(content), 0o644); err != nil {
			c.Fatal(err)
		}
	}
	r := c.begin(c.confined(writable+" /tmp /run", []string{
		"--reuid=" + user, "--regid=" + user, "--clear-groups",
		"--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
	}, user, nil, args...))
	r.config.User = user
	return r
}

func (c container) begin(cmd *exec.Cmd) running {
	c.Helper()
	log, err := os.Create(filepath.Join(c.TempDir(), "log"))
	if err != nil {
		c.Fatal(err)
	}
	r := running{container: c, log: log, end: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = r.log, r.log
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	go func() { r.end <- cmd.Wait() }()
	c.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	eventually(c.T, func() error {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		if err != nil {
			return err
		}
		r.pid, err = strconv.Atoi(strings.TrimSpace(string(children)))
		return err
	})
	// A service may have left the process group.
	c.Cleanup(func() { _ = syscall.Kill(r.pid, syscall.SIGKILL) })
	return r
}

// exec runs a program in the container of the service. The user is the image's if it is empty.
func (r running) exec(user string, args ...string) error {
	if user == "" {
		user = r.config.User
	}
	script := []string{
		"--target", strconv.Itoa(r.pid), "--mount", "--pid", "--net", "--uts", "--ipc", "--root", "--wd",
		"setpriv", "--reuid=" + user, "--regid=" + user, "--init-groups",
		"env", "-i", "KOLLA_CONFIG_STRATEGY=COPY_ALWAYS", "HOME=" + r.home(user),
	}
	script = append(script, r.config.Env...)
	if out, err := exec.Command("nsenter", append(script, args...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// becomes waits until a program in the container of the service succeeds.
func (r running) becomes(args ...string) {
	r.Helper()
	eventually(r.T, func() error {
		select {
		case err := <-r.end:
			r.Fatalf("it has ended: %v\n%s", err, r.logged())
		default:
		}
		if err := r.exec("", args...); err != nil {
			return fmt.Errorf("%w\nits log:\n%s", err, r.logged())
		}
		return nil
	})
}

// stops sends SIGTERM to the service and waits until it ends.
func (r running) stops(limit time.Duration) {
	r.Helper()
	if err := syscall.Kill(r.pid, syscall.SIGTERM); err != nil {
		r.Fatal(err)
	}
	select {
	case <-r.end:
	case <-time.After(limit):
		r.Errorf("it goes on after %v; its log:\n%s", limit, r.logged())
	}
}

// clean checks that the image contains no machine IDs, logs, caches and similar files, and that
// users have Kolla's IDs.
func (c container) clean() {
	for _, name := range []string{
		"etc/machine-id", "etc/resolv.conf", "etc/hostname", "etc/iscsi/initiatorname.iscsi",
		"usr/lib/python3/dist-packages/openstack_dashboard/local/.secret_key_store",
	} {
		if content, err := os.ReadFile(filepath.Join(c.root, name)); err == nil && len(content) > 0 {
			c.Errorf("%s holds %q", name, content)
		}
	}
	for _, dir := range []string{"dev", "proc", "run", "sys", "tmp", "var/lib/mysql", "var/lib/rabbitmq"} {
		if entries, _ := os.ReadDir(filepath.Join(c.root, dir)); len(entries) > 0 {
			c.Errorf("%s holds %v", dir, entries)
		}
	}
	for _, dir := range []string{"var/cache/apt", "var/lib/apt/lists", "var/log", "usr/share/man", "usr/share/locale"} {
		_ = filepath.WalkDir(filepath.Join(c.root, dir), func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && entry.Name() != "lock" {
				c.Errorf("%s is there", strings.TrimPrefix(name, c.root))
			}
			return nil
		})
	}
	if status, err := os.Stat(filepath.Join(c.root, "var/log/kolla")); err != nil || status.Mode().String() != "dgrwxrwxr-x" {
		c.Errorf("/var/log/kolla is %v (%v)", status.Mode(), err)
	}
	for user, id := range map[string]string{
		"barbican": "42403", "cinder": "42407", "glance": "42415", "heat": "42418", "horizon": "42420",
		"keystone": "42425", "mysql": "42434", "neutron": "42435", "nova": "42436",
		"placement": "42482", "rabbitmq": "42439", "memcached": "42457",
	} {
		if account := c.account(user); account[2] != id || account[3] != id || account[5] != "/var/lib/"+user {
			c.Errorf("account of %s is %q", user, account)
		}
	}
}
