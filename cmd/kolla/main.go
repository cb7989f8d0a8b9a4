// Command kolla plans and applies OpenStack clouds on Kubernetes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"kolla.openstack.org/kolla/internal/cli"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
}
