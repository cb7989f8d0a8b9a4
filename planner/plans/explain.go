package plans

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
)

// explained adds the next step to the error of a plan file that cannot be read or trusted.
func explained(err error) error {
	text := strings.TrimSuffix(failure.Sentence(err.Error()), ".") + "."
	var at *fs.PathError
	name := ""
	if errors.As(err, &at) {
		name = words.Quote(at.Path)
	}
	switch {
	case errors.Is(err, files.ErrWritable):
		return failure.With(err, "Others can change the plan file", fmt.Sprintf("%s: %s. Somebody may have changed the plan. If a download set these permissions, review it with kolla show %s, then run chmod go-w %s and apply it. Or make a new plan.", at.Path, at.Err, name, name))
	case errors.Is(err, files.ErrNotOwned):
		return failure.With(err, "The plan file belongs to another user", fmt.Sprintf("%s: %s, who can change it at any time. Review it with kolla show, copy it to a file that you own, and apply the copy. Or make a new plan.", at.Path, at.Err))
	case errors.Is(err, fs.ErrNotExist):
		return failure.With(err, "File not found", text+" To write a plan file, run kolla plan -out=FILE.")
	case errors.Is(err, files.ErrNotRegular), errors.Is(err, files.ErrTooLarge):
		return failure.With(err, "Not a plan file", text)
	case errors.Is(err, ErrNewer):
		return failure.With(err, "The plan is newer than this kolla", text)
	case errors.Is(err, ErrDamaged):
		return failure.With(err, "The plan file is damaged", text+" It is not what kolla wrote. Make a new plan.")
	case errors.Is(err, ErrNotAPlan):
		return failure.With(err, "Not a plan file", text+" If it was one, make a new plan.")
	}
	return err
}
