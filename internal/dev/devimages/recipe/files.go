package recipe

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// files has a directory for each layer: root holds what is copied to /, setup.sh runs
// then.
//
//go:embed all:files
var files embed.FS

// File is a file in a layer.
type File struct {
	// Path is relative to the root directory, with slashes.
	Path string
	// Mode is 0755 in directories of programs and 0644 in others. The owner is root.
	Mode    fs.FileMode
	Content []byte
}

// Files returns the files of the layer, sorted by path.
func (l Layer) Files() []File {
	var all []File
	root := path.Join("files", l.Name, "root")
	err := fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
		if name == root && err != nil {
			return fs.SkipAll // a layer need not have files
		}
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path.Dir(name), "bin") {
			mode = 0o755
		}
		all = append(all, File{Path: strings.TrimPrefix(name, root+"/"), Mode: mode, Content: content})
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("files of layer %s: %v", l.Name, err))
	}
	return all
}

// Setup returns a script that runs with "sh -eu" in the new root directory, after packages and
// files are installed. It may be empty.
func (l Layer) Setup() string {
	script, err := files.ReadFile(path.Join("files", l.Name, "setup.sh"))
	if err != nil {
		return ""
	}
	return string(script)
}

// Key returns a hash of the layer's recipe. Layers with the same key count as equal. parent is the
// key of the layer below, and maker identifies the program that builds the layer, with its
// settings and the packages.
func (l Layer) Key(parent, maker string) string {
	inputs := struct {
		Layer  Layer
		Files  []File
		Setup  string
		Parent string
		Maker  string
	}{l, l.Files(), l.Setup(), parent, maker}
	encoded, err := json.Marshal(inputs)
	if err != nil {
		panic(err) // plain data
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
