//go:build !linux

// Command kolla-devimages makes container images for tests from Debian packages, under
// the names of the Kolla images.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "kolla-devimages: images are made on Linux only: this needs overlayfs and mmdebstrap")
	os.Exit(1)
}
