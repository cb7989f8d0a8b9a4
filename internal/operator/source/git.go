package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/storage/memory"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// Keys of a Secret with credentials for Git, as Flux names them.
const (
	keyUsername   = "username"
	keyPassword   = "password"
	keyToken      = "bearerToken"
	keyIdentity   = "identity"
	keyKnownHosts = "known_hosts"
	keyAuthority  = "caFile"
)

// fromGit fetches one commit. If before is of the same commit, it is returned after one request.
func fromGit(ctx context.Context, at v1alpha1.Git, secret map[string][]byte, before *Tree) (*Tree, error) {
	if scheme, _, _ := strings.Cut(at.URL, "://"); !slices.Contains([]string{"http", "https", "ssh"}, scheme) {
		return nil, fmt.Errorf("%s is not a URL of https, http or ssh", at.URL) // a file would start git
	}
	login, err := loginOf(at.URL, secret)
	if err != nil {
		return nil, err
	}
	storage := memory.NewStorage()
	repository, err := git.Init(storage, nil)
	if err != nil {
		return nil, fmt.Errorf("make a Git repository in memory: %w", err)
	}
	remote := git.NewRemote(storage, &config.RemoteConfig{Name: "origin", URLs: []string{at.URL}})
	authority := secret[keyAuthority]
	commit, name := plumbing.NewHash(at.Commit), "commit"
	spec := config.RefSpec(at.Commit + ":refs/kolla/source")
	if at.Commit == "" {
		refs, err := remote.ListContext(ctx, &git.ListOptions{Auth: login, CABundle: authority, PeelingOption: git.AppendPeeled})
		if err != nil {
			return nil, gitError(at.URL, err)
		}
		found, err := choose(at, refs)
		if err != nil {
			return nil, err
		}
		commit, name = found.commit, found.Name().Short()
		spec = config.RefSpec(found.Name().String() + ":refs/kolla/source")
	}
	revision := fmt.Sprintf("%s@sha1:%s", name, commit)
	if before != nil && before.Revision == revision {
		return before, nil
	}
	err = remote.FetchContext(ctx, &git.FetchOptions{Auth: login, CABundle: authority, RefSpecs: []config.RefSpec{spec}, Depth: 1, Tags: git.NoTags})
	if errors.Is(err, git.ErrExactSHA1NotSupported) || err != nil && at.Commit != "" && ctx.Err() == nil {
		// A server that does not hand out a commit by its hash: get all branches.
		all := []config.RefSpec{"+refs/heads/*:refs/kolla/heads/*", "+refs/tags/*:refs/kolla/tags/*"}
		err = remote.FetchContext(ctx, &git.FetchOptions{Auth: login, CABundle: authority, RefSpecs: all, Tags: git.NoTags})
	}
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return nil, gitError(at.URL, err)
	}
	found, err := repository.CommitObject(commit)
	if err != nil {
		return nil, fmt.Errorf("the repository %s does not have the commit %s in a branch or tag", at.URL, commit)
	}
	tree, err := found.Tree()
	if err != nil {
		return nil, fmt.Errorf("read the commit %s: %w", commit, err)
	}
	var files Files
	err = tree.Files().ForEach(func(file *object.File) error { return addFile(&files, file) })
	if err != nil {
		return nil, err
	}
	return files.Tree(revision)
}

func addFile(files *Files, file *object.File) error {
	content, err := file.Reader()
	if err != nil {
		return fmt.Errorf("read %s of the source: %w", file.Name, err)
	}
	defer func() { _ = content.Close() }() // all that counts was read
	if file.Mode != filemode.Symlink {
		return files.Add(file.Name, content)
	}
	target, err := io.ReadAll(io.LimitReader(content, 4096))
	if err != nil {
		return fmt.Errorf("read %s of the source: %w", file.Name, err)
	}
	return files.Link(file.Name, string(target))
}

// chosen is a reference of a repository, with the commit that it leads to.
type chosen struct {
	*plumbing.Reference
	commit plumbing.Hash
}

// choose finds the branch or tag of a source among all references.
func choose(at v1alpha1.Git, refs []*plumbing.Reference) (chosen, error) {
	name, what := plumbing.NewTagReferenceName(at.Tag), "tag "+at.Tag
	switch {
	case at.Branch != "":
		name, what = plumbing.NewBranchReferenceName(at.Branch), "branch "+at.Branch
	case at.Tag == "":
		name, what = plumbing.HEAD, "default branch"
	}
	var found *plumbing.Reference
	peeled := plumbing.ZeroHash
	for _, ref := range refs {
		switch ref.Name() {
		case name:
			found = ref
		case name + "^{}":
			peeled = ref.Hash()
		}
	}
	if found != nil && found.Type() == plumbing.SymbolicReference {
		return choose(v1alpha1.Git{URL: at.URL, Branch: found.Target().Short()}, refs)
	}
	if found == nil {
		return chosen{}, fmt.Errorf("the repository %s has no %s", at.URL, what)
	}
	if peeled.IsZero() {
		peeled = found.Hash()
	}
	return chosen{found, peeled}, nil
}

// loginOf returns the credentials for a URL; nil: none.
func loginOf(url string, secret map[string][]byte) (transport.AuthMethod, error) {
	if strings.HasPrefix(url, "ssh://") {
		return sshLogin(url, secret)
	}
	switch {
	case len(secret[keyToken]) > 0:
		return &githttp.TokenAuth{Token: string(secret[keyToken])}, nil
	case len(secret[keyPassword]) > 0:
		return &githttp.BasicAuth{Username: string(secret[keyUsername]), Password: string(secret[keyPassword])}, nil
	case len(secret) > 0 && len(secret[keyAuthority]) == 0:
		return nil, fmt.Errorf("the Secret for %s has neither %s and %s nor %s", url, keyUsername, keyPassword, keyToken)
	}
	return nil, nil
}

func sshLogin(url string, secret map[string][]byte) (transport.AuthMethod, error) {
	if len(secret[keyIdentity]) == 0 || len(secret[keyKnownHosts]) == 0 {
		return nil, fmt.Errorf("%s needs a secretRef with %s, a private key, and %s, the keys of the server", url, keyIdentity, keyKnownHosts)
	}
	user := "git"
	if name, _, ok := strings.Cut(strings.TrimPrefix(url, "ssh://"), "@"); ok {
		user = name
	}
	login, err := gitssh.NewPublicKeys(user, secret[keyIdentity], string(secret[keyPassword]))
	if err != nil {
		return nil, fmt.Errorf("the key %s of the Secret for %s cannot be read", keyIdentity, url)
	}
	if login.HostKeyCallback, err = hostKeys(secret[keyKnownHosts]); err != nil {
		return nil, fmt.Errorf("the %s of the Secret for %s cannot be read", keyKnownHosts, url)
	}
	return login, nil
}

// hostKeys reads lines of known_hosts. The library reads files only.
func hostKeys(lines []byte) (ssh.HostKeyCallback, error) {
	file, err := os.CreateTemp("", "known_hosts")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(lines)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return knownhosts.New(file.Name())
}

func gitError(url string, err error) error {
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("the repository %s refuses the credentials: check the Secret of secretRef", url)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("there is no repository %s, or it is not shown without credentials", url)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fmt.Errorf("the repository %s is empty", url)
	}
	return fmt.Errorf("fetch %s: %w", url, err)
}
