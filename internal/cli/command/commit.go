package command

import (
	"context"
	"path/filepath"
	"strings"

	"kolla.openstack.org/kolla/internal/base/revision"
	"kolla.openstack.org/kolla/lang/imagelock"
)

// Commit returns the commit of git that is checked out around the configuration, and whether files of
// the configuration differ from it. The files of the state do not count. The commit is empty if
// there is none, or if git cannot say.
func (w *Workspace) Commit(ctx context.Context) (commit string, changed bool) {
	own := filepath.Clean(w.stateFile())
	skip := func(name string) bool {
		return name == own || strings.HasPrefix(name, "kolla.state.") || strings.HasPrefix(name, ".kolla")
	}
	commit, changed, err := revision.Head(ctx, ".", []string{".hcl", ".hcl.json", imagelock.File}, skip)
	if err != nil {
		return "", false
	}
	return commit, changed
}
