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

	"github.com/bmatcuk/doublestar"
)

// maxEntries is how many files and directories a fileset looks at: links can make a small
// tree endless, or nearly so.
const maxEntries = 100_000

// fileset is a search for the files below a directory that match a pattern.
type fileset struct {
	base    string // where the search begins
	pattern string // of paths relative to base
	depth   int    // how many directories deep the pattern can match; 0: any
	seen    int
	found   []string // paths relative to base
}

// matching lists the regular files that match a pattern, as paths relative to dir,
// sorted. Links are followed, but not to a directory that the path is in already.
func matching(dir, pattern string) ([]string, error) {
	if _, err := doublestar.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q: %w", pattern, err)
	}
	prefix, rest := fixed(path.Clean(filepath.ToSlash(pattern)))
	s := &fileset{base: filepath.Join(dir, filepath.FromSlash(prefix)), pattern: rest}
	if !strings.Contains(rest, "**") && !strings.Contains(rest, "{") {
		s.depth = 1 + strings.Count(rest, "/")
	}
	root, err := os.Stat(s.base)
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

// fixed splits the directories off a pattern in which nothing is left open. The last part
// of the pattern stays.
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

// walk looks at what is in a directory. above are the directories on the way, it is the
// last of them.
func (s *fileset) walk(within string, above []fs.FileInfo) error {
	entries, err := os.ReadDir(filepath.Join(s.base, filepath.FromSlash(within)))
	if errors.Is(err, fs.ErrPermission) {
		return nil // as a shell leaves it out
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if s.seen++; s.seen > maxEntries {
			return fmt.Errorf("there are more than %d files and directories below %s, or links that lead in circles; name a directory further down", maxEntries, s.base)
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
		info, err := os.Stat(filepath.Join(s.base, filepath.FromSlash(name)))
		switch {
		case err != nil && matches:
			return err
		case err != nil: // a link that leads nowhere
		case info.Mode().IsRegular() && matches:
			s.found = append(s.found, name)
		case info.IsDir() && deeper && !slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }):
			if err := s.walk(name, append(slices.Clip(above), info)); err != nil {
				return err
			}
		}
	}
	return nil
}
