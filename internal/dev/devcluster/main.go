// Command kolla-devcluster runs a small Kubernetes cluster on one machine: the
// real etcd, API server, controller manager and scheduler with simulated nodes,
// all from this one binary, listening on loopback only.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"kolla.openstack.org/kolla/internal/dev/devcluster/command"
	"kolla.openstack.org/kolla/internal/dev/devcluster/components"
)

func main() {
	// A component installs its own signal handling, and it may be constructed
	// only in the process that runs it.
	if len(os.Args) > 2 && os.Args[1] == components.Verb {
		os.Exit(components.Run(os.Args[2], os.Args[3:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
