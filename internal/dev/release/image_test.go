package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unpacked returns the files of a tar archive and their headers.
func unpacked(t *testing.T, archive io.Reader) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for reader := tar.NewReader(archive); ; {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
	}
}

// TestImage checks that the container image is a valid OCI image layout, that it contains only
// kolla and the files that kolla needs, that it does not run as root, and that the build is
// reproducible.
func TestImage(t *testing.T) {
	programs := map[string][]byte{"arm64": []byte("for arm"), "amd64": []byte("for amd")}
	var archive, again bytes.Buffer
	if err := errors.Join(image(&archive, "v1.2.3", []byte("licence"), programs), image(&again, "v1.2.3", []byte("licence"), programs)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(archive.Bytes(), again.Bytes()) {
		t.Error("two images of the same programs differ")
	}
	blobs, _ := unpacked(t, &archive)
	used := []string{"oci-layout", "index.json"}
	// read decodes a blob.
	read := func(d descriptor, into any) []byte {
		t.Helper()
		name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
		content := blobs[name]
		used = append(used, name)
		if len(content) != d.Size || fmt.Sprintf("sha256:%x", sha256.Sum256(content)) != d.Digest {
			t.Fatalf("the blob of %+v has %d bytes", d, len(content))
		}
		if into != nil {
			if err := json.Unmarshal(content, into); err != nil {
				t.Fatal(err)
			}
		}
		return content
	}
	var outer, index ociManifest
	if err := json.Unmarshal(blobs["index.json"], &outer); err != nil || len(outer.Manifests) != 1 {
		t.Fatalf("index.json is %s: %v", blobs["index.json"], err)
	}
	if got := outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; got != "v1.2.3" {
		t.Errorf("the image has the tag %q", got)
	}
	read(outer.Manifests[0], &index)
	var processors []string
	for _, variant := range index.Manifests {
		processors = append(processors, variant.Platform.Architecture)
		var manifest ociManifest
		read(variant, &manifest)
		var config struct {
			Architecture, OS, Created string
			Config                    struct {
				User, WorkingDir string
				Entrypoint       []string
			}
			Rootfs struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		read(*manifest.Config, &config)
		layer, err := gzip.NewReader(bytes.NewReader(read(manifest.Layers[0], nil)))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(layer)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256(content)); !slices.Equal(config.Rootfs.DiffIDs, []string{want}) {
			t.Errorf("diff_ids are %v, want %s", config.Rootfs.DiffIDs, want)
		}
		if config.Architecture != variant.Platform.Architecture || config.OS != "linux" || config.Config.User != "65532:65532" ||
			!slices.Equal(config.Config.Entrypoint, []string{"/usr/local/bin/kolla"}) || config.Created != "2000-01-01T00:00:00Z" {
			t.Errorf("the config is %+v", config)
		}
		files, headers := unpacked(t, bytes.NewReader(content))
		program := headers["usr/local/bin/kolla"]
		if !bytes.Equal(files["usr/local/bin/kolla"], programs[config.Architecture]) || program.Mode != 0o755 || program.Uid != 0 {
			t.Errorf("the program for %s is %+v, %q", config.Architecture, program, files["usr/local/bin/kolla"])
		}
		if work := headers[strings.TrimPrefix(config.Config.WorkingDir, "/")+"/"]; work == nil || work.Uid != imageUser {
			t.Errorf("the working directory is %+v", work)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(files["etc/ssl/certs/ca-certificates.crt"]) || strings.Count(string(files["etc/ssl/certs/ca-certificates.crt"]), "BEGIN") < 80 {
			t.Error("the image has no certificates of public CAs")
		}
		for name, h := range headers {
			if !h.ModTime.Equal(packed) {
				t.Errorf("%s has the time %s", name, h.ModTime)
			}
		}
	}
	if diff := cmp.Diff([]string{"amd64", "arm64"}, processors); diff != "" {
		t.Error(diff)
	}
	slices.Sort(used)
	var names []string
	for name := range blobs {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(slices.Compact(used), names); diff != "" {
		t.Errorf("blobs that nothing refers to (-used +all):\n%s", diff)
	}
}
