// Command kolla-devimages makes container images for tests from Debian packages, under
// the names of the Kolla images.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"kolla.openstack.org/kolla/internal/dev/devimages/command"
	"kolla.openstack.org/kolla/internal/dev/devimages/rootfs"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == rootfs.Verb {
		os.Exit(rootfs.Run(os.Args[2:])) //nolint:forbidigo // this is main
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code) //nolint:forbidigo // this is main
}
