package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Check says whether layers can be made on this machine, with their files below dir. It
// returns everything that is missing, and how to get it.
func Check(ctx context.Context, dir string) error {
	if os.Geteuid() != 0 {
		return errors.New("making images needs root: packages are installed into file systems with the owners they have")
	}
	var problems []error
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		problems = append(problems, errors.New("mmdebstrap is missing: apt-get install mmdebstrap"))
	}
	if _, err := os.Stat(Keyring); err != nil {
		problems = append(problems, fmt.Errorf("Debian's keys are missing (%s): apt-get install debian-archive-keyring", Keyring))
	}
	if err := tryOverlay(ctx, dir); err != nil {
		problems = append(problems, fmt.Errorf("overlayfs cannot be mounted with its layers in %s (another -cache directory may do: not one on overlayfs, NFS or the like): %w", dir, err))
	}
	return errors.Join(problems...)
}

// tryOverlay mounts an overlay as Make does, in namespaces of its own.
func tryOverlay(ctx context.Context, dir string) error {
	work, err := os.MkdirTemp(dir, "probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	spec := Spec{Layer: "probe", Work: work, Lower: []string{filepath.Join(work, "lower")}}
	for _, name := range []string{spec.Upper(), spec.Lower[0]} {
		if err := os.Mkdir(name, 0o755); err != nil {
			return err
		}
	}
	return start(ctx, "probe", spec, nil, nil, func(string) {})
}

// probe runs in namespaces of its own.
func probe(spec Spec) error {
	if err := privateMounts(); err != nil {
		return err
	}
	var root string
	if err := mountOverlay(spec, &root); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "file"), nil, 0o600)
}
