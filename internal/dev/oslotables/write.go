package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"

	"kolla.openstack.org/kolla/providers/openstack/options"
)

// write puts the tables into a zip file. The same tables result in the same file.
func write(name string, index options.Index, distributions map[string]*options.Distribution) error {
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	if err := add(archive, "index", index); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(distributions)) {
		if err := add(archive, name, distributions[name]); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, buffer.Bytes(), 0o644)
}

func add(archive *zip.Writer, name string, value any) error {
	w, err := archive.Create(name + ".json")
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
