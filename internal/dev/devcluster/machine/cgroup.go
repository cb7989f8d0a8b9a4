package machine

import (
	"fmt"
	"os"
	"strings"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
	"golang.org/x/sys/unix"
)

// MakeCgroup makes a cgroup, a path from the root, in every hierarchy.
func MakeCgroup(path string) error {
	m, err := cgroupManager(path)
	if err != nil {
		return fmt.Errorf("make cgroup %s: %w", path, err)
	}
	const noProcess = -1
	if err := m.Apply(noProcess); err != nil {
		return fmt.Errorf("make cgroup %s: %w", path, err)
	}
	return nil
}

// RemoveCgroup removes a cgroup and its children, if it exists. They must have no processes.
func RemoveCgroup(path string) error {
	m, err := cgroupManager(path)
	if err != nil {
		return fmt.Errorf("remove cgroup %s: %w", path, err)
	}
	if err := m.Destroy(); err != nil {
		return fmt.Errorf("remove cgroup %s: %w", path, err)
	}
	return nil
}

// coversHierarchies reports whether the machine sees only its own cgroups. Version 2 stays as
// it is: no process may be in a cgroup that limits those below it.
func coversHierarchies() bool { return !cgroups.IsCgroup2UnifiedMode() }

// renewCgroup creates the machine's cgroup again, and enters it if coversHierarchies. A power
// cut leaves the cgroups of containers behind. A kubelet would look for the container of each,
// 3 s long, before it starts the first pod.
func (s Settings) renewCgroup() error {
	if err := RemoveCgroup(s.Cgroup); err != nil {
		return err
	}
	if coversHierarchies() {
		return enterCgroup(s.Cgroup)
	}
	return MakeCgroup(s.Cgroup)
}

// enterCgroup moves the calling process into a cgroup and covers each hierarchy with
// the part below it. What makes a cgroup at the root, as libvirt does, makes it in
// there, and it goes with the machine.
func enterCgroup(path string) error {
	m, err := cgroupManager(path)
	if err != nil {
		return fmt.Errorf("enter cgroup %s: %w", path, err)
	}
	if err := m.Apply(os.Getpid()); err != nil {
		return fmt.Errorf("enter cgroup %s: %w", path, err)
	}
	// Several controllers can have one hierarchy.
	covered := map[string]bool{}
	for _, folder := range m.GetPaths() {
		if covered[folder] {
			continue
		}
		covered[folder] = true
		if err := coverHierarchy(folder, path); err != nil {
			return fmt.Errorf("enter cgroup %s: %w", folder, err)
		}
	}
	return nil
}

// coverHierarchy mounts folder, the folder of a cgroup, over its whole hierarchy.
func coverHierarchy(folder, cgroup string) error {
	const aside = "/run/cgroup"
	// The manager leaves out the controller of devices.
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := cgroups.WriteCgroupProc(folder, os.Getpid()); err != nil {
		return err
	}
	hierarchy := strings.TrimSuffix(folder, cgroup)
	if err := (mount{folder, aside, "", unix.MS_BIND, ""}).do(); err != nil {
		return err
	}
	if err := unix.Unmount(hierarchy, unix.MNT_DETACH); err != nil {
		return err
	}
	return mount{aside, hierarchy, "", unix.MS_MOVE, ""}.do()
}

// rootCgroup returns the parent cgroup of pods, as the machine's services see it.
func (s Settings) rootCgroup() string {
	if coversHierarchies() {
		return "/"
	}
	return s.Cgroup
}

func cgroupManager(path string) (cgroups.Manager, error) {
	return manager.New(&cgroups.Cgroup{Path: path, Resources: &cgroups.Resources{SkipDevices: true}})
}
