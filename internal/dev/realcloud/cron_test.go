package realcloud_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// kollaImage is the image in the CronJob of examples/drift.
const kollaImage = "registry.example.org/kolla:v1.0.0"

// imageIndex is the index of an OCI image layout.
type imageIndex struct {
	Manifests []map[string]any `json:"manifests"`
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// blobs is the folder with the content of an image layout.
const blobs = "blobs/sha256"

// built returns the path of something that make has built, in bin.
func built(t *testing.T, name ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"../../../bin"}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// layoutOf makes an image layout of bin/images with another index in a directory, and returns the option
// that gives it to the nodes.
func layoutOf(t *testing.T, dir string, all imageIndex) string {
	t.Helper()
	index, err := json.Marshal(all)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, blobs), 0o755), os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	linkBlobs(t, dir, "images")
	return "-images=" + dir
}

// linkBlobs links the content of an image layout in bin into another layout.
func linkBlobs(t *testing.T, dir, layout string) {
	t.Helper()
	others, err := filepath.Glob(filepath.Join(built(t, layout, blobs), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range others {
		err := os.Symlink(other, filepath.Join(dir, blobs, filepath.Base(other)))
		if err != nil && !errors.Is(err, os.ErrExist) { // both layouts may have the blob
			t.Fatal(err)
		}
	}
}

// imagesWithTag makes an image layout of bin/images, in which one image has a second tag, and returns the
// option that gives it to the nodes.
func imagesWithTag(t *testing.T, image, tag string) string {
	t.Helper()
	var all imageIndex
	decode(t, built(t, "images", "index.json"), &all)
	for _, manifest := range all.Manifests {
		if name, _, _ := strings.Cut(referenceOf(manifest), ":"); name == image {
			all.Manifests = append(all.Manifests, withReference(manifest, image+":"+tag))
			return layoutOf(t, t.TempDir(), all)
		}
	}
	t.Fatalf("bin/images has no image %s", image)
	return ""
}

// referenceKey is the annotation with the name and tag of an image in a layout.
const referenceKey = "io.containerd.image.name"

// referenceOf returns the name and tag of an image, or "" if it has none.
func referenceOf(manifest map[string]any) string {
	annotations, _ := manifest["annotations"].(map[string]any)
	name, _ := annotations[referenceKey].(string)
	return name
}

// withReference returns an image under another name and tag.
func withReference(manifest map[string]any, name string) map[string]any {
	other := maps.Clone(manifest)
	other["annotations"] = map[string]any{referenceKey: name}
	return other
}

// imagesWithKolla makes an image layout of bin/images and bin/kolla-image.tar, and returns the
// option that gives it to the nodes.
func imagesWithKolla(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, blobs), 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Open(built(t, "kolla-image.tar"))
	if err != nil {
		t.Fatalf("%v: make it with make image", err)
	}
	defer archive.Close()
	for reader := tar.NewReader(archive); ; {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(reader)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, h.Name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var outer, variants, all imageIndex
	blob := func(digest any) string {
		return filepath.Join(dir, blobs, strings.TrimPrefix(fmt.Sprint(digest), "sha256:"))
	}
	decode(t, filepath.Join(dir, "index.json"), &outer)
	decode(t, blob(outer.Manifests[0]["digest"]), &variants)
	decode(t, built(t, "images", "index.json"), &all)
	for _, variant := range variants.Manifests {
		if system, _ := variant["platform"].(map[string]any); system["architecture"] == runtime.GOARCH {
			variant["annotations"] = map[string]string{"io.containerd.image.name": kollaImage}
			all.Manifests = append(all.Manifests, variant)
		}
	}
	return layoutOf(t, dir, all)
}

// cronFindsDrift moves the state to the cluster and runs the CronJob of examples/drift: kolla's
// container image, in a pod, with the rights of kolla rbac -read-only and no kubeconfig. Then it
// moves the state back.
func cronFindsDrift(t *testing.T, c *cloud) {
	const block = "cloud \"real\" {\n"
	const withBackend = block + "  backend \"kubernetes\" {}\n\n"
	c.edit(t, block, withBackend)
	c.kolla(t, 0, "init", "-migrate-state")
	c.write(t, "roles.yaml", c.kolla(t, 0, "rbac", "-read-only", "-serviceaccount=kolla:drift").out)
	file := func(name string) string { return filepath.Join(c.dir, name) }
	kubectl := func(args ...string) string { return c.cluster.Kubectl(t, append([]string{"-n", "kolla"}, args...)...) }
	kubectl("apply", "-f", filepath.Join(c.root, "examples", "drift", "kubernetes", "cronjob.yaml"))
	c.cluster.Kubectl(t, "apply", "-f", file("roles.yaml"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(kubectl("describe", "pods"))
		}
		c.cluster.Kubectl(t, "delete", "-f", file("roles.yaml"))
		kubectl("delete", "namespace", "kolla", "--wait=false")
	})
	kubectl("create", "configmap", "kolla-config", "--from-file="+file("cloud.hcl"))

	// look runs the job once.
	look := func(name, code string) string {
		t.Helper()
		began := time.Now()
		kubectl("create", "job", name, "--from=cronjob/drift")
		var got string
		eventually(t, func() error {
			got = kubectl("get", "pods", "-l", "job-name="+name, "-o", "jsonpath={.items[*].status.containerStatuses[*].state.terminated.exitCode}")
			if got == "" {
				return errors.New("the pod has not ended")
			}
			return nil
		})
		measured(t, "a look for drift in the cluster, with the start of its pod", time.Since(began).Round(100*time.Millisecond))
		out := kubectl("logs", "job/"+name)
		if got != code {
			t.Fatalf("kolla in the pod ended with %s, want %s:\n%s", got, code, out)
		}
		return out
	}
	look("first", "0")
	c.kubectl(t, "label", "service", "memcached", "app.kubernetes.io/name=oops", "--overwrite")
	wantSaid(t, "second look", look("second", "2"), "service.memcached/Service/memcached", "oops", "kubectl")
	c.kolla(t, 0, "apply", "-auto-approve")
	look("third", "0")
	c.edit(t, withBackend, block)
	c.kolla(t, 0, "init", "-migrate-state")
}
