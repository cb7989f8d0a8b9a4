// Package examples holds clouds that really plan and apply. They are the starters
// that `kolla init` writes.
package examples

import "embed"

// Files holds one folder an example.
//
//go:embed all-in-one compute-kit multinode
var Files embed.FS
