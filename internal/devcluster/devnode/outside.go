package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/internal/devcluster/fabric"
)

// workDir is where a command in a file system of its own finds the directory
// that it was called from.
const workDir = "/mnt"

// outside: FABRIC ADDRESS ROOT COMMAND [ARGUMENT]... runs a command on the fabric
// in a network namespace of its own and, unless ROOT is empty, with that folder
// for its file system.
func outside(ctx context.Context, args []string) error {
	address, err := netip.ParseAddr(args[1])
	if err != nil {
		return fmt.Errorf("read address: %w", err)
	}
	root, argv := args[2], args[3:]
	// The command is started from this thread, and so in its namespaces.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make namespaces: %w; it takes root", err)
	}
	cable, err := fabric.PlugIn(args[0], address)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if root != "" {
		if err := furnish(root); err != nil {
			return err
		}
		// The program is looked for in there, not here.
		cmd = exec.CommandContext(ctx, "/usr/bin/env", argv...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Chroot: root}
		cmd.Dir = workDir
		cmd.Env = append(os.Environ(), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return errors.Join(cmd.Run(), cable.Unplug())
}

// furnish mounts, for this thread and what it starts, what a file system lacks
// while it is only a folder.
func furnish(root string) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find working directory: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("leave mounts outside alone: %w", err)
	}
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"/dev", "/dev", "", unix.MS_BIND | unix.MS_REC},
		{"/proc", "/proc", "", unix.MS_BIND | unix.MS_REC},
		{"tmpfs", "/tmp", "tmpfs", 0},
		{here, workDir, "", unix.MS_BIND},
	} {
		target := filepath.Join(root, m.target)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("mount %s in %s: %w", m.target, root, err)
		}
		if err := unix.Mount(m.source, target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s in %s: %w", m.target, root, err)
		}
	}
	return nil
}
