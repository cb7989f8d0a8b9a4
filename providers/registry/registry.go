// Package registry asks registries for images, and copies images between them. It logs in with the
// config.json of docker in $DOCKER_CONFIG or ~/.docker, or else with the auth.json of podman, or with
// a credential helper that is named there. A registry on this machine may have no TLS.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// Client is a client of all registries.
type Client struct{ auth *auth.Client }

// NewClient returns a client. secret gets the text of each password and token that the client uses.
func NewClient(userAgent string, secret func(string)) (*Client, error) {
	store, err := logins()
	if err != nil {
		return nil, fmt.Errorf("read the logins of registries: %w", err)
	}
	c := &auth.Client{
		Client: retry.DefaultClient,
		Header: http.Header{"User-Agent": {userAgent}},
		Cache:  auth.NewCache(),
	}
	find := credentials.Credential(store)
	c.Credential = func(ctx context.Context, host string) (auth.Credential, error) {
		found, err := find(ctx, host)
		for _, text := range []string{found.Password, found.RefreshToken, found.AccessToken} {
			if text != "" {
				secret(text)
			}
		}
		return found, err
	}
	return &Client{c}, nil
}

// logins returns the logins that docker and podman have stored. The places of podman's file are
// those of containers-auth.json(5).
func logins() (credentials.Store, error) {
	docker, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, err
	}
	var others []credentials.Store
	for _, path := range []string{
		os.Getenv("REGISTRY_AUTH_FILE"),
		filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "containers", "auth.json"),
		filepath.Join(os.Getenv("HOME"), ".config", "containers", "auth.json"),
	} {
		if !filepath.IsAbs(path) {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			continue
		}
		podman, err := credentials.NewStore(path, credentials.StoreOptions{})
		if err != nil {
			return nil, err
		}
		others = append(others, podman)
	}
	return credentials.NewStoreWithFallbacks(docker, others...), nil
}

// Digest returns the digest of an image. With several platforms, it is that of the list of all
// platforms.
func (c *Client) Digest(ctx context.Context, reference string) (string, error) {
	repository, err := c.repository(reference)
	if err != nil {
		return "", err
	}
	found, err := repository.Resolve(ctx, repository.Reference.ReferenceOrDefault())
	if err != nil {
		return "", explained(reference, err)
	}
	return found.Digest.String(), nil
}

// Copy copies an image with all its platforms. It reports whether the registry did
// not have the image under that tag or digest yet. If so, it first calls begins with the size of the
// image in bytes. Layers that the registry has are not copied again, so that a copy that was interrupted
// goes on.
func (c *Client) Copy(ctx context.Context, from, to string, begins func(size int64)) (copied bool, err error) {
	source, err := c.repository(from)
	if err != nil {
		return false, err
	}
	target, err := c.repository(to)
	if err != nil {
		return false, err
	}
	wanted, err := source.Resolve(ctx, source.Reference.ReferenceOrDefault())
	if err != nil {
		return false, explained(from, err)
	}
	has, err := target.Resolve(ctx, target.Reference.ReferenceOrDefault())
	switch {
	case err == nil && has.Digest == wanted.Digest:
		return false, nil
	case err != nil && !errors.Is(err, errdef.ErrNotFound):
		return false, explained(to, err)
	}
	size, err := sizeOf(ctx, source, wanted)
	if err != nil {
		return false, explained(from, err)
	}
	begins(size)
	_, err = oras.Copy(ctx, source, wanted.Digest.String(), target, target.Reference.ReferenceOrDefault(), oras.DefaultCopyOptions)
	if err != nil {
		return false, fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return true, nil
}

// sizeOf returns the size of an image with all its platforms, in bytes.
func sizeOf(ctx context.Context, source *remote.Repository, part ocispec.Descriptor) (int64, error) {
	size := part.Size
	parts, err := content.Successors(ctx, source, part)
	if err != nil {
		return 0, err
	}
	for _, part := range parts {
		more, err := sizeOf(ctx, source, part)
		if err != nil {
			return 0, err
		}
		size += more
	}
	return size, nil
}

func explained(reference string, err error) error {
	if errors.Is(err, errdef.ErrNotFound) {
		return fmt.Errorf("the registry does not have %s: %w", reference, errdef.ErrNotFound)
	}
	return fmt.Errorf("ask the registry for %s: %w", reference, err)
}

func (c *Client) repository(reference string) (*remote.Repository, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return nil, fmt.Errorf("read the image reference %s: %w", reference, err)
	}
	repository.Client, repository.PlainHTTP = c.auth, isLocal(repository.Reference.Host())
	return repository, nil
}

// isLocal reports whether a registry is on this machine.
func isLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
