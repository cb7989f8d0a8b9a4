package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/providers"
)

// mounted is the path of the claim in its pod.
const mounted = "/backups"

// missing is the exit status of a command for a file that does not exist.
const missing = 44

// Claim is a Target in a PersistentVolumeClaim. A pod mounts it.
type Claim struct {
	cluster *Cluster
	name    string
	pod     types.NamespacedName
}

var _ Target = (*Claim)(nil)

// OpenClaim starts a pod that mounts a claim in the namespace of a workload. The pod has the image of the
// workload, which the cluster can pull.
func OpenClaim(ctx context.Context, c *Cluster, claim string, like Workload) (*Claim, error) {
	const volume = "backups"
	pod, err := c.start(ctx, dataPod{name: "kolla-backups-" + claim, like: like, claims: map[string]string{volume: claim}, paths: map[string]string{volume: mounted}})
	if err != nil {
		return nil, unreachable("claim "+claim, err)
	}
	return &Claim{c, claim, pod}, nil
}

// String names the claim.
func (c *Claim) String() string { return "claim:" + c.name }

// Close deletes the pod.
func (c *Claim) Close(ctx context.Context) error { return c.cluster.remove(ctx, c.pod) }

// sh runs a script in the pod; its arguments are $1 and so on.
func (c *Claim) sh(ctx context.Context, script string, stdin io.Reader, stdout io.Writer, args ...string) error {
	command := append([]string{"sh", "-ec", "umask 077; cd " + mounted + "; " + script, "backups"}, args...)
	err := c.cluster.Shell.Stream(ctx, c.pod, mainContainer, command, stdin, stdout)
	var ended *providers.CommandError
	if errors.As(err, &ended) && ended.Code == missing {
		return fs.ErrNotExist
	}
	return err
}

// Backups implements Target.
func (c *Claim) Backups(ctx context.Context) ([]string, error) {
	var out bytes.Buffer
	if err := c.sh(ctx, "ls -1", nil, &out); err != nil {
		return nil, unreachable(c.String(), err)
	}
	return strings.Fields(out.String()), nil
}

// Create implements Target.
func (c *Claim) Create(ctx context.Context, backup, file string) (io.WriteCloser, error) {
	f := &claimFile{ctx: ctx, claim: c, name: path.Join(backup, file)}
	f.piped = pipe(func(content io.Reader) error {
		return c.sh(ctx, `mkdir -p "${1%/*}"; cat > "$1.part"`, content, io.Discard, f.name)
	})
	return f, nil
}

// claimFile is a file that is being written.
type claimFile struct {
	piped
	ctx   context.Context
	claim *Claim
	name  string
	size  int64
}

// Write implements io.Writer.
func (f *claimFile) Write(p []byte) (int, error) {
	n, err := f.piped.Write(p)
	f.size += int64(n)
	return n, err
}

// Close implements io.Closer. It compares the size, because a connection may end early without an error.
func (f *claimFile) Close() error {
	if err := f.piped.Close(); err != nil {
		return fmt.Errorf("write %s in %s: %w", f.name, f.claim, err)
	}
	err := f.claim.sh(f.ctx, `[ "$(wc -c < "$1.part")" -eq "$2" ] || { echo "the file was cut off" >&2; exit 1; }; mv "$1.part" "$1"; sync -f "$1"`, nil, io.Discard, f.name, fmt.Sprint(f.size))
	if err != nil {
		return fmt.Errorf("write %s in %s: %w", f.name, f.claim, err)
	}
	return nil
}

// Open implements Target.
func (c *Claim) Open(ctx context.Context, backup, file string) (io.ReadCloser, error) {
	name := path.Join(backup, file)
	if err := c.sh(ctx, fmt.Sprintf(`[ -f "$1" ] || exit %d`, missing), nil, io.Discard, name); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	reader, writer := io.Pipe()
	go func() {
		writer.CloseWithError(crash.Catch(func() error {
			return receive(ctx, c.cluster.Shell, c.pod, mainContainer, []string{"cat", path.Join(mounted, name)}, writer)
		}))
	}()
	return struct {
		io.Reader
		io.Closer
	}{reader, closer(func() error {
		cancel()
		return reader.Close()
	})}, nil
}

// closer is a function as an io.Closer.
type closer func() error

// Close implements io.Closer.
func (c closer) Close() error { return c() }

// Remove implements Target.
func (c *Claim) Remove(ctx context.Context, backup string) error {
	return c.sh(ctx, `rm -rf "$1"`, nil, io.Discard, backup)
}
