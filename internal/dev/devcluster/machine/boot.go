package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The paths of a machine's own folders in its /run.
const (
	homeMount     = "/run/machine"
	programsMount = "/run/programs"
	fabricMount   = "/run/fabric"
	namespacesDir = "/run/netns"
	etcDir        = homeMount + "/" + EtcFolder
)

// Boot sets up the namespaces of the calling process for a machine, and runs the given command
// of this program as its only service until the command or ctx ends. As the first process of a
// PID namespace, it reaps orphaned processes.
func Boot(ctx context.Context, settings Settings, service string) error {
	if os.Getpid() != 1 {
		return errors.New("boot machine: this is not the first process of a PID namespace")
	}
	if err := unix.Sethostname([]byte(settings.Name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := mountAll(settings); err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", service, homeMount)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = "/"
	if coversHierarchies() {
		// The machine's cgroup is the root cgroup for all processes of the machine.
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWCGROUP}
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", service, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	status, err := reapUntil(cmd.Process.Pid)
	switch {
	case err != nil:
		return fmt.Errorf("wait for %s: %w", service, err)
	case ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("%s ended: exit status %d", service, status.ExitStatus())
}

// reapUntil reaps every child that ends, until the given child ends.
func reapUntil(pid int) (syscall.WaitStatus, error) {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return status, err
		case ended == pid:
			return status, nil
		}
	}
}

// mountAll arranges the file system: the machine has its own /var, /run and /tmp, and sees all
// other folders of the computer read-only.
func mountAll(settings Settings) error {
	// Folders are opened first, because mounts may cover their paths.
	folders := []struct{ path, seen string }{
		{settings.Home, homeMount},
		{settings.Programs, programsMount},
		{settings.Fabric, fabricMount},
		{filepath.Join(settings.Home, VarFolder), "/var"},
	}
	var opened []*os.File
	for _, folder := range folders {
		file, err := os.OpenFile(folder.path, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return fmt.Errorf("find folder of the machine: %w", err)
		}
		defer file.Close()
		opened = append(opened, file)
	}
	steps := []mount{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{"tmpfs", "/run", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=755"},
		{"tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777"},
	}
	for i, folder := range folders {
		steps = append(steps, mount{"/proc/self/fd/" + strconv.Itoa(int(opened[i].Fd())), folder.seen, "", unix.MS_BIND, ""})
	}
	steps = append(
		steps,
		mount{"proc", "/proc", "proc", unix.MS_NOSUID | unix.MS_NOEXEC | unix.MS_NODEV, ""},
	)
	for _, step := range steps {
		if err := step.do(); err != nil {
			return err
		}
	}
	if err := settings.renewCgroup(); err != nil {
		return err
	}
	if err := hideKVM(); err != nil {
		return err
	}
	// Network namespaces that a pod makes are mounts in a folder that is a mount
	// itself. Later ip netns would make it one, over the pods' own namespaces.
	if err := os.Mkdir(namespacesDir, 0o755); err != nil {
		return fmt.Errorf("make folder for network namespaces: %w", err)
	}
	if err := (mount{namespacesDir, namespacesDir, "", unix.MS_BIND, ""}).do(); err != nil {
		return err
	}
	// Mounts that a pod shares are visible in the whole machine.
	if err := (mount{"", "/", "", unix.MS_REC | unix.MS_SHARED, ""}).do(); err != nil {
		return err
	}
	if err := protect(); err != nil {
		return err
	}
	return coverSysctls()
}

// hideKVM covers the device. It may be there without a processor that can do it, and
// libvirt then probes it for every guest. An empty file makes QEMU do without.
func hideKVM() error {
	const device, cover = "/dev/kvm", "/run/no-kvm"
	if _, err := os.Stat(device); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(cover, nil, 0o600); err != nil {
		return fmt.Errorf("hide %s: %w", device, err)
	}
	return mount{cover, device, "", unix.MS_BIND, ""}.do()
}

// protect makes all file systems read-only, except those of the machine and of the kernel.
func protect() error {
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly); err != nil {
		return fmt.Errorf("make the file system read-only: %w", err)
	}
	writable := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	for _, path := range []string{"/run", "/tmp", "/var", "/proc", "/dev", "/sys"} {
		err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &writable)
		// If the path is no mount, it is part of a read-only file system.
		if err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("make %s writable: %w", path, err)
		}
	}
	return nil
}

// mount is one call of mount(2). A target below /run is made.
type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func (m mount) do() error {
	if filepath.Dir(m.target) == "/run" {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("mount %s: %w", m.target, err)
	}
	return nil
}

// sysctls are those that a kubelet sets when they differ, and that are the whole
// machine's outside. Their files are covered by ones that hold what it wants.
var sysctls = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

func coverSysctls() error {
	for name, value := range sysctls {
		path := filepath.Join("/run/sysctl", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("cover sysctl %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(value+"\n"), 0o644); err != nil {
			return fmt.Errorf("cover sysctl %s: %w", name, err)
		}
		if err := (mount{path, "/proc/sys/" + name, "", unix.MS_BIND, ""}).do(); err != nil {
			return fmt.Errorf("cover sysctl %s: %w", name, err)
		}
	}
	return nil
}
