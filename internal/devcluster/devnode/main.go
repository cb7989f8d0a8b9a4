// Command kolla-devnode runs the parts of a real node for kolla-devcluster, and
// the network between such nodes. It is not for people to call.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"kolla.openstack.org/kolla/internal/devcluster/fabric"
	"kolla.openstack.org/kolla/internal/devcluster/lifeline"
	"kolla.openstack.org/kolla/internal/devcluster/machine"
)

// serveCommand is what a machine runs once it is booted.
const serveCommand = "serve"

func main() {
	lifeline.Follow()
	log.SetFlags(log.LstdFlags)
	if len(os.Args) < 2 {
		log.Fatal("this program is started by kolla-devcluster")
	}
	name, args := os.Args[1], os.Args[2:]
	switch name {
	case machine.KubeletCommand:
		os.Args = append([]string{name}, args...)
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case machine.ProxyCommand:
		os.Args = append([]string{name}, args...)
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, name, args)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, args []string) error {
	commands := map[string]struct {
		arguments int
		run       func(ctx context.Context, args []string) error
	}{
		"check":      {1, func(_ context.Context, args []string) error { return machine.Check(args[0]) }},
		"fabric":     {2, runFabric},
		"machine":    {1, boot},
		serveCommand: {1, serve},
		"outside":    {3, outside},
	}
	command, ok := commands[name]
	if !ok || len(args) < command.arguments {
		return fmt.Errorf("kolla-devnode: %q with %d arguments is nothing that it does", name, len(args))
	}
	return command.run(ctx, args)
}

// runFabric: PORT IMAGES
func runFabric(ctx context.Context, args []string) error {
	port, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("read port of the API server: %w", err)
	}
	return fabric.Run(ctx, fabric.Options{APIServer: port, Images: args[1]})
}

// boot: HOME
func boot(ctx context.Context, args []string) error {
	settings, err := machine.Read(args[0])
	if err != nil {
		return err
	}
	return machine.Boot(ctx, settings, serveCommand)
}

// serve: HOME, as seen inside
func serve(ctx context.Context, args []string) error {
	settings, err := machine.Read(args[0])
	if err != nil {
		return err
	}
	return machine.Serve(ctx, settings)
}

// outside: FABRIC ADDRESS COMMAND [ARGUMENT]... runs a command on the fabric in
// a network namespace of its own.
func outside(ctx context.Context, args []string) error {
	address, err := netip.ParseAddr(args[1])
	if err != nil {
		return fmt.Errorf("read address: %w", err)
	}
	// The command is started from this thread, and so in its namespace.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make network namespace: %w; it takes root", err)
	}
	cable, err := fabric.PlugIn(args[0], address)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return errors.Join(cmd.Run(), cable.Unplug())
}
