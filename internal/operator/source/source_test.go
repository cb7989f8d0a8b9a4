package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/operator/source"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// objects has the ConfigMaps and Secrets of a namespace.
type objects map[string]map[string][]byte

func (o objects) ConfigMap(_ context.Context, name string) (map[string][]byte, error) {
	return o.get("configmap/" + name)
}

func (o objects) Secret(_ context.Context, name string) (map[string][]byte, error) {
	return o.get("secret/" + name)
}

func (o objects) get(name string) (map[string][]byte, error) {
	if found, ok := o[name]; ok {
		return found, nil
	}
	return nil, errors.New("there is no " + name)
}

func read(t *testing.T, tree *source.Tree, name string) string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConfigMaps(t *testing.T) {
	all := objects{
		"configmap/a": {"cloud.hcl": []byte("cloud"), "motd": []byte("hi")},
		"configmap/b": {"nova.hcl": []byte("nova")},
		"configmap/c": {"motd": []byte("other")},
	}
	refs := func(names ...string) (at v1alpha1.Source) {
		for _, name := range names {
			at.ConfigMaps = append(at.ConfigMaps, v1alpha1.Reference{Name: name})
		}
		return at
	}
	tree, err := source.Fetch(t.Context(), refs("a", "b"), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if read(t, tree, "nova.hcl") != "nova" || !strings.HasPrefix(tree.Revision, "configmaps@sha256:") {
		t.Errorf("revision %s", tree.Revision)
	}
	again, err := source.Fetch(t.Context(), refs("b", "a"), all, nil)
	if err != nil || again.Revision != tree.Revision {
		t.Errorf("the same files have the revisions %s and %s: %v", tree.Revision, again.Revision, err)
	}
	kept, err := source.Open(tree.Archive(), tree.Revision)
	if err != nil || read(t, kept, "motd") != "hi" || kept.Sum() != tree.Sum() {
		t.Errorf("a kept source: %v", err)
	}
	for want, at := range map[string]v1alpha1.Source{
		"both have the file motd": refs("a", "c"),
		"there is no configmap/d": refs("d"),
		"names no source":         {},
	} {
		if _, err := source.Fetch(t.Context(), at, all, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %v, want %q", err, want)
		}
	}
}

// TestNamesStayInside checks that no name of a file leads out of a source.
func TestNamesStayInside(t *testing.T) {
	for _, name := range []string{"../x", "/etc/passwd", "a/../../x", ".", "", "a/.."} {
		var files source.Files
		if err := files.Add(name, strings.NewReader("x")); err == nil {
			t.Errorf("a file %q is taken", name)
		}
	}
	var files source.Files
	if err := files.Add("./a/b.hcl", strings.NewReader("b")); err != nil {
		t.Fatal(err)
	}
	tree, err := files.Tree("r")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/etc/hostname", "../../etc/hostname", "a/../../x"} {
		if _, err := fs.ReadFile(tree, name); err == nil {
			t.Errorf("%q is read", name)
		}
	}
	if !tree.Has("a") || tree.Has("b") || tree.Has("a/b.hcl") || !tree.Has(".") {
		t.Error("the directories are wrong")
	}
}

// TestTreeLinks follows links inside of a source, and refuses a part of a configuration that would vanish.
func TestTreeLinks(t *testing.T) {
	with := func(links map[string]string) (*source.Tree, error) {
		var files source.Files
		if err := files.Add("modules/net/main.hcl", strings.NewReader("net")); err != nil {
			t.Fatal(err)
		}
		for name, target := range links {
			if err := files.Link(name, target); err != nil {
				t.Fatal(err)
			}
		}
		return files.Tree("r")
	}
	tree, err := with(map[string]string{"prod/net.hcl": "../modules/net/main.hcl", "prod/modules": "../modules", "doc": "/etc", "loop": "."})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"prod/net.hcl", "prod/modules/net/main.hcl"} {
		if read(t, tree, name) != "net" {
			t.Errorf("%s is another file", name)
		}
	}
	if _, err := fs.Stat(tree, "doc"); err == nil {
		t.Error("a link out of the source is followed")
	}
	for _, target := range []string{"/etc/passwd", "../../x.hcl", "missing.hcl"} {
		if _, err := with(map[string]string{"prod/x.hcl": target}); err == nil || !strings.Contains(err.Error(), "is not a file of the source") {
			t.Errorf("a link to %s: %v", target, err)
		}
	}
}

// TestSourceBounds refuses a source that links make too large.
func TestSourceBounds(t *testing.T) {
	var files source.Files
	if err := files.Add("big", strings.NewReader(strings.Repeat("x", 1<<20))); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := files.Link(fmt.Sprintf("link-%d", i), "big"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := files.Tree("r"); err == nil || !strings.Contains(err.Error(), "of its own") {
		t.Errorf("40 links to a file of 1 MiB: %v", err)
	}
	if err := files.Add("larger", strings.NewReader(strings.Repeat("x", 40<<20))); err == nil {
		t.Error("a file of 40 MiB is taken")
	}
}

// repository is a Git repository that a server hands out to a user with a password.
type repository struct {
	*testing.T
	dir, url string
	requests int
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{T: t, dir: filepath.Join(t.TempDir(), "cloud.git")}
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", r.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.requests++
		if user, password, _ := q.BasicAuth(); user != "kolla" || password != "swordfish" {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/cloud.git"
	return r
}

// commit commits a file to a branch, and returns the commit.
func (r *repository) commit(branch, name, text string) string {
	r.Helper()
	work := r.TempDir()
	git := func(args ...string) string {
		r.Helper()
		cmd := exec.Command("git", append([]string{"-C", work, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			r.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", branch)
	git("remote", "add", "origin", r.dir)
	if exec.Command("git", "-C", r.dir, "rev-parse", "-q", "--verify", branch).Run() == nil {
		git("pull", "-q", "origin", branch)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(work, "link.hcl")); err != nil {
		if err := os.Symlink(filepath.Base(name), filepath.Join(work, "link.hcl")); err != nil {
			r.Fatal(err)
		}
	}
	git("add", "-A")
	git("commit", "-q", "-m", "c")
	git("tag", "-f", "-a", "-m", "tag", "v-"+branch)
	git("push", "-q", "-f", "--tags", "origin", branch)
	return git("rev-parse", "HEAD")
}

func TestGit(t *testing.T) {
	r := newRepository(t)
	secrets := objects{"secret/login": {"username": []byte("kolla"), "password": []byte("swordfish")}, "secret/wrong": {"username": []byte("kolla"), "password": []byte("sailfish")}, "secret/other": {"token": []byte("x")}}
	login := &v1alpha1.Reference{Name: "login"}
	first := r.commit("main", "cloud.hcl", "first")
	other := r.commit("staging", "cloud.hcl", "staging")
	fetch := func(at v1alpha1.Git, before *source.Tree) (*source.Tree, error) {
		at.URL, at.SecretRef = r.url, login
		return source.Fetch(t.Context(), v1alpha1.Source{Git: &at}, secrets, before)
	}
	for revision, at := range map[string]v1alpha1.Git{
		"main@sha1:" + first: {}, "main@sha1:" + first + " ": {Branch: "main"}, "v-main@sha1:" + first: {Tag: "v-main"},
		"staging@sha1:" + other: {Branch: "staging"}, "commit@sha1:" + first: {Commit: first},
	} {
		tree, err := fetch(at, nil)
		if err != nil {
			t.Fatalf("%+v: %v", at, err)
		}
		if tree.Revision != strings.TrimSpace(revision) {
			t.Errorf("%+v has the revision %s, want %s", at, tree.Revision, revision)
		}
		if want := map[bool]string{true: "staging", false: "first"}[at.Branch == "staging"]; read(t, tree, "cloud.hcl") != want || read(t, tree, "link.hcl") != want {
			t.Errorf("%+v has %q", at, read(t, tree, "cloud.hcl"))
		}
	}

	// A fetch of an unchanged branch sends at most two requests. A changed branch is fetched again.
	tree, err := fetch(v1alpha1.Git{Branch: "main"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := r.requests
	if again, err := fetch(v1alpha1.Git{Branch: "main"}, tree); err != nil || again != tree || r.requests-before > 2 {
		t.Errorf("an unchanged branch is fetched again, with %d requests: %v", r.requests-before, err)
	}
	second := r.commit("main", "cloud.hcl", "second")
	// An older commit is still to be had.
	if old, err := fetch(v1alpha1.Git{Commit: first}, nil); err != nil || read(t, old, "cloud.hcl") != "first" {
		t.Errorf("an older commit: %v", err)
	}
	tree, err = fetch(v1alpha1.Git{Branch: "main"}, tree)
	if err != nil || tree.Revision != "main@sha1:"+second || read(t, tree, "cloud.hcl") != "second" {
		t.Errorf("after another commit there is %v, %v", tree, err)
	}

	for want, at := range map[string]v1alpha1.Git{
		"has no branch none":             {Branch: "none"},
		"has no tag none":                {Tag: "none"},
		"does not have the commit 01234": {Commit: "0123456789012345678901234567890123456789"},
	} {
		if _, err := fetch(at, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %v, want %q", err, want)
		}
	}
	for name, want := range map[string]string{"wrong": "refuses the credentials", "other": "has neither username and password nor bearerToken", "missing": "there is no secret/missing"} {
		login = &v1alpha1.Reference{Name: name}
		if _, err := fetch(v1alpha1.Git{}, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sailfish") {
			t.Errorf("with the Secret %s: %v, want %q", name, err, want)
		}
	}
	for _, url := range []string{"file://" + r.dir, r.dir, "ext::sh -c true"} {
		_, err := source.Fetch(t.Context(), v1alpha1.Source{Git: &v1alpha1.Git{URL: url}}, secrets, nil)
		if err == nil || !strings.Contains(err.Error(), "is not a URL of https, http or ssh") {
			t.Errorf("%s: %v", url, err)
		}
	}
	_, err = source.Fetch(t.Context(), v1alpha1.Source{Git: &v1alpha1.Git{URL: "ssh://git@host/x"}}, secrets, nil)
	if err == nil || !strings.Contains(err.Error(), "identity, a private key, and known_hosts") {
		t.Errorf("ssh without keys: %v", err)
	}
}

// registry serves one artefact to a user with a password.
func registry(t *testing.T, layers ...[]byte) (host, digest string) {
	t.Helper()
	blobs, kinds := map[string][]byte{}, map[string]string{}
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	add := func(kind string, content []byte) descriptor {
		sum := sha256.Sum256(content)
		digest := "sha256:" + hex.EncodeToString(sum[:])
		blobs[digest], kinds[digest] = content, kind
		return descriptor{kind, digest, len(content)}
	}
	const manifestKind = "application/vnd.oci.image.manifest.v1+json"
	manifest := map[string]any{"schemaVersion": 2, "mediaType": manifestKind, "config": add("application/vnd.oci.empty.v1+json", []byte("{}"))}
	var all []descriptor
	for _, layer := range layers {
		all = append(all, add("application/vnd.cncf.flux.content.v1.tar+gzip", layer))
	}
	manifest["layers"] = all
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	top := add(manifestKind, text)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "kolla" || password != "swordfish" {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		name := filepath.Base(r.URL.Path)
		if name == "latest" || name == "v1" {
			name = top.Digest
		}
		content, ok := blobs[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", kinds[name])
		w.Header().Set("Docker-Content-Digest", name)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(content)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), top.Digest
}

// archive returns a compressed tar archive.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, text := range files {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestOCI(t *testing.T) {
	host, digest := registry(t, archive(t, map[string]string{"./prod/cloud.hcl": "cloud"}))
	login := base64.StdEncoding.EncodeToString([]byte("kolla:swordfish"))
	secrets := objects{"secret/login": {".dockerconfigjson": fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`, host, login)}, "secret/bad": {".dockerconfigjson": []byte("{")}}
	fetch := func(at v1alpha1.OCI, secret string, before *source.Tree) (*source.Tree, error) {
		at.Insecure = true
		if secret != "" {
			at.SecretRef = &v1alpha1.Reference{Name: secret}
		}
		return source.Fetch(t.Context(), v1alpha1.Source{OCI: &at}, secrets, before)
	}
	url := "oci://" + host + "/clouds/prod"
	for revision, at := range map[string]v1alpha1.OCI{"latest@" + digest: {URL: url}, "v1@" + digest: {URL: url, Tag: "v1"}, digest: {URL: url, Digest: digest}} {
		tree, err := fetch(at, "login", nil)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Revision != revision || read(t, tree, "prod/cloud.hcl") != "cloud" {
			t.Errorf("%+v has the revision %s", at, tree.Revision)
		}
		if again, err := fetch(at, "login", tree); err != nil || again != tree {
			t.Errorf("an artefact with the same digest is fetched again: %v", err)
		}
	}
	for want, at := range map[string]struct {
		v1alpha1.OCI
		secret string
	}{
		"does not have":                    {v1alpha1.OCI{URL: url, Tag: "none"}, "login"},
		"has no readable":                  {v1alpha1.OCI{URL: url}, "bad"},
		"is not the URL of a repository":   {v1alpha1.OCI{URL: url + ":v1"}, "login"},
		"is not the URL of a repository: ": {v1alpha1.OCI{URL: "oci://x"}, "login"},
		"fetch " + url:                     {v1alpha1.OCI{URL: url}, ""},
	} {
		if _, err := fetch(at.OCI, at.secret, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", at, err, want)
		}
	}
	for what, layers := range map[string][][]byte{
		"is not an artefact of one tar archive":    {archive(t, nil), archive(t, map[string]string{"a": "b"})},
		"read the archive":                         {[]byte("no archive")},
		`"../cloud.hcl" of the source is not a pa`: {archive(t, map[string]string{"../cloud.hcl": "x"})},
	} {
		host, _ = registry(t, layers...)
		secrets["secret/login"] = map[string][]byte{".dockerconfigjson": fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`, host, login)}
		if _, err := fetch(v1alpha1.OCI{URL: "oci://" + host + "/c/p"}, "login", nil); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got the error %v, want %q", err, what)
		}
	}
}
