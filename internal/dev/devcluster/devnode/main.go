// Command kolla-devnode runs the parts of a real node for kolla-devcluster, and the network
// between such nodes. Users do not call it directly.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"kolla.openstack.org/kolla/internal/dev/devcluster/fabric"
	"kolla.openstack.org/kolla/internal/dev/devcluster/lifeline"
	"kolla.openstack.org/kolla/internal/dev/devcluster/machine"
)

// The network between the machines, and how many arguments it takes.
const (
	fabricCommand   = "fabric"
	fabricArguments = 3
)

// serveCommand is the command that a machine runs after the boot.
const serveCommand = "serve"

func main() {
	log.SetFlags(log.LstdFlags)
	if len(os.Args) < 2 {
		log.Fatal("this program is started by kolla-devcluster")
	}
	name, args := os.Args[1], os.Args[2:]
	if name == fabricCommand && len(args) == fabricArguments {
		lifeline.Follow(func() { clearUp(args[2]) })
	} else {
		lifeline.Follow(nil)
	}
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
		os.Exit(exitCode(exit))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// exitCode returns the exit code of a process as a shell reports it.
func exitCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

func run(ctx context.Context, name string, args []string) error {
	commands := map[string]struct {
		arguments int
		run       func(ctx context.Context, args []string) error
	}{
		"check":       {1, func(_ context.Context, args []string) error { return machine.Check(args[0]) }},
		fabricCommand: {fabricArguments, runFabric},
		"machine":     {1, boot},
		serveCommand:  {1, serve},
		"outside":     {5, outside},
	}
	command, ok := commands[name]
	if !ok || len(args) < command.arguments {
		return fmt.Errorf("kolla-devnode: %q with %d arguments is nothing that it does", name, len(args))
	}
	return command.run(ctx, args)
}

// clearUp removes the cgroups of machines after the end of their killed supervisor, because the
// cluster may never be started or stopped again.
func clearUp(cgroup string) {
	for range 100 {
		err := machine.RemoveCgroup(cgroup)
		if err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// runFabric: PORT IMAGES CGROUP
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
