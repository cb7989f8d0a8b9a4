package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user and group in the container image. Kubernetes accepts only a number
// as proof that it is not root.
const imageUser = 65532

const (
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor refers to a blob:
// https://github.com/opencontainers/image-spec/blob/main/descriptor.md.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// ociManifest is a manifest, or an index if it has Manifests.
type ociManifest struct {
	Schema    int          `json:"schemaVersion"`
	MediaType string       `json:"mediaType"`
	Config    *descriptor  `json:"config,omitempty"`
	Layers    []descriptor `json:"layers,omitempty"`
	Manifests []descriptor `json:"manifests,omitempty"`
}

// layout collects the blobs of an OCI image layout.
type layout map[string][]byte // by path in the archive

// add adds a blob.
func (l layout) add(mediaType string, content []byte) descriptor {
	digest := fmt.Sprintf("%x", sha256.Sum256(content))
	l["blobs/sha256/"+digest] = content
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}
}

// encode adds a blob in JSON.
func (l layout) encode(mediaType string, content any) (descriptor, error) {
	text, err := json.Marshal(content)
	return l.add(mediaType, text), err
}

// image writes the container image of kolla as a tar archive of an OCI image layout, with one
// variant for each processor. An image has kolla, the licence, the certificates of public CAs
// (for notifications and a Pushgateway), and nothing else: no shell, no libraries. The same
// programs result in the same bytes.
func image(w io.Writer, version string, licence []byte, programs map[string][]byte) error {
	blobs := layout{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	var variants []descriptor
	for _, processor := range slices.Sorted(maps.Keys(programs)) {
		variant, err := blobs.variant(processor, version, licence, programs[processor])
		if err != nil {
			return err
		}
		variants = append(variants, variant)
	}
	all, err := blobs.encode(mediaIndex, ociManifest{Schema: 2, MediaType: mediaIndex, Manifests: variants})
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": version,
		"io.containerd.image.name":          "kolla.openstack.org/kolla:" + version,
	}
	index, err := json.Marshal(ociManifest{Schema: 2, MediaType: mediaIndex, Manifests: []descriptor{all}})
	if err != nil {
		return err
	}
	blobs["index.json"] = index
	archive := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(blobs)) {
		if err := entry(archive, tar.Header{Name: name, Mode: 0o644}, blobs[name]); err != nil {
			return err
		}
	}
	return archive.Close()
}

// variant adds the image for a processor.
func (l layout) variant(processor, version string, licence, program []byte) (descriptor, error) {
	files, err := rootFiles(licence, program)
	if err != nil {
		return descriptor{}, err
	}
	var compressed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return descriptor{}, err
	}
	if _, err := writer.Write(files); err != nil {
		return descriptor{}, err
	}
	if err := writer.Close(); err != nil {
		return descriptor{}, err
	}
	system := platform{processor, "linux"}
	config, err := l.encode(mediaConfig, map[string]any{
		"created": packed.Format(time.RFC3339), "architecture": system.Architecture, "os": system.OS,
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", imageUser, imageUser), "WorkingDir": "/work", "Entrypoint": []string{"/usr/local/bin/kolla"},
			"Env": []string{"PATH=/usr/local/bin", "HOME=/tmp"},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "kolla", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(files))}},
		"history": []map[string]any{{"created": packed.Format(time.RFC3339), "created_by": "make image"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	manifest, err := l.encode(mediaManifest, ociManifest{
		Schema: 2, MediaType: mediaManifest, Config: &config, Layers: []descriptor{l.add(mediaLayer, compressed.Bytes())},
	})
	manifest.Platform = &system
	return manifest, err
}

// rootFiles returns the file system of the image as a tar archive.
func rootFiles(licence, program []byte) ([]byte, error) {
	user := fmt.Sprintf("kolla:x:%d:%d::/tmp:/sbin/nologin\n", imageUser, imageUser)
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, f := range []struct {
		header  tar.Header
		content []byte
	}{
		{tar.Header{Name: "LICENSE", Mode: 0o644}, licence},
		{tar.Header{Name: "etc/", Mode: 0o755}, nil},
		{tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte(user)},
		{tar.Header{Name: "etc/ssl/", Mode: 0o755}, nil},
		{tar.Header{Name: "etc/ssl/certs/", Mode: 0o755}, nil},
		{tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, authorities()},
		{tar.Header{Name: "tmp/", Mode: 0o1777}, nil},
		{tar.Header{Name: "usr/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/bin/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/bin/kolla", Mode: 0o755}, program},
		{tar.Header{Name: "work/", Mode: 0o755, Uid: imageUser, Gid: imageUser}, nil},
	} {
		if err := entry(archive, f.header, f.content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), archive.Close()
}

// entry writes a file, or a directory if its name ends with a slash.
func entry(archive *tar.Writer, header tar.Header, content []byte) error {
	header.Size, header.ModTime, header.Format = int64(len(content)), packed, tar.FormatUSTAR
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

// authorities returns the certificates of public CAs. A CA that is trusted only under conditions
// is left out, because a file cannot express these.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}
