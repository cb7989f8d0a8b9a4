// Package cache stores layers in a directory, by a key of their inputs.
package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Cache is a directory of layers that this process has locked.
type Cache struct {
	dir  string
	lock *os.File
}

// Layer is a finished layer.
type Layer struct {
	Blob
	// Files is the directory with the layer's files in overlayfs' form. It is empty if the files
	// were not kept.
	Files string `json:"-"`
}

const (
	blobName  = "layer.tar.zst"
	filesName = "fs"
	facts     = "layer.json"
)

// Open creates the directory if there is none, waits until no other process uses it, and removes
// the leftovers of killed builds. It calls waiting once if it has to wait.
func Open(ctx context.Context, dir string, waiting func()) (*Cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Cache{dir: dir}
	for _, name := range []string{"layers", "log", "tmp", "apt/lists/partial", "apt/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, fmt.Errorf("opening the cache: %w", err)
		}
	}
	c.lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the cache: %w", err)
	}
	if err := c.acquire(ctx, waiting); err != nil {
		c.lock.Close()
		return nil, fmt.Errorf("locking the cache %s: %w", dir, err)
	}
	if err := c.removeLeftovers(); err != nil {
		c.lock.Close()
		return nil, fmt.Errorf("removing what an earlier build left in the cache: %w", err)
	}
	return c, nil
}

func (c *Cache) acquire(ctx context.Context, waiting func()) error {
	const pause = 200 * time.Millisecond
	for tries := 0; ; tries++ {
		err := unix.Flock(int(c.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if tries == 1 { // a killed build needs a moment to end
			waiting()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func (c *Cache) removeLeftovers() error {
	tmp := filepath.Join(c.dir, "tmp")
	return errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o755))
}

// Close releases the lock.
func (c *Cache) Close() { c.lock.Close() }

// Lock returns the open lock file. The lock is held until the last process closes it.
func (c *Cache) Lock() *os.File { return c.lock }

// Apt returns the directory with package lists and packages.
func (c *Cache) Apt() string { return filepath.Join(c.dir, "apt") }

// Work creates an empty directory on the cache's file system. The next Open removes it.
func (c *Cache) Work() (string, error) { return os.MkdirTemp(filepath.Join(c.dir, "tmp"), "") }

// Log creates an empty log file.
func (c *Cache) Log(name string) (*os.File, error) {
	return os.Create(filepath.Join(c.dir, "log", name+".log"))
}

// Find returns the layer with the name and key, if there is one.
func (c *Cache) Find(name, key string) (Layer, bool, error) {
	dir := c.layerDir(name, key)
	encoded, err := os.ReadFile(filepath.Join(dir, facts))
	if errors.Is(err, fs.ErrNotExist) {
		return Layer{}, false, nil
	}
	var layer Layer
	if err == nil {
		err = json.Unmarshal(encoded, &layer)
	}
	if err != nil {
		return Layer{}, false, fmt.Errorf("reading layer %s from the cache: %w", name, err)
	}
	layer.Path = filepath.Join(dir, blobName)
	if _, err := os.Stat(filepath.Join(dir, filesName)); err == nil {
		layer.Files = filepath.Join(dir, filesName)
	}
	return layer, true, nil
}

func (c *Cache) layerDir(name, key string) string {
	return filepath.Join(c.dir, "layers", name+"@"+key)
}

// Add stores the layer whose archive write writes, and removes other layers with the name. files is
// a directory on the cache's file system, which is moved to the layer. It may be empty. After a
// crash, the whole layer is stored or nothing.
func (c *Cache) Add(name, key, files string, write func(io.Writer) error) (Layer, error) {
	layer, err := c.add(name, key, files, write)
	if err != nil {
		return Layer{}, fmt.Errorf("adding layer %s to the cache: %w", name, err)
	}
	return layer, nil
}

func (c *Cache) add(name, key, files string, write func(io.Writer) error) (Layer, error) {
	work, err := c.Work()
	if err != nil {
		return Layer{}, err
	}
	defer func() { _ = os.RemoveAll(work) }() // otherwise the next Open does
	blob, err := writeBlob(filepath.Join(work, blobName), write)
	if err != nil {
		return Layer{}, err
	}
	encoded, err := json.Marshal(Layer{Blob: blob})
	if err != nil {
		return Layer{}, err
	}
	if err := os.WriteFile(filepath.Join(work, facts), encoded, 0o644); err != nil {
		return Layer{}, err
	}
	if files != "" {
		if err := os.Rename(files, filepath.Join(work, filesName)); err != nil {
			return Layer{}, err
		}
	}
	if err := syncFileSystem(work); err != nil {
		return Layer{}, err
	}
	if err := c.removeOthers(name); err != nil {
		return Layer{}, err
	}
	if err := os.Rename(work, c.layerDir(name, key)); err != nil {
		return Layer{}, err
	}
	layer, _, err := c.Find(name, key)
	return layer, err
}

// syncFileSystem waits until all writes are on the disk. One call is enough for thousands of
// small files.
func syncFileSystem(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Syncfs(int(file.Fd()))
}

func (c *Cache) removeOthers(name string) error {
	layers := filepath.Join(c.dir, "layers")
	entries, err := os.ReadDir(layers)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), name+"@") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(layers, entry.Name())))
		}
	}
	return err
}
