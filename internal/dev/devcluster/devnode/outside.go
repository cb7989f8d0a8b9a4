package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/internal/dev/devcluster/fabric"
)

// workDir is the path of the caller's working directory for a command with a separate file
// system.
const workDir = "/mnt"

// outside: FABRIC ADDRESS PROVIDER-ADDRESS ROOT COMMAND [ARGUMENT]... runs a command
// on the fabric in a network namespace of its own, on the provider network too
// unless PROVIDER-ADDRESS is empty and, unless ROOT is empty, with that folder for
// its file system. It ends with the fabric.
func outside(_ context.Context, args []string) error {
	plugs, err := readPlugs(args[1], args[2])
	if err != nil {
		return err
	}
	root, argv := args[3], args[4:]
	if info, err := os.Stat(root); root != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("use %s as a file system: there is no such folder", root)
	}
	// A typed interrupt also reaches the command, which decides what to do.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	// The command is started from this thread, and so in its namespaces.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make namespaces: %w; it takes root", err)
	}
	cable, err := fabric.PlugIn(args[0], plugs)
	if err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if root != "" {
		if err := furnish(root); err != nil {
			return err
		}
		// Look for the program in the new root.
		cmd = exec.Command("/usr/bin/env", argv...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Chroot: root}
		cmd.Dir = workDir
		cmd.Env = append(os.Environ(), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return errors.Join(err, cable.Unplug())
	}
	return errors.Join(accompany(cmd, cable, signals), cable.Unplug())
}

func readPlugs(address, provider string) (fabric.Plugs, error) {
	var plugs fabric.Plugs
	var err error
	if plugs.Node, err = netip.ParseAddr(address); err != nil {
		return plugs, fmt.Errorf("read address: %w", err)
	}
	if provider == "" {
		return plugs, nil
	}
	if plugs.ProviderAddress, err = netip.ParseAddr(provider); err != nil {
		return plugs, fmt.Errorf("read address on the provider network: %w", err)
	}
	return plugs, nil
}

// accompany waits for a command to end. It forwards the termination signal, reconnects the
// command to the fabric, and ends the command if the fabric does not come back.
func accompany(cmd *exec.Cmd, cable *fabric.Cable, signals <-chan os.Signal) error {
	const (
		pause    = 100 * time.Millisecond
		patience = 10 * time.Second // a fabric that was killed is started again
		grace    = 2 * time.Second
	)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	lost := cable.Lost()
	var since time.Time
	var retry, kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			return err
		case received := <-signals:
			if received == syscall.SIGTERM {
				_ = cmd.Process.Signal(received)
			}
		case <-lost:
			lost, since, retry = nil, time.Now(), time.After(0)
		case <-retry:
			switch {
			case cable.Stopped() || time.Since(since) > patience:
				fmt.Fprintln(os.Stderr, "the network of the cluster is gone; ending too")
				_ = cmd.Process.Signal(syscall.SIGTERM)
				retry, kill = nil, time.After(grace)
			case cable.PlugInAgain() == nil:
				lost, retry = cable.Lost(), nil
			default:
				retry = time.After(pause)
			}
		case <-kill:
			_ = cmd.Process.Kill()
		}
	}
}

// furnish mounts /proc, /dev and the like over a folder, for this thread and its child
// processes.
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
