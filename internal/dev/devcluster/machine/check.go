package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/opencontainers/cgroups"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Namespaces are those that a machine has for itself, for syscall.SysProcAttr.
const Namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

// Check tries, in the namespaces of a machine, all features of the computer that a machine
// needs. The error names each missing feature on its own line. home is a folder on the
// machines' file system.
func Check(home string) error {
	if err := (mount{"", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""}).do(); err != nil {
		return err
	}
	return errors.Join(
		checkPrograms("iptables", "mount", "umount"),
		checkOverlay(home),
		checkDisk(home, minDisk),
		checkBridge(),
		checkIptables(),
		checkCgroups(),
	)
}

// packages maps programs to their Debian packages.
var packages = map[string]string{"iptables": "iptables", "mount": "mount", "umount": "mount"}

func checkPrograms(names ...string) error {
	var errs []error
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			errs = append(errs, fmt.Errorf("the program %s is missing; get it with: apt-get install %s", name, packages[name]))
		}
	}
	return errors.Join(errs...)
}

// checkOverlay mounts what every container has for a root.
func checkOverlay(home string) error {
	dir, err := os.MkdirTemp(home, "check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opened, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer opened.Close()
	// Options have no room for a long path, and none for commas and colons in it.
	short := fmt.Sprintf("/proc/self/fd/%d/", opened.Fd())
	for _, layer := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, layer), 0o700); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%[1]slower,upperdir=%[1]supper,workdir=%[1]swork", short)
	merged := filepath.Join(dir, "merged")
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return fmt.Errorf("overlayfs cannot be mounted in %s (%w): it needs a kernel with CONFIG_OVERLAY_FS and a file system that is not itself an overlay; choose another directory", home, err)
	}
	return unix.Unmount(merged, 0)
}

const (
	// minDisk is what the images and data of three nodes with all services need, with some room.
	minDisk = 10 << 30
	// evictionDisk is the free space below which a kubelet takes no pods and deletes some.
	evictionDisk = 500 << 20
)

// checkDisk fails if fewer than least bytes are free. On a full disk a kubelet deletes its pods, and
// a cloud never becomes ready.
func checkDisk(home string, least uint64) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(home, &fs); err != nil {
		return fmt.Errorf("find the free space of %s: %w", home, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < least {
		return fmt.Errorf("%s has %.1f GB of free space, and real nodes need %.1f GB; make room, or choose another directory (TMPDIR for tests)", home, float64(free)/1e9, float64(least)/1e9)
	}
	return nil
}

func checkBridge() error {
	const problem = "bridges and pairs of virtual Ethernet devices cannot be made (%w): the kernel needs CONFIG_BRIDGE and CONFIG_VETH"
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "check0"}}); err != nil {
		return fmt.Errorf(problem, err)
	}
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "check1"}, PeerName: "check2"}); err != nil {
		return fmt.Errorf(problem, err)
	}
	if _, err := os.Stat("/proc/sys/net/bridge/bridge-nf-call-iptables"); err != nil {
		return errors.New("packets on bridges do not pass iptables: the kernel needs CONFIG_BRIDGE_NETFILTER (modprobe br_netfilter)")
	}
	return nil
}

// checkIptables makes rules of the kinds that kube-proxy uses for Services.
func checkIptables() error {
	if _, err := exec.LookPath("iptables"); err != nil {
		return nil // said already
	}
	rules := [][]string{
		{"-t", "nat", "-N", "CHECK"},
		{"-t", "nat", "-A", "CHECK", "-p", "tcp", "-m", "comment", "--comment", "check", "-m", "tcp", "--dport", "80", "-j", "DNAT", "--to-destination", "192.0.2.1:80"},
		{"-t", "nat", "-A", "CHECK", "-m", "statistic", "--mode", "random", "--probability", "0.5", "-j", "MARK", "--or-mark", "0x4000"},
		{"-t", "nat", "-A", "POSTROUTING", "-m", "mark", "!", "--mark", "0x4000/0x4000", "-j", "MASQUERADE", "--random-fully"},
		{"-A", "FORWARD", "-m", "conntrack", "--ctstate", "INVALID", "-j", "DROP"},
	}
	for _, rule := range rules {
		out, err := exec.Command("iptables", append([]string{"-w"}, rule...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("iptables %s: %s: the kernel lacks what this rule needs (nf_tables with nft_compat, or legacy iptables, with nat, conntrack, comment, mark, statistic)",
				strings.Join(rule, " "), strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// checkCgroups looks for the controllers that a kubelet needs.
func checkCgroups() error {
	var errs []error
	for _, controller := range []string{"cpu", "cpuset", "memory", "pids"} {
		if err := checkController(controller); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func checkController(name string) error {
	if !cgroups.IsCgroup2UnifiedMode() {
		if _, err := cgroups.FindCgroupMountpoint("/sys/fs/cgroup", name); err != nil {
			return fmt.Errorf("the cgroup controller %s is off or not mounted (%w); try: mount -t cgroup -o %s cgroup /sys/fs/cgroup/%s", name, err, name, name)
		}
		return nil
	}
	data, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
	if err != nil {
		return fmt.Errorf("look for the cgroup controller %s: %w", name, err)
	}
	if !slices.Contains(strings.Fields(string(data)), name) {
		return fmt.Errorf("the cgroup controller %s is not among those in /sys/fs/cgroup/cgroup.controllers; the kernel's command line may switch it off, and in a container its host has to pass it on", name)
	}
	return nil
}
