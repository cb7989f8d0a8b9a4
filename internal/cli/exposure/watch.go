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
	// certificate is the file with the certificate and its key, for an exposure with TLS.
	certificate files.Output

	nodes    []haproxy.Node // at the last look
	config   loaded
	pem      loaded    // the certificate with its key
	ends     time.Time // of the certificate
	refused  []byte    // certificate that HAProxy refused
	unloaded bool      // HAProxy has still to load a file
	trouble  string    // that was told last
}

// loaded is a file that HAProxy loads.
type loaded struct {
	content []byte // of the file
	before  []byte // of the file that HAProxy has loaded
}

// read reads the file, which may not exist yet.
func (l *loaded) read(file files.Output) (err error) {
	if l.content, err = os.ReadFile(file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.before = l.content
	return nil
}

// restore gives the file its old content, if it has other content now.
func (l *loaded) restore(file files.Output, mode renameio.Option) error {
	if len(l.before) == 0 || bytes.Equal(l.before, l.content) {
		return nil
	}
	l.content = l.before
	return file.Write(l.before, mode)
}

// private are the permissions of a file with a private key.
var private = renameio.WithStaticPermissions(0o600)

// keep looks at the nodes again and again until the command is interrupted.
func (k *keeper) keep(ctx context.Context) error {
	if err := k.config.read(k.file); err != nil {
		return err
	}
	if k.exposure.TLS != nil {
		if err := k.certificate.Check(); err != nil {
			return err
		}
		if err := k.pem.read(k.certificate); err != nil {
			return err
		}
	}
	for {
		k.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}

// look writes the files if the nodes or the certificate ask for it, and lets HAProxy load them. Trouble is
// told, once, and the next look tries again.
func (k *keeper) look(ctx context.Context) {
	uncertified := k.renew(ctx)
	var err error
	if uncertified == nil || len(k.pem.content) > 0 { // HAProxy does not start without a certificate
		err = k.follow(ctx)
	}
	err = errors.Join(uncertified, err)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		k.trouble = ""
	case err.Error() != k.trouble:
		k.trouble = err.Error()
		k.tell("%s", k.trouble)
	}
}

// follow writes the configuration if the nodes have changed, and lets HAProxy load new files.
func (k *keeper) follow(ctx context.Context) error {
	nodes, err := haproxyNodes(ctx, k.w)
	if err == nil && (k.nodes == nil || !reflect.DeepEqual(nodes, k.nodes)) {
		err = k.rewrite(nodes)
	}
	if err == nil && k.unloaded {
		err = k.reload(ctx)
	}
	return err
}

// renew writes the certificate if it is another one than that of the file.
func (k *keeper) renew(ctx context.Context) error {
	if k.exposure.TLS == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	values, err := certificateOf(ctx, k.w, k.exposure)
	if err != nil {
		return err
	}
	ends, err := check(k.w.Config, k.exposure, values, time.Now())
	if err != nil {
		return err
	}
	content := pemOf(k.exposure, values)
	if bytes.Equal(content, k.pem.content) || bytes.Equal(content, k.refused) {
		return nil
	}
	if err := k.certificate.Write(content, private); err != nil {
		return err
	}
	k.pem.content, k.ends, k.unloaded = content, ends, true
	return nil
}

// rewrite writes the file for the nodes. Mistakes of the configuration are printed, and the file stays.
func (k *keeper) rewrite(nodes []haproxy.Node) error {
	content, diags := haproxy.Render(k.w.Config, k.exposure, nodes, k.certificate.Path)
	k.w.Printer.Diagnostics(diags, k.w.Config.Files)
	if diags.HasErrors() || bytes.Equal(content, k.config.content) {
		k.nodes = nodes
		return nil
	}
	if err := k.file.Write(content, renameio.WithExistingPermissions()); err != nil {
		return err
	}
	k.nodes, k.config.content, k.unloaded = nodes, content, true
	return nil
}

// reload lets HAProxy load the files. If HAProxy refuses them, they get their old content: HAProxy could
// not start with the new one.
func (k *keeper) reload(ctx context.Context) error {
	err := haproxy.Reload(ctx, k.socket)
	if refused := (&haproxy.RefusedError{}); errors.As(err, &refused) {
		if k.unloaded = false; bytes.Equal(k.config.before, k.config.content) {
			k.refused = k.pem.content // otherwise the certificate is tried alone
		}
		return errors.Join(err, k.config.restore(k.file, renameio.WithExistingPermissions()), k.pem.restore(k.certificate, private))
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(k.pem.before, k.pem.content) {
		k.tell("HAProxy has loaded %s. The certificate ends on %s.", k.certificate.Path, k.ends.UTC().Format(time.DateOnly))
	}
	if !bytes.Equal(k.config.before, k.config.content) {
		var names []string
		for _, n := range k.nodes {
			names = append(names, n.Name)
		}
		slices.Sort(names)
		k.tell("HAProxy has loaded %s. The cluster has the nodes %s.", k.file.Path, words.Few(names, 10))
	}
	k.unloaded, k.config.before, k.pem.before = false, k.config.content, k.pem.content
	return nil
}

// tell prints a line with the time.
func (k *keeper) tell(format string, args ...any) {
	foreign.Fprintf(k.w.Streams.Out, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
