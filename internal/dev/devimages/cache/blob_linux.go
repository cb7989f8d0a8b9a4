package cache

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"
)

// Blob is the compressed archive of a layer in a file.
type Blob struct {
	Path   string  `json:"-"`
	Digest v1.Hash `json:"digest"` // of the file
	Size   int64   `json:"size"`   // of the file, in bytes
	DiffID v1.Hash `json:"diffID"` // of the archive before compression
	Length int64   `json:"length"` // of the archive before compression, in bytes
}

// writeBlob writes the output of write to a file, compressed.
func writeBlob(name string, write func(io.Writer) error) (Blob, error) {
	file, err := os.Create(name)
	if err != nil {
		return Blob{}, err
	}
	defer file.Close()
	compressed := counter{to: file, hash: sha256.New()}
	// This is the fastest level, because the images are unpacked on the machine that makes them.
	encoder, err := zstd.NewWriter(&compressed, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return Blob{}, err
	}
	plain := counter{to: encoder, hash: sha256.New()}
	if err := write(&plain); err != nil {
		return Blob{}, err
	}
	if err := encoder.Close(); err != nil {
		return Blob{}, err
	}
	return Blob{
		Path:   name,
		Digest: compressed.digest(),
		Size:   compressed.length,
		DiffID: plain.digest(),
		Length: plain.length,
	}, file.Close()
}

// counter computes the hash and the length of the data that is written through it.
type counter struct {
	to     io.Writer
	hash   hash.Hash
	length int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.hash.Write(p[:n])
	c.length += int64(n)
	return n, err
}

func (c *counter) digest() v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", c.hash.Sum(nil))}
}
