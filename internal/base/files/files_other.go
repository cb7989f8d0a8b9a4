//go:build !unix

package files

import "io/fs"

// NoFollow is the flag that refuses a symbolic link at the end of a path, where there is one.
const NoFollow = 0

const nonBlock = 0

// untrusted returns nil, because files have no modes here.
func untrusted(fs.FileInfo) error { return nil }

func otherNames(fs.FileInfo) bool { return false }
