package rootfs

import (
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// fixedTime takes the place of every time at which a layer was being made.
var fixedTime = unix.Timespec{Sec: 1735689600}

// fixTimes gives the fixed time to everything below dir that was modified since. What
// packages bring has times before, and keeps them: compiled Python files rely on it.
func fixTimes(dir string, since time.Time) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.ModTime().Before(since) {
			return err
		}
		times := []unix.Timespec{fixedTime, fixedTime}
		return unix.UtimesNanoAt(unix.AT_FDCWD, name, times, unix.AT_SYMLINK_NOFOLLOW)
	})
}
