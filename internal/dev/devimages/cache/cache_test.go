package cache_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"kolla.openstack.org/kolla/internal/dev/devimages/cache"
)

func open(t *testing.T, dir string) *cache.Cache {
	t.Helper()
	c, err := cache.Open(t.Context(), dir, func() { t.Error("opening waits for somebody") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func content(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func find(t *testing.T, c *cache.Cache, name, key string) (cache.Layer, bool) {
	t.Helper()
	layer, found, err := c.Find(name, key)
	if err != nil {
		t.Fatal(err)
	}
	return layer, found
}

func TestAddAndFind(t *testing.T) {
	c := open(t, t.TempDir())
	work, err := c.Work()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Add("base", "key", work, content("archive")); err != nil {
		t.Fatal(err)
	}
	layer, found := find(t, c, "base", "key")
	if !found {
		t.Fatal("what was added is not found")
	}
	if _, err := os.Stat(filepath.Join(layer.Files, "file")); err != nil {
		t.Error("the layer's files were not kept:", err)
	}

	compressed, err := os.ReadFile(layer.Path)
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := decoder.DecodeAll(compressed, nil)
	if err != nil || string(plain) != "archive" {
		t.Errorf("the blob holds %q (%v)", plain, err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(compressed)); layer.Digest.String() != want || layer.Size != int64(len(compressed)) {
		t.Errorf("the blob is said to be %s, %d bytes; it is %s, %d", layer.Digest, layer.Size, want, len(compressed))
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); layer.DiffID.String() != want || layer.Length != int64(len(plain)) {
		t.Errorf("the archive is said to be %s, %d bytes; it is %s, %d", layer.DiffID, layer.Length, want, len(plain))
	}
}

// TestAddReplaces checks that a cache keeps only one version of each layer.
func TestAddReplaces(t *testing.T) {
	c := open(t, t.TempDir())
	for _, key := range []string{"old", "new"} {
		for _, name := range []string{"base", "base-more"} {
			if _, err := c.Add(name, key, "", content(key)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"base", "base-more"} {
		if _, found := find(t, c, name, "old"); found {
			t.Errorf("the old %s is still there", name)
		}
		if _, found := find(t, c, name, "new"); !found {
			t.Errorf("the new %s is not there", name)
		}
	}
}

// TestAddFails checks that a layer whose writer fails is neither found nor left on disk.
func TestAddFails(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	broken := errors.New("broken")
	_, err := c.Add("base", "key", "", func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error is %v, want the writer's", err)
	}
	if _, found := find(t, c, "base", "key"); found {
		t.Error("half a layer is found")
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("half a layer is left: %v", left)
	}
}

func TestOpenRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	work, err := c.Work()
	if err != nil {
		t.Fatal(err)
	}
	c.Close() // like a build that is killed
	open(t, dir)
	if _, err := os.Stat(work); !os.IsNotExist(err) {
		t.Errorf("what a killed build left is still there (%v)", err)
	}
}

// TestOpenWaits checks that a second build waits while another one uses the cache.
func TestOpenWaits(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	second, cancel := context.WithCancel(t.Context())
	defer cancel()
	waiting := make(chan bool, 1)
	ended := make(chan error, 1)
	go func() {
		c, err := cache.Open(second, dir, func() { waiting <- true })
		if err == nil {
			c.Close()
		}
		ended <- err
	}()
	select {
	case <-waiting:
	case err := <-ended:
		t.Fatalf("the second build went on while the first had the cache (%v)", err)
	case <-time.After(10 * time.Second):
		t.Fatal("the second build does not say that it waits")
	}
	first.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	open(t, dir)
	cancel()
	if _, err := cache.Open(second, dir, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ends with %v when it is cancelled", err)
	}
}
