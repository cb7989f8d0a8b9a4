package rootfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// privateMounts cuts the mounts of this process off from everybody else's, and gives it
// the /proc of its own PID namespace.
func privateMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	return mount("proc", "/proc", "proc", 0, "")
}

func mount(source, target, kind string, flags uintptr, data string) error {
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", source, target, err)
	}
	return nil
}

// mountOverlay mounts the layers below with the new one on top, and points root there.
func mountOverlay(spec Spec, root *string) error {
	*root = filepath.Join(spec.Work, "merged")
	scratch := filepath.Join(spec.Work, "work")
	for _, dir := range []string{*root, scratch} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	options := []string{
		"lowerdir=" + strings.Join(spec.Lower, ":"),
		"upperdir=" + spec.Upper(),
		"workdir=" + scratch,
		// Every changed file is there as a whole, under its own name.
		"redirect_dir=off", "metacopy=off", "index=off",
		// A build that is cut off starts anew: nothing is worth waiting for the disk.
		"volatile",
	}
	return mount("overlay", *root, "overlay", 0, strings.Join(options, ","))
}

// furnish mounts what package scripts need, so that none of it ends up in the layer.
func furnish(root, apt string) error {
	at := func(path string) string { return filepath.Join(root, path) }
	type entry struct {
		source, target, kind string
		flags                uintptr
		data                 string
	}
	entries := []entry{
		{"proc", at("proc"), "proc", 0, ""},
		{"tmpfs", at("dev"), "tmpfs", 0, "mode=755"},
		{"tmpfs", at("run"), "tmpfs", 0, "mode=755"},
		{"tmpfs", at("tmp"), "tmpfs", 0, "mode=1777"},
		{"/etc/resolv.conf", at("etc/resolv.conf"), "", unix.MS_BIND, ""},
		// A bind mount becomes read-only by a second step.
		{"none", at("etc/resolv.conf"), "", unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY, ""},
		{filepath.Join(apt, "lists"), at("var/lib/apt/lists"), "", unix.MS_BIND, ""},
		{filepath.Join(apt, "archives"), at("var/cache/apt/archives"), "", unix.MS_BIND, ""},
	}
	for _, e := range entries {
		if err := mount(e.source, e.target, e.kind, e.flags, e.data); err != nil {
			return err
		}
	}
	for _, dir := range []string{"dev/shm", "dev/pts"} {
		if err := os.Mkdir(at(dir), 0o1777); err != nil {
			return err
		}
	}
	for _, device := range []string{"null", "zero", "full", "random", "urandom"} {
		target := at(filepath.Join("dev", device))
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			return err
		}
		if err := mount("/dev/"+device, target, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	for link, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, at(filepath.Join("dev", link))); err != nil {
			return err
		}
	}
	return nil
}
