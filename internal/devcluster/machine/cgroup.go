package machine

import (
	"fmt"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
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

// RemoveCgroup removes a cgroup and those in it, if there is one. No process may be
// in them any more.
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

func cgroupManager(path string) (cgroups.Manager, error) {
	return manager.New(&cgroups.Cgroup{Path: path, Resources: &cgroups.Resources{SkipDevices: true}})
}
