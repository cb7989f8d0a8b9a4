//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const (
	// nonBlock makes the opening of a named pipe return at once.
	nonBlock = syscall.O_NONBLOCK
	// NoFollow is the flag that refuses a symbolic link at the end of a path.
	NoFollow = syscall.O_NOFOLLOW
)

// untrusted returns the reason why another user may have written the file, or nil.
func untrusted(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if owner := int(stat.Uid); owner != 0 && owner != os.Geteuid() {
		return fmt.Errorf("%w (UID %d)", ErrNotOwned, owner)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%w (mode %04o)", ErrWritable, mode)
	}
	return nil
}

// otherNames reports whether the file has more than one name.
func otherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
