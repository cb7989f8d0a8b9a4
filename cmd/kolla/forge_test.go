package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	forgeToken = "forge-token-nobody-may-see"
	forgeBot   = "kolla-bot[bot]"
)

// comment is a comment of the pull request.
type comment struct {
	id           int
	author, body string
}

// artifact is a file of a run on GitHub.
type artifact struct {
	name    string
	content []byte // a zip archive
	fork    bool
}

// forge is a forge with one pull request. It answers the requests of examples/ci/forge.sh as
// GitHub, GitLab or Gitea do.
type forge struct {
	*httptest.Server
	kind string

	mu        sync.Mutex
	comments  []comment
	packages  map[string][]byte // by path
	artifacts []artifact        // the newest one is the last
}

// newForge starts a forge on loopback. Its pull request has many comments. One of them is by a
// stranger and has a marker.
func newForge(t *testing.T, kind, marker string) *forge {
	t.Helper()
	f := &forge{kind: kind, packages: map[string][]byte{}}
	for i := range 130 {
		f.comments = append(f.comments, comment{i, "somebody", "a comment"})
	}
	f.comments[3] = comment{3, "mallory", marker + "\nNo changes."}
	mux := http.NewServeMux()
	switch kind {
	case "gitlab":
		const notes = "/api/v4/projects/42/merge_requests/7/notes"
		mux.HandleFunc("GET /api/v4/user", f.user)
		mux.HandleFunc("GET "+notes, f.list)
		mux.HandleFunc("POST "+notes, f.create)
		mux.HandleFunc("PUT "+notes+"/{id}", f.edit)
		mux.HandleFunc("/api/v4/projects/42/packages/generic/kolla-plan/", f.file)
	default:
		api := map[string]string{"gitea": "/api/v1", "github": ""}[kind]
		mux.HandleFunc("GET "+api+"/user", f.user)
		mux.HandleFunc("GET "+api+"/repos/our/cloud/issues/7/comments", f.list)
		mux.HandleFunc("POST "+api+"/repos/our/cloud/issues/7/comments", f.create)
		mux.HandleFunc("PATCH "+api+"/repos/our/cloud/issues/comments/{id}", f.edit)
		mux.HandleFunc("GET /repos/our/cloud/actions/artifacts", f.listArtifacts)
		mux.HandleFunc("GET /artifacts/{i}", f.getArtifact)
		mux.HandleFunc("/api/packages/our/generic/kolla-plan/", f.file)
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization") // curl sends it to no other host after a redirect
		want := map[string]string{"github": "Bearer ", "gitlab": "Bearer ", "gitea": "token "}[kind] + forgeToken
		if given != want {
			http.Error(w, "no such token", http.StatusUnauthorized)
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// environment returns the variables that a workflow sets for forge.sh.
func (f *forge) environment() []string {
	env := []string{"FORGE=" + f.kind, "FORGE_PULL=7", "FORGE_TOKEN=" + forgeToken}
	switch f.kind {
	case "github":
		return append(env, "FORGE_API="+f.URL, "FORGE_REPO=our/cloud", "FORGE_BOT="+forgeBot)
	case "gitea":
		return append(env, "FORGE_API="+f.URL+"/api/v1", "FORGE_REPO=our/cloud")
	default:
		return append(env, "FORGE_API="+f.URL+"/api/v4", "FORGE_REPO=42")
	}
}

// user returns the user of the token. It fails on GitHub, because tokens of workflows belong to no
// user there.
func (f *forge) user(w http.ResponseWriter, _ *http.Request) {
	if f.kind == "github" {
		http.Error(w, "not accessible", http.StatusForbidden)
		return
	}
	answer(w, map[string]any{"login": forgeBot, "username": forgeBot})
}

func answer(w http.ResponseWriter, content any) { _ = json.NewEncoder(w).Encode(content) }

// list answers with a page of comments.
func (f *forge) list(w http.ResponseWriter, r *http.Request) {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, size = max(page, 1), max(min(size, 100), 1)
	first, last := min((page-1)*size, len(f.comments)), min(page*size, len(f.comments))
	var out []map[string]any
	for _, c := range f.comments[first:last] {
		body := c.body
		if f.kind == "github" {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		out = append(out, map[string]any{
			"id": c.id, "body": body, "user": map[string]string{"login": c.author}, "author": map[string]string{"username": c.author},
		})
	}
	if last < len(f.comments) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?per_page=%d&page=1>; rel="first", <%[1]s%[2]s?per_page=%[3]d&page=%[4]d>; rel="next"`, f.URL, r.URL.Path, size, page+1))
	}
	answer(w, out)
}

// bodyOf reads the text of a comment.
func bodyOf(w http.ResponseWriter, r *http.Request) (string, bool) {
	var content struct{ Body string }
	if err := json.NewDecoder(r.Body).Decode(&content); err != nil || content.Body == "" || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "no comment", http.StatusUnprocessableEntity)
		return "", false
	}
	return content.Body, true
}

func (f *forge) create(w http.ResponseWriter, r *http.Request) {
	if body, ok := bodyOf(w, r); ok {
		f.comments = append(f.comments, comment{len(f.comments), forgeBot, body})
		w.WriteHeader(http.StatusCreated)
	}
}

// edit changes a comment of any author, because a maintainer's token may do so.
func (f *forge) edit(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id >= len(f.comments) {
		http.NotFound(w, r)
		return
	}
	if body, ok := bodyOf(w, r); ok {
		f.comments[id].body = body
	}
}

// file serves a package registry. Gitea never replaces a file.
func (f *forge) file(w http.ResponseWriter, r *http.Request) {
	content, found := f.packages[r.URL.Path]
	switch {
	case r.Method == http.MethodPut && found && f.kind == "gitea":
		http.Error(w, "exists", http.StatusConflict)
	case r.Method == http.MethodPut:
		f.packages[r.URL.Path], _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
	case !found:
		http.NotFound(w, r)
	case r.Method == http.MethodDelete:
		delete(f.packages, r.URL.Path)
	default:
		_, _ = w.Write(content)
	}
}

func (f *forge) listArtifacts(w http.ResponseWriter, r *http.Request) {
	out := []map[string]any{}
	for i, a := range f.artifacts {
		if a.name != r.URL.Query().Get("name") {
			continue
		}
		head := 1
		if a.fork {
			head = 2
		}
		out = append(out, map[string]any{
			"name": a.name, "expired": false, "created_at": fmt.Sprintf("2026-11-23T21:%02d:00Z", i),
			"archive_download_url": fmt.Sprintf("%s/artifacts/%d", f.URL, i),
			"workflow_run":         map[string]int{"repository_id": 1, "head_repository_id": head},
		})
	}
	answer(w, map[string]any{"total_count": len(out), "artifacts": out})
}

func (f *forge) getArtifact(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i >= len(f.artifacts) {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(f.artifacts[i].content)
}

// upload stores a plan as actions/upload-artifact does.
func (f *forge) upload(t *testing.T, name string, plan []byte, fork bool) {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	file, err := z.Create("kolla.plan")
	if err == nil {
		_, err = file.Write(plan)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.artifacts = append(f.artifacts, artifact{name, archive.Bytes(), fork})
}

// plan returns the only comment of the bot.
func (f *forge) plan(t *testing.T) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.comments[3]; got.author != "mallory" || !strings.HasSuffix(got.body, "\nNo changes.") {
		t.Errorf("the comment of a stranger is now %q", got.body)
	}
	bots := slices.DeleteFunc(slices.Clone(f.comments), func(c comment) bool { return c.author != forgeBot })
	if len(bots) != 1 || len(f.comments) != 131 {
		t.Fatalf("the bot has %d comments, and there are %d: want 1 and 131", len(bots), len(f.comments))
	}
	return bots[0].body
}
