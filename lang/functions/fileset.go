package functions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxEntries is the largest number of files and directories that a fileset visits: links can
// make a small tree endless, or nearly so.
const maxEntries = 100_000

// entrySteps is the number of steps for the visit of a file or directory.
const entrySteps = 20

// fileset is a search for the files below a directory that match a pattern.
type fileset struct {
	files   *Files
	base    string // start directory of the search
	pattern string // of paths relative to base
	depth   int    // number of directory levels that the pattern can match; 0: any
	seen    int
	found   []string // paths relative to base
}

// Limits of a pattern: a path is compared with all combinations of its alternatives.
const (
	maxBraces = 5
	maxCommas = 30
)

// matching returns the regular files that match a pattern, as sorted paths relative to dir. It
// follows links, except links to a directory that is already part of the path.
func matching(files *Files, dir, pattern string) ([]string, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q: %w", pattern, doublestar.ErrBadPattern)
	}
	if strings.Count(pattern, "{") > maxBraces || strings.Count(pattern, ",") > maxCommas {
		return nil, fmt.Errorf("a pattern can have at most %d alternatives in braces, and %d commas in total", maxBraces, maxCommas)
	}
	prefix, rest := fixed(path.Clean(filepath.ToSlash(pattern)))
	s := &fileset{files: files, base: filepath.Join(dir, filepath.FromSlash(prefix)), pattern: rest}
	if !strings.Contains(rest, "**") && !strings.Contains(rest, "{") {
		s.depth = 1 + strings.Count(rest, "/")
	}
	root, err := files.Stat(s.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !root.IsDir():
		return nil, nil
	}
	if err := s.walk("", []fs.FileInfo{root}); err != nil {
		return nil, err
	}
	for i := range s.found {
		s.found[i] = path.Join(prefix, s.found[i])
	}
	slices.Sort(s.found)
	return s.found, nil
}

// fixed splits a pattern into its leading directories without wildcards and the rest. The last
// part of the pattern always belongs to the rest.
func fixed(pattern string) (prefix, rest string) {
	rest = pattern
	for {
		first, after, more := strings.Cut(rest, "/")
		if !more || strings.ContainsAny(first, `*?[{\`) {
			return prefix, rest
		}
		prefix, rest = path.Join(prefix, first), after
	}
}

// walk visits the entries of a directory. above lists the directories on the way, from the
// start directory to this one.
func (s *fileset) walk(within string, above []fs.FileInfo) error {
	entries, err := s.files.ReadDir(filepath.Join(s.base, filepath.FromSlash(within)))
	if errors.Is(err, fs.ErrPermission) {
		return nil // a shell skips it, too
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if s.seen++; s.seen > maxEntries {
			return fmt.Errorf("there are more than %d files and directories below %s, or links that form a loop; use a more specific directory", maxEntries, s.base)
		}
		if err := s.files.spend(entrySteps); err != nil {
			return err
		}
		name := path.Join(within, entry.Name())
		matches, err := doublestar.Match(s.pattern, name)
		if err != nil {
			return fmt.Errorf("%q: %w", s.pattern, err)
		}
		deeper := s.depth == 0 || len(above) < s.depth
		if !matches && !deeper || !matches && entry.Type().IsRegular() {
			continue
		}
		info, err := s.files.Stat(filepath.Join(s.base, filepath.FromSlash(name)))
		switch {
		case err != nil && matches:
			return err
		case err != nil: // a broken link
		case info.Mode().IsRegular() && matches:
			s.found = append(s.found, name)
		case info.IsDir() && deeper && !slices.ContainsFunc(above, func(a fs.FileInfo) bool { return sameDir(a, info) }):
			if err := s.walk(name, append(slices.Clip(above), info)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameDir reports whether two entries are one directory. In a file system that is not the disk,
// Sys is the path without links.
func sameDir(a, b fs.FileInfo) bool {
	one, ok := a.Sys().(string)
	other, _ := b.Sys().(string)
	return ok && one == other || os.SameFile(a, b)
}
