package source

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// keyDocker is the key of a Secret of the type kubernetes.io/dockerconfigjson.
const keyDocker = ".dockerconfigjson"

// fromOCI fetches an artefact. If before has the same digest, it is returned after one request.
func fromOCI(ctx context.Context, at v1alpha1.OCI, secret map[string][]byte, before *Tree) (*Tree, error) {
	reference := strings.TrimPrefix(at.URL, "oci://")
	repository, err := remote.NewRepository(reference)
	if err != nil || repository.Reference.Reference != "" {
		return nil, fmt.Errorf("%s is not the URL of a repository: write oci://HOST/PATH, and the tag or digest beside it", at.URL)
	}
	client := &auth.Client{Client: retry.DefaultClient, Header: http.Header{"User-Agent": {"kolla-operator"}}, Cache: auth.NewCache()}
	if len(secret) > 0 {
		store, err := credentials.NewMemoryStoreFromDockerConfig(secret[keyDocker])
		if err != nil {
			return nil, fmt.Errorf("the Secret for %s has no readable %s", at.URL, keyDocker)
		}
		client.Credential = credentials.Credential(store)
	}
	repository.Client, repository.PlainHTTP = client, at.Insecure
	name := cmp.Or(at.Digest, at.Tag, "latest")
	found, err := repository.Resolve(ctx, name)
	if err != nil {
		return nil, ociError(at.URL, name, err)
	}
	revision := found.Digest.String()
	if at.Digest == "" {
		revision = name + "@" + revision
	}
	if before != nil && before.Revision == revision {
		return before, nil
	}
	text, err := content.FetchAll(ctx, repository, found)
	if err != nil {
		return nil, ociError(at.URL, name, err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil || len(manifest.Layers) != 1 || !strings.Contains(manifest.Layers[0].MediaType, "tar") {
		return nil, fmt.Errorf("%s:%s is not an artefact of one tar archive, as `flux push artifact` and `oras push` make it", at.URL, name)
	}
	layer := manifest.Layers[0]
	if layer.Size > maxBytes {
		return nil, fmt.Errorf("the archive in %s:%s has more than %d MiB", at.URL, name, maxBytes>>20)
	}
	archive, err := content.FetchAll(ctx, repository, layer)
	if err != nil {
		return nil, ociError(at.URL, name, err)
	}
	files, err := untar(archive)
	if err != nil {
		return nil, fmt.Errorf("read the archive in %s:%s: %w", at.URL, name, err)
	}
	return files.Tree(revision)
}

func untar(archive []byte) (*Files, error) {
	var r io.Reader = bytes.NewReader(archive)
	if bytes.HasPrefix(archive, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = unzipped
	}
	files := &Files{}
	entries := tar.NewReader(io.LimitReader(r, 2*maxBytes))
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		switch entry.Typeflag {
		case tar.TypeReg:
			err = files.Add(entry.Name, entries)
		case tar.TypeSymlink:
			err = files.Link(entry.Name, entry.Linkname)
		}
		if err != nil {
			return nil, err
		}
	}
}

func ociError(url, name string, err error) error {
	if errors.Is(err, errdef.ErrNotFound) {
		return fmt.Errorf("the registry does not have %s:%s", url, name)
	}
	return fmt.Errorf("fetch %s:%s: %w", url, name, err)
}
