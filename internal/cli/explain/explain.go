// Package explain puts errors into words for an operator: the problem, and the next step.
package explain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// Error explains an error that ends a command, without the given secret values. version is the
// version of kolla.
func Error(err error, version string, secrets *redaction.Values) (summary, detail string) {
	summary, detail = explain(err, version, secrets)
	return secrets.Mixed(summary), secrets.Mixed(detail)
}

func explain(err error, version string, secrets *redaction.Values) (summary, detail string) {
	var bug *crash.Error
	if errors.As(err, &bug) {
		return crashed(bug, version, secrets)
	}
	if summary, detail, ok := failure.Explain(err); ok {
		return summary, detail
	}
	if summary, detail, ok := untrusted(err); ok {
		return summary, detail
	}
	if summary, remedy, ok := planFailure(err); ok {
		return summary, failure.Sentence(err.Error()) + "." + remedy
	}
	if summary, detail, ok := filesFailure(err); ok {
		return summary, detail
	}
	if errors.Is(err, context.Canceled) {
		return "Interrupted", "Nothing more was changed."
	}
	return "Unexpected failure", failure.Sentence(err.Error()) + "."
}

// filesFailure explains a failure of the operating system to read or write a file.
func filesFailure(err error) (summary, detail string, ok bool) {
	var path *fs.PathError
	var link *os.LinkError
	if !errors.As(err, &path) && !errors.As(err, &link) {
		return "", "", false
	}
	var remedy string
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		summary, remedy = "No space left", "Free some space on the file system, and run the command again."
	case errors.Is(err, syscall.EROFS):
		summary, remedy = "The file system is read-only", "kolla writes its state and its lock into the directory of the configuration. Run it where that directory is writable, or use other files: -state for the state, -out for a plan."
	case errors.Is(err, fs.ErrPermission):
		summary, remedy = "No permission", "Run kolla as the owner of the file, or change its permissions."
	default:
		return "", "", false
	}
	return summary, fmt.Sprintf("%s. %s", failure.Sentence(err.Error()), remedy), true
}

// untrusted explains why kolla does not trust a plan file, and what to do next.
func untrusted(err error) (summary, detail string, ok bool) {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return "", "", false
	}
	name := words.Quote(at.Path)
	switch {
	case errors.Is(err, files.ErrWritable):
		return "Others can change the plan file", fmt.Sprintf("%s: %s. Somebody may have changed the plan. If a download set these permissions, review it with kolla show %s, then run chmod go-w %s and apply it. Or make a new plan.", at.Path, at.Err, name, name), true
	case errors.Is(err, files.ErrNotOwned):
		return "The plan file belongs to another user", fmt.Sprintf("%s: %s, who can change it at any time. Review it with kolla show, copy it to a file that you own, and apply the copy. Or make a new plan.", at.Path, at.Err), true
	case errors.Is(err, files.ErrNotRegular), errors.Is(err, files.ErrTooLarge):
		return "Not a plan file", failure.Sentence(err.Error()) + ".", true
	}
	return "", "", false
}

// planFailure returns the headline of an error of a plan file, and what to do besides.
func planFailure(err error) (summary, remedy string, ok bool) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "File not found", " To write a plan file, run kolla plan -out=FILE.", true
	case errors.Is(err, plans.ErrNotAPlan):
		return "Not a plan file", "", true
	case errors.Is(err, plans.ErrDamaged):
		return "The plan file is damaged", "", true
	case errors.Is(err, plans.ErrNewer):
		return "The plan is newer than this kolla", "", true
	}
	return "", "", false
}
