// Package rootfs makes the file systems of layers from Debian packages.
//
// A layer is made by a process of its own, in private namespaces: its mounts are seen
// by nobody else, and when it ends, however it ends, everything that it mounted or
// started is gone.
package rootfs

import "embed"

// Sources are the sources of this package: part of what a layer depends on.
//
//go:embed *.go *.sh
var Sources embed.FS
