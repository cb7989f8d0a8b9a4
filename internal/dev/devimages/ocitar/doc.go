// Package ocitar writes the upper directory of an overlay file system as an OCI layer.
package ocitar

import "embed"

// Sources are the sources of this package: part of what a layer depends on.
//
//go:embed *.go
var Sources embed.FS
