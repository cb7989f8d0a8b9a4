package revision

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"

	"kolla.openstack.org/kolla/internal/base/files"
)

// Head returns the commit that is checked out around a directory, and whether files in the directory
// and below differ from it. An untracked file counts only if its name ends in one of suffixes. Files
// for which skip is true do not count; their names are relative to the directory. The error is that
// of Find or Tree: there is no repository, or no commit in it.
//
// Head compares contents itself. git would run the filters that the repository configures.
func Head(ctx context.Context, dir string, suffixes []string, skip func(name string) bool) (commit string, changed bool, err error) {
	r, err := Find(ctx, dir)
	if err != nil {
		return "", false, err
	}
	t, err := r.Tree(ctx, "HEAD")
	if err != nil {
		return "", false, err
	}
	for full, e := range t.files {
		name, err := filepath.Rel(r.dir, filepath.Join(r.root, filepath.FromSlash(full)))
		if err != nil {
			return "", false, err
		}
		if name == ".." || strings.HasPrefix(name, ".."+string(filepath.Separator)) || skip(name) {
			continue
		}
		if !e.same(filepath.Join(r.dir, name)) {
			return t.Commit, true, nil
		}
	}
	var patterns []string
	for _, suffix := range suffixes {
		patterns = append(patterns, "**/*"+suffix)
	}
	untracked, err := r.Untracked(ctx, patterns...)
	for _, name := range untracked {
		changed = changed || !skip(filepath.FromSlash(name))
	}
	return t.Commit, changed, err
}

// same reports whether a file on the disk has the content of the entry.
func (e *entry) same(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || e.link != (info.Mode()&os.ModeSymlink != 0) {
		return false
	}
	if e.link {
		target, err := os.Readlink(name)
		return err == nil && filepath.ToSlash(target) == e.target
	}
	if !info.Mode().IsRegular() || e.size != missing && e.size != info.Size() || info.Size() > files.MaxSize {
		return false
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	var sum hash.Hash = sha256.New()
	if len(e.id) == hex.EncodedLen(sha1.Size) {
		sum = sha1.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(content))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil)) == e.id
}
