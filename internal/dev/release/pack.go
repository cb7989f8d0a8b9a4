package main

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"time"
)

// packed is the modification time of all files in an archive, so that the time of a build does
// not change the result.
var packed = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// file is a file in an archive.
type file struct {
	name    string
	content []byte
	program bool
}

// pack writes files as a tar.gz with one directory. Owners, times and modes are the same
// wherever it runs.
func pack(w io.Writer, dir string, files []file) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		mode := int64(0o644)
		if f.program {
			mode = 0o755
		}
		header := &tar.Header{Name: dir + "/" + f.name, Mode: mode, Size: int64(len(f.content)), ModTime: packed, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}
