// Package npmtest gives tests files of npm packages that are no part of the project.
package npmtest

import (
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Package is one version of a package in the npm registry.
type Package struct {
	Name, Version string
	// Checksum is the integrity of the package in the registry: sha512-BASE64.
	Checksum string
}

// File returns a file of the package. npm downloads the package to the cache directory once.
// If it cannot, the test is skipped.
func (p Package) File(t testing.TB, name string) []byte {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("NOT RUN: no directory for %s: %v", p.Name, err)
	}
	dir := filepath.Join(cache, "kolla-test")
	archive := filepath.Join(dir, p.Name+"-"+p.Version+".tgz")
	packed, err := os.ReadFile(archive)
	if err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		fetch := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "--pack-destination", dir, p.Name+"@"+p.Version)
		if out, err := fetch.CombinedOutput(); err != nil {
			first, _, _ := strings.Cut(string(out), "\n")
			t.Skip(strings.TrimSpace(fmt.Sprintf("NOT RUN: npm cannot fetch %s: %v %s", p.Name, err, first)))
		}
		if packed, err = os.ReadFile(archive); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha512.Sum512(packed)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != p.Checksum {
		t.Fatalf("%s has the checksum %s, want %s", archive, got, p.Checksum)
	}
	content, err := exec.CommandContext(t.Context(), "tar", "-xzOf", archive, "package/"+name).Output()
	if err != nil {
		t.Fatalf("%s has no %s: %v", archive, name, err)
	}
	return content
}
