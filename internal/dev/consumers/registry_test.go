package consumers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/distribution/distribution/v3/configuration"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"
	"oras.land/oras-go/v2/registry/remote"
)

// startRegistry starts the registry of the distribution project, and returns its address. Only joe
// may use it if a password is given.
func startRegistry(t *testing.T, password string) string {
	t.Helper()
	logrus.SetOutput(io.Discard)
	config := &configuration.Configuration{Storage: configuration.Storage{"inmemory": nil}}
	config.Log.AccessLog.Disabled = true
	config.Log.Level = "panic"
	config.HTTP.Secret = "test"
	if password != "" {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		users := filepath.Join(t.TempDir(), "htpasswd")
		if err := os.WriteFile(users, fmt.Appendf(nil, "joe:%s\n", hash), 0o600); err != nil {
			t.Fatal(err)
		}
		config.Auth = configuration.Auth{"htpasswd": {"realm": "test", "path": users}}
	}
	server := httptest.NewServer(handlers.NewApp(context.WithoutCancel(t.Context()), config))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// repository returns a repository without a login.
func repository(t *testing.T, name string) *remote.Repository {
	t.Helper()
	r, err := remote.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	r.PlainHTTP = true
	return r
}

// push pushes an image for two platforms, whose layers have the content, and returns its digest.
func push(t *testing.T, name, tag, content string) string {
	t.Helper()
	r := repository(t, name)
	put := func(mediaType string, content []byte) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
		if err := r.Push(t.Context(), d, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
	for _, architecture := range []string{"amd64", "arm64"} {
		layer := put(ocispec.MediaTypeImageLayer, []byte(content+architecture))
		platform := ocispec.Platform{OS: "linux", Architecture: architecture}
		config := put(ocispec.MediaTypeImageConfig, encoded(t, ocispec.Image{Platform: platform, RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{layer.Digest}}}))
		manifest := put(ocispec.MediaTypeImageManifest, encoded(t, ocispec.Manifest{
			Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: config, Layers: []ocispec.Descriptor{layer},
		}))
		manifest.Platform = &platform
		index.Manifests = append(index.Manifests, manifest)
	}
	raw := encoded(t, index)
	d := ocispec.Descriptor{MediaType: index.MediaType, Digest: digest.FromBytes(raw), Size: int64(len(raw))}
	if err := r.PushReference(t.Context(), d, bytes.NewReader(raw), tag); err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}

// execute runs a program with more variables, and returns all that it printed.
func execute(t *testing.T, env []string, path string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), path, args...)
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestRegistry locks the images of a cloud, and copies them to a registry that asks for a password.
// Then it copies them on to a third one.
func TestRegistry(t *testing.T) {
	const password, tag = "sesame-opens-the-door", "2025.1-rocky-9"
	from, to := startRegistry(t, ""), startRegistry(t, password)
	names := []string{"memcached", "rabbitmq"}
	digests := map[string]string{}
	for _, name := range names {
		digests[name] = push(t, from+"/kolla/"+name, tag, strings.Repeat(name[:1], 1_000_000))
	}

	kolla := filepath.Join(t.TempDir(), "kolla")
	if out, err := execute(t, nil, "go", "-C", "../../..", "build", "-o", kolla, "./cmd/kolla"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(t.TempDir())
	cloud := func(registry string) {
		text := fmt.Sprintf("cloud \"a\" {\n  release  = \"2025.1\"\n  registry = %q\n}\n\nservice \"memcached\" {}\n\nservice \"rabbitmq\" {}\n", registry)
		if err := os.WriteFile("cloud.hcl", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	login := t.TempDir()
	logIn := func(password string) {
		text := encoded(t, map[string]any{"auths": map[string]any{to: map[string]any{"auth": []byte("joe:" + password)}}})
		if err := os.WriteFile(filepath.Join(login, "config.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	images := func(args ...string) (string, error) {
		t.Helper()
		out, err := execute(t, []string{"DOCKER_CONFIG=" + login}, kolla, append([]string{"images"}, args...)...)
		if strings.Contains(out, password) {
			t.Errorf("kolla images %v prints the password:\n%s", args, out)
		}
		return out, err
	}
	succeeds := func(want string, args ...string) string {
		t.Helper()
		out, err := images(args...)
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("kolla images %v: got %v, want %q\n%s", args, err, want, out)
		}
		return out
	}
	prints := func(out string, patterns ...string) {
		t.Helper()
		for _, pattern := range patterns {
			if !regexp.MustCompile("(?m)^" + pattern + "$").MatchString(out) {
				t.Errorf("no line is %s:\n%s", pattern, out)
			}
		}
	}
	locked := func(registry string, want map[string]string) {
		t.Helper()
		text, err := os.ReadFile("kolla.images.json")
		if err != nil {
			t.Fatal(err)
		}
		var lock map[string]string
		if err := json.Unmarshal(text, &lock); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got := lock[registry+"/"+name+":"+tag]; got != want[name] {
				t.Errorf("the digest of %s is %q, want %q", name, got, want[name])
			}
		}
	}

	logIn(password)
	cloud(from + "/kolla")
	out := succeeds("Wrote the digests of 2 images", "-lock")
	prints(out, from+"/kolla/memcached:"+tag+`: found  \[[12] of 2\]`, from+"/kolla/rabbitmq:"+tag+`: found  \[[12] of 2\]`)
	locked(from+"/kolla", digests)

	// The tag moves. The lock and the copies keep the build that was locked.
	moved := push(t, from+"/kolla/memcached", tag, "another build")
	out = succeeds("Copied 2 images", "-mirror="+to+"/site")
	for _, name := range names {
		copied := to + "/site/" + name + ":" + tag
		prints(out, copied+`: copying 2\.0 MB`, copied+`: copied after .+  \[[12] of 2\]`) // a megabyte for each platform
	}
	out = succeeds("2 were there already", "-mirror="+to+"/site")
	prints(out, to+"/site/memcached:"+tag+`: skipped: already there  \[[12] of 2\]`)
	if strings.Contains(out, "copying") {
		t.Errorf("images that are there are copied:\n%s", out)
	}
	cloud(to + "/site")
	succeeds("Wrote the digests of 2 images", "-lock")
	locked(to+"/site", digests)

	cloud(from + "/kolla")
	succeeds("Wrote the digests of 2 images", "-lock")
	locked(from+"/kolla", map[string]string{"memcached": moved, "rabbitmq": digests["rabbitmq"]})

	// The copies are complete: an image with all its layers goes on from there.
	last := startRegistry(t, "")
	cloud(to + "/site")
	succeeds("Wrote the digests", "-lock")
	succeeds("Copied 2 images", "-mirror="+last)
	copied, err := repository(t, last+"/memcached").Resolve(t.Context(), tag)
	if err != nil || copied.Digest.String() != digests["memcached"] {
		t.Errorf("the last registry has %s, %v", copied.Digest, err)
	}

	// One image is missing, and nothing is written.
	before, err := os.ReadFile("kolla.images.json")
	if err != nil {
		t.Fatal(err)
	}
	cloud(from + "/nothing")
	if out, err := images("-lock"); err == nil || !strings.Contains(out, "the registry does not have "+from+"/nothing/memcached:"+tag) {
		t.Errorf("got %v\n%s", err, out)
	}
	if after, err := os.ReadFile("kolla.images.json"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed: %s, %v", after, err)
	}
	logIn("wrong")
	cloud(to + "/site")
	if out, err := images("-lock"); err == nil || !strings.Contains(out, "401") || strings.Contains(out, "am9lOndyb25n") {
		t.Errorf("got %v\n%s", err, out)
	}
}
