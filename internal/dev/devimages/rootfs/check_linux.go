package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Check says whether layers can be made on this machine. It returns everything that is
// missing, and how to get it. work is an empty directory where layers are to be made; the
// caller removes it.
func Check(ctx context.Context, work string) error {
	if os.Geteuid() != 0 {
		return errors.New("making images needs root: packages are installed into file systems with the owners they have")
	}
	var problems []error
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		problems = append(problems, errors.New("mmdebstrap is missing: apt-get install mmdebstrap"))
	}
	if _, err := os.Stat(Keyring); err != nil {
		problems = append(problems, fmt.Errorf("the keys of Debian are missing (%s): apt-get install debian-archive-keyring", Keyring))
	}
	if err := tryOverlay(ctx, work); err != nil {
		problems = append(problems, fmt.Errorf("no overlayfs with its layers in %s (-cache can name a directory on another file system, one that is not itself an overlay or on a network): %w", work, err))
	}
	return errors.Join(problems...)
}

// tryOverlay mounts an overlay as Make does, in namespaces of its own.
func tryOverlay(ctx context.Context, work string) error {
	spec := Spec{Work: work, Lower: []string{filepath.Join(work, "lower")}}
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
