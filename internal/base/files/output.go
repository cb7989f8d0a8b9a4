package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// Output is a file that an option of the command line names, and that kolla writes. Its errors
// tell the operator how to go on.
type Output struct {
	Path    string // empty: no file
	Option  string // such as "-report"
	Content string // a noun for the content: "report of a plan"
	// Ours reports whether an existing file has such content, and may be replaced.
	Ours func(path string) (bool, error)
}

// Begins returns an Output.Ours for content that begins with a text. Empty files also count.
func Begins(text string) func(path string) (bool, error) {
	return func(path string) (bool, error) { return begins(path, text) }
}

// Check returns an error if the file must not be written. An existing file has to be a
// regular file of kolla, or a link to one.
func (o Output) Check() error {
	if o.Path == "" {
		return nil
	}
	err := checkTarget(o.Path)
	ours := true
	if err == nil {
		ours, err = o.Ours(o.Path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return o.unwritten(err)
	case !ours:
		return failure.New("There is another file of that name", fmt.Sprintf("%s holds no %s, and %s would overwrite it. Move it away, or choose another name.", o.Path, o.Content, o.Option))
	}
	return nil
}

// Write gives the file new content in one step.
func (o Output) Write(content []byte, options ...renameio.Option) error {
	if err := renameio.WriteFile(o.Path, content, 0o644, options...); err != nil {
		return o.unwritten(err)
	}
	return nil
}

// WriteSecret is Write for a file that only the user may read, whatever mode an existing file has.
func (o Output) WriteSecret(content []byte) error {
	file, err := renameio.NewPendingFile(o.Path, renameio.WithStaticPermissions(0o600))
	if err != nil {
		return o.unwritten(err)
	}
	defer func() { _ = file.Cleanup() }() // does nothing after the file was replaced
	if _, err := file.Write(content); err != nil {
		return o.unwritten(err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return o.unwritten(err)
	}
	return nil
}

// Create checks the file, and creates or empties it, for content that is written bit by bit.
func (o Output) Create() (*os.File, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	f, err := create(o.Path)
	if err != nil {
		return nil, o.unwritten(err)
	}
	return f, nil
}

func (o Output) unwritten(err error) error {
	return failure.New("Cannot write the file of "+o.Option, failure.Sentence(err.Error())+".")
}
