package engine

import (
	"cmp"
	"context"
	"sync"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// Cluster is a connection to a cluster, with the objects that were read from it. All steps
// share one Cluster, so that nothing is listed twice. Several goroutines may use it.
type Cluster struct {
	// Warnings are those of the API server.
	Warnings *Warnings
	// Secrets are the secret values of the run. Plans are made without them.
	Secrets *redaction.Values

	options  kubernetes.Options
	dialed   sync.Once
	dialErr  error
	client   *kubernetes.Client
	identity providers.Identity

	mu       sync.Mutex
	snapshot *providers.Snapshot // nil: nothing has been read yet
	unread   error               // the reason why no data can be read; nil: data can be read
}

// NewCluster returns the cluster that the options describe. It connects when it is needed.
func NewCluster(options kubernetes.Options, reporter Reporter) *Cluster {
	warnings := &Warnings{reporter: reporter}
	options.Warn = warnings.take
	options.Secrets = cmp.Or(options.Secrets, &redaction.Values{})
	return &Cluster{Warnings: warnings, Secrets: options.Secrets, options: options}
}

// Client finds the cluster. It sends no request.
func (c *Cluster) Client() (*kubernetes.Client, error) {
	c.dialed.Do(func() { c.client, c.dialErr = kubernetes.Connect(c.options) })
	return c.client, c.dialErr
}

// Connect finds the cluster, and asks the server for its identity.
func (c *Cluster) Connect(ctx context.Context) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	c.identity, err = client.Identity(ctx)
	return err
}

// clean masks secret values in a foreign text.
func (c *Cluster) clean(text string) string { return c.Secrets.Text(text) }

// Identity returns the identity of the cluster, once Connect has returned.
func (c *Cluster) Identity() providers.Identity { return c.identity }

// Snapshot has the objects that were read since Forget. Client must have been called.
func (c *Cluster) Snapshot() *providers.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.snapshot == nil {
		c.snapshot = providers.NewSnapshot(c.client)
	}
	return c.snapshot
}

// Forget drops all objects that were read, so that the next read asks the server again.
func (c *Cluster) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.snapshot, c.unread = nil, nil
}

// unreadable returns why no data can be read; nil: they can.
func (c *Cluster) unreadable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unread
}

// giveUp makes later reads of data fail immediately.
func (c *Cluster) giveUp(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = why
}

// Prefetch begins to list the kinds of the objects in the state. The plan of an unchanged
// cloud then takes hardly longer than its longest list.
func (c *Cluster) Prefetch(ctx context.Context, st *state.State) {
	c.Snapshot().Prefetch(ctx, planner.Known(st)...)
}
