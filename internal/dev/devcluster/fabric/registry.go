package fabric

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// imageNameAnnotation is the annotation with the name of an image in an image layout.
const imageNameAnnotation = "io.containerd.image.name"

// descriptor is the entry of an image in the index of a layout.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
}

// layout is an OCI image layout, read-only, as a registry. It finds images by their names
// without the registry, so that it can replace any registry.
type layout struct {
	folder string

	mu       sync.Mutex
	modified time.Time
	images   map[string]descriptor
}

func openLayout(folder string) (*layout, error) {
	l := &layout{folder: folder}
	if err := l.refresh(); err != nil {
		return nil, err
	}
	return l, nil
}

// refresh reads the index if it has changed, so that images can be built while
// the cluster runs.
func (l *layout) refresh() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := filepath.Join(l.folder, "index.json")
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read images: %w", err)
	}
	if info.ModTime().Equal(l.modified) {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read images: %w", err)
	}
	var index struct {
		Manifests []descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return fmt.Errorf("read images: %s: %w", path, err)
	}
	images := map[string]descriptor{}
	for _, image := range index.Manifests {
		_, name, _ := strings.Cut(image.Annotations[imageNameAnnotation], "/")
		images[name] = image
	}
	l.modified, l.images = info.ModTime(), images
	return nil
}

var (
	manifestPath = regexp.MustCompile(`^/v2/(.+)/manifests/([^/]+)$`)
	blobPath     = regexp.MustCompile(`^/v2/.+/blobs/(sha256:[0-9a-f]{64})$`)
	digestForm   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// ServeHTTP answers the pull part of the OCI distribution specification.
func (l *layout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "images can only be pulled from here", http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == "/v2/" {
		w.WriteHeader(http.StatusOK)
		return
	}
	if match := manifestPath.FindStringSubmatch(r.URL.Path); match != nil {
		l.serveManifest(w, r, match[1], match[2])
		return
	}
	if match := blobPath.FindStringSubmatch(r.URL.Path); match != nil {
		l.serveBlob(w, r, match[1], "application/octet-stream", "BLOB_UNKNOWN")
		return
	}
	refuse(w, "UNSUPPORTED", "no such path")
}

func (l *layout) serveManifest(w http.ResponseWriter, r *http.Request, name, reference string) {
	if err := l.refresh(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if image, ok := l.find(name, reference); ok {
		l.serveBlob(w, r, image.Digest, image.MediaType, "MANIFEST_UNKNOWN")
		return
	}
	refuse(w, "MANIFEST_UNKNOWN", "there is no "+name+" with "+reference)
}

func (l *layout) find(name, reference string) (descriptor, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if image, ok := l.images[name+":"+reference]; ok {
		return image, true
	}
	for _, image := range l.images {
		if image.Digest == reference {
			return image, true
		}
	}
	return descriptor{}, false
}

func (l *layout) serveBlob(w http.ResponseWriter, r *http.Request, digest, mediaType, unknown string) {
	if !digestForm.MatchString(digest) {
		refuse(w, unknown, "no digest: "+digest)
		return
	}
	path := filepath.Join(l.folder, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		refuse(w, unknown, digest+" is not here")
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Docker-Content-Digest", digest)
	http.ServeFile(w, r, path)
}

// refuse answers with an error in the format of registries.
func refuse(w http.ResponseWriter, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"errors": []map[string]string{{"code": code, "message": message}},
	})
}
