// Package cluster keeps the state of a cloud in the cloud's own cluster, so that several people
// and machines share it. Backend implements state.Backend with these objects in one namespace:
//
//	Secret kolla-state.CLOUD              names the present version of the state
//	Secret kolla-state.CLOUD.v.SUM.N      part N of a version, compressed
//	Secret kolla-state.CLOUD.journal.N    part N of the journal, compressed
//	Lease  kolla-state.CLOUD              the lock
//
// The versions are the backups, too. A new version is written beside the present one. Then
// the first Secret is changed to name it, and then the oldest versions are deleted, so that
// a kill at any point loses nothing. Every update is bound to the last resourceVersion
// that this process saw, and every delete in the journal to the UID. So a process without the
// lock cannot overwrite the state or the journal of its successor.
package cluster

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/state"
)

// Client reads and writes Secrets and a Lease in one namespace. Its errors are those of the API
// server. A Put without a resourceVersion creates the object; with one, it replaces that version.
// Tests replace the Client, so it has a method for each request.
type Client interface {
	Secret(ctx context.Context, name string) (*corev1.Secret, error)
	// Secrets lists Secrets with their data.
	Secrets(ctx context.Context, selector string) ([]corev1.Secret, error)
	// SecretNames lists all Secrets without their data.
	SecretNames(ctx context.Context) ([]metav1.PartialObjectMetadata, error)
	PutSecret(ctx context.Context, s *corev1.Secret) (*corev1.Secret, error)
	DeleteSecret(ctx context.Context, name string, uid types.UID) error
	Lease(ctx context.Context, name string) (*coordinationv1.Lease, error)
	PutLease(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// MakeNamespace creates the namespace.
	MakeNamespace(ctx context.Context) error
}

// defaultNamespace is the namespace of states for which the configuration names none. It is not the
// cloud's namespace, which is created and deleted with the cloud. Besides, users who may write
// Secrets of the services should not control what kolla deletes.
const defaultNamespace = "kolla-state"

// Options say where a state is kept.
type Options struct {
	Namespace string
	Cloud     string // name of the cloud
	// MakeNamespace: the namespace is created if it does not exist when the lock is taken.
	MakeNamespace bool
	// Duration is how long the lock lasts without renewal; zero: 30 seconds.
	Duration time.Duration
	// PartSize is the largest compressed part, in bytes; zero: 900 KiB. The server permits
	// 1 MiB for a Secret.
	PartSize int
	// SegmentSize is the largest part of the journal before compression, in bytes; zero: 256 KiB.
	// Each write sends the last part again, and etcd keeps all versions for some minutes.
	SegmentSize int
}

// name begins the names of all objects.
func (o Options) name() string { return "kolla-state." + o.Cloud }

// Backend is a state.Backend.
type Backend struct {
	site     *site
	head     *head
	versions *versions
	journal  *journal
	lease    *lease
}

var _ state.Backend = (*Backend)(nil)

// New returns the backend of a state. It continues to send requests after ctx is cancelled, because
// an interrupted apply must still save its results.
func New(ctx context.Context, client Client, o Options) *Backend {
	if o.Duration <= 0 {
		o.Duration = 30 * time.Second
	}
	if o.PartSize <= 0 {
		o.PartSize = 900 << 10
	}
	if o.SegmentSize <= 0 {
		o.SegmentSize = 256 << 10
	}
	s := &site{Options: o, client: client, ctx: context.WithoutCancel(ctx)}
	return &Backend{
		site: s, head: &head{site: s}, versions: &versions{site: s, parts: map[string]int{}},
		journal: &journal{site: s}, lease: &lease{site: s},
	}
}

// Name is part of state.Backend.
func (b *Backend) Name(p state.Part) string {
	if p == state.JournalPart {
		return b.site.place(b.site.name() + ".journal.*")
	}
	return b.site.place(b.site.name())
}

// Load is part of state.Backend.
func (b *Backend) Load(p state.Part) ([]byte, error) {
	if p == state.JournalPart {
		return b.journal.load()
	}
	for {
		present, read, err := b.head.read()
		if err != nil {
			return nil, err
		}
		content, err := b.versions.read(present.Version, present.Parts)
		if err == nil {
			return content, nil
		}
		if _, again, failed := b.head.read(); failed == nil && again != read {
			continue // somebody saved the state in between, and deleted this version
		}
		return nil, err
	}
}

// Keep is part of state.Backend. Old versions are deleted by Replace, after the state has
// its new version.
func (b *Backend) Keep(serial uint64, content []byte) error { return b.versions.keep(serial, content) }

// Replace is part of state.Backend. The caller has kept the content.
func (b *Backend) Replace(p state.Part, content []byte) error {
	sum := checksum(content)
	parts := b.versions.known(sum)
	if p != state.StatePart || parts == 0 {
		return fmt.Errorf("write %s: its content was not kept before", b.Name(p))
	}
	if err := b.head.point(header{Version: sum, Parts: parts}); err != nil {
		return err
	}
	return b.versions.rotate(sum)
}

// Retire is part of state.Backend. The first Secret says where the state is.
func (b *Backend) Retire(to string) error { return b.head.point(header{Moved: to}) }

// Backups is part of state.Backend.
func (b *Backend) Backups() ([]state.Backup, error) { return b.versions.backups() }

// LoadBackup is part of state.Backend.
func (b *Backend) LoadBackup(backup state.Backup) ([]byte, error) {
	return b.versions.readBackup(backup)
}

// Remove is part of state.Backend.
func (b *Backend) Remove(p state.Part) error {
	if p == state.JournalPart {
		return b.journal.remove()
	}
	return b.site.remove(b.site.name(), "")
}

// SetAside is part of state.Backend. The Secrets are copied, and then deleted.
func (b *Backend) SetAside(p state.Part) error {
	if p == state.JournalPart {
		return b.journal.setAside()
	}
	return b.head.setAside()
}

// Journal is part of state.Backend.
func (b *Backend) Journal() state.JournalWriter { return b.journal.writer() }

// Lag is part of state.Backend.
func (b *Backend) Lag() time.Duration { return time.Second }

// Lock is part of state.Backend.
func (b *Backend) Lock(info state.LockInfo) (state.Lock, error) {
	held, err := b.lease.take(info)
	if err != nil {
		return nil, err
	}
	b.head.expect()
	return held, nil
}

// Holder is part of state.Backend. It does not wait to be certain whether a holder was
// killed.
func (b *Backend) Holder() (holder, left *state.LockInfo, err error) { return b.lease.holder() }

// ForceUnlock is part of state.Backend.
func (b *Backend) ForceUnlock(id string) error { return b.lease.release(id) }
