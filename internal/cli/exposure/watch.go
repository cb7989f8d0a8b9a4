package exposure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
)

// watchInterval is the time between two looks at the nodes.
const watchInterval = 10 * time.Second

// keeper keeps the file of HAProxy up to date.
type keeper struct {
	w        *command.Workspace
	file     files.Output
	exposure configs.Exposure
	socket   string // of HAProxy's master process

	nodes    []haproxy.Node // at the last look
	before   []byte         // of the file that HAProxy has loaded
	content  []byte         // of the file
	unloaded bool           // HAProxy has still to load the file
	trouble  string         // that was told last
}

// keep looks at the nodes again and again until the command is interrupted.
func (k *keeper) keep(ctx context.Context) error {
	var err error
	if k.content, err = os.ReadFile(k.file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k.before = k.content
	for {
		k.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}

// look writes the file if the nodes ask for another one, and lets HAProxy load it. Trouble is told, once,
// and the next look tries again.
func (k *keeper) look(ctx context.Context) {
	nodes, err := haproxyNodes(ctx, k.w)
	if err == nil && (k.nodes == nil || !reflect.DeepEqual(nodes, k.nodes)) {
		err = k.rewrite(nodes)
	}
	if err == nil && k.unloaded {
		err = k.reload(ctx)
	}
	switch {
	case ctx.Err() != nil:
	case err == nil:
		k.trouble = ""
	case err.Error() != k.trouble:
		k.trouble = err.Error()
		k.tell("%s", k.trouble)
	}
}

// rewrite writes the file for the nodes. Mistakes of the configuration are printed, and the file stays.
func (k *keeper) rewrite(nodes []haproxy.Node) error {
	content, diags := haproxy.Render(k.w.Config, k.exposure, nodes)
	k.w.Printer.Diagnostics(diags, k.w.Config.Files)
	if diags.HasErrors() || bytes.Equal(content, k.content) {
		k.nodes = nodes
		return nil
	}
	if err := k.file.Write(content, renameio.WithExistingPermissions()); err != nil {
		return err
	}
	k.nodes, k.content, k.unloaded = nodes, content, true
	return nil
}

// reload lets HAProxy load the file. If HAProxy refuses it, the file gets its old content: HAProxy could
// not start with the new one.
func (k *keeper) reload(ctx context.Context) error {
	err := haproxy.Reload(ctx, k.socket)
	if refused := (&haproxy.RefusedError{}); errors.As(err, &refused) {
		k.unloaded = false
		if len(k.before) > 0 {
			k.content = k.before
			err = errors.Join(err, k.file.Write(k.before, renameio.WithExistingPermissions()))
		}
		return err
	}
	if err != nil {
		return err
	}
	k.unloaded, k.before = false, k.content
	var names []string
	for _, n := range k.nodes {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	k.tell("HAProxy has loaded %s. The cluster has the nodes %s.", k.file.Path, words.Few(names, 10))
	return nil
}

// tell prints a line with the time.
func (k *keeper) tell(format string, args ...any) {
	foreign.Fprintf(k.w.Streams.Out, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
