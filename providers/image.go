package providers

import "strings"

// ImageReference is the reference of a container image, taken apart.
type ImageReference struct {
	Repository string // "quay.io:443/openstack.kolla/keystone"
	Tag        string // "2025.1-rocky-9"; may be empty
	Digest     string // "sha256:4f1c..."; may be empty
}

// SplitImage takes the reference of an image apart. It accepts any text.
func SplitImage(reference string) ImageReference {
	name, digest, _ := strings.Cut(reference, "@")
	r := ImageReference{Repository: name, Digest: digest}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') { // else it is a port
		r.Repository, r.Tag = name[:i], name[i+1:]
	}
	return r
}

// Name returns the last part of the repository: "keystone".
func (r ImageReference) Name() string {
	return r.Repository[strings.LastIndexByte(r.Repository, '/')+1:]
}

// Tagged returns the reference without the digest.
func (r ImageReference) Tagged() string {
	if r.Tag == "" {
		return r.Repository
	}
	return r.Repository + ":" + r.Tag
}

// Pinned returns the reference without the tag, as container runtimes list an image with a digest.
func (r ImageReference) Pinned() string {
	return r.Repository + "@" + r.Digest
}
