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
	"kolla.openstack.org/kolla/internal/base/redaction"
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
	case errors.Is(err, fs.ErrNotExist):
		summary, remedy = "File not found", "Check its name."
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
