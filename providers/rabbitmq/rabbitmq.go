// Package rabbitmq compares the virtual hosts, users and permissions in RabbitMQ with the declared ones. The
// package writes nothing: a job repairs differences when it runs again. So the
// rules here are those of the job, which is providers/openstack/catalogue/rabbitmq/queue.py: what the job
// would leave alone is no difference.
//
// A [Registrar] is for one plan. It asks the management API of each server, through a forwarded port of one
// of its pods, and reads each list once:
//
//	registrar := rabbitmq.New(client, snapshot.SecretValues)
//	defer registrar.Close()
//	differences, err := registrar.Compare(ctx, object.Registers)
//
// Mistakes to avoid:
//
//   - Keeping a Registrar when the server has changed. It reads each list only once.
//   - Comparing before the job has completed. Everything would be missing.
package rabbitmq

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"hash"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/providers"
)

// product is the name of the server in differences and reasons.
const product = "RabbitMQ"

// Owned is the description of virtual hosts that the job makes, before CLOUD/SERVICE.
const Owned = "Managed by kolla: "

// Registrar compares registrations. It implements providers.Registrar.
type Registrar struct{ sessions providers.Sessions[*session] }

var _ providers.Registrar = (*Registrar)(nil)

// New returns a Registrar. values returns the values of a Secret; nil: it does not exist.
func New(forwarder providers.Forwarder, values func(namespace, name string) map[string][]byte) *Registrar {
	return &Registrar{providers.Sessions[*session]{Values: values, Open: func(server providers.PodServer, password string) *session {
		return newSession(forwarder, server, password)
	}}}
}

// Close ends the connections to all servers. The Registrar cannot be used after it.
func (r *Registrar) Close() { r.sessions.Close(func(s *session) { s.web.CloseIdleConnections() }) }

// Compare returns the differences between a registration and what RabbitMQ has, sorted by path. If
// RabbitMQ cannot be read, the error is a *providers.UncomparedError.
func (r *Registrar) Compare(ctx context.Context, all *providers.Registration) ([]providers.Difference, error) {
	wanted := all.Queue
	if wanted == nil {
		return nil, nil
	}
	c := &comparison{session: r.sessions.Of(wanted.Server), wanted: wanted}
	for _, compare := range []func(context.Context) error{c.vhost, c.permissions} {
		if err := compare(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.user(ctx, r.sessions.Value(wanted.Password)); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.found, func(a, b providers.Difference) int { return cmp.Compare(a.Path, b.Path) })
	return c.found, nil
}

// comparison is the comparison of one virtual host with its user.
type comparison struct {
	*session
	wanted *providers.QueueRegistration
	found  []providers.Difference
}

// compare notes a difference between two texts.
func (c *comparison) compare(path, declared, live string) {
	if declared != live {
		c.found = append(c.found, providers.Difference{Server: product, Path: path, Declared: declared, Live: live})
	}
}

// missing notes that an entry is not there.
func (c *comparison) missing(path string, declared any) {
	c.found = append(c.found, providers.Difference{Server: product, Path: path, Declared: declared})
}

// vhost compares the virtual host.
func (c *comparison) vhost(ctx context.Context) error {
	all, err := c.list(ctx, "vhosts")
	if err != nil {
		return err
	}
	path := fmt.Sprintf("vhosts[%q]", c.wanted.Name)
	at := slices.IndexFunc(all, func(e entry) bool { return e.Name == c.wanted.Name })
	switch {
	case at < 0:
		c.missing(path+".name", c.wanted.Name)
	case c.wanted.Owner != "":
		c.compare(path+".description", Owned+c.wanted.Owner, all[at].Description)
	}
	return nil
}

// user compares the user, and its password with the hash that RabbitMQ stores.
func (c *comparison) user(ctx context.Context, password string) error {
	all, err := c.list(ctx, "users")
	if err != nil {
		return err
	}
	path := fmt.Sprintf("users[%q]", c.wanted.Name)
	at := slices.IndexFunc(all, func(e entry) bool { return e.Name == c.wanted.Name })
	if at < 0 {
		c.missing(path+".name", c.wanted.Name)
		return nil
	}
	c.compare(path+".tags", "", strings.Join(all[at].Tags, ","))
	if password != "" && !fits(password, all[at]) {
		c.found = append(c.found, providers.Difference{Server: product, Path: path + ".password", Secret: true})
	}
	return nil
}

// permissions compares the permissions of the user in the virtual host.
func (c *comparison) permissions(ctx context.Context) error {
	all, err := c.list(ctx, "permissions")
	if err != nil {
		return err
	}
	const everything = ".*"
	path := fmt.Sprintf("users[%q].permissions[%[1]q]", c.wanted.Name)
	at := slices.IndexFunc(all, func(e entry) bool { return e.User == c.wanted.Name && e.VHost == c.wanted.Name })
	if at < 0 {
		for _, name := range []string{".configure", ".read", ".write"} {
			c.missing(path+name, everything)
		}
		return nil
	}
	c.compare(path+".configure", everything, all[at].Configure)
	c.compare(path+".read", everything, all[at].Read)
	c.compare(path+".write", everything, all[at].Write)
	return nil
}

// saltSize is the number of bytes of the salt before the hash of a password.
const saltSize = 4

// fits reports whether a user has a password. A hash of an unknown kind counts as fitting.
func fits(password string, user entry) bool {
	algorithms := map[string]func() hash.Hash{
		"rabbit_password_hashing_sha256": sha256.New,
		"rabbit_password_hashing_sha512": sha512.New,
	}
	algorithm := algorithms[user.Algorithm]
	if algorithm == nil {
		return true
	}
	stored, err := base64.StdEncoding.DecodeString(user.Hash)
	if err != nil || len(stored) < saltSize {
		return false // the user has no password
	}
	h := algorithm()
	h.Write(stored[:saltSize])
	h.Write([]byte(password))
	return subtle.ConstantTimeCompare(h.Sum(nil), stored[saltSize:]) == 1
}
